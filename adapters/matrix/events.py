"""Parses sync responses and what an event of a room means to the bot. No I/O; malformed parts are skipped."""

from __future__ import annotations

import html
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from bot.core.errors import Unavailable

# A sync response: events by room, and invitations.

MatrixEvent = dict[str, Any]
ENCRYPTED = "m.room.encrypted"
_MAX_EVENTS = 20_000
"""The most events of others whose order is remembered."""
MAX_ID_LENGTH = 255
"""The most characters a Matrix id may have."""


@dataclass(frozen=True)
class Timeline:
    """The last events of a room, the oldest first."""

    events: tuple[MatrixEvent, ...]
    before: str = ""
    """Token for reading backwards; empty if nothing is missing."""


@dataclass(frozen=True)
class SyncBatch:
    next_since: str
    """Token for the next sync."""
    timelines: dict[str, Timeline]
    invites: dict[str, tuple[MatrixEvent, ...]]
    """The stripped state of each room the bot is invited to."""


class EventOrder:
    """The order in which the homeserver reports events; their timestamps come from the clocks of several servers."""

    def __init__(self, me: str = "", known: Iterable[str] = ()) -> None:
        """`known`: the bot's messages from before a restart.

        Until a sync reports one, it counts as later than everything.
        """
        self._me = me
        self._own = dict.fromkeys(known, 0)
        self._others: OrderedDict[str, int] = OrderedDict()
        self._reported = 0

    def record(self, events: Iterable[MatrixEvent]) -> None:
        """Record all events of a response before any of them is handled, because one may wait for its key while later
        ones are handled.
        """
        for event in events:
            self._reported += 1
            kept = self._own if event.get("sender") == self._me else self._others
            kept[str(event.get("event_id"))] = self._reported
            if len(self._others) > _MAX_EVENTS:
                self._others.popitem(last=False)

    def is_after(self, mine: str, theirs: str) -> bool:
        """Whether the bot's message comes after somebody else's. A message not reported yet counts as later."""
        return self._own.get(mine, self._reported + 1) > self._others.get(
            theirs, self._reported + 1
        )


@dataclass(frozen=True)
class Membership:
    user: str
    now: str
    """The membership: join, invite, leave, …"""
    changed: bool
    """False if only the display name or avatar changed."""


def read_sync(told: dict[str, Any]) -> SyncBatch:
    """Parse a sync response, skipping malformed parts; raise Unavailable if it is not one.

    Rooms the bot was removed from are included, because messages sent there before still count.
    """
    token = told.get("next_batch")
    if not isinstance(token, str) or not token:
        raise Unavailable("The homeserver answered a sync with something else.")
    timelines = {
        room: _timeline(get_object(news, "timeline"))
        for kind in ("join", "leave")
        for room, news in rooms_of_kind(told, kind).items()
    }
    return SyncBatch(
        token,
        {room: found for room, found in timelines.items() if found.events or found.before},
        {
            room: _events_of(get_object(news, "invite_state"))
            for room, news in rooms_of_kind(told, "invite").items()
        },
    )


def to_device_events(told: dict[str, Any]) -> tuple[MatrixEvent, ...]:
    """Return the well-formed messages sent to the bot's device alone, possibly from another homeserver."""
    events = _events_of(get_object(told, "to_device"))
    return tuple(event for event in events if isinstance(event.get("content"), dict))


def rooms_of_kind(told: MatrixEvent, kind: str) -> dict[str, MatrixEvent]:
    """Return the rooms of a kind: join, leave or invite."""
    news = get_object(told, "rooms", kind)
    return {room: one for room, one in news.items() if isinstance(one, dict)}


def _timeline(told: MatrixEvent) -> Timeline:
    before = told.get("prev_batch") if told.get("limited") else ""
    return Timeline(_events_of(told), before if isinstance(before, str) else "")


def room_events(news: MatrixEvent, part: str) -> tuple[MatrixEvent, ...]:
    """Return the events of a part of the room: state or timeline."""
    return _events_of(get_object(news, part))


def _events_of(told: MatrixEvent) -> tuple[MatrixEvent, ...]:
    return get_objects(told.get("events"))


def related_event(event: MatrixEvent) -> str:
    """Return the id of the event it relates to; empty if there is none."""
    root = get_object(event, "content", "m.relates_to").get("event_id")
    return root if isinstance(root, str) and len(root) <= MAX_ID_LENGTH else ""


def get_objects(found: Any) -> tuple[MatrixEvent, ...]:
    """Return the objects of a list from outside; other values are skipped."""
    return tuple(one for one in found if isinstance(one, dict)) if isinstance(found, list) else ()


def memberships(events: Iterable[MatrixEvent]) -> Iterator[Membership]:
    """Yield the membership events among arbitrary events; malformed ones are skipped."""
    for event in events:
        user, now = event.get("state_key"), get_object(event, "content").get("membership")
        of_member = event.get("type") == "m.room.member"
        if of_member and isinstance(user, str) and isinstance(now, str):
            before = get_object(event, "unsigned", "prev_content").get("membership")
            yield Membership(user, now, changed=before != now)


