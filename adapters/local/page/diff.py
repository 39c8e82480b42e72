"""Reads a patch into files and numbered lines, as they are shown. Whatever is invisible in a line is named."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.core.diffs import Patch, split_patch
from bot.core.text import clean, shortened

LONGEST_LINE = 1_000
"""Characters of a line that are shown."""
LONGEST_HEADER = 200
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")


@dataclass(frozen=True)
class Row:
    mark: str
    """`a` added, `d` removed, `at` the head of a part, `end` a remark of git; empty if unchanged."""
    before: int
    now: int
    text: str
    first: bool = False
    """The first of adjacent lines that changed."""

    @property
    def place(self) -> str:
        """Its number in the new file, or marked in the old one."""
        return f"{self.before}d" if self.mark == "d" else str(self.now)


@dataclass(frozen=True)
class DiffFile:
    id: str
    """The same for this file whatever is in it."""
    digest: str
    """Of what is changed in it."""
    path: str
    kind: str
    """"new", "deleted", "renamed", or "changed"."""
    mode: str
    binary: bool
    added: int
    removed: int
    rows: tuple[Row, ...]

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@lru_cache(maxsize=16)
def files_of(patch: str, branch: str) -> tuple[DiffFile, ...]:
    """Return the files of a patch. `branch`: which one of several it is of."""
    return tuple(_file(one, branch) for one in split_patch(patch))


def _file(patch: Patch, branch: str) -> DiffFile:
    hunks = "".join(patch.hunks)
    return DiffFile(
        id=_digest(f"{branch}:{patch.path}"),
        digest=_digest(f"{branch}:{patch.path}:{patch.kind}:{patch.mode}:{hunks}"),
        path=visible(patch.path),
        kind=patch.kind,
        mode=patch.mode,
        binary=patch.binary and not patch.hunks,
        added=patch.added,
        removed=patch.removed,
        rows=tuple(_rows(patch.hunks)),
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _rows(hunks: Sequence[str]) -> Iterator[Row]:
    for hunk in hunks:
        head, *lines = hunk.removesuffix("\n").split("\n")
        numbers = _HUNK.match(head)
        before, now = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
        yield Row("at", before, now, visible(shortened(head, LONGEST_HEADER)))
        changing = False
        for line in lines:
            sign = line[:1]
            mark = {"+": "a", "-": "d", "\\": "end"}.get(sign, "")
            text = visible(shortened(line[1:], LONGEST_LINE))
            yield Row(mark, before, now, text, first=mark in ("a", "d") and not changing)
            changing = mark in ("a", "d") or (changing and mark == "end")
            before += mark in ("", "d")
            now += mark in ("", "a")


def with_hidden_named(patch: str) -> str:
    """Return the patch with a remark at the end of each line that has hidden characters.

    For patches that are masked afterwards: masking removes such characters, so that they hide no secret.
    """
    if patch.isascii() and "\x1b" not in patch:
        return patch
    return "\n".join(_hidden_named(line) for line in patch.split("\n"))


def _hidden_named(line: str) -> str:
    plain = line.removesuffix("\r")
    if clean(plain) == plain:
        return line
    hidden = dict.fromkeys(f"U+{ord(one):04X}" for one in plain if clean(one) != one)
    return f"{plain} ⟨hidden: {', '.join(hidden)}⟩"


def visible(text: str) -> str:
    """Return the text with names in place of what nobody sees: a reviewer must not be deceived by hidden characters."""
    if text.isascii() and text.replace("\t", "").isprintable():
        return text
    return "".join(
        one if one == "\t" or (one != "\n" and clean(one) == one) else f"⟨U+{ord(one):04X}⟩"
        for one in text
    )
