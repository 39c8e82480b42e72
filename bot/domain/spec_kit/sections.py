"""A document cut at its headings. What stands in a code fence or in front matter is no heading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bot.domain.facts import Fact

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_BOX = re.compile(r"[ \t]*[-*+][ \t]+\[[ xX]?\]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Line(NamedTuple):
    number: int
    text: str
    fenced: bool
    """In a code fence or in front matter, or its border."""
    front: bool = False
    """In front matter."""


class Section(Fact):
    title: str
    level: int
    """1 or 2, as the heading; 0 for what stands before the first one."""
    body: str
    """All lines below the heading, deeper headings among them."""


def lines(markdown: str) -> Iterator[Line]:
    """The lines of a document, from 1, and whether Markdown reads them as such."""
    texts = markdown.removeprefix("\ufeff").splitlines()
    front = _front_matter(texts)
    closers = _closers(texts)
    fence = ""
    for number, text in enumerate(texts, 1):
        if number <= front:
            yield Line(number, text, fenced=True, front=True)
        elif fence:
            yield Line(number, text, fenced=True)
            fence = "" if _closer(text).startswith(fence) else fence
        else:
            fence = _opener(text)
            if fence and not closers[number].get(fence[0], "").startswith(fence):
                fence = ""  # It is never closed, so that nothing below it gets lost.
            yield Line(number, text, fenced=bool(fence))


def _front_matter(texts: Sequence[str]) -> int:
    """How many lines it has; it ends at the first line that cannot belong to it, and then there is none."""
    if not texts or texts[0].rstrip() != "---":
        return 0
    for number, text in enumerate(texts[1:], 2):
        if text.rstrip() == "---":
            return number
        if _BOX.match(text):
            return 0
    return 0


def _opener(text: str) -> str:
    border = _FENCE.fullmatch(text)
    return border[1] if border and not (border[1][0] == "`" and "`" in border[2]) else ""


def _closer(text: str) -> str:
    border = _FENCE.fullmatch(text)
    return border[1] if border and not border[2].strip() else ""


def _closers(texts: Sequence[str]) -> list[dict[str, str]]:
    """By the number of lines read: the longest border, of each kind, that is still to come and could close a fence."""
    ahead: dict[str, str] = {}
    found = [ahead]
    for text in reversed(texts):
        closer = _closer(text)
        if closer and len(closer) > len(ahead.get(closer[0], "")):
            ahead = {**ahead, closer[0]: closer}
        found.append(ahead)
    return found[::-1]


def heading(line: Line) -> tuple[int, str]:
    """Level and title; level 0 for a line that is no heading."""
    found = None if line.fenced else _HEADING.fullmatch(line.text)
    if not found:
        return 0, ""
    title = found[2].rstrip()
    closed = title.rstrip("#")  # "## Title ##" is a heading too, "## C#" keeps its sign
    return len(found[1]), (title if closed[-1:].strip() else closed).strip()


def sections(markdown: str) -> tuple[Section, ...]:
    """The document at its # and ## headings, in order. Together they hold every line of it."""
    found: list[tuple[str, int, list[str]]] = [("", 0, [])]
    for line in lines(markdown):
        level, title = heading(line)
        if level in {1, 2}:
            found.append((title, level, []))
        else:
            found[-1][2].append(line.text)
    cut = [
        Section(title=title, level=level, body="\n".join(body).strip("\n"))
        for title, level, body in found
    ]
    return tuple(section for section in cut if section.level or section.body.strip())
