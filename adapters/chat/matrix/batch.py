"""One answer to a sync, as what it holds: what was said in which room, and invitations. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.errors import Unavailable

Event = dict[str, Any]
ENCRYPTED = "m.room.encrypted"


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


def read(told: dict[str, Any]) -> Batch:
    """What the homeserver told. The rooms one was put out of are among the others: what was said there first, counts."""
    token = told.get("next_batch")
    if not isinstance(token, str) or not token:
        raise Unavailable("The homeserver answered a sync with something else.")
    rooms = told.get("rooms", {})
    timelines = {
        room: _timeline(news.get("timeline", {}))
        for kind in ("join", "leave")
        for room, news in rooms.get(kind, {}).items()
    }
    return Batch(
        token,
        {room: found for room, found in timelines.items() if found.events or found.before},
        {
            room: tuple(news.get("invite_state", {}).get("events", ()))
            for room, news in rooms.get("invite", {}).items()
        },
    )


def _timeline(told: dict[str, Any]) -> Timeline:
    before = told.get("prev_batch", "") if told.get("limited") else ""
    return Timeline(tuple(told.get("events", ())), before or "")


def without_secrets(told: dict[str, Any]) -> dict[str, Any]:
    """What the homeserver told, but for what was encrypted, and what was sent to this device."""
    rooms = told.get("rooms", {})
    joined = {room: _without_encrypted(news) for room, news in rooms.get("join", {}).items()}
    return {**told, "to_device": {"events": []}, "rooms": {**rooms, "join": joined}}


def _without_encrypted(news: dict[str, Any]) -> dict[str, Any]:
    timeline = news.get("timeline")
    if not timeline:
        return news
    events = [one for one in timeline.get("events", ()) if one.get("type") != ENCRYPTED]
    return {**news, "timeline": {**timeline, "events": events}}
