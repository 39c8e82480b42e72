"""Answers written down in spec.md: a line per decision, under the day on which it was taken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from bot.domain.spec_kit.sections import heading, lines

_TITLE = "Clarifications"


class _Clarification(NamedTuple):
    number: int
    question: str
    answer: str

    @property
    def bullet(self) -> str:
        return f"- Q: {self.question} → A: {self.answer} (D{self.number})"

    def is_said_by(self, line: str) -> bool:
        """Whether the line is about the same decision; one without a number, about the same question."""
        text = " ".join(line.split())
        if not text.startswith(("- Q:", "* Q:")):
            return False
        number = re.search(r"\(D([0-9]{1,4})\)$", text)
        if number:
            return int(number[1]) == self.number
        return text[2:].startswith(f"Q: {self.question} → A:")


def with_clarifications(
    spec_markdown: str, date: str, answers: Sequence[tuple[int, str, str]]
) -> str:
    """The spec with decisions written down: number, question, answer. Doing it twice adds nothing.

    A decision that stands there already is written over where it stands; the others stand under the day.
    """
    taken = {number: _Clarification(number, _line(q), _line(a)) for number, q, a in answers}
    text, fresh = _written_over([line.text for line in lines(spec_markdown)], list(taken.values()))
    if not fresh:
        return "\n".join(text) + "\n" if text != _texts(spec_markdown) else spec_markdown
    return _with_fresh(text, date, [one.bullet for one in fresh])


def _written_over(
    text: list[str], answers: Sequence[_Clarification]
) -> tuple[list[str], list[_Clarification]]:
    """The lines with the newer answers in them, and the answers that no line is about yet."""
    start, end = _extent(text, 2, _TITLE)
    if start < 0:
        return text, list(answers)
    kept = text[: start + 1]
    open_ones = {one.number: one for one in answers}
    for line in text[start + 1 : end]:
        about = next((one for one in answers if one.is_said_by(line)), None)
        if about is None:
            kept.append(line)
        elif open_ones.pop(about.number, None):
            kept.append(about.bullet)
    return [*kept, *text[end:]], list(open_ones.values())


def _with_fresh(text: list[str], date: str, bullets: list[str]) -> str:
    start, end = _extent(text, 2, _TITLE)
    if start < 0:
        # Answers stand before what they explain, as in the template: after title and metadata.
        first = _extent(text, 2, "")[0]
        at = first if first >= 0 else len(text)
        return _inserted(text, at, [f"## {_TITLE}", "", f"### Session {date}", "", *bullets])
    day, day_end = _extent(text, 3, f"Session {date}", start, end)
    if day < 0:
        return _inserted(text, end, [f"### Session {date}", "", *bullets])
    while day_end > day + 1 and not text[day_end - 1].strip():
        day_end -= 1
    gap = [""] if day_end == day + 1 else []
    return "\n".join([*text[:day_end], *gap, *bullets, *text[day_end:]]).rstrip("\n") + "\n"


def _extent(
    text: Sequence[str], level: int, title: str, after: int = -1, before: int = 10**9
) -> tuple[int, int]:
    """From which line (from 0) to before which the section reaches; -1 where there is none."""
    start = -1
    at = 0
    for at, line in enumerate(lines("\n".join(text))):
        found, name = heading(line)
        if start >= 0 and 0 < found <= level:
            return start, at
        if start < 0 and found == level and after < at < before and name.startswith(title):
            start = at
    return start, min(at + 1, before)


def _inserted(text: list[str], at: int, block: list[str]) -> str:
    head = "\n".join(text[:at]).rstrip("\n")
    tail = "\n".join(text[at:]).strip("\n")
    return "\n\n".join(part for part in (head, "\n".join(block), tail) if part) + "\n"


def _texts(markdown: str) -> list[str]:
    return [line.text for line in lines(markdown)]


def _line(text: str) -> str:
    return " ".join(text.split())
