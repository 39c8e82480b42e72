"""What a sync holds, and what an event of a room means to the bot. No I/O: malformed parts are skipped, whatever they hold."""

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

# One answer to a sync: what was said in which room, and invitations.

MatrixEvent = dict[str, Any]
ENCRYPTED = "m.room.encrypted"
_EVENTS_KEPT = 20_000
"""Events of others whose order is remembered."""
LONGEST_ID = 255
"""Characters that an id of Matrix may have."""


@dataclass(frozen=True)
class Timeline:
    """The last events of a room, the oldest first."""

    events: tuple[MatrixEvent, ...]
    before: str = ""
    """Where to read on backwards. Empty: nothing is missing."""


@dataclass(frozen=True)
class SyncBatch:
    next_since: str
    """Where the next one begins."""
    timelines: dict[str, Timeline]
    invites: dict[str, tuple[MatrixEvent, ...]]
    """What a room shows of itself to those it invites."""


class EventOrder:
    """In which order a homeserver tells of events. Their own times are by the clocks of several servers."""

    def __init__(self, me: str = "", known: Iterable[str] = ()) -> None:
        """`known`: messages of an earlier life. Those not told of yet are told before anything that came after them."""
        self._me = me
        self._mine = dict.fromkeys(known, 0)
        self._theirs: OrderedDict[str, int] = OrderedDict()
        self._told = 0

    def note(self, events: Iterable[MatrixEvent]) -> None:
        """All of an answer, before the first of them is heard: one may wait for its key while later ones are heard."""
        for event in events:
            self._told += 1
            kept = self._mine if event.get("sender") == self._me else self._theirs
            kept[str(event.get("event_id"))] = self._told
            if len(self._theirs) > _EVENTS_KEPT:
                self._theirs.popitem(last=False)

    def is_after(self, mine: str, theirs: str) -> bool:
        """Whether a message of the bot stands after one of somebody else; if it was not told of yet, it does."""
        return self._mine.get(mine, self._told + 1) > self._theirs.get(theirs, self._told + 1)


@dataclass(frozen=True)
class Membership:
    user: str
    now: str
    """join, invite, leave, …"""
    changed: bool
    """It is not only another name or picture."""


def read_sync(told: dict[str, Any]) -> SyncBatch:
    """What the homeserver told; what is not as it should be is as if it were not there. The rooms one was put out of are
    among the others: what was said there first, counts."""
    token = told.get("next_batch")
    if not isinstance(token, str) or not token:
        raise Unavailable("The homeserver answered a sync with something else.")
    timelines = {
        room: _timeline(object_at(news, "timeline"))
        for kind in ("join", "leave")
        for room, news in rooms_in(told, kind).items()
    }
    return SyncBatch(
        token,
        {room: found for room, found in timelines.items() if found.events or found.before},
        {
            room: _events_of(object_at(news, "invite_state"))
            for room, news in rooms_in(told, "invite").items()
        },
    )


def to_device_events(told: dict[str, Any]) -> tuple[MatrixEvent, ...]:
    """What somebody, perhaps of another homeserver, has sent to the bot's device alone, if it says anything."""
    events = _events_of(object_at(told, "to_device"))
    return tuple(event for event in events if isinstance(event.get("content"), dict))


def rooms_in(told: MatrixEvent, kind: str) -> dict[str, MatrixEvent]:
    """`kind`: join, leave or invite."""
    news = object_at(told, "rooms", kind)
    return {room: one for room, one in news.items() if isinstance(one, dict)}


def _timeline(told: MatrixEvent) -> Timeline:
    before = told.get("prev_batch") if told.get("limited") else ""
    return Timeline(_events_of(told), before if isinstance(before, str) else "")


def events_in(news: MatrixEvent, part: str) -> tuple[MatrixEvent, ...]:
    """`part` of a room: state or timeline."""
    return _events_of(object_at(news, part))


def _events_of(told: MatrixEvent) -> tuple[MatrixEvent, ...]:
    return objects_in(told.get("events"))


def related_event(event: MatrixEvent) -> str:
    """The event that it says it belongs to; empty: to none."""
    root = object_at(event, "content", "m.relates_to").get("event_id")
    return root if isinstance(root, str) and len(root) <= LONGEST_ID else ""


def objects_in(found: Any) -> tuple[MatrixEvent, ...]:
    """Of a list that somebody else has made."""
    return tuple(one for one in found if isinstance(one, dict)) if isinstance(found, list) else ()


