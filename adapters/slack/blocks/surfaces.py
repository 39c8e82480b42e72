"""The home tab and windows as views: what each page shows, and its buttons."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from adapters.slack.blocks.cards import element_blocks
from adapters.slack.blocks.kit import (
    HEADER,
    SECTION,
    TONES,
    Block,
    DrawingOptions,
    Site,
    bold,
    choice_buttons,
    context_block,
    mrkdwn,
    section,
    text_length,
    with_tone,
)
from adapters.slack.blocks.kit import plain_text as plain
from adapters.slack.blocks.tables import table_as_lines
from adapters.slack.blocks.text import escaped_code, on_one_line
from bot.core.cards import HomeCard
from bot.core.layout import lay_out
from bot.core.sheets import Bullets, Code, Element, Entries, Prose, Sheet, Table, Text, Tone
from bot.core.text import clean, cut, date_time

# The bot's home tab: the latest reply, what to do, and the state of everything.

ENTRIES_SHOWN = (12, 5, 1, 0)
"""Entries under one heading, tried in this order until the page fits."""
HomeFacts = Sequence[tuple[str, str]]

_HOME_BLOCKS = 100
_HOME_ROOM = 30_000
_NOTICE_ROOM, _NOTICE_BLOCKS = 2_500, 12
_NOTICE_TITLE = 600
_BARRED = (
    "You are not on this bot's lists, so it shows and does nothing for you here. "
    "Whoever runs it in this workspace can add you."
)


def home_view(
    card: HomeCard,
    *,
    site: Site | None = None,
    notice: Sheet | None = None,
    max_entries: int = ENTRIES_SHOWN[0],
) -> Block:
    """Draw the home tab. `notice`: the latest reply shown there. `max_entries`: entries under one heading."""
    laid = lay_out(card)
    ways = DrawingOptions(site)
    top = [
        *_notice_blocks(notice, ways),
        *_heading_blocks(laid.title),
        *choice_buttons(laid.choices, card.key),
    ]
    foot = [context_block(f"As of {date_time(card.at)}")]
    places = _HOME_BLOCKS - len(top) - len(foot)
    shown = _draw_with_headings(list(_with_fewer_entries(laid.body, max_entries)), places, ways)
    return _home_view_of([*top, *shown, *foot])


def outsider_view() -> Block:
    """Return the home tab of a user without permissions."""
    return _home_view_of([section(plain(_BARRED))])


def notice_view(notice: Sheet) -> Block:
    """Return a home tab with only a notice, for when the overall state is unknown."""
    return _home_view_of(_notice_blocks(notice, DrawingOptions()))


def _notice_blocks(notice: Sheet | None, ways: DrawingOptions) -> list[Block]:
    if notice is None:
        return []
    mark = TONES[notice.tone] if notice.tone is not Tone.PLAIN else "💬"
    said = bold(with_tone(f"{mark} {on_one_line(notice.title)}", Tone.PLAIN), _NOTICE_TITLE)
    blocks = [
        section(mrkdwn(said)),
        *element_blocks(notice.body, _NOTICE_ROOM, _NOTICE_BLOCKS, ways),
    ]
    return [*blocks, *choice_buttons(notice.choices, "notice"), {"type": "divider"}]


def _with_fewer_entries(elements: Sequence[Element], most: int) -> Iterator[Element]:
    for element in elements:
        if not isinstance(element, Entries) or len(element.items) <= most:
            yield element
            continue
        if most:
            yield Entries(items=element.items[:most])
        left = len(element.items) - most
        yield Text(text=f"… and {left} more: /sessions lists all." if most else f"{left} of them.")


def _draw_with_headings(
    elements: Sequence[Element], places: int, ways: DrawingOptions
) -> list[Block]:
    """Draw elements under separate headings; a page has room for them, and names of fields are bold."""
    blocks: list[Block] = []
    held: list[Element] = []
    for element in [*elements, Text(text="", strong=True)]:
        if not (isinstance(element, Text) and element.strong):
            held.append(element)
            continue
        if held:
            blocks += element_blocks(
                held, _HOME_ROOM - text_length(blocks), places - len(blocks), ways
            )
        blocks += _heading_blocks(element.text)
        held = []
    return blocks


def _heading_blocks(text: str) -> list[Block]:
    words = cut(on_one_line(text), HEADER)
    return [{"type": "header", "text": plain(words)}] if words else []


def _home_view_of(blocks: list[Block]) -> Block:
    # Block ids change whenever the content changes.
    digest = hashlib.sha256(json.dumps(blocks, sort_keys=True).encode()).hexdigest()[:16]
    stamped = [{**block, "block_id": f"{digest}-{n}"} for n, block in enumerate(blocks)]
    return {"type": "home", "blocks": stamped}


# A window: an answer in full, page by page, the newest page first. Nothing in it is cut off.

WINDOW_CALLBACK = "window"
WindowPage = list[Block]

_PAGE_ACTION = "page:"
_WINDOW_TITLE = 24
_LONGEST_TITLE = 600
_PAGE_ROOM = 9_000
"""About as much as a person reads between two presses."""
_PAGE_BLOCKS = 40
_LONGEST_LINE = 500
"""Even fully escaped, a line of this length fits into one code block."""
_NO_LIMIT = 10_000_000
_ELEMENT_ROOM, _ELEMENT_BLOCKS = 20_000, 30


def window_pages(sheet: Sheet) -> list[WindowPage]:
    """Split a sheet into pages: at least one; the last is the newest."""
    done: list[WindowPage] = [[]]
    for block in (block for element in sheet.body for block in _full_element_blocks(element)):
        full = len(done[-1]) >= _PAGE_BLOCKS or text_length([*done[-1], block]) > _PAGE_ROOM
        if full and done[-1]:
            done.append([])
        done[-1].append(block)
    return done


def window_view(
    sheet: Sheet, pages: Sequence[WindowPage], number: int, metadata: str = ""
) -> Block:
    """Draw one page, with the buttons for the other pages."""
    number = max(0, min(number, len(pages) - 1))
    head = bold(with_tone(on_one_line(sheet.title), sheet.tone), _LONGEST_TITLE)
    blocks: WindowPage = [section(mrkdwn(head))] if head else []
    blocks += pages[number]
    if ways := _page_buttons(number, len(pages)):
        blocks.append({"type": "actions", "elements": ways})
    if len(pages) > 1:
        blocks.append(context_block(f"Page {number + 1} of {len(pages)}"))
    return {
        "type": "modal",
        "callback_id": WINDOW_CALLBACK,
        "title": plain(cut(on_one_line(sheet.title), _WINDOW_TITLE) or "…"),
        "close": plain("Close"),
        "notify_on_close": True,
        "private_metadata": metadata,
        "blocks": blocks or [section(plain("…"))],
    }


def requested_page(action: Mapping[str, Any]) -> int | None:
    """Return the page number a press asks for; None if the press is not a page button."""
    name, value = action.get("action_id"), action.get("value")
    if not (isinstance(name, str) and name.startswith(_PAGE_ACTION) and isinstance(value, str)):
        return None
    return int(value) if value.isdecimal() and len(value) < 6 else None


def _page_buttons(number: int, count: int) -> list[Block]:
    there = (("Older", number - 1), ("Newer", number + 1))
    return [
        {
            "type": "button",
            "action_id": f"{_PAGE_ACTION}{label.lower()}",
            "text": plain(label),
            "value": str(page),
        }
        for label, page in there
        if 0 <= page < count
    ]


def _full_element_blocks(element: Element) -> Iterator[Block]:
    """Draw the whole element in as many blocks as it needs."""
    match element:
        case Code(text=text):
            for lines in _packed(_lines_of(escaped_code(text), 5 * _LONGEST_LINE)):
                yield section(mrkdwn(f"```\n{lines}\n```"))
        case Text(text=text, strong=False) | Prose(markdown=text):
            for lines in _packed(_lines_of(clean(text), SECTION)):
                yield section(plain(lines))
        case Bullets(items=items):
            yield from _full_element_blocks(
                Text(text="\n".join(f"• {on_one_line(item)}" for item in items))
            )
        case Table():
            yield from table_as_lines(element, _NO_LIMIT)
        case _:
            yield from element_blocks([element], _ELEMENT_ROOM, _ELEMENT_BLOCKS, DrawingOptions())


def _lines_of(text: str, longest: int) -> Iterator[str]:
    for line in text.strip("\n").split("\n"):
        yield from (line[n : n + longest] for n in range(0, max(1, len(line)), longest))


def _packed(lines: Iterable[str]) -> Iterator[str]:
    """Join lines into as few texts as possible; blank texts are skipped."""
    held = ""
    for line in lines:
        if held and len(held) + 1 + len(line) > SECTION - 10:
            yield from (held,) if held.strip() else ()
            held = ""
        held = f"{held}\n{line}" if held else line
    if held.strip():
        yield held
