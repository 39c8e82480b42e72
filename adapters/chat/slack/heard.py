"""From what Slack sends to what it means: one case for each kind. Pure; every kind that is not named means nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from adapters.chat.slack import commands, pressed, said, submitted
from adapters.chat.slack.delivery import (
    Body,
    Browsed,
    Closed,
    Delivery,
    Meaning,
    Nothing,
    Visit,
    moment,
    part,
    word,
)
from adapters.chat.slack.known import Known
from adapters.chat.slack.people import PLATFORM
from adapters.chat.slack.preflight import Identity


class Event(StrEnum):
    """What is listened to; the manifest subscribes to it."""

    MESSAGE = "message"
    MENTION = "app_mention"
    STOPPED = "agent_session_stopped"
    HOME = "app_home_opened"


_MESSAGES = frozenset({Event.MESSAGE, Event.MENTION})


def heard(body: Body, us: Identity, now: datetime, known: Known) -> Meaning:
    """What somebody wants of the bot; `now` stands where Slack tells no time."""
    match word(body, "type"):
        case "event_callback":
            return _event(body, us, now)
        case "block_actions":
            return pressed.button(body, us, now, known)
        case "view_submission":
            return submitted.submission(body, us, now, known)
        case "view_closed" if word(part(body, "view"), "id"):
            return Closed(word(part(body, "view"), "id"))
        case "message_action":
            return pressed.shortcut(body, us, now)
        case "shortcut":
            return pressed.global_shortcut(body, us, now, known)
        case "" if word(body, "command"):
            return commands.slash(body, us, now, known)
        case other:
            return Nothing(f"{other} is not listened to")


def message_in(body: Body) -> tuple[str, str] | None:
    """Channel and time of the message an event is about, whatever it says; None: it is about none."""
    event = part(body, "event")
    channel, ts = word(event, "channel"), word(event, "ts")
    return (channel, ts) if word(event, "type") in _MESSAGES and channel and ts else None


def message_body(message: Body, channel: str, us: Identity) -> Body:
    """A message read from the history, in the shape of an event: it means the same, under the same id."""
    event = {**message, "type": "message", "channel": channel}
    return {"type": "event_callback", "team_id": us.team, "event": event}


def _event(body: Body, us: Identity, now: datetime) -> Meaning:
    event = part(body, "event")
    if not _is_ours(body, us):
        return Nothing("it happened in another workspace")
    match word(event, "type"):
        case Event.MESSAGE | Event.MENTION:
            return said.message(event, us, now)
        case Event.STOPPED:
            return said.stopped(body, event, us, now)
        case Event.HOME:
            return _opened(body, event, us, now)
        case other:
            return Nothing(f"{other} is not listened to")


def _opened(body: Body, event: Body, us: Identity, now: datetime) -> Meaning:
    """Somebody opens the bot's own page, one of its two tabs."""
    user, once = word(event, "user"), word(body, "event_id") or word(event, "event_ts")
    if not (user and once):
        return Nothing("not a whole visit")
    if word(event, "tab") == "messages" and word(event, "channel"):
        return Browsed(user, word(event, "channel"))
    if word(event, "tab") != "home":
        return Nothing("not a tab of ours")
    return Delivery(
        id=f"{PLATFORM}:{us.team}:home:{once}",
        at=moment(word(event, "event_ts"), now),
        thread=said.thread(us, "", "", direct=False),
        user=user,
        what=Visit(),
    )


def _is_ours(body: Body, us: Identity) -> bool:
    """An app in several workspaces hears of all of them through one socket."""
    told = body.get("authorizations")
    listed = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    teams = {word(one, "team_id") for one in listed}
    return us.team in teams | {word(body, "team_id"), word(body, "context_team_id")}
