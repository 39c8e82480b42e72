"""The elements of a sheet as blocks. Each makes itself fit into the room there is, and says what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adapters.chat.slack.drawing.addresses import has_address, linked
from adapters.chat.slack.drawing.entries import entries
from adapters.chat.slack.drawing.fence import fenced
from adapters.chat.slack.drawing.headings import under
from adapters.chat.slack.drawing.limits import (
    BLOCKS,
    FIELD,
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
from adapters.chat.slack.drawing.pages import page
from adapters.chat.slack.drawing.parts import parts
from adapters.chat.slack.drawing.site import Site
from adapters.chat.slack.drawing.tables import as_lines, as_table, joined
from adapters.chat.slack.drawing.titles import bold
from adapters.chat.slack.drawing.ways import Kind, Ways
from adapters.chat.slack.words import cut_escaped, escaped, harmless_markdown, on_one_line
from bot.domain.masking import clean
from bot.domain.sheets import Bullets, Code, Element, Entries, Fields, Pointer, Prose, Table, Text

_LEAST = 160
"""With less room than this nothing sensible can be said."""
_NOTE = 60
_ITEM = 600
_LABEL = 60
_PAIR = 120
_LEAST_CODE = 240
_LEAST_PROSE = 100
_POINTER = 300


def body(elements: Sequence[Element], room: int, places: int, ways: Ways) -> list[Block]:
    """What stands between title and buttons: at most `room` characters in at most `places` blocks."""
    pieces = list(_pieces(elements, ways))
    code_room = _code_room(pieces, room)
    fair = _fair([_need(piece, room - _NOTE, code_room, ways) for piece in pieces], room - _NOTE)
    blocks: list[Block] = []
    headed = False
    for piece in pieces:
        left = min(room - _NOTE - letters(blocks), max(fair, _LEAST + 1))
        if isinstance(piece, Code):
            left = min(left, code_room)
        own = ways.without(Kind.TABLE) if _has_table(blocks) else ways
        free = places - len(blocks) - 1
        drawn = _element(piece, left, own, free) if left > _LEAST else []
        if not drawn or len(blocks) + len(drawn) >= places:
            blocks.append(aside("… There is more than this message has room for."))
            break
        belongs = headed and isinstance(piece, Text | Fields | Table | Code) and not _heads(piece)
        blocks += under(blocks.pop(), drawn) if belongs else drawn
        headed = _heads(piece)
    return blocks


def _heads(piece: Element) -> bool:
    return isinstance(piece, Text) and piece.strong


def _pieces(elements: Sequence[Element], ways: Ways) -> Iterator[Element]:
    """Elements that say something; plain lines that follow each other are one piece."""
    known = {f"{name}: {address}" for name, address in ways.links.items()}
    lines: list[str] = []
    for element in elements:
        match element:
            case Text(text=text, strong=False):
                lines += [clean(text).strip()] if clean(text).strip() else []
            case Bullets(items=items):
                told = [item for item in map(on_one_line, items) if item and item not in known]
                lines += map(_bullet, told)
            case _:
                if lines:
                    yield Text(text="\n".join(lines))
                lines = []
                if not _blank(element):
                    yield element
    if lines:
        yield Text(text="\n".join(lines))


def _bullet(item: str) -> str:
    """What belongs to the line above it stands further in, and has a mark already."""
    mark = "\u2003" if item.startswith("↳") else "• "
    return f"{mark}{cut(item, _ITEM)}"


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
        case Entries(items=items):
            return not items
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


def _element(element: Element, room: int, ways: Ways, places: int = BLOCKS) -> list[Block]:
    match element:
        case Text(text=text, strong=True):
            return [section(mrkdwn(bold(text, min(SECTION, room))))]
        case Text(text=text):
            return [section(_plain(text, min(SECTION, room)))]
        case Fields(pairs=pairs):
            return _fields(pairs, room)
        case Bullets(items=items):
            return _element(Text(text="\n".join(items)), room, ways)
        case Table():
            as_either = as_table if Kind.TABLE in ways.kinds else as_lines
            return as_either(element, room, ways.links)
        case Code(text=text):
            return [section(mrkdwn(fenced(text, min(SECTION, room))))]
        case Prose(markdown=markdown):
            return _prose(markdown, room, ways)
        case Pointer():
            return [section(mrkdwn(_pointer(element, ways.site)))]
        case Entries(items=items):
            return entries(items, room, places=places, site=ways.site)


def _pointer(pointer: Pointer, site: Site | None) -> str:
    """`→ <link|words>`, where there is a link."""
    words = escaped(on_one_line(pointer.text), _POINTER) or "there"
    link = site.link(pointer.thread) if site else ""
    return f"→ <{link}|{words}>" if link else f"→ {words}"


def _plain(text: str, most: int) -> Block:
    """Text in which no markup is read; only where a pull request can be followed, it has to be."""
    shown = plain_text(cut_saying(text, most))
    if has_address(shown["text"]) and len(marked := linked(shown["text"])) <= most:
        return mrkdwn(marked)
    return shown


def _fields(pairs: Sequence[tuple[str, str]], room: int) -> list[Block]:
    """A line each, its name before it: side by side they are torn apart on a telephone."""
    kept = pairs[: max(1, (room - _NOTE) // _PAIR)]
    share = min(FIELD, (room - _NOTE) // len(kept) - _LABEL)
    lines = [_fact(name, value, share) for name, value in kept]
    blocks = [section(mrkdwn(text)) for text in joined(lines)]
    if len(kept) < len(pairs):
        blocks.append(aside(f"… and {len(pairs) - len(kept):,} more"))
    return blocks


def _fact(name: str, value: str, longest: int) -> str:
    words = cut_saying(on_one_line(value), longest)
    return f"{bold(name, _LABEL) or '–'}  {cut_escaped(escaped(words), longest) or '–'}"


def _prose(markdown: str, room: int, ways: Ways) -> list[Block]:
    """As much of a document as there is room for. A whole one is a card of its own."""
    first, *more = parts(harmless_markdown(markdown), max(_LEAST_PROSE, room - _NOTE))
    blocks = page(first, ways)
    if more:
        blocks.append(aside(f"… and {sum(map(len, more)):,} more characters"))
    return blocks
