"""A patch, line by line: what each file loses, gains and keeps. One pass, whatever stands in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from bot.domain.diffs import patches

LONGEST_LINE = 600
"""Characters that are looked at. What is longer was not written by hand."""
_FILE = "diff --git "
_RENAMED = "rename from "


class Line(NamedTuple):
    mark: str
    """What git put before it: `-`, `+` or a blank."""
    text: str
    run: int
    """Lines with the same number stand together, with nothing unchanged between them."""


@dataclass
class Hunk:
    header: str
    """What git wrote behind the figures: often the function around it."""
    lines: list[Line] = field(default_factory=list[Line])

    def side(self, mark: str) -> Iterator[Line]:
        """As it was (`-`) or as it is (`+`)."""
        return (line for line in self.lines if line.mark in (" ", mark))


@dataclass
class Change:
    """What a patch does to one file."""

    path: str
    kind: str
    """new, deleted, changed or renamed."""
    before: str
    """Its path until then."""
    binary: bool = False
    """It is shown as no text: what was changed in it is not to be seen."""
    hunks: list[Hunk] = field(default_factory=list[Hunk])

    @property
    def touched(self) -> Iterator[Line]:
        return (line for hunk in self.hunks for line in hunk.lines if line.mark != " ")


def read(diff: str) -> list[Change]:
    """The files of a patch. What stands before the first one is none."""
    found: list[Change] = []
    head: list[str] = []
    run = 0
    for line in diff.split("\n"):
        if line.startswith(_FILE):
            _begin(found, head)
            head = [line]
        elif line.startswith("@@ ") and (head or found):
            _begin(found, head)
            found[-1].hunks.append(Hunk(line[3:].partition(" @@")[2].strip()[:LONGEST_LINE]))
        elif head:
            head.append(line)
        elif found and found[-1].hunks and line[:1] in ("+", "-", " "):
            run += line[0] == " "
            text = line[1 : LONGEST_LINE + 1].rstrip("\r")
            found[-1].hunks[-1].lines.append(Line(line[0], text, run))
    _begin(found, head)
    return found


def _begin(found: list[Change], head: list[str]) -> None:
    """The file whose head this is, if it is one. Its lines are used up."""
    for patch in patches("\n".join(head)) if head else []:
        renamed = [line for line in head if line.startswith(_RENAMED)]
        before = renamed[0].removeprefix(_RENAMED) if renamed else patch.path
        found.append(Change(patch.path, patch.kind, before, patch.binary))
    head.clear()