def memberships(events: Iterable[MatrixEvent]) -> Iterator[Membership]:
    """Of whatever the events are. What nobody can be is left out."""
    for event in events:
        user, now = event.get("state_key"), object_at(event, "content").get("membership")
        of_member = event.get("type") == "m.room.member"
        if of_member and isinstance(user, str) and isinstance(now, str):
            before = object_at(event, "unsigned", "prev_content").get("membership")
            yield Membership(user, now, changed=before != now)


def object_at(told: MatrixEvent, *path: str) -> MatrixEvent:
    """The object at a path; an empty one where there is none."""
    for name in path:
        found = told.get(name)
        told = found if isinstance(found, dict) else {}
    return told


def without_secrets(told: dict[str, Any]) -> dict[str, Any]:
    """What the homeserver told, but for what was encrypted, and what was sent to this device."""
    joined = {room: _without_encrypted(news) for room, news in rooms_in(told, "join").items()}
    others = {**object_at(told, "rooms"), "join": joined}
    return {**told, "to_device": {"events": []}, "rooms": others}


def _without_encrypted(news: dict[str, Any]) -> dict[str, Any]:
    timeline = object_at(news, "timeline")
    if not timeline:
        return news
    events = [one for one in _events_of(timeline) if one.get("type") != ENCRYPTED]
    return {**news, "timeline": {**timeline, "events": events}}


# What an event of a room means to the bot. Nothing: what the bot did itself, notices (other
# programs talk in them), state. Who is meant is decided by ids, never by names.

_LATEST = 253_402_300_799_000
"""Milliseconds: the last a date can hold. A homeserver passes on whatever a server claims."""
_NAME_WITHIN = 2000
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
class BotIdentity:
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
    lock: MatrixEvent
    """In encrypted rooms: how it is opened."""


@dataclass(frozen=True)
class HeardMessage:
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
class HeardEdit:
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


HeardEvent = HeardMessage | HeardEdit | Reaction | Redaction


def interpret_event(room: str, event: MatrixEvent, me: BotIdentity) -> HeardEvent | None:
    """What it says to the bot, if anything."""
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
    body = _words_of(content)
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
    """What the message says now stands in `m.new_content`; the body beside it is for clients that know no edits."""
    content = _object_in(_object_in(event, "content"), "m.new_content")
    body = _words_of(content)
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
    # Where the target stands depends on the version of the room.
    target = _event_id(_object_in(event, "content"), "redacts") or _event_id(event, "redacts")
    if not target:
        return None
    return Redaction(
        _string(event, "event_id"), _string(event, "sender"), room, target, sent_at(event)
    )


def _words_of(content: MatrixEvent) -> str | None:
    """The words of a message; of a picture or file those that stand under it, if any."""
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
    """The full ids of all it speaks to. What the client says counts; only where it says nothing, the text does."""
    if "m.mentions" in content:
        ids = _object_in(content, "m.mentions").get("user_ids")
        return frozenset(str(one) for one in ids) if isinstance(ids, list) else frozenset()
    return frozenset((*_linked_ids(formatted), *_ID.findall(body)))


def _linked_ids(formatted: str) -> Iterator[str]:
    for match in _LINK.finditer(html.unescape(formatted)):
        yield unquote(match[1]) if match[1] else f"@{unquote(match[2])}"


def _without_quotation(body: str) -> str:
    """Old clients put what they reply to in front, line by line, and then an empty line."""
    if not body.startswith(("> <@", "> * <@")):
        return body
    lines = body.split("\n")
    first = next((n for n, line in enumerate(lines) if not line.startswith(">")), len(lines))
    return "\n".join(lines[first:])


def _without_name(body: str, formatted: str, me: BotIdentity) -> str:
    """What is left where the bot is addressed by a link, by its full id, or by its name and a colon."""
    body = body.lstrip()
    pill = _PILL.match(formatted[:_NAME_WITHIN])
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
    """When it was sent, as the homeserver says."""
    stamp = event.get("origin_server_ts")
    milliseconds = stamp if isinstance(stamp, int) else 0
    return datetime.fromtimestamp(min(max(milliseconds, 0), _LATEST) / 1000, UTC)


def _string(value: MatrixEvent, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _event_id(value: MatrixEvent, name: str) -> str:
    """Of an event. Nothing has an id that is longer than any can be."""
    found = _string(value, name)
    return found if len(found) <= LONGEST_ID else ""


def _object_in(value: MatrixEvent, name: str) -> MatrixEvent:
    found = value.get(name)
    return found if isinstance(found, dict) else {}