def get_object(told: MatrixEvent, *path: str) -> MatrixEvent:
    """Return the object at a path; empty if there is none."""
    for name in path:
        found = told.get(name)
        told = found if isinstance(found, dict) else {}
    return told


def without_secrets(told: dict[str, Any]) -> dict[str, Any]:
    """Return the response without encrypted events and messages to this device."""
    joined = {room: _without_encrypted(news) for room, news in rooms_of_kind(told, "join").items()}
    others = {**get_object(told, "rooms"), "join": joined}
    return {**told, "to_device": {"events": []}, "rooms": others}


def _without_encrypted(news: dict[str, Any]) -> dict[str, Any]:
    timeline = get_object(news, "timeline")
    if not timeline:
        return news
    events = [one for one in _events_of(timeline) if one.get("type") != ENCRYPTED]
    return {**news, "timeline": {**timeline, "events": events}}


# What an event of a room means to the bot. Ignored: the bot's own events, notices (sent by other programs), state. Who
# is addressed is decided by ids, never by names.

_MAX_TIMESTAMP = 253_402_300_799_000
"""Milliseconds: the latest time a datetime can hold. A homeserver passes on whatever another server claims."""
_NAME_SEARCH_LENGTH = 2000
"""A leading name is looked for only in this many characters, because a hostile message may be long."""
_VARIANT = "\ufe0f"
"""Variation selector that asks for a coloured emoji. Clients differ in sending it; it has no other meaning."""
_CAPTIONED = frozenset(("m.image", "m.file", "m.video", "m.audio"))
_LINK = re.compile(r"""(?:https?://matrix\.to/#/((?:@|%40)[^"'<>\s?/]+)|matrix:u/([^"'<>\s?/]+))""")
_ID = re.compile(r"(?<![\w.])@[^\s:<>\"'@()]+:[A-Za-z0-9.-]*[A-Za-z0-9](?::[0-9]+)?")
_QUOTED = re.compile(r"\s*<mx-reply>.*?</mx-reply>", re.DOTALL)
_PILL = re.compile(r"""\s*(?:<p>)?<a\s[^>]*?href=["']([^"']*)["'][^>]*>(.*?)</a>""", re.DOTALL)
_SEPARATOR = re.compile(r"^\s*[:,：，、]?\s*")


@dataclass(frozen=True)
class BotIdentity:
    """The bot's identity on Matrix."""

    user_id: str
    name: str = ""
    """The display name, only used to remove it from the beginning of a message."""


@dataclass(frozen=True)
class SentFile:
    """What a message claims about its file. None of it can be trusted."""

    kind: str
    """The message type: m.file, m.image, …"""
    name: str
    url: str
    size: int
    """Bytes; 0 if not given."""
    lock: MatrixEvent
    """Decryption data of a file in an encrypted room."""


@dataclass(frozen=True)
class HeardMessage:
    event_id: str
    sender: str
    room: str
    root: str
    """The first message of its thread; the message itself outside of threads."""
    text: str
    """Without the quotation of the message it replies to, and without a leading name of the bot."""
    mention: bool
    to_others: bool
    """It mentions somebody, but not the bot."""
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
class HeardEdit:
    """The text of a message was changed."""

    event_id: str
    sender: str
    room: str
    target: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Redaction:
    """A message or reaction was removed."""

    event_id: str
    sender: str
    room: str
    target: str
    at: datetime


HeardEvent = HeardMessage | HeardEdit | Reaction | Redaction


def interpret_event(room: str, event: MatrixEvent, me: BotIdentity) -> HeardEvent | None:
    """Return what an event says to the bot, or None if it is not relevant."""
    sender = _string(event, "sender")
    if not sender or sender == me.user_id or "state_key" in event or not _string(event, "event_id"):
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


def _message(room: str, event: MatrixEvent, me: BotIdentity) -> HeardMessage | HeardEdit | None:
    content, event_id = _object_in(event, "content"), _string(event, "event_id")
    body = _message_text(content)
    relation = _object_in(content, "m.relates_to")
    if relation.get("rel_type") == "m.replace":
        target = _event_id(relation, "event_id")
        return _edit(room, event, target, me) if target else None
    if body is None:
        return None
    thread = _event_id(relation, "event_id") if relation.get("rel_type") == "m.thread" else ""
    replies_to = _event_id(_object_in(relation, "m.in_reply_to"), "event_id")
    if replies_to:
        body = _without_quotation(body)
    formatted = _string(content, "formatted_body")
    if quoted := _QUOTED.match(formatted):
        formatted = formatted[quoted.end() :]
    named = _mentioned_ids(content, body, formatted)
    return HeardMessage(
        event_id=event_id,
        sender=_string(event, "sender"),
        room=room,
        root=thread or event_id,
        text=_without_name(body, formatted, me).strip(),
        mention=me.user_id in named,
        to_others=me.user_id not in named and bool(named - {_string(event, "sender")}),
        at=sent_at(event),
        replies_to="" if thread else replies_to,
        file=_sent_file(content),
    )


