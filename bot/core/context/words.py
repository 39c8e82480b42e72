"""Splits texts, paths and identifiers into stems that can be compared."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

_PIECES = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
    r"|[\u00c0-\u024f\u0370-\u052f\u0590-\u06ff]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_LETTERS = re.compile(r"[A-Za-z]+")
_QUOTED = re.compile(r"`([A-Za-z_][\w.:#-]{0,200})(?:\(\))?`")
_NOT_IN_PATHS = re.compile(r"[^\w./-]+")
_FILE_NAME = re.compile(r"[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,5}")
_LONGEST_NAME = 200

_STOP_WORDS = """
a an the and or not no of in on at to for from by with as is are was were be been being it its this
that these those there then than so if when while which who whom what how why where we you i he she
they them our your my me us do does did done can could should would will shall may might must have
has had having into onto over under out up down off about after before again also all any some each
such only just more most other same too very now new one two see via per etc eg ie please want need
like make makes made let lets instead because
"""
STOP = frozenset(_STOP_WORDS.split())
_COMMON_STEMS = """
fix add support remove updat chang improv refactor allow us test bug issu feat chor handl avoid
ensur implement cleanup clean better minor small set get mov renam replac enabl disabl creat delet
show work call run check code file function method class valu type
"""
COMMON = frozenset(_COMMON_STEMS.split())
"""Stems that say little in a request: they count a tenth."""


def words(text: str) -> list[str]:
    """The stems of a text in order, without stop words. Identifiers are split at case and underscores."""
    found: list[str] = []
    for piece in _PIECES.findall(text):
        if _IDEOGRAPHS.match(piece):
            # Japanese and Chinese have no spaces: pairs of signs are compared instead
            found += [piece[at : at + 2] for at in range(max(1, len(piece) - 1))]
        elif stemmed := stem(piece.lower()):
            found.append(stemmed)
    return found


def compounds(text: str) -> frozenset[str]:
    """Identifiers of several parts, and what is quoted as code, in lower case: exact names to look for."""
    quoted = {name.rpartition(".")[2] for name in _QUOTED.findall(text)}
    found = {name for name in _IDENTIFIER.findall(text) if _is_compound(name)}
    return frozenset(name.lower() for name in found | quoted if 3 < len(name) <= _LONGEST_NAME)


def _is_compound(name: str) -> bool:
    if "_" in name.strip("_") or (name.startswith("_") and len(name) > 1):
        return True
    return _has_inner_capital(name)


def _has_inner_capital(name: str) -> bool:
    inner = name[1:]
    return inner != inner.lower() and name != name.upper()


def paths_in(text: str) -> frozenset[str]:
    """What looks like a path or a file name, in lower case."""
    parts = (part.strip("./-") for part in _NOT_IN_PATHS.split(text))
    return frozenset(
        part.lower()
        for part in parts
        if 2 < len(part) <= 1_000 and ("/" in part or _FILE_NAME.fullmatch(part))
    )


def query_weights(request: str) -> dict[str, float]:
    """How much each stem of a request counts: the first line double, words like "fix" and "add" a tenth."""
    first, _, rest = request.strip().partition("\n")
    weights: dict[str, float] = {}
    for text, weight in ((first, 2.0), (rest, 1.0)):
        for found, times in Counter(words(text)).items():
            share = 0.1 if found in COMMON else 1.0
            more = weight * share * (0.7 + 0.3 * min(times, 4))
            weights[found] = weights.get(found, 0.0) + more
    for text, weight in ((first, 2.0), (rest, 1.0)):
        # products write their names so, and folders write them in one word: GitHub, WiZ
        for name in _LETTERS.findall(text):
            if len(name) <= _LONGEST_NAME and _has_inner_capital(name):
                weights.setdefault(stem(name.lower()) or name.lower(), weight)
    return weights


def spoken(request: str) -> dict[str, str]:
    """The first word of the request for each stem, to tell people what was found."""
    found: dict[str, str] = {}
    for piece in _PIECES.findall(request):
        for one in words(piece):
            found.setdefault(one, one if one in piece and len(piece) > 30 else piece.lower())
    return found


_ENDINGS = (
    "izations", "ization", "ations", "ation", "ators", "ator", "ating", "ings", "ing",
    "ments", "ment", "ables", "able", "ibles", "ible", "ions", "ion", "ities", "ity",
    "ers", "er", "ors", "or", "ies", "ied", "ed", "ly", "es", "s", "e", "y",
)  # fmt: skip


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """A word without its ending: `parsers`, `parsing` and `parse` are one. Empty for stop words and single letters."""
    if len(word) < 2 or word in STOP:
        return ""
    if len(word) < 4 or word[0].isdigit():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            if ending == "s" and word.endswith(("ss", "us", "is")):
                break
            cut = word[: -len(ending)]
            if (
                ending in {"ing", "ings", "ed", "er", "ers"}
                and cut[-1] == cut[-2]
                and cut[-1] not in "ls"
            ):
                cut = cut[:-1]
            if cut[-1] == "e" and len(cut) > 3:
                cut = cut[:-1]
            return cut
    return word
