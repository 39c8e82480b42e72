"""Draw cards as Matrix messages, in pieces that fit into an event. Plain body and HTML say the same."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import quote

from adapters.matrix.markdown import (
    escaped,
    fixed_slices,
    markdown_html,
    split_markdown,
    without_front_matter,
)
from adapters.matrix.reactions import EMOJI, ReactionButton, reaction_buttons, typed_words
from bot.core.cards import (
    Card,
    DocumentCard,
    NewsCard,
    QuestionsCard,
    ReceivedCard,
    StatusCard,
    SummaryCard,
)
from bot.core.choices import Choice, Verb, typed_equivalent
from bot.core.intent import Question
from bot.core.layout import lay_out
from bot.core.people import Person, Thread
from bot.core.sheets import (
    Bullets,
    Code,
    Element,
    Entries,
    Entry,
    Fields,
    Pointer,
    Prose,
    Sheet,
    Table,
    Text,
    Tone,
)
from bot.core.text import clean, cut

MessageType = Literal["m.text", "m.notice"]

MESSAGE_BYTES = 20_000
"""Bytes of body and HTML in one event. A whole event may have 65,536, and an edit contains the body twice."""
TONES = {
    Tone.PLAIN: "",
    Tone.PROGRESS: "⏳",
    Tone.NEEDS_YOU: "👉",
    Tone.SUCCESS: "🎉",
    Tone.FAILURE: "⚠️",
}
_TITLE_BYTES = 1_500
"""The most bytes that a title may take in each message."""
_LONGEST_TITLE = 250
_ASK_FEEDBACK = "Was this what you wanted? React with 👍 or 👎."
_CHANGE = "write in this thread what should be different"


@dataclass(frozen=True)
class Attachment:
    name: str
    data: bytes
    mimetype: str = "text/markdown"


@dataclass(frozen=True)
class DrawnMessage:
    body: str
    html: str
    kind: MessageType
    file: Attachment | None = None
    """Sent after the message."""
    part: int = 0


def draw_card(
    card: Card, room: int = MESSAGE_BYTES, *, typed_verbs: frozenset[Verb] = frozenset()
) -> tuple[DrawnMessage, ...]:
    """Draw the card as messages, in order; the choices are on the last.

    `typed_verbs`: verbs that a reaction does not trigger here, so that they must be typed.
    """
    laid = lay_out(card)
    title = _title(laid)
    pieces = [*_body(card, laid, room - _TITLE_BYTES), *_footer(card, laid, typed_verbs)]
    groups = _group_by_message(pieces, room - _TITLE_BYTES)
    kind = _kind(card)
    messages = [
        _message(_numbered(title, number, len(groups)), group, kind, number)
        for number, group in enumerate(groups)
    ]
    messages[-1] = replace(messages[-1], file=_file(card))
    return tuple(messages)


def causes_notification(card: Card) -> bool:
    """Whether the card may cause a notification: it needs a person, reports a final failure or a completed session."""
    if isinstance(card, NewsCard):
        return False
    return isinstance(card, SummaryCard) or lay_out(card).tone in (Tone.NEEDS_YOU, Tone.FAILURE)


def mention_person(message: DrawnMessage, person: Person) -> DrawnMessage:
    """Put the person's name in front of the message, as a mention."""
    link = f"https://matrix.to/#/{quote(person.id, safe='@:')}"
    pill = f'<a href="{escape(link)}">{escape(_on_one_line(str(person)))}</a>: '
    return replace(
        message,
        body=f"{_on_one_line(str(person))}: {message.body}",
        html=pill + message.html,
        kind="m.notice",
    )


def _kind(card: Card) -> MessageType:
    # Cards that nobody has to act upon are notices.
    return "m.notice" if isinstance(card, ReceivedCard | StatusCard | NewsCard) else "m.text"


def _title(laid: Sheet) -> str:
    title = f"{TONES[laid.tone]} {_on_one_line(laid.title)}".strip()
    return cut(title, _LONGEST_TITLE)


def _numbered(title: str, number: int, of: int) -> HtmlPiece:
    return paragraph(f"{title} ({number + 1}/{of})" if of > 1 else title, strong=True)


