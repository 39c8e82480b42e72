"""Draw cards as Slack messages, within every Slack limit for any content. No text of a card can forge markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adapters.slack.blocks.kit import (
    BLOCKS,
    EVERY_BLOCK_KIND,
    FIELD,
    MESSAGE_TEXT,
    SECTION,
    VALUE,
    Block,
    BlockKind,
    ButtonValue,
    DrawingOptions,
    Site,
    SlackMessage,
    bold,
    build_message,
    button_row,
    button_value,
    choice_buttons,
    context_block,
    cut_with_count,
    join_heading,
    markdown_blocks,
    mrkdwn,
    plain_text,
    section,
    text_length,
    title_blocks,
    with_tone,
)
from adapters.slack.blocks.questions import draw_questions
from adapters.slack.blocks.tables import (
    entry_sections,
    joined_lines,
    plan_blocks,
    table_as_lines,
    table_block,
)
from adapters.slack.blocks.text import (
    code_fence,
    cut_escaped,
    escaped,
    harmless_markdown,
    has_pull_address,
    is_pull_address,
    link_pull_requests,
    on_one_line,
    split_markdown,
)
from bot.core.cards import (
    Card,
    DocumentCard,
    NeedsYouCard,
    PullsCard,
    QuestionsCard,
    StatusCard,
    StoppedCard,
    SummaryCard,
)
from bot.core.choices import Choice, Verb
from bot.core.layout import lay_out
from bot.core.sheets import (
    Bullets,
    Code,
    Element,
    Entries,
    Fields,
    Pointer,
    Prose,
    Sheet,
    Table,
    Text,
    Tone,
)
from bot.core.text import clean, cut

_SPARE_ROOM = 100


def draw_card(
    card: Card, site: Site | None = None, block_kinds: frozenset[BlockKind] = EVERY_BLOCK_KIND
) -> tuple[SlackMessage, ...]:
    """Draw a card as one message, or several for a document.

    `block_kinds`: which of the newer blocks the workspace accepts; it does not change the number of messages. `site`: the
    target of links; without it their text is shown unlinked.
    """
    ways = DrawingOptions(site, block_kinds, _pull_links(card))
    match card:
        case DocumentCard():
            return draw_document(card, ways)
        case QuestionsCard(decided=None):
            return (draw_questions(card),)
        case _:
            return (_draw_sheet(card, ways),)


def _draw_sheet(card: Card, ways: DrawingOptions) -> SlackMessage:
    laid = lay_out(card)
    head = title_blocks(laid, alert_level(card, laid, ways))
    tail = [*choice_buttons(laid.choices, card.key), *feedback_blocks(card, ways)]
    if on_one_line(laid.footer):
        tail.append(context_block(on_one_line(laid.footer)))
    room = MESSAGE_TEXT - _SPARE_ROOM - text_length([head, tail])
    tasks = _plan_of(card, room // 2, ways)
    elements = [one for one in laid.body if not (tasks and isinstance(one, Table))]
    places = BLOCKS - len(head) - len(tasks) - len(tail)
    shown = element_blocks(elements, room - text_length(tasks), places, ways)
    said = (with_tone(laid.title, laid.tone), *_plain_texts(laid.body))
    return build_message(said, [*head, *tasks, *shown, *tail])


def _pull_links(card: Card) -> dict[str, str]:
    """Return the addresses of a card's pull requests by their label on the card."""
    pulls = card.pulls if isinstance(card, PullsCard) else ()
    return {f"#{pull.number}": pull.url for pull in pulls if is_pull_address(pull.url)}


def _plan_of(card: Card, room: int, ways: DrawingOptions) -> list[Block]:
    if isinstance(card, StatusCard) and BlockKind.PLAN in ways.kinds:
        return plan_blocks(card, room)
    return []


def _plain_texts(elements: Sequence[Element]) -> list[str]:
    return [one.text for one in elements if isinstance(one, Text) and not one.strong]


# A document in full: as many messages as it takes, each with as much Markdown as Slack shows in
# one.

_POSITION_ROOM = 80


