"""A window of one person's own: an answer in full, page by page, the newest first. Pure; nothing in it is cut off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from adapters.chat.slack.drawing.elements import body
from adapters.chat.slack.drawing.limits import SECTION, Block, aside, cut, letters, mrkdwn, section
from adapters.chat.slack.drawing.limits import plain_text as plain
from adapters.chat.slack.drawing.message import marked
from adapters.chat.slack.drawing.tables import as_lines
from adapters.chat.slack.drawing.titles import bold
from adapters.chat.slack.drawing.ways import Ways
from adapters.chat.slack.words import escaped_code, on_one_line
from bot.domain.masking import clean
from bot.domain.sheets import Bullets, Code, Element, Prose, Sheet, Table, Text

WINDOW = "window"
Page = list[Block]

_PAGE = "page:"
_TITLE = 24
_LONGEST_TITLE = 600
_ROOM = 9_000
"""What somebody can take in, between two presses."""
_MOST = 40
_LINE = 500
"""Even if all of it must be escaped, such a line fits between two fences."""
_ENDLESS = 10_000_000
_ELEMENT, _BLOCKS = 20_000, 30


def pages(sheet: Sheet) -> list[Page]:
    """At least one; the last is the newest."""
    done: list[Page] = [[]]
    for block in (block for element in sheet.body for block in _whole(element)):
        full = len(done[-1]) >= _MOST or letters([*done[-1], block]) > _ROOM
        if full and done[-1]:
            done.append([])
        done[-1].append(block)
    return done


def window(sheet: Sheet, pages: Sequence[Page], number: int, metadata: str = "") -> Block:
    """The view: one page, and the ways to the others."""
    number = max(0, min(number, len(pages) - 1))
    head = bold(marked(on_one_line(sheet.title), sheet.tone), _LONGEST_TITLE)
    blocks: Page = [section(mrkdwn(head))] if head else []
    blocks += pages[number]
    if ways := _ways(number, len(pages)):
        blocks.append({"type": "actions", "elements": ways})
    if len(pages) > 1:
        blocks.append(aside(f"Page {number + 1} of {len(pages)}"))
    return {
        "type": "modal",
        "callback_id": WINDOW,
        "title": plain(cut(on_one_line(sheet.title), _TITLE) or "…"),
        "close": plain("Close"),
        "notify_on_close": True,
        "private_metadata": metadata,
        "blocks": blocks or [section(plain("…"))],
    }


def page_in(action: Mapping[str, Any]) -> int | None:
    """Which page a press asks for; None: it is no such press."""
    name, value = action.get("action_id"), action.get("value")
    if not (isinstance(name, str) and name.startswith(_PAGE) and isinstance(value, str)):
        return None
    return int(value) if value.isdecimal() and len(value) < 6 else None


def _ways(number: int, count: int) -> list[Block]:
    there = (("Older", number - 1), ("Newer", number + 1))
    return [
        {
            "type": "button",
            "action_id": f"{_PAGE}{label.lower()}",
            "text": plain(label),
            "value": str(page),
        }
        for label, page in there
        if 0 <= page < count
    ]


def _whole(element: Element) -> Iterator[Block]:
    """All of it, in as many blocks as it takes."""
    match element:
        case Code(text=text):
            for lines in _packed(_lines(escaped_code(text), 5 * _LINE)):
                yield section(mrkdwn(f"```\n{lines}\n```"))
        case Text(text=text, strong=False) | Prose(markdown=text):
            for lines in _packed(_lines(clean(text), SECTION)):
                yield section(plain(lines))
        case Bullets(items=items):
            yield from _whole(Text(text="\n".join(f"• {on_one_line(item)}" for item in items)))
        case Table():
            yield from as_lines(element, _ENDLESS)
        case _:
            yield from body([element], _ELEMENT, _BLOCKS, Ways())


def _lines(text: str, longest: int) -> Iterator[str]:
    for line in text.strip("\n").split("\n"):
        yield from (line[n : n + longest] for n in range(0, max(1, len(line)), longest))


def _packed(lines: Iterable[str]) -> Iterator[str]:
    """In as few texts as they fit into; what is blank is none."""
    held = ""
    for line in lines:
        if held and len(held) + 1 + len(line) > SECTION - 10:
            yield from (held,) if held.strip() else ()
            held = ""
        held = f"{held}\n{line}" if held else line
    if held.strip():
        yield held
