"""The elements of a sheet as blocks. Each makes itself fit into the room there is, and says what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.chat.slack.drawing.fence import fenced
from adapters.chat.slack.drawing.limits import (
    FIELD,
    FIELDS,
    SECTION,
    Block,
    aside,
    cut,
    cut_saying,
    letters,
    mrkdwn,
    plain_text,
    section,
)
from adapters.chat.slack.drawing.parts import parts
from adapters.chat.slack.drawing.site import Site
from adapters.chat.slack.drawing.tables import as_lines, as_table
from adapters.chat.slack.drawing.titles import bold
from adapters.chat.slack.words import escaped, harmless_markdown, on_one_line
from bot.domain.masking import clean
from bot.domain.sheets import Bullets, Code, Element, Fields, Pointer, Prose, Table, Text

_LEAST = 160
"""With less room than this nothing sensible can be said."""
_NOTE = 60
_ITEM = 600
_LABEL = 60
_PAIR = 120
_LEAST_CODE = 240
_LEAST_PROSE = 100
_POINTER = 300


@dataclass(frozen=True)
class Ways:
    """What can be drawn with."""

    site: Site | None = None
    """Where links lead."""
    rich: bool = False
    """Blocks not every workspace takes."""


def body(elements: Sequence[Element], room: int, places: int, ways: Ways) -> list[Block]:
    """What stands between title and buttons: at most `room` characters in at most `places` blocks."""
    pieces = list(_pieces(elements))
    code_room = _code_room(pieces, room)
    fair = _fair([_need(piece, room - _NOTE, code_room, ways) for piece in pieces], room - _NOTE)
    blocks: list[Block] = []
    for piece in pieces:
        left = min(room - _NOTE - letters(blocks), max(fair, _LEAST + 1))
        if isinstance(piece, Code):
            left = min(left, code_room)
        rich = ways.rich and not _has_table(blocks)
        drawn = _element(piece, left, Ways(ways.site, rich)) if left > _LEAST else []
        if not drawn or len(blocks) + len(drawn) >= places:
            blocks.append(aside("… There is more than this message has room for."))
            break
        blocks += drawn
    return blocks


def _pieces(elements: Sequence[Element]) -> Iterator[Element]:
    """Elements that say something; plain lines that follow each other are one piece."""
    lines: list[str] = []
    for element in elements:
        match element:
            case Text(text=text, strong=False):
                lines += [clean(text).strip()] if clean(text).strip() else []
            case Bullets(items=items):
                lines += [f"• {cut(item, _ITEM)}" for item in map(on_one_line, items) if item]
            case _:
                if lines:
                    yield Text(text="\n".join(lines))
                lines = []
                if not _blank(element):
                    yield element
    if lines:
        yield Text(text="\n".join(lines))


def _blank(element: Element) -> bool:
    match element:
        case Text(text=text) | Code(text=text) | Prose(markdown=text):
            return not clean(text).strip()
        case Fields(pairs=pairs):
            return not pairs
        case Table(head=head, rows=rows):
            return not any(on_one_line(cell) for row in (head, *rows) for cell in row)
        case Bullets():
            return True
        case Pointer():
            return False


def _need(piece: Element, room: int, code_room: int, ways: Ways) -> int:
    """How much room it takes if it may."""
    most = min(room, code_room) if isinstance(piece, Code) else room
    return letters(_element(piece, most, ways)) if most > _LEAST else most


def _fair(needs: Sequence[int], room: int) -> int:
    """How much room a piece may take at most, so that a long one leaves some to those below it."""
    left = room
    for number, need in enumerate(sorted(needs)):
        share = left // (len(needs) - number)
        if need > share:
            return share
        left -= need
    return room


def _code_room(pieces: Sequence[Element], room: int) -> int:
    """Several screens on one card share half of its room."""
    count = sum(isinstance(piece, Code) for piece in pieces)
    return SECTION if count < 2 else max(_LEAST_CODE, min(SECTION, room // 2 // count))


def _has_table(blocks: Sequence[Block]) -> bool:
    return any(block["type"] == "table" for block in blocks)


def _element(element: Element, room: int, ways: Ways) -> list[Block]:
    match element:
        case Text(text=text, strong=True):
            return [section(mrkdwn(bold(text, min(SECTION, room))))]
        case Text(text=text):
            return [section(plain_text(cut_saying(text, min(SECTION, room))))]
        case Fields(pairs=pairs):
            return _fields(pairs, room)
        case Bullets(items=items):
            return _element(Text(text="\n".join(items)), room, ways)
        case Table() if ways.rich:
            return as_table(element, room)
        case Table():
            return as_lines(element, room)
        case Code(text=text):
            return [section(mrkdwn(fenced(text, min(SECTION, room))))]
        case Prose(markdown=markdown):
            return _prose(markdown, room)
        case Pointer():
            return [section(mrkdwn(_pointer(element, ways.site)))]


def _pointer(pointer: Pointer, site: Site | None) -> str:
    """`→ <link|words>`, where there is a link."""
    words = escaped(on_one_line(pointer.text), _POINTER) or "there"
    link = site.link(pointer.thread) if site else ""
    return f"→ <{link}|{words}>" if link else f"→ {words}"


def _fields(pairs: Sequence[tuple[str, str]], room: int) -> list[Block]:
    """Names left, values right."""
    kept = pairs[: max(1, (room - _NOTE) // _PAIR)]
    share = min(FIELD, (room - _NOTE) // len(kept) - _LABEL)
    fields: list[Block] = []
    for name, value in kept:
        fields.append(mrkdwn(bold(name, _LABEL) or "–"))
        fields.append(plain_text(cut_saying(clean(value).strip(), share) or "–"))
    blocks: list[Block] = [
        {"type": "section", "fields": fields[n : n + FIELDS]} for n in range(0, len(fields), FIELDS)
    ]
    if len(kept) < len(pairs):
        blocks.append(aside(f"… and {len(pairs) - len(kept):,} more"))
    return blocks


def _prose(markdown: str, room: int) -> list[Block]:
    """As much of a document as there is room for. A whole one is a card of its own."""
    first, *more = parts(harmless_markdown(markdown), max(_LEAST_PROSE, room - _NOTE))
    blocks: list[Block] = [{"type": "markdown", "text": first}]
    if more:
        blocks.append(aside(f"… and {sum(map(len, more)):,} more characters"))
    return blocks
