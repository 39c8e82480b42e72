"""What an event of a room means to the bot. Pure: an event goes in, a fact or nothing comes out, whatever it holds.

Nothing is: what the bot did itself, notices (other programs talk in them), state. Who is meant is decided by ids,
never by names.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import unquote

from adapters.chat.matrix.batch import LONGEST_ID, Event

_LATEST = 253_402_300_799_000
"""Milliseconds: the last a date can hold. A homeserver passes on whatever a server claims."""
_HEAD = 2000
"""Characters in which a name in front is looked for. A hostile message is long."""
_VARIANT = "\ufe0f"
"""Asks for an emoji's colours. Some clients send it, some do not; it means nothing else."""
_CAPTIONED = frozenset(("m.image", "m.file", "m.video", "m.audio"))
_LINK = re.compile(r"""(?:https?://matrix\.to/#/((?:@|%40)[^"'<>\s?/]+)|matrix:u/([^"'<>\s?/]+))""")
_ID = re.compile(r"(?<![\w.])@[^\s:<>\"'@()]+:[A-Za-z0-9.-]*[A-Za-z0-9](?::[0-9]+)?")
_QUOTED = re.compile(r"\s*<mx-reply>.*?</mx-reply>", re.DOTALL)
_PILL = re.compile(r"""\s*(?:<p>)?<a\s[^>]*?href=["']([^"']*)["'][^>]*>(.*?)</a>""", re.DOTALL)
_SEPARATOR = re.compile(r"^\s*[:,：，、]?\s*")


@dataclass(frozen=True)
class Me:
    """Who the bot is on Matrix."""

    user_id: str
    name: str = ""
    """As it is shown. Only used to leave it out where somebody addresses the bot."""


@dataclass(frozen=True)
class SentFile:
    """What a message says of the file it brings. All of it may be wrong."""

    kind: str
    """The type of the message: m.file, m.image, …"""
    name: str
    url: str
    size: int
    """0: it does not say."""
    lock: Event
    """In encrypted rooms: how it is opened."""


@dataclass(frozen=True)
class Message:
    event_id: str
    sender: str
    room: str
    root: str
    """The first message of its thread; itself where it is in none."""
    text: str
    """Without the quotation of what it replies to, and without the bot's name in front."""
    mention: bool
    to_others: bool
    """It names somebody, and not the bot."""
    at: datetime
    replies_to: str = ""
    """The message it quotes, outside of threads."""
    file: SentFile | None = None


@dataclass(frozen=True)
class Reaction:
    event_id: str
    sender: str
    room: str
    target: str
    key: str
    at: datetime


@dataclass(frozen=True)
class Edit:
    """A message says something else now."""

    event_id: str
    sender: str
    room: str
    target: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Redaction:
    """Something was taken back: a message, or a reaction."""

    event_id: str
    sender: str
    room: str
    target: str
    at: datetime


Heard = Message | Edit | Reaction | Redaction


def meaning(room: str, event: Event, me: Me) -> Heard | None:
    """What it says to the bot, if anything."""
    sender = _text(event, "sender")
    if not sender or sender == me.user_id or "state_key" in event or not _text(event, "event_id"):
        return None
    match event.get("type"):
        case "m.room.message":
            return _message(room, event, me)
        case "m.reaction":
            return _reaction(room, event)
        case "m.room.redaction":
            return _redaction(room, event)
        case _:
            return None


def _message(room: str, event: Event, me: Me) -> Message | Edit | None:
    content, event_id = _object(event, "content"), _text(event, "event_id")
    body = _said(content)
    relation = _object(content, "m.relates_to")
    if relation.get("rel_type") == "m.replace":
        target = _id(relation, "event_id")
        return _edit(room, event, target, me) if target else None
    if body is None:
        return None
    thread = _id(relation, "event_id") if relation.get("rel_type") == "m.thread" else ""
    replies_to = _id(_object(relation, "m.in_reply_to"), "event_id")
    if replies_to:
        body = _without_quotation(body)
    formatted = _text(content, "formatted_body")
    if quoted := _QUOTED.match(formatted):
        formatted = formatted[quoted.end() :]
    named = _named(content, body, formatted)
    return Message(
        event_id=event_id,
        sender=_text(event, "sender"),
        room=room,
        root=thread or event_id,
        text=_without_name(body, formatted, me).strip(),
        mention=me.user_id in named,
        to_others=me.user_id not in named and bool(named - {_text(event, "sender")}),
        at=at(event),
        replies_to="" if thread else replies_to,
        file=_file(content),
    )


