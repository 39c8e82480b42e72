"""A screen as lines without borders, and title, labels and id of a dialog on it. No I/O."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.core.runs import Dialog, DialogKind, DialogOption
from bot.core.text import cut

# The lines of a screen, without the borders that programs draw around them.

DIALOG_LINES = 25
"""A dialog must end within this many last lines; what is higher has scrolled by."""
_LEFT = re.compile(r"(?:\s*[│┃║▌])+")
# tried only where such a run begins, so that a line full of spaces is scanned once
_RIGHT = re.compile(r"(?<![\s│┃║▐])(?:\s*[│┃║▐])+\s*$")
_RULE = re.compile(r"[╭╮╰╯┌┐└┘├┤─━═╌╍┄┈▔▁▀▄╹╻╴╶]{3,}.*")
_BORDER = re.compile(r"\s*[│┃║▌]")
_SIDE_GAP = re.compile(r"\s{20,}")
"""Text after so much space belongs to something else: a side bar, hints."""


@dataclass(frozen=True)
class ScreenContent:
    """A screen: its text, and the cursor's line counted from the last one upwards; None if the cursor is hidden."""

    text: str
    cursor: int | None = None


@dataclass(frozen=True)
class ScreenLine:
    """One line. A horizontal rule has no text."""

    raw: str

    @cached_property
    def text(self) -> str:
        inner = self._inner.strip()
        if self.rule:
            return ""
        return _SIDE_GAP.split(inner, maxsplit=1)[0] if self.column < 60 else ""

    @cached_property
    def full_text(self) -> str:
        """All text of the line, including what is far to the right."""
        return self._inner.strip()

    @cached_property
    def column(self) -> int:
        """Column where its text begins."""
        left = _LEFT.match(self.raw)
        return len(self.raw) - len(self.raw[left.end() if left else 0 :].lstrip())

    @cached_property
    def rule(self) -> bool:
        inner = self._inner.strip()
        return bool(_RULE.fullmatch(inner)) and len(re.sub(r"[\w ]", "", inner)) * 2 > len(inner)

    @cached_property
    def border(self) -> int | None:
        """Column of the border on its left, or None."""
        found = _BORDER.match(self.raw)
        return found.end() - 1 if found else None

    def begins_block(self, border: int | None) -> bool:
        """Whether this is the upper edge of a block with such a border. Boxes inside it begin further to the right."""
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


class ScreenPage:
    """The lines of a screen up to the last one that is not blank."""

    def __init__(self, shown: ScreenContent) -> None:
        lines = [ScreenLine(line) for line in shown.text.split("\n")]
        at = None if shown.cursor is None else len(lines) - 1 - shown.cursor
        while lines and not lines[-1].full_text:
            lines.pop()
        self.lines = lines
        self.cursor = at
        """Index of the line with the cursor."""
        self.begins = max(0, len(lines) - DIALOG_LINES)

    @property
    def last(self) -> int:
        """Index of the last line with text; -1 if there is none."""
        full = (number for number, line in enumerate(self.lines) if line.text)
        return max(full, default=-1)

    def above(self, number: int) -> list[ScreenLine]:
        """Return the block above a line: up to its border, or else to a gap."""
        border = self.lines[number].border
        edges = [at for at in range(number) if self.lines[at].begins_block(border)]
        block = self.lines[edges[-1] + 1 : number] if edges else self._up_to_a_gap(number)
        return [line for line in block if line.text]

    def _up_to_a_gap(self, number: int) -> list[ScreenLine]:
        block: list[ScreenLine] = []
        for line in reversed(self.lines[:number]):
            if block and not line.raw.strip() and not block[-1].raw.strip():
                break
            block.append(line)
        return block[::-1]


# Title, topic and id of a dialog; the id is made from its words.

LONGEST_TITLE = 200
LONGEST_LABEL = 75
LONGEST_TEXT = 1_500
MAX_HEADING_LENGTH = 40
"""The most characters of a heading; a longer line is not one."""

_QUESTION = re.compile(r"^(.*?\?)(?=$|[\s)])")
_ORNAMENT = re.compile(r"^[^\w/$#(\[\"'`<]+")
_SPECIFIC = re.compile(
    r"https?://\S+|`[^`]*`|\"[^\"]*\"|'[^']*'|«[^»]*»|(?<!\w)[~.]{0,2}/\S+|\b[\w-]+(?:\.[\w-]+)+\b|\b\w*\d\w*\b"
)
_COUNTS_DOWN = re.compile(r"\b(?:in|after|left|remaining|elapsed|timeout)\b", re.IGNORECASE)


def make_dialog(
    kind: DialogKind,
    title: str,
    options: Sequence[DialogOption],
    *,
    heading: str = "",
    above: Sequence[str] = (),
    specific: bool = False,
) -> Dialog:
    """Build a dialog. `specific`: the text above is part of the question, and so of its id."""
    title = cut(" ".join(title.split()), LONGEST_TITLE)
    about = f"{heading}: {title}" if heading and heading not in title else title
    said = [title, *(option.label for option in options), *(above if specific else ())]
    return Dialog(
        id=words_digest(*said),
        kind=kind,
        title=title,
        text=cut("\n".join(above), LONGEST_TEXT),
        options=tuple(options),
        topic=cut(_SPECIFIC.sub("…", about), LONGEST_TITLE),
    )


def words_digest(*said: str) -> str:
    text = "\0".join(" ".join(_without_clock(line).split()) for line in said)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def title_and_heading(block: Sequence[str]) -> tuple[str, str]:
    """Return the question nearest to its answers, and the heading above it.

    Without a question the heading is the title.
    """
    lines = [line for line in (_ORNAMENT.sub("", one) for one in block) if line]
    if not lines:
        return "", ""
    heading = lines[0].rstrip(":") if len(lines[0]) <= MAX_HEADING_LENGTH else ""
    for line in reversed(lines):
        if question := _QUESTION.match(line):
            return question[1], heading
    if len(lines) > 1 and lines[1].startswith("# "):
        return f"{lines[0]}: {lines[1][2:]}", heading
    return lines[0].rstrip(":"), heading


def button_label(text: str) -> str:
    """Return the label of a button, without a tick and without the key for it."""
    plain = re.sub(r"\s*[✔✓]$|\s*\((?:\w|esc|shift\+tab)\)$", "", " ".join(text.split()))
    return cut(plain or text, LONGEST_LABEL)


def _without_clock(line: str) -> str:
    # A clock that runs while a question is shown must not change the question's id.
    return re.sub(r"\d+", "#", line) if _COUNTS_DOWN.search(line) and _clock(line) else line


def _clock(line: str) -> bool:
    return bool(re.search(r"\b\d+(?:\.\d+)?\s?(?:s|sec|secs|seconds)\b(?!\S)|\b\d+:\d\d\b", line))
