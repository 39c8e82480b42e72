"""A document cut at its headings. What stands in a code fence or in front matter is no heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bot.domain.facts import Fact

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Line(NamedTuple):
    number: int
    text: str
    fenced: bool
    """In a code fence or in front matter, or its border."""


class Section(Fact):
    title: str
    level: int
    """1 or 2, as the heading; 0 for what stands before the first one."""
    body: str
    """All lines below the heading, deeper headings among them."""


def lines(markdown: str) -> Iterator[Line]:
    """The lines of a document, from 1, and whether Markdown reads them as such."""
    fence = ""
    front = markdown.startswith("---\n")
    for number, text in enumerate(markdown.splitlines(), 1):
        if front:
            yield Line(number, text, fenced=True)
            front = number == 1 or text.rstrip() != "---"
            continue
        border = _FENCE.fullmatch(text)
        if fence:
            yield Line(number, text, fenced=True)
            if border and border[1].startswith(fence) and not border[2].strip():
                fence = ""
        elif border and not (border[1][0] == "`" and "`" in border[2]):
            fence = border[1]
            yield Line(number, text, fenced=True)
        else:
            yield Line(number, text, fenced=False)


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
