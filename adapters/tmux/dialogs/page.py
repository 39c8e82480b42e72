"""A screen as lines of text, without the borders that programs draw around them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

NEAR_THE_END = 25
"""Lines of the screen in which a dialog has to end; what stands higher has scrolled by."""
_LEFT = re.compile(r"(?:\s*[│┃║▌])+")
# tried only where such a run begins: a line full of spaces is gone through once
_RIGHT = re.compile(r"(?<![\s│┃║▐])(?:\s*[│┃║▐])+\s*$")
_RULE = re.compile(r"[╭╮╰╯┌┐└┘├┤─━═╌╍┄┈▔▁▀▄╹╻╴╶]{3,}.*")
_BORDER = re.compile(r"\s*[│┃║▌]")
_APART = re.compile(r"\s{20,}")
"""What stands so far to the right of a line belongs to something else: a side bar, hints of its own."""


@dataclass(frozen=True)
class Shown:
    """A screen: its text, and where its cursor stands, in lines from the last one upwards; None: hidden."""

    text: str
    cursor: int | None = None


@dataclass(frozen=True)
class Line:
    """One line. A rule has no text."""

    raw: str

    @cached_property
    def text(self) -> str:
        inner = self._inner.strip()
        if self.rule:
            return ""
        return _APART.split(inner, maxsplit=1)[0] if self.column < 60 else ""

    @cached_property
    def beside(self) -> str:
        """All that stands there, with what is far to the right."""
        return self._inner.strip()

    @cached_property
    def column(self) -> int:
        """Where its text begins."""
        left = _LEFT.match(self.raw)
        return len(self.raw) - len(self.raw[left.end() if left else 0 :].lstrip())

    @cached_property
    def rule(self) -> bool:
        inner = self._inner.strip()
        return bool(_RULE.fullmatch(inner)) and len(re.sub(r"[\w ]", "", inner)) * 2 > len(inner)

    @cached_property
    def border(self) -> int | None:
        """The column of the border on its left."""
        found = _BORDER.match(self.raw)
        return found.end() - 1 if found else None

    def begins_block(self, border: int | None) -> bool:
        """Is this the upper edge of what has such a border? Nothing inside, however it is drawn, reaches that far."""
        if border is None:
            return self.rule and self.raw[:1] in set("─━═▔")
        return (
            self.rule
            and self.raw[border : border + 1] in set("╭┌╔┏")
            and not self.raw[:border].strip()
        )

    @cached_property
    def _inner(self) -> str:
        left = _LEFT.match(self.raw)
        return _RIGHT.sub("", self.raw[left.end() :] if left else self.raw)


class Page:
    """The lines of a screen up to the last that holds something."""

    def __init__(self, shown: Shown) -> None:
        lines = [Line(line) for line in shown.text.split("\n")]
        at = None if shown.cursor is None else len(lines) - 1 - shown.cursor
        while lines and not lines[-1].beside:
            lines.pop()
        self.lines = lines
        self.cursor = at
        """The number of the line the cursor stands in."""
        self.begins = max(0, len(lines) - NEAR_THE_END)

    @property
    def last(self) -> int:
        """The number of the last line with words; -1: there is none."""
        full = (number for number, line in enumerate(self.lines) if line.text)
        return max(full, default=-1)

    def above(self, number: int) -> list[Line]:
        """The block that stands above a line: up to its border, or else to an empty space."""
        border = self.lines[number].border
        edges = [at for at in range(number) if self.lines[at].begins_block(border)]
        block = self.lines[edges[-1] + 1 : number] if edges else self._up_to_a_gap(number)
        return [line for line in block if line.text]

    def _up_to_a_gap(self, number: int) -> list[Line]:
        block: list[Line] = []
        for line in reversed(self.lines[:number]):
            if block and not line.raw.strip() and not block[-1].raw.strip():
                break
            block.append(line)
        return block[::-1]