def _body(card: Card, laid: Sheet, room: int) -> Iterator[HtmlPiece]:
    if isinstance(card, QuestionsCard):
        for question in card.questions:
            yield from question_pieces(question, room)
        return
    for element in laid.body:
        yield from element_pieces(element, room)


def _footer(card: Card, laid: Sheet, by_words: frozenset[Verb]) -> Iterator[HtmlPiece]:
    """Draw the footer in one piece: the choices belong on the message that has the buttons."""
    bodies: list[str] = []
    shown: list[str] = []
    if laid.choices:
        lines = [
            _typed_choice(button) if button.choice.verb in by_words else _choice(button)
            for button in reaction_buttons(laid.choices, by_words)
        ]
        bodies.append("\n".join(line.body for line in lines))
        shown.append(f"<ul>{''.join(f'<li>{line.html}</li>' for line in lines)}</ul>")
    if laid.footer:
        footer = _on_one_line(laid.footer)
        bodies.append(footer)
        shown.append(f"<p><em>{escaped(footer)}</em></p>")
    if isinstance(card, SummaryCard):
        bodies.append(_ASK_FEEDBACK)
        shown.append(f"<p>{_ASK_FEEDBACK}</p>")
    if bodies:
        yield HtmlPiece("\n\n".join(bodies), "".join(shown))


def _choice(button: ReactionButton) -> HtmlPiece:
    """Return the line of a choice: ✅ Approve — react, or write `approve`"""
    choice, label = button.choice, _on_one_line(button.choice.label)
    emoji = button.emoji or EMOJI[choice.verb]
    ways = (
        ["react" if button.seeded else f"react with {emoji}"]
        if button.seeded or button.emoji
        else []
    )
    shown = list(ways)
    if said := _command_for(choice):
        ways.append(f"write `{said}`")
        shown.append(f"write <code>{escape(said)}</code>")
    elif choice.verb is Verb.CHANGE:
        ways.append(_CHANGE)
        shown.append(_CHANGE)
    dash = " — " if ways else ""
    return HtmlPiece(
        f"{emoji} {label}{dash}{', or '.join(ways)}",
        f"{emoji} <strong>{escaped(label)}</strong>{dash}{', or '.join(shown)}",
    )


def _typed_choice(button: ReactionButton) -> HtmlPiece:
    """Return the line of a choice that must be typed: ✅ Merge into main — write `Merge into main`"""
    emoji, words = button.emoji or EMOJI[button.choice.verb], typed_words(button)
    label = _on_one_line(button.choice.label)
    return HtmlPiece(
        f"{emoji} {label} — write `{words}`",
        f"{emoji} <strong>{escaped(label)}</strong> — write <code>{escape(words)}</code>",
    )


def _command_for(choice: Choice) -> str:
    return f"logs {choice.about}" if choice.verb is Verb.LOG else typed_equivalent(choice)


def _group_by_message(pieces: Sequence[HtmlPiece], room: int) -> list[list[HtmlPiece]]:
    """Group the pieces into messages, as many on each as fit; at least one message."""
    groups: list[list[HtmlPiece]] = [[]]
    full = 0
    for piece in pieces:
        needs = piece_size(piece)
        if groups[-1] and full + needs > room:
            groups.append([])
            full = 0
        groups[-1].append(piece)
        full += needs
    return groups


def _message(
    title: HtmlPiece, group: list[HtmlPiece], kind: MessageType, part: int
) -> DrawnMessage:
    pieces = [title, *group]
    return DrawnMessage(
        body="\n\n".join(piece.body for piece in pieces if piece.body),
        html="".join(piece.html for piece in pieces),
        kind=kind,
        part=part,
    )


def _file(card: Card) -> Attachment | None:
    """Return a document as an attachment; other cards have none."""
    if not isinstance(card, DocumentCard):
        return None
    return Attachment(PurePosixPath(card.file).name, card.text.encode())


def _on_one_line(text: str) -> str:
    return " ".join(clean(text).split())


# The elements of a card as pieces that can be joined, none of them too large for a message.

_TAG_BYTES = 10
"""Estimated bytes of HTML tags per line."""
_LONGEST_POINTER = 300
_MAX_ITEM_LENGTH = 2_000
"""Characters. Longer items are cut into several."""