def draw_document(card: DocumentCard, options: DrawingOptions) -> tuple[SlackMessage, ...]:
    """Draw a document as several messages. Number of messages and cut positions do not depend on the blocks used."""
    laid = lay_out(card)
    texts = [element for element in laid.body if isinstance(element, Prose)]
    name = on_one_line(texts[0].name)
    room = MESSAGE_TEXT - _POSITION_ROOM - text_length([title_blocks(laid), context_block(name)])
    cut = [
        part for text in texts for part in split_markdown(harmless_markdown(text.markdown), room)
    ]
    return tuple(
        _document_part(laid, name, text, n, len(cut), options) for n, text in enumerate(cut, 1)
    )


def _document_part(
    laid: Sheet, name: str, text: str, number: int, count: int, ways: DrawingOptions
) -> SlackMessage:
    place = f" · part {number} of {count}" if count > 1 else ""
    head = title_blocks(laid) if number == 1 else []
    where = context_block(f"{name}{place}" if number == 1 else f"{on_one_line(laid.title)}{place}")
    said = (f"{with_tone(laid.title, laid.tone)}{place}", name)
    return build_message(said, [*head, where, *markdown_blocks(text, ways)], f"{number}/{count}")


# The elements of a sheet as blocks. Each is shortened to the room available and says what was left out.

_MIN_ROOM = 160
"""With less room than this (in characters) an element is left out."""
_NOTE_ROOM = 60
_ITEM = 600
_LABEL = 60
_PAIR = 120
_LEAST_CODE = 240
_LEAST_PROSE = 100
_POINTER = 300


def element_blocks(
    elements: Sequence[Element], room: int, max_blocks: int, ways: DrawingOptions
) -> list[Block]:
    """Draw the part between title and buttons: at most `room` characters in at most `places` blocks."""
    pieces = list(_nonblank_elements(elements, ways))
    code_room = _code_room(pieces, room)
    fair = _fair_share(
        [_room_needed(piece, room - _NOTE_ROOM, code_room, ways) for piece in pieces],
        room - _NOTE_ROOM,
    )
    blocks: list[Block] = []
    headed = False
    for piece in pieces:
        left = min(room - _NOTE_ROOM - text_length(blocks), max(fair, _MIN_ROOM + 1))
        if isinstance(piece, Code):
            left = min(left, code_room)
        own = ways.without(BlockKind.TABLE) if _has_table(blocks) else ways
        free = max_blocks - len(blocks) - 1
        drawn = _blocks_of(piece, left, own, free) if left > _MIN_ROOM else []
        if not drawn or len(blocks) + len(drawn) >= max_blocks:
            blocks.append(context_block("… There is more than this message has room for."))
            break
        belongs = (
            headed and isinstance(piece, Text | Fields | Table | Code) and not _is_heading(piece)
        )
        blocks += join_heading(blocks.pop(), drawn) if belongs else drawn
        headed = _is_heading(piece)
    return blocks


def _is_heading(piece: Element) -> bool:
    return isinstance(piece, Text) and piece.strong


def _nonblank_elements(elements: Sequence[Element], ways: DrawingOptions) -> Iterator[Element]:
    """Yield the elements that are not blank; consecutive plain lines are joined into one element."""
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
                if not _is_blank(element):
                    yield element
    if lines:
        yield Text(text="\n".join(lines))


def _bullet(item: str) -> str:
    # An item that starts with ↳ belongs to the line above: it is indented and needs no bullet.
    mark = "\u2003" if item.startswith("↳") else "• "
    return f"{mark}{cut(item, _ITEM)}"


def _is_blank(element: Element) -> bool:
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


def _room_needed(piece: Element, room: int, code_room: int, ways: DrawingOptions) -> int:
    """Return how many characters the element takes if it is not shortened below `room`."""
    most = min(room, code_room) if isinstance(piece, Code) else room
    return text_length(_blocks_of(piece, most, ways)) if most > _MIN_ROOM else most


def _fair_share(needs: Sequence[int], room: int) -> int:
    """Return the most characters any one element may take, so that a long one leaves room for those below it."""
    left = room
    for number, need in enumerate(sorted(needs)):
        share = left // (len(needs) - number)
        if need > share:
            return share
        left -= need
    return room


