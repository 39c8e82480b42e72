"""One answer to a sync, as what it holds: what was said in which room, and invitations. Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bot.errors import Unavailable

Event = dict[str, Any]
ENCRYPTED = "m.room.encrypted"
_KEPT = 20_000
"""Events of others whose order is remembered."""
LONGEST_ID = 255
"""Characters that an id of Matrix may have."""


@dataclass(frozen=True)
class Timeline:
    """The last events of a room, the oldest first."""

    events: tuple[Event, ...]
    before: str = ""
    """Where to read on backwards. Empty: nothing is missing."""


@dataclass(frozen=True)
class Batch:
    next_since: str
    """Where the next one begins."""
    timelines: dict[str, Timeline]
    invites: dict[str, tuple[Event, ...]]
    """What a room shows of itself to those it invites."""


class Order:
    """In which order a homeserver tells of events. Their own times are by the clocks of several servers."""

    def __init__(self, me: str = "", known: Iterable[str] = ()) -> None:
        """`known`: messages of an earlier life. Those not told of yet are told before anything that came after them."""
        self._me = me
        self._mine = dict.fromkeys(known, 0)
        self._theirs: OrderedDict[str, int] = OrderedDict()
        self._told = 0

    def note(self, events: Iterable[Event]) -> None:
        """All of an answer, before the first of them is heard: one may wait for its key while later ones are heard."""
        for event in events:
            self._told += 1
            kept = self._mine if event.get("sender") == self._me else self._theirs
            kept[str(event.get("event_id"))] = self._told
            if len(self._theirs) > _KEPT:
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


def read(told: dict[str, Any]) -> Batch:
    """What the homeserver told; what is not as it should be is as if it were not there. The rooms one was put out of are
    among the others: what was said there first, counts."""
    token = told.get("next_batch")
    if not isinstance(token, str) or not token:
        raise Unavailable("The homeserver answered a sync with something else.")
    timelines = {
        room: _timeline(object_at(news, "timeline"))
        for kind in ("join", "leave")
        for room, news in rooms(told, kind).items()
    }
    return Batch(
        token,
        {room: found for room, found in timelines.items() if found.events or found.before},
        {
            room: _events(object_at(news, "invite_state"))
            for room, news in rooms(told, "invite").items()
        },
    )


def sent_to_device(told: dict[str, Any]) -> tuple[Event, ...]:
    """What somebody, perhaps of another homeserver, has sent to the bot's device alone, if it says anything."""
    events = _events(object_at(told, "to_device"))
    return tuple(event for event in events if isinstance(event.get("content"), dict))


def rooms(told: Event, kind: str) -> dict[str, Event]:
    """`kind`: join, leave or invite."""
    news = object_at(told, "rooms", kind)
    return {room: one for room, one in news.items() if isinstance(one, dict)}


def _timeline(told: Event) -> Timeline:
    before = told.get("prev_batch") if told.get("limited") else ""
    return Timeline(_events(told), before if isinstance(before, str) else "")


def events_in(news: Event, part: str) -> tuple[Event, ...]:
    """`part` of a room: state or timeline."""
    return _events(object_at(news, part))


def _events(told: Event) -> tuple[Event, ...]:
    return objects(told.get("events"))


def related_to(event: Event) -> str:
    """The event that it says it belongs to; empty: to none."""
    root = object_at(event, "content", "m.relates_to").get("event_id")
    return root if isinstance(root, str) and len(root) <= LONGEST_ID else ""


def objects(found: Any) -> tuple[Event, ...]:
    """Of a list that somebody else has made."""
    return tuple(one for one in found if isinstance(one, dict)) if isinstance(found, list) else ()


def memberships(events: Iterable[Event]) -> Iterator[Membership]:
    """Of whatever the events are. What nobody can be is left out."""
    for event in events:
        user, now = event.get("state_key"), object_at(event, "content").get("membership")
        of_member = event.get("type") == "m.room.member"
        if of_member and isinstance(user, str) and isinstance(now, str):
            before = object_at(event, "unsigned", "prev_content").get("membership")
            yield Membership(user, now, changed=before != now)


def object_at(told: Event, *path: str) -> Event:
    """The object at a path; an empty one where there is none."""
    for name in path:
        found = told.get(name)
        told = found if isinstance(found, dict) else {}
    return told


def without_secrets(told: dict[str, Any]) -> dict[str, Any]:
    """What the homeserver told, but for what was encrypted, and what was sent to this device."""
    joined = {room: _without_encrypted(news) for room, news in rooms(told, "join").items()}
    others = {**object_at(told, "rooms"), "join": joined}
    return {**told, "to_device": {"events": []}, "rooms": others}


def _without_encrypted(news: dict[str, Any]) -> dict[str, Any]:
    timeline = object_at(news, "timeline")
    if not timeline:
        return news
    events = [one for one in _events(timeline) if one.get("type") != ENCRYPTED]
    return {**news, "timeline": {**timeline, "events": events}}