@dataclass(frozen=True)
class HtmlPiece:
    """The same content as plain text and as HTML."""

    body: str
    html: str


@dataclass(frozen=True)
class _Frame:
    """The markup around and between items."""

    before: str
    between: str
    after: str
    body_before: str = ""
    body_after: str = ""


_LIST = _Frame("<ul><li>", "</li><li>", "</li></ul>")
_LINES = _Frame("<p>", "<br>", "</p>")
_STRONG = _Frame("<p><strong>", "<br>", "</strong></p>")
_CODE = _Frame("<pre><code>", "\n", "</code></pre>", "```\n", "\n```")


def piece_size(piece: HtmlPiece) -> int:
    """Return the approximate size in bytes within an event, counted as JSON."""
    return len(json.dumps([piece.body, piece.html], ensure_ascii=False).encode())


def paragraph(text: str, *, strong: bool = False) -> HtmlPiece:
    shown = escaped(text)
    return HtmlPiece(text, f"<p><strong>{shown}</strong></p>" if strong else f"<p>{shown}</p>")


def element_pieces(element: Element, room: int) -> Iterator[HtmlPiece]:
    match element:
        case Text(text=text, strong=strong):
            yield from _framed(
                _STRONG if strong else _LINES, map(_plain_piece, _lines_in(text)), room
            )
        case Fields(pairs=pairs):
            yield from _framed(_LIST, (_field(name, value) for name, value in pairs), room)
        case Bullets(items=items):
            yield from _framed(_LIST, (_bullet(item) for item in items), room)
        case Table():
            yield from _framed(_LIST, _row_items(element), room)
        case Code(text=text):
            lines = clean(text).rstrip("\n").split("\n")
            yield from _framed(_CODE, (HtmlPiece(n, html.escape(n)) for n in lines), room)
        case Prose(markdown=markdown):
            yield from _prose(without_front_matter(markdown), room)
        case Pointer():
            yield _pointer(element)
        case Entries(items=items):
            yield from _framed(_LIST, (_entry(item) for item in items), room)


def question_pieces(question: Question, room: int) -> Iterator[HtmlPiece]:
    """Draw a question. Options are numbered in the order in which answers are read, so that `D1: 2` is unambiguous."""
    asked = f"{question.decision}  {question.text}"
    if question.answer is not None:
        answered = map(_plain_piece, _lines_in(f"→ {question.answer}"))
        yield from _framed(_LINES, [*map(_strong_piece, _lines_in(asked)), *answered], room)
        return
    yield from element_pieces(Text(text=asked, strong=True), room)
    if question.why:
        yield from element_pieces(Text(text=question.why), room)
    lines = [
        _plain_piece(
            f"{n}. {_on_line(option)}{' (default)' if option and option == question.default else ''}"
        )
        for n, option in enumerate(question.options, 1)
    ]
    if not _on_line(question.default):
        lines.append(_plain_piece("Only you can know this."))
    elif question.default not in question.options:
        lines.append(_plain_piece(f"Default: {_on_line(question.default)}"))
    yield from _framed(_LINES, lines, room)


