"""Ranks the files of a repository for a request: names of paths and definitions, and what similar changes touched."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bot.core.context.words import compounds, paths_in, query_weights, spoken, words

PATH, FOLDER, NAMES = 16.0, 9.0, 3.0
"""The weight of a word in the file's name, in its folders, and in the names it defines."""
NOT_MEANT = 0.5
"""The share of a file's name that does not count if none of its words is meant: `refund.py` is closer to a refund than
`refund_report_mailer.py`.
"""
SATURATION = 8.0
LENGTH = 0.4
"""How much a long list of names lowers the weight of each name."""
EXACT = 5.0
"""The score for a file that defines an identifier of the request."""
NAMED = 8.0
"""The score for a file that the request names."""
SIMILAR, RECENT = 7.0, 0.8
FADING = 30
"""Number of commits after which a change counts a third."""
WIDEST = 40
"""Commits with more files than this say nothing about any of them."""


class SourceFile(NamedTuple):
    path: str
    names: str = ""
    """The stems of the names it defines, with a space before and after each."""
    exact: str = ""
    """The compound names among them, in lower case, in the same format."""


class PastChange(NamedTuple):
    """A commit: the stems of its message and the files it changed."""

    words: tuple[str, ...]
    paths: tuple[str, ...]


@dataclass
class Ranked:
    path: str
    score: float
    why: list[str] = field(default_factory=list[str])


class _Ranks(dict[str, Ranked]):
    """The files that have a score, by path."""

    def __missing__(self, path: str) -> Ranked:
        self[path] = one = Ranked(path, 0.0)
        return one


def rank(request: str, files: Sequence[SourceFile], history: Sequence[PastChange]) -> list[Ranked]:
    """Return the files with a score, best first. `history`: newest first."""
    weights = query_weights(request)
    ranked = _Ranks()
    _add_lexical(ranked, weights, files, spoken(request))
    _add_exact(ranked, request, files)
    _add_history(ranked, weights, files, history)
    return sorted(
        (one for one in ranked.values() if one.score > 0), key=lambda one: (-one.score, one.path)
    )


def _add_lexical(
    ranked: _Ranks,
    weights: Mapping[str, float],
    files: Sequence[SourceFile],
    said: Mapping[str, str],
) -> None:
    in_paths = _path_matches(weights, files)
    sizes = [len(file.names) for file in files]
    average = max(1.0, sum(sizes) / max(1, len(sizes)))
    total = len(files)
    scale = math.sqrt(sum(weights.values()) or 1.0)
    for word, weight in weights.items():
        pad = f" {word} "
        in_names = {at for at, file in enumerate(files) if pad in file.names}
        hits = sorted(in_names | in_paths[word].keys())
        idf = math.log(1 + (total - len(hits) + 0.5) / (len(hits) + 0.5))
        for at in hits:
            tf, where = in_paths[word].get(at, (0.0, "definitions"))
            if at in in_names:
                norm = 1 - LENGTH + LENGTH * sizes[at] / average
                tf += NAMES * math.log2(1 + files[at].names.count(pad)) / norm
            gain = weight * idf * tf * 2 / (tf + SATURATION) / scale
            one = ranked[files[at].path]
            one.score += gain
            if gain > 0.3:
                one.why.append(f"{said.get(word, word)} ({where})")


def _path_matches(
    weights: Mapping[str, float], files: Sequence[SourceFile]
) -> dict[str, dict[int, tuple[float, str]]]:
    """By word: the files whose path has it, what that counts, and where it stands.

    Folders and names are split once each, because most of them occur many times.
    """
    found: dict[str, dict[int, tuple[float, str]]] = {word: {} for word in weights}
    split: dict[str, list[str]] = {}
    worth: dict[str, float] = {}
    """By part of a path: what the matching words count if they are all of its words, or some."""
    for at, file in enumerate(files):
        folder, _, name = file.path.rpartition("/")
        base = name.partition(".")[0] or name
        if base in {"index", "__init__", "mod", "main", "lib"}:
            base = f"{folder.rpartition('/')[2]} {base}"
        for part in (folder, base):
            if part not in split:
                every = words(part)
                split[part] = [word for word in every if word in weights]
                meant = len(split[part]) / max(1, len(every))
                worth[part] = 1 - NOT_MEANT * (1 - meant)
        for word in split[base]:
            count = found[word].get(at, (0.0, ""))[0]
            found[word][at] = (count + PATH * worth[base], "name")
        for word in {*split[folder]}:
            count, where = found[word].get(at, (0.0, "folder"))
            found[word][at] = (count + FOLDER, where)
    return found


def _add_exact(ranked: _Ranks, request: str, files: Sequence[SourceFile]) -> None:
    identifiers = compounds(request)
    named = paths_in(request)
    for identifier in identifiers:
        pad = f" {identifier} "
        hits = [file.path for file in files if pad in file.exact]
        for path in hits:
            ranked[path].score += EXACT / math.sqrt(len(hits)) if len(hits) < 50 else 0
            ranked[path].why.append(f"defines {identifier}")
    if not named:
        return
    for file in files:
        lower = file.path.lower()
        if any(lower == name or lower.endswith("/" + name) for name in named):
            ranked[file.path].score += NAMED
            ranked[file.path].why.append("named in the request")


def _add_history(
    ranked: _Ranks,
    weights: Mapping[str, float],
    files: Sequence[SourceFile],
    history: Sequence[PastChange],
) -> None:
    usable = [change for change in history if len(change.paths) <= WIDEST]
    if not usable:
        return
    df: Counter[str] = Counter()
    for change in usable:
        df.update(set(change.words))
    idf = {word: math.log(1 + len(usable) / n) for word, n in df.items()}
    query = {word: weight * idf[word] for word, weight in weights.items() if word in idf}
    norm = math.sqrt(sum(w * w for w in query.values())) or 1.0
    similar: defaultdict[str, float] = defaultdict(float)
    recent: defaultdict[str, float] = defaultdict(float)
    for age, change in enumerate(usable):
        own = set(change.words)
        shared = own & query.keys()
        fresh = math.exp(-age / FADING) if age < FADING * 8 else 0.0
        alike = 0.0
        if shared:
            size = math.sqrt(sum(idf[word] ** 2 for word in own)) or 1.0
            alike = (sum(query[word] * idf[word] for word in shared) / norm / size) ** 1.5
        if alike or fresh:
            for path in change.paths:
                similar[path] += alike
                recent[path] += fresh
    for path in {*similar, *recent}.intersection(file.path for file in files):
        one = ranked[path]
        from_similar = SIMILAR * math.log(1 + similar[path])
        one.score += from_similar + RECENT * math.log(1 + recent[path] / 0.3)
        if from_similar > 0.3:
            one.why.append("similar changes")
