"""Ranks the files of a repository for a request: names of paths and definitions, and what similar changes touched."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.core.context.words import compounds, paths_in, query_weights, spoken, words

PATH, FOLDER, NAMES = 12.0, 9.0, 5.0
"""The weight of a word in the file's name, in its folders, and in the names it defines."""
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


@dataclass(frozen=True)
class SourceFile:
    path: str
    names: str = ""
    """The stems of the names it defines, with a space before and after each."""
    exact: str = ""
    """The compound names among them, in lower case, in the same format."""


@dataclass(frozen=True)
class PastChange:
    """A commit: the stems of its message and the files it changed."""

    words: tuple[str, ...]
    paths: tuple[str, ...]


@dataclass
class Ranked:
    path: str
    score: float
    why: list[str] = field(default_factory=list[str])


def rank(request: str, files: Sequence[SourceFile], history: Sequence[PastChange]) -> list[Ranked]:
    """Return the files with a score, best first. `history`: newest first."""
    weights = query_weights(request)
    ranked = {file.path: Ranked(file.path, 0.0) for file in files}
    _add_lexical(ranked, weights, files, spoken(request))
    _add_exact(ranked, request, files)
    _add_history(ranked, weights, history)
    return sorted(
        (one for one in ranked.values() if one.score > 0), key=lambda one: (-one.score, one.path)
    )


def _add_lexical(
    ranked: Mapping[str, Ranked],
    weights: Mapping[str, float],
    files: Sequence[SourceFile],
    said: Mapping[str, str],
) -> None:
    path_words = _PathWords()
    found: dict[str, list[tuple[int, float, str]]] = {word: [] for word in weights}
    sizes = [len(file.names) for file in files]
    average = max(1.0, sum(sizes) / max(1, len(sizes)))
    padded = {word: f" {word} " for word in weights}
    for at, file in enumerate(files):
        folders, name = path_words.of(file.path)
        names = file.names
        norm = 1 - LENGTH + LENGTH * sizes[at] / average
        for word, pad in padded.items():
            tf = PATH * name.count(word) if word in name else 0.0
            where = "name" if tf else ""
            if word in folders:
                tf += FOLDER
                where = where or "folder"
            if pad in names:
                tf += NAMES * math.log2(1 + names.count(pad)) / norm
                where = where or "definitions"
            if tf:
                found[word].append((at, tf, where))
    total = len(files)
    scale = math.sqrt(sum(weights.values()) or 1.0)
    for word, hits in found.items():
        idf = math.log(1 + (total - len(hits) + 0.5) / (len(hits) + 0.5))
        for at, tf, where in hits:
            gain = weights[word] * idf * tf * 2 / (tf + SATURATION) / scale
            one = ranked[files[at].path]
            one.score += gain
            if gain > 0.3:
                one.why.append(f"{said.get(word, word)} ({where})")


class _PathWords:
    """The stems of folders and file names; folders are split once."""

    def __init__(self) -> None:
        self._folders: dict[str, frozenset[str]] = {"": frozenset()}

    def of(self, path: str) -> tuple[frozenset[str], list[str]]:
        folder, _, name = path.rpartition("/")
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = frozenset(words(folder))
        base = name.partition(".")[0] or name
        if base in {"index", "__init__", "mod", "main", "lib"}:
            base = f"{folder.rpartition('/')[2]} {base}"
        return known, words(base)


def _add_exact(ranked: Mapping[str, Ranked], request: str, files: Sequence[SourceFile]) -> None:
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
    ranked: Mapping[str, Ranked], weights: Mapping[str, float], history: Sequence[PastChange]
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
    for path in {*similar, *recent}:
        if (one := ranked.get(path)) is not None:
            from_similar = SIMILAR * math.log(1 + similar[path])
            one.score += from_similar + RECENT * math.log(1 + recent[path] / 0.3)
            if from_similar > 0.3:
                one.why.append("similar changes")