def _prose(markdown: str, room: int) -> Iterator[HtmlPiece]:
    # Split by estimated size; a part that turns out larger is split again.
    for part in split_markdown(markdown, _estimated_size, room):
        piece = HtmlPiece(part.strip("\n"), markdown_html(part))
        if piece_size(piece) > room and len(part) > 1:
            yield from _prose(part, room // 2)
        else:
            yield piece


def _estimated_size(markdown: str) -> int:
    # Estimated without rendering the Markdown, which takes a hundred times longer.
    return piece_size(HtmlPiece(markdown, html.escape(markdown))) + _TAG_BYTES * markdown.count(
        "\n"
    )


def _framed(frame: _Frame, items: Iterable[HtmlPiece], room: int) -> Iterator[HtmlPiece]:
    held: list[HtmlPiece] = []
    full = around = piece_size(
        HtmlPiece(frame.body_before + frame.body_after, frame.before + frame.after)
    )
    for item in (part for whole in items for part in _short_items(whole)):
        needs = piece_size(item) + len(frame.between)
        if held and full + needs > room:
            yield _put_together(frame, held)
            held, full = [], around
        held.append(item)
        full += needs
    if held:
        yield _put_together(frame, held)


def _put_together(frame: _Frame, items: list[HtmlPiece]) -> HtmlPiece:
    body = "\n".join(item.body for item in items)
    shown = frame.between.join(item.html for item in items)
    return HtmlPiece(
        frame.body_before + body + frame.body_after, frame.before + shown + frame.after
    )


def _short_items(item: HtmlPiece) -> Iterator[HtmlPiece]:
    if len(item.body) <= _MAX_ITEM_LENGTH:
        yield item
    else:
        yield from (HtmlPiece(part, escaped(part)) for part in fixed_slices(item.body))


def _plain_piece(text: str) -> HtmlPiece:
    return HtmlPiece(text, escaped(text))


def _strong_piece(text: str) -> HtmlPiece:
    return HtmlPiece(text, f"<strong>{escaped(text)}</strong>")


def _lines_in(text: str) -> list[str]:
    return [line for line in clean(text).split("\n") if line.strip()]


def _bullet(text: str) -> HtmlPiece:
    lines = _lines_in(text)
    return HtmlPiece("• " + "\n  ".join(lines), "<br>".join(map(escaped, lines)))


def _field(name: str, value: str) -> HtmlPiece:
    name, lines = _on_line(name), _lines_in(value)
    shown = "<br>".join(map(escaped, lines))
    return HtmlPiece(f"{name}: " + "\n".join(lines), f"<strong>{escaped(name)}</strong>: {shown}")


def _row_items(table: Table) -> Iterator[HtmlPiece]:
    # One item per row: the first cell, the second, and the others with their column name. Clients cut off tables at the
    # right.
    for row in table.rows:
        cells = [_on_line(cell) for cell in row]
        named = zip(map(_on_line, table.head[2:]), cells[2:], strict=False)
        more = [*cells[1:2], *(f"{name}: {cell}" for name, cell in named if cell not in ("", "–"))]
        rest = [part for part in [" · ".join(part for part in more if part)] if part]
        body = " — ".join([*cells[:1], *rest])
        shown = [f"<strong>{escaped(cell)}</strong>" for cell in cells[:1]]
        yield HtmlPiece(f"• {body}", " — ".join([*shown, *map(escaped, rest)]))


def _entry(entry: Entry) -> HtmlPiece:
    """Draw an entry: its title links to its thread, and its actions are commands to type."""
    title = cut(_on_line(entry.title), _LONGEST_POINTER) or "there"
    link = _thread_link(entry.thread) if entry.thread else ""
    said = [word for word in map(typed_equivalent, entry.choices) if word]
    rest = " · ".join(_on_line(fact) for fact in entry.facts)
    words = f"{rest}{' — ' if rest and said else ''}"
    body = f"{title} · {words}{', '.join(f'`{one}`' for one in said)}"
    shown = f'<a href="{html.escape(link)}">{escaped(title)}</a>' if link else escaped(title)
    codes = ", ".join(f"<code>{html.escape(one)}</code>" for one in said)
    return HtmlPiece(f"• {body}", f"<strong>{shown}</strong> · {escaped(words)}{codes}")


def _pointer(pointer: Pointer) -> HtmlPiece:
    """Draw a link to the first message of another thread. The target is built only from ids, never from the text."""
    words = cut(_on_line(pointer.text), _LONGEST_POINTER) or "there"
    link = _thread_link(pointer.thread)
    if not link:
        return paragraph(f"→ {words}")
    address = html.escape(link)
    return HtmlPiece(f"→ {words}: {link}", f'<p>→ <a href="{address}">{escaped(words)}</a></p>')


def _thread_link(thread: Thread) -> str:
    """Return the matrix.to address of the thread; empty if it is not a Matrix thread."""
    if thread.platform != "matrix" or thread.channel[:1] != "!" or thread.root[:1] != "$":
        return ""
    return f"https://matrix.to/#/{quote(thread.channel, safe='!:')}/{quote(thread.root, safe='$')}"


def _on_line(text: str) -> str:
    return " ".join(clean(text).split())
