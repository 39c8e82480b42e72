"""Draws a card as messages of Matrix: pure. Plain body and HTML say the same, and each message fits into an event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import quote

from adapters.chat.matrix.chips import EMOJI, Chip, chips
from adapters.chat.matrix.pieces import Piece, element_pieces, paragraph, question_pieces, size
from adapters.chat.matrix.prose import escaped
from adapters.chat.matrix.wording import words_of
from bot.domain.cards import (
    Card,
    DocumentCard,
    NewsCard,
    QuestionsCard,
    ReceivedCard,
    StatusCard,
    SummaryCard,
)
from bot.domain.choices import Choice, Verb, said_as
from bot.domain.layout import sheet
from bot.domain.masking import clean
from bot.domain.people import Person
from bot.domain.sheets import Sheet, Tone

Kind = Literal["m.text", "m.notice"]

ROOM = 20_000
"""Bytes of body and HTML in one event. The limit of all is 65,536, and an edit says the body twice."""
TONES = {
    Tone.PLAIN: "",
    Tone.PROGRESS: "⏳",
    Tone.NEEDS_YOU: "👉",
    Tone.SUCCESS: "🎉",
    Tone.FAILURE: "⚠️",
}
_HEAD = 1_500
"""Bytes that a title may take of every message."""
_LONGEST_TITLE = 250
_JUDGE = "Was this what you wanted? React with 👍 or 👎."
_CHANGE = "write in this thread what should be different"


@dataclass(frozen=True)
class Attachment:
    name: str
    data: bytes
    mimetype: str = "text/markdown"


@dataclass(frozen=True)
class Message:
    body: str
    html: str
    kind: Kind
    file: Attachment | None = None
    """Comes after the message."""
    part: int = 0


def drawn(
    card: Card, room: int = ROOM, *, by_words: frozenset[Verb] = frozenset()
) -> tuple[Message, ...]:
    """The messages, in order. What can be chosen stands on the last. `by_words`: what no reaction does there."""
    laid = sheet(card)
    title = _title(laid)
    pieces = [*_body(card, laid, room - _HEAD), *_foot(card, laid, by_words)]
    groups = _grouped(pieces, room - _HEAD)
    kind = _kind(card)
    messages = [
        _message(_numbered(title, number, len(groups)), group, kind, number)
        for number, group in enumerate(groups)
    ]
    messages[-1] = replace(messages[-1], file=_file(card))
    return tuple(messages)


def pings(card: Card) -> bool:
    """Whether somebody's telephone may ring: something waits for a person, failed for good, or is done."""
    if isinstance(card, NewsCard):
        return False
    return isinstance(card, SummaryCard) or sheet(card).tone in (Tone.NEEDS_YOU, Tone.FAILURE)


def addressed(message: Message, person: Person) -> Message:
    """The message with the name of the one it is for before it."""
    link = f"https://matrix.to/#/{quote(person.id, safe='@:')}"
    pill = f'<a href="{escape(link)}">{escape(_on_one_line(str(person)))}</a>: '
    return replace(
        message,
        body=f"{_on_one_line(str(person))}: {message.body}",
        html=pill + message.html,
        kind="m.notice",
    )


def _kind(card: Card) -> Kind:
    """Notices are what nobody has to act upon."""
    return "m.notice" if isinstance(card, ReceivedCard | StatusCard | NewsCard) else "m.text"


def _title(laid: Sheet) -> str:
    title = f"{TONES[laid.tone]} {_on_one_line(laid.title)}".strip()
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"


def _numbered(title: str, number: int, of: int) -> Piece:
    return paragraph(f"{title} ({number + 1}/{of})" if of > 1 else title, strong=True)


def _body(card: Card, laid: Sheet, room: int) -> Iterator[Piece]:
    if isinstance(card, QuestionsCard):
        for question in card.questions:
            yield from question_pieces(question, room)
        return
    for element in laid.body:
        yield from element_pieces(element, room)


def _foot(card: Card, laid: Sheet, by_words: frozenset[Verb]) -> Iterator[Piece]:
    """In one piece: what can be chosen stands on the message that has the chips."""
    bodies: list[str] = []
    shown: list[str] = []
    if laid.choices:
        lines = [
            _written(chip) if chip.choice.verb in by_words else _choice(chip)
            for chip in chips(laid.choices, by_words)
        ]
        bodies.append("\n".join(line.body for line in lines))
        shown.append(f"<ul>{''.join(f'<li>{line.html}</li>' for line in lines)}</ul>")
    if laid.footer:
        footer = _on_one_line(laid.footer)
        bodies.append(footer)
        shown.append(f"<p><em>{escaped(footer)}</em></p>")
    if isinstance(card, SummaryCard):
        bodies.append(_JUDGE)
        shown.append(f"<p>{_JUDGE}</p>")
    if bodies:
        yield Piece("\n\n".join(bodies), "".join(shown))


def _choice(chip: Chip) -> Piece:
    """✅ Approve — react, or write `approve`"""
    choice, label = chip.choice, _on_one_line(chip.choice.label)
    emoji = chip.emoji or EMOJI[choice.verb]
    ways = ["react" if chip.seeded else f"react with {emoji}"] if chip.seeded or chip.emoji else []
    shown = list(ways)
    if said := _said(choice):
        ways.append(f"write `{said}`")
        shown.append(f"write <code>{escape(said)}</code>")
    elif choice.verb is Verb.CHANGE:
        ways.append(_CHANGE)
        shown.append(_CHANGE)
    dash = " — " if ways else ""
    return Piece(
        f"{emoji} {label}{dash}{', or '.join(ways)}",
        f"{emoji} <strong>{escaped(label)}</strong>{dash}{', or '.join(shown)}",
    )


def _written(chip: Chip) -> Piece:
    """✅ Merge into main — write `Merge into main`"""
    emoji, words = chip.emoji or EMOJI[chip.choice.verb], words_of(chip)
    label = _on_one_line(chip.choice.label)
    return Piece(
        f"{emoji} {label} — write `{words}`",
        f"{emoji} <strong>{escaped(label)}</strong> — write <code>{escape(words)}</code>",
    )


def _said(choice: Choice) -> str:
    return f"logs {choice.about}" if choice.verb is Verb.LOG else said_as(choice)


def _grouped(pieces: Sequence[Piece], room: int) -> list[list[Piece]]:
    """As many on a message as fit; at least one message."""
    groups: list[list[Piece]] = [[]]
    full = 0
    for piece in pieces:
        needs = size(piece)
        if groups[-1] and full + needs > room:
            groups.append([])
            full = 0
        groups[-1].append(piece)
        full += needs
    return groups


def _message(title: Piece, group: list[Piece], kind: Kind, part: int) -> Message:
    pieces = [title, *group]
    return Message(
        body="\n\n".join(piece.body for piece in pieces if piece.body),
        html="".join(piece.html for piece in pieces),
        kind=kind,
        part=part,
    )


def _file(card: Card) -> Attachment | None:
    """A document comes as a file, too."""
    if not isinstance(card, DocumentCard):
        return None
    return Attachment(PurePosixPath(card.file).name, card.text.encode())


def _on_one_line(text: str) -> str:
    return " ".join(clean(text).split())
