"""The parts of a card as pieces that can be put together, and none of which is too large for a message."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from adapters.chat.matrix.prose import as_html, escaped, without_front_matter
from adapters.chat.matrix.splitting import slices, split
from bot.domain.choices import said_as
from bot.domain.intent import Question
from bot.domain.masking import clean
from bot.domain.people import Thread
from bot.domain.sheets import (
    Bullets,
    Code,
    Element,
    Entries,
    Entry,
    Fields,
    Pointer,
    Prose,
    Table,
    Text,
)

_TAGS = 10
"""Bytes a line, about."""
_LONGEST_POINTER = 300
_LONGEST_ITEM = 2_000
"""Characters. What is longer is cut into several items."""


@dataclass(frozen=True)
class Piece:
    """The same, in plain text and in HTML."""

    body: str
    html: str


@dataclass(frozen=True)
class _Frame:
    """What stands around items, and between them."""

    before: str
    between: str
    after: str
    body_before: str = ""
    body_after: str = ""


_LIST = _Frame("<ul><li>", "</li><li>", "</li></ul>")
_LINES = _Frame("<p>", "<br>", "</p>")
_STRONG = _Frame("<p><strong>", "<br>", "</strong></p>")
_CODE = _Frame("<pre><code>", "\n", "</code></pre>", "```\n", "\n```")


def size(piece: Piece) -> int:
    """Bytes of an event, about: as JSON, as they are counted."""
    return len(json.dumps([piece.body, piece.html], ensure_ascii=False).encode())


def paragraph(text: str, *, strong: bool = False) -> Piece:
    shown = escaped(text)
    return Piece(text, f"<p><strong>{shown}</strong></p>" if strong else f"<p>{shown}</p>")


def element_pieces(element: Element, room: int) -> Iterator[Piece]:
    match element:
        case Text(text=text, strong=strong):
            yield from _framed(_STRONG if strong else _LINES, map(_plain, _lines(text)), room)
        case Fields(pairs=pairs):
            yield from _framed(_LIST, (_named(name, value) for name, value in pairs), room)
        case Bullets(items=items):
            yield from _framed(_LIST, (_bullet(item) for item in items), room)
        case Table():
            yield from _framed(_LIST, _rows(element), room)
        case Code(text=text):
            lines = clean(text).rstrip("\n").split("\n")
            yield from _framed(_CODE, (Piece(n, html.escape(n)) for n in lines), room)
        case Prose(markdown=markdown):
            yield from _prose(without_front_matter(markdown), room)
        case Pointer():
            yield _pointer(element)
        case Entries(items=items):
            yield from _framed(_LIST, (_entry(item) for item in items), room)


def question_pieces(question: Question, room: int) -> Iterator[Piece]:
    """Its options are numbered as answers count them, so that `D1: 2` means what it says."""
    asked = f"{question.decision}  {question.text}"
    if question.answer is not None:
        answered = map(_plain, _lines(f"→ {question.answer}"))
        yield from _framed(_LINES, [*map(_strong, _lines(asked)), *answered], room)
        return
    yield from element_pieces(Text(text=asked, strong=True), room)
    if question.why:
        yield from element_pieces(Text(text=question.why), room)
    lines = [
        _plain(
            f"{n}. {_line(option)}{' (default)' if option and option == question.default else ''}"
        )
        for n, option in enumerate(question.options, 1)
    ]
    if not _line(question.default):
        lines.append(_plain("Only you can know this."))
    elif question.default not in question.options:
        lines.append(_plain(f"Default: {_line(question.default)}"))
    yield from _framed(_LINES, lines, room)


def _prose(markdown: str, room: int) -> Iterator[Piece]:
    """Cut by what it takes about; what takes more is cut once more."""
    for part in split(markdown, _about, room):
        piece = Piece(part.strip("\n"), as_html(part))
        if size(piece) > room and len(part) > 1:
            yield from _prose(part, room // 2)
        else:
            yield piece


def _about(markdown: str) -> int:
    """Without drawing it, which takes a hundred times longer."""
    return size(Piece(markdown, html.escape(markdown))) + _TAGS * markdown.count("\n")


def _framed(frame: _Frame, items: Iterable[Piece], room: int) -> Iterator[Piece]:
    held: list[Piece] = []
    full = around = size(Piece(frame.body_before + frame.body_after, frame.before + frame.after))
    for item in (part for whole in items for part in _short(whole)):
        needs = size(item) + len(frame.between)
        if held and full + needs > room:
            yield _put_together(frame, held)
            held, full = [], around
        held.append(item)
        full += needs
    if held:
        yield _put_together(frame, held)


def _put_together(frame: _Frame, items: list[Piece]) -> Piece:
    body = "\n".join(item.body for item in items)
    shown = frame.between.join(item.html for item in items)
    return Piece(frame.body_before + body + frame.body_after, frame.before + shown + frame.after)


def _short(item: Piece) -> Iterator[Piece]:
    if len(item.body) <= _LONGEST_ITEM:
        yield item
    else:
        yield from (Piece(part, escaped(part)) for part in slices(item.body))


def _plain(text: str) -> Piece:
    return Piece(text, escaped(text))


def _strong(text: str) -> Piece:
    return Piece(text, f"<strong>{escaped(text)}</strong>")


def _lines(text: str) -> list[str]:
    return [line for line in clean(text).split("\n") if line.strip()]


def _bullet(text: str) -> Piece:
    lines = _lines(text)
    return Piece("• " + "\n  ".join(lines), "<br>".join(map(escaped, lines)))


def _named(name: str, value: str) -> Piece:
    name, lines = _line(name), _lines(value)
    shown = "<br>".join(map(escaped, lines))
    return Piece(f"{name}: " + "\n".join(lines), f"<strong>{escaped(name)}</strong>: {shown}")


def _rows(table: Table) -> Iterator[Piece]:
    """A row, an item: its first cell, the second, and the others by name. Tables would be cut off at the right."""
    for row in table.rows:
        cells = [_line(cell) for cell in row]
        named = zip(map(_line, table.head[2:]), cells[2:], strict=False)
        more = [*cells[1:2], *(f"{name}: {cell}" for name, cell in named if cell not in ("", "–"))]
        rest = [part for part in [" · ".join(part for part in more if part)] if part]
        body = " — ".join([*cells[:1], *rest])
        shown = [f"<strong>{escaped(cell)}</strong>" for cell in cells[:1]]
        yield Piece(f"• {body}", " — ".join([*shown, *map(escaped, rest)]))


def _entry(entry: Entry) -> Piece:
    """Its title leads to where it is; what can be done about it is written."""
    title = _cut(_line(entry.title)) or "there"
    link = _link(entry.thread) if entry.thread else ""
    said = [word for word in map(said_as, entry.choices) if word]
    rest = " · ".join(_line(fact) for fact in entry.facts)
    words = f"{rest}{' — ' if rest and said else ''}"
    body = f"{title} · {words}{', '.join(f'`{one}`' for one in said)}"
    shown = f'<a href="{html.escape(link)}">{escaped(title)}</a>' if link else escaped(title)
    codes = ", ".join(f"<code>{html.escape(one)}</code>" for one in said)
    return Piece(f"• {body}", f"<strong>{shown}</strong> · {escaped(words)}{codes}")


def _pointer(pointer: Pointer) -> Piece:
    """Words that lead to the first message of another thread: to an id of the homeserver, whatever the words say."""
    words = _cut(_line(pointer.text)) or "there"
    link = _link(pointer.thread)
    if not link:
        return paragraph(f"→ {words}")
    address = html.escape(link)
    return Piece(f"→ {words}: {link}", f'<p>→ <a href="{address}">{escaped(words)}</a></p>')


def _link(thread: Thread) -> str:
    """Empty: it is no message of Matrix."""
    if thread.platform != "matrix" or thread.channel[:1] != "!" or thread.root[:1] != "$":
        return ""
    return f"https://matrix.to/#/{quote(thread.channel, safe='!:')}/{quote(thread.root, safe='$')}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_POINTER else f"{text[: _LONGEST_POINTER - 1]}…"


def _line(text: str) -> str:
    return " ".join(clean(text).split())
