"""The layout of a card, independent of the platform. Everything but `Prose` is plain text and must be escaped."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from bot.core.choices import Choice
from bot.core.facts import Fact
from bot.core.people import Thread
from bot.core.text import clean


class Tone(StrEnum):
    """What a card means to its reader. Only NEEDS_YOU, FAILURE and RESULT may notify people."""

    PLAIN = "plain"
    PROGRESS = "progress"
    NEEDS_YOU = "needs_you"
    SUCCESS = "success"
    FAILURE = "failure"


class Text(Fact):
    kind: Literal["text"] = "text"
    text: str
    strong: bool = False
    """It is the heading of what follows."""


class Fields(Fact):
    """Short facts, each with a label."""

    kind: Literal["fields"] = "fields"
    pairs: tuple[tuple[str, str], ...]


class Bullets(Fact):
    kind: Literal["bullets"] = "bullets"
    items: tuple[str, ...]


class Table(Fact):
    kind: Literal["table"] = "table"
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Code(Fact):
    """Output of a program, verbatim."""

    kind: Literal["code"] = "code"
    text: str


class Prose(Fact):
    """A document in Markdown, as it was written."""

    kind: Literal["prose"] = "prose"
    name: str
    markdown: str


class Pointer(Fact):
    """A link to another thread of the same platform."""

    kind: Literal["pointer"] = "pointer"
    text: str
    thread: Thread


class Entry(Fact):
    """One item of a list, with its buttons."""

    title: str
    facts: tuple[str, ...] = ()
    """Its state in a few short phrases."""
    thread: Thread | None = None
    """The thread it is in."""
    choices: tuple[Choice, ...] = ()
    """Each button names what it refers to, so it can be pressed anywhere."""


class Entries(Fact):
    kind: Literal["entries"] = "entries"
    items: tuple[Entry, ...]


Element = Annotated[
    Text | Fields | Bullets | Table | Code | Prose | Pointer | Entries, Field(discriminator="kind")
]


class Sheet(Fact):
    title: str
    tone: Tone = Tone.PLAIN
    body: tuple[Element, ...] = ()
    choices: tuple[Choice, ...] = ()
    footer: str = ""


def markdown(sheet: Sheet) -> str:
    """Return the sheet as Markdown, which serves any chat without code of its own."""
    parts = [f"**{_inline(sheet.title)}**"]
    parts += [_markdown(element) for element in sheet.body]
    if sheet.choices:
        parts.append("\n".join(f"{n}. {_inline(c.label)}" for n, c in enumerate(sheet.choices, 1)))
    if sheet.footer:
        parts.append(f"_{_inline(sheet.footer)}_")
    return "\n\n".join(part for part in parts if part)


def _markdown(element: Element) -> str:
    match element:
        case Text(text=text, strong=strong):
            return f"**{_inline(text)}**" if strong else _escaped(text)
        case Fields(pairs=pairs):
            return "\n".join(f"- **{_inline(name)}**: {_inline(value)}" for name, value in pairs)
        case Bullets(items=items):
            return "\n".join(f"- {_inline(item)}" for item in items)
        case Table(head=head, rows=rows):
            lines = [_row(head), "| " + " | ".join("---" for _ in head) + " |", *map(_row, rows)]
            return "\n".join(lines)
        case Code(text=text):
            fence = "`" * max(3, _longest_backticks(text) + 1)
            return f"{fence}\n{clean(text)}\n{fence}"
        case Prose(markdown=text):
            return clean(text)
        case Pointer(text=text):
            return f"→ {_inline(text)}"
        case Entries(items=items):
            return "\n".join(map(_entry, items))


def _entry(entry: Entry) -> str:
    facts = f" — {_inline(' · '.join(entry.facts))}" if entry.facts else ""
    return f"- **{_inline(entry.title)}**{facts}"


_SPECIAL = frozenset("\\`*_[]<>#|~&")
_LINE_START = re.compile(r"([-+=:]|\d+(?=[.)]))")


def _escaped(text: str) -> str:
    """Escape plain text for Markdown, line by line."""
    return "  \n".join(_line(line) for line in clean(text).splitlines() if line.strip())


def _inline(text: str) -> str:
    """Escape plain text on a single line."""
    return _line(clean(text))


def _line(text: str) -> str:
    text = " ".join(text.split())
    text = "".join(f"\\{char}" if char in _SPECIAL else char for char in text)
    return _LINE_START.sub(_escape_line_start, text, count=1) if _LINE_START.match(text) else text


def _escape_line_start(start: re.Match[str]) -> str:
    # Escapes what would start a list, a rule or a heading at the beginning of a line.
    return start[0] + "\\" if start[0].isdigit() else "\\" + start[0]


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(_inline(cell) for cell in cells) + " |"


def _longest_backticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