def _edit(room: str, event: Event, target: str, me: Me) -> Edit | None:
    """What the message says now stands in `m.new_content`; the body beside it is for clients that know no edits."""
    content = _object(_object(event, "content"), "m.new_content")
    body = _said(content)
    if body is None:
        return None
    text = _without_name(body, _text(content, "formatted_body"), me).strip()
    return Edit(_text(event, "event_id"), _text(event, "sender"), room, target, text, at(event))


def _reaction(room: str, event: Event) -> Reaction | None:
    relation = _object(_object(event, "content"), "m.relates_to")
    target, key = _id(relation, "event_id"), _text(relation, "key").replace(_VARIANT, "").strip()
    if relation.get("rel_type") != "m.annotation" or not target or not key:
        return None
    return Reaction(_text(event, "event_id"), _text(event, "sender"), room, target, key, at(event))


def _redaction(room: str, event: Event) -> Redaction | None:
    # Where the target stands depends on the version of the room.
    target = _id(_object(event, "content"), "redacts") or _id(event, "redacts")
    if not target:
        return None
    return Redaction(_text(event, "event_id"), _text(event, "sender"), room, target, at(event))


def _said(content: Event) -> str | None:
    """The words of a message; of a picture or file those that stand under it, if any."""
    kind, body = _text(content, "msgtype"), content.get("body")
    if not isinstance(body, str):
        return None
    if kind in _CAPTIONED:
        return body if _text(content, "filename") not in ("", body) else ""
    return body if kind == "m.text" else None


def _file(content: Event) -> SentFile | None:
    kind = _text(content, "msgtype")
    if kind not in _CAPTIONED:
        return None
    lock, size = _object(content, "file"), _object(content, "info").get("size")
    return SentFile(
        kind=kind,
        name=_text(content, "filename") or _text(content, "body"),
        url=_text(lock, "url") or _text(content, "url"),
        size=size if isinstance(size, int) else 0,
        lock=lock,
    )


def _named(content: Event, body: str, formatted: str) -> frozenset[str]:
    """The full ids of all it speaks to. What the client says counts; only where it says nothing, the text does."""
    if "m.mentions" in content:
        ids = _object(content, "m.mentions").get("user_ids")
        return frozenset(str(one) for one in ids) if isinstance(ids, list) else frozenset()
    return frozenset((*_linked(formatted), *_ID.findall(body)))


def _linked(formatted: str) -> Iterator[str]:
    for match in _LINK.finditer(html.unescape(formatted)):
        yield unquote(match[1]) if match[1] else f"@{unquote(match[2])}"


def _without_quotation(body: str) -> str:
    """Old clients put what they reply to in front, line by line, and then an empty line."""
    if not body.startswith(("> <@", "> * <@")):
        return body
    lines = body.split("\n")
    first = next((n for n, line in enumerate(lines) if not line.startswith(">")), len(lines))
    return "\n".join(lines[first:])


def _without_name(body: str, formatted: str, me: Me) -> str:
    """What is left where the bot is addressed by a link, by its full id, or by its name and a colon."""
    body = body.lstrip()
    pill = _PILL.match(formatted[:_HEAD])
    if pill and me.user_id in _linked(pill[1]):
        label = html.unescape(pill[2])
        for name in (f"[{label}](https://matrix.to/#/{me.user_id})", label):
            if label and body.startswith(name):
                return _SEPARATOR.sub("", body[len(name) :], count=1)
    if addressed := re.match(re.escape(me.user_id) + r"(?:\s*[:,：，、]\s*|\s+|$)", body):
        return body[addressed.end() :]
    typed = re.match(re.escape(me.name) + r"\s*[:：]", body) if me.name else None
    return body[typed.end() :] if typed else body


def at(event: Event) -> datetime:
    """When it was sent, as the homeserver says."""
    stamp = event.get("origin_server_ts")
    milliseconds = stamp if isinstance(stamp, int) else 0
    return datetime.fromtimestamp(min(max(milliseconds, 0), _LATEST) / 1000, UTC)


def _text(value: Event, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _id(value: Event, name: str) -> str:
    """Of an event. Nothing has an id that is longer than any can be."""
    found = _text(value, name)
    return found if len(found) <= LONGEST_ID else ""


def _object(value: Event, name: str) -> Event:
    found = value.get(name)
    return found if isinstance(found, dict) else {}