def _edit(room: str, event: MatrixEvent, target: str, me: BotIdentity) -> HeardEdit | None:
    # The new text is in `m.new_content`; the body beside it is for clients that do not support edits.
    content = _object_in(_object_in(event, "content"), "m.new_content")
    body = _message_text(content)
    if body is None:
        return None
    text = _without_name(body, _string(content, "formatted_body"), me).strip()
    return HeardEdit(
        _string(event, "event_id"), _string(event, "sender"), room, target, text, sent_at(event)
    )


def _reaction(room: str, event: MatrixEvent) -> Reaction | None:
    relation = _object_in(_object_in(event, "content"), "m.relates_to")
    target, key = (
        _event_id(relation, "event_id"),
        _string(relation, "key").replace(_VARIANT, "").strip(),
    )
    if relation.get("rel_type") != "m.annotation" or not target or not key:
        return None
    return Reaction(
        _string(event, "event_id"), _string(event, "sender"), room, target, key, sent_at(event)
    )


def _redaction(room: str, event: MatrixEvent) -> Redaction | None:
    # The field with the target depends on the room version.
    target = _event_id(_object_in(event, "content"), "redacts") or _event_id(event, "redacts")
    if not target:
        return None
    return Redaction(
        _string(event, "event_id"), _string(event, "sender"), room, target, sent_at(event)
    )


def _message_text(content: MatrixEvent) -> str | None:
    """Return the text of a message, or the caption of a picture or file; None for other types."""
    kind, body = _string(content, "msgtype"), content.get("body")
    if not isinstance(body, str):
        return None
    if kind in _CAPTIONED:
        return body if _string(content, "filename") not in ("", body) else ""
    return body if kind == "m.text" else None


def _sent_file(content: MatrixEvent) -> SentFile | None:
    kind = _string(content, "msgtype")
    if kind not in _CAPTIONED:
        return None
    lock, size = _object_in(content, "file"), _object_in(content, "info").get("size")
    return SentFile(
        kind=kind,
        name=_string(content, "filename") or _string(content, "body"),
        url=_string(lock, "url") or _string(content, "url"),
        size=size if isinstance(size, int) else 0,
        lock=lock,
    )


def _mentioned_ids(content: MatrixEvent, body: str, formatted: str) -> frozenset[str]:
    """Return the full ids of everybody mentioned: as stated by the client, or else as found in the text."""
    if "m.mentions" in content:
        ids = _object_in(content, "m.mentions").get("user_ids")
        return frozenset(str(one) for one in ids) if isinstance(ids, list) else frozenset()
    return frozenset((*_linked_ids(formatted), *_ID.findall(body)))


def _linked_ids(formatted: str) -> Iterator[str]:
    for match in _LINK.finditer(html.unescape(formatted)):
        yield unquote(match[1]) if match[1] else f"@{unquote(match[2])}"


def _without_quotation(body: str) -> str:
    # Old clients quote the message they reply to at the beginning, line by line, followed by an empty line.
    if not body.startswith(("> <@", "> * <@")):
        return body
    lines = body.split("\n")
    first = next((n for n, line in enumerate(lines) if not line.startswith(">")), len(lines))
    return "\n".join(lines[first:])


def _without_name(body: str, formatted: str, me: BotIdentity) -> str:
    """Remove a leading address of the bot: a link, its full id, or its name and a colon."""
    body = body.lstrip()
    pill = _PILL.match(formatted[:_NAME_SEARCH_LENGTH])
    if pill and me.user_id in _linked_ids(pill[1]):
        label = html.unescape(pill[2])
        for name in (f"[{label}](https://matrix.to/#/{me.user_id})", label):
            if label and body.startswith(name):
                return _SEPARATOR.sub("", body[len(name) :], count=1)
    if addressed := re.match(re.escape(me.user_id) + r"(?:\s*[:,：，、]\s*|\s+|$)", body):
        return body[addressed.end() :]
    typed = re.match(re.escape(me.name) + r"\s*[:：]", body) if me.name else None
    return body[typed.end() :] if typed else body


def sent_at(event: MatrixEvent) -> datetime:
    """Return the time the homeserver gives for the event."""
    stamp = event.get("origin_server_ts")
    milliseconds = stamp if isinstance(stamp, int) else 0
    return datetime.fromtimestamp(min(max(milliseconds, 0), _MAX_TIMESTAMP) / 1000, UTC)


def _string(value: MatrixEvent, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _event_id(value: MatrixEvent, name: str) -> str:
    """Return the event id in a field; empty if it is longer than an id can be."""
    found = _string(value, name)
    return found if len(found) <= MAX_ID_LENGTH else ""


def _object_in(value: MatrixEvent, name: str) -> MatrixEvent:
    found = value.get(name)
    return found if isinstance(found, dict) else {}