def _code_room(pieces: Sequence[Element], room: int) -> int:
    # Several code blocks on one card share half of its room.
    count = sum(isinstance(piece, Code) for piece in pieces)
    return SECTION if count < 2 else max(_LEAST_CODE, min(SECTION, room // 2 // count))


def _has_table(blocks: Sequence[Block]) -> bool:
    return any(block["type"] == "table" for block in blocks)


def _blocks_of(
    element: Element, room: int, ways: DrawingOptions, places: int = BLOCKS
) -> list[Block]:
    match element:
        case Text(text=text, strong=True):
            return [section(mrkdwn(bold(text, min(SECTION, room))))]
        case Text(text=text):
            return [section(_plain(text, min(SECTION, room)))]
        case Fields(pairs=pairs):
            return _fields(pairs, room)
        case Bullets(items=items):
            return _blocks_of(Text(text="\n".join(items)), room, ways)
        case Table():
            as_either = table_block if BlockKind.TABLE in ways.kinds else table_as_lines
            return as_either(element, room, ways.links)
        case Code(text=text):
            return [section(mrkdwn(code_fence(text, min(SECTION, room))))]
        case Prose(markdown=markdown):
            return _prose(markdown, room, ways)
        case Pointer():
            return [section(mrkdwn(_pointer(element, ways.site)))]
        case Entries(items=items):
            return entry_sections(items, room, max_blocks=places, site=ways.site)


def _pointer(pointer: Pointer, site: Site | None) -> str:
    """Return `→ <link|words>`, or only the words if there is no link."""
    words = escaped(on_one_line(pointer.text), _POINTER) or "there"
    link = site.link(pointer.thread) if site else ""
    return f"→ <{link}|{words}>" if link else f"→ {words}"


def _plain(text: str, most: int) -> Block:
    """Return a text object without markup, or mrkdwn if the text contains the address of a pull request, so that it can
    be linked.
    """
    shown = plain_text(cut_with_count(text, most))
    if has_pull_address(shown["text"]) and len(marked := link_pull_requests(shown["text"])) <= most:
        return mrkdwn(marked)
    return shown


def _fields(pairs: Sequence[tuple[str, str]], room: int) -> list[Block]:
    # One line per field: Slack's side-by-side fields are torn apart on a phone.
    kept = pairs[: max(1, (room - _NOTE_ROOM) // _PAIR)]
    share = min(FIELD, (room - _NOTE_ROOM) // len(kept) - _LABEL)
    lines = [_fact(name, value, share) for name, value in kept]
    blocks = [section(mrkdwn(text)) for text in joined_lines(lines)]
    if len(kept) < len(pairs):
        blocks.append(context_block(f"… and {len(pairs) - len(kept):,} more"))
    return blocks


def _fact(name: str, value: str, longest: int) -> str:
    words = cut_with_count(on_one_line(value), longest)
    return f"{bold(name, _LABEL) or '–'}  {cut_escaped(escaped(words), longest) or '–'}"


def _prose(markdown: str, room: int, ways: DrawingOptions) -> list[Block]:
    """Draw as much of a document as there is room for. Whole documents have a card of their own."""
    first, *more = split_markdown(harmless_markdown(markdown), max(_LEAST_PROSE, room - _NOTE_ROOM))
    blocks = markdown_blocks(first, ways)
    if more:
        blocks.append(context_block(f"… and {sum(map(len, more)):,} more characters"))
    return blocks


# Cards whose title stands in a coloured box: failures, stuck work and the end of a session.


def alert_level(card: Card, laid: Sheet, ways: DrawingOptions) -> str:
    """Return Slack's name of the box colour; empty if the card has no box or the workspace does not accept one."""
    if BlockKind.ALERT not in ways.kinds:
        return ""
    match card:
        case NeedsYouCard() | StoppedCard():
            return "" if card.decided else "warning"
        case SummaryCard() if laid.tone is Tone.SUCCESS:
            return "success"
        case _:
            return "error" if laid.tone is Tone.FAILURE else ""


# Below a result people may say whether it was helpful: Slack's own pair of thumbs, or two buttons. They stay after the
# answer.

HELPFUL = Choice(label="Helpful", verb=Verb.HELPFUL)
UNHELPFUL = Choice(label="Not helpful", verb=Verb.UNHELPFUL)


def feedback_blocks(card: Card, ways: DrawingOptions) -> list[Block]:
    if not isinstance(card, SummaryCard):
        return []
    good, bad = button_value(HELPFUL, card.key), button_value(UNHELPFUL, card.key)
    if len(good.value) > VALUE or len(bad.value) > VALUE:
        return []
    if BlockKind.FEEDBACK not in ways.kinds:
        return button_row([(HELPFUL, good), (UNHELPFUL, bad)])
    thumbs: Block = {
        "type": "feedback_buttons",
        "action_id": "feedback",
        "positive_button": _thumb("👍", HELPFUL, good),
        "negative_button": _thumb("👎", UNHELPFUL, bad),
    }
    return [{"type": "context_actions", "elements": [thumbs]}]


def _thumb(thumb: str, choice: Choice, press: ButtonValue) -> Block:
    text = {**plain_text(thumb), "emoji": True}
    return {"text": text, "accessibility_label": choice.label, "value": press.value}


# Simpler forms of a message that Slack has refused: the words and the buttons matter most.

PlainForm = tuple[str, list[Block]]
TEXT_ONLY_LENGTH = 3_500
"""Slightly less than the limit for an edited message that is only text."""
_NOT_FOR_READING = ("placeholder", "initial_option", "confirm")
_INTERACTIVE_BLOCKS = ("actions", "context_actions")
_INTERACTIVE_ACCESSORIES = ("button", "overflow")


def simpler_forms(message: SlackMessage) -> tuple[PlainForm, PlainForm]:
    """Return two simpler forms: sections with the buttons unchanged, and text without blocks."""
    return (message.text, _to_sections(message.blocks)), (_text_only(message), [])


def _to_sections(blocks: list[Block]) -> list[Block]:
    # Blocks with buttons are never left out.
    pressed = sum(_is_interactive(block) for block in blocks)
    most, room = BLOCKS - pressed, MESSAGE_TEXT
    shown: list[Block] = []
    for block in blocks:
        if block.get("type") in _INTERACTIVE_BLOCKS:
            shown.append(block)
            continue
        sections: list[Block] = []
        for piece in (one for text in _texts_in(block) for one in _section_texts(text)):
            room -= len(piece["text"])
            most -= 1
            if room >= 0 and most >= 0:
                sections.append({"type": "section", "text": piece})
        shown += _with_button(sections, block)
    return shown


def _is_interactive(block: Block) -> bool:
    return block.get("type") in _INTERACTIVE_BLOCKS or _accessory(block) is not None


def _accessory(block: Block) -> Block | None:
    accessory = block.get("accessory")
    return accessory if accessory and accessory.get("type") in _INTERACTIVE_ACCESSORIES else None


def _with_button(sections: list[Block], block: Block) -> list[Block]:
    """Attach the block's accessory to the first section, or put it below if there is no section."""
    accessory = _accessory(block)
    if accessory is None:
        return sections
    if not sections:
        return [{"type": "actions", "elements": [accessory]}]
    return [{**sections[0], "accessory": accessory}, *sections[1:]]


def _text_only(message: SlackMessage) -> str:
    lines = [
        text["text"] if text["type"] == "mrkdwn" else escaped(text["text"])
        for text in _texts_in(message.blocks)
    ]
    return cut_escaped("\n".join(lines), TEXT_ONLY_LENGTH) or message.text


def _texts_in(content: object) -> Iterator[Block]:
    """Yield every readable text object, in order. Texts on buttons are skipped."""
    if isinstance(content, list):
        for one in content:
            yield from _texts_in(one)
    if not isinstance(content, dict) or content.get("type") in (
        *_INTERACTIVE_BLOCKS,
        *_INTERACTIVE_ACCESSORIES,
    ):
        return
    text = content.get("text")
    if isinstance(text, str) and text.strip():
        yield dict(content) if content.get("type") == "mrkdwn" else plain_text(text)
    for name, inner in content.items():
        if name == "title" and isinstance(inner, str) and inner:
            yield plain_text(inner)
        elif name not in _NOT_FOR_READING:
            yield from _texts_in(inner)


def _section_texts(text: Block) -> Iterator[Block]:
    whole = text["text"]
    for start in range(0, len(whole), SECTION):
        yield {**text, "text": whole[start : start + SECTION]}
