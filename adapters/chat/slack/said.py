"""What people write, in a message or behind a slash: which of it is for the bot, and in which thread. Pure."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from adapters.chat.slack.delivery import (
    Body,
    Delivery,
    Meaning,
    Nothing,
    Order,
    Talk,
    is_direct,
    moment,
    part,
    word,
)
from adapters.chat.slack.people import PLATFORM
from adapters.chat.slack.preflight import Identity
from adapters.chat.slack.words import Heard, plain
from bot.domain.choices import Command, Word, command_in
from bot.domain.people import Thread


class Slash(StrEnum):
    """The commands that Slack offers; the manifest names them."""

    ANYTHING = "/gwt"
    """What else is said behind the bot's name."""
    INTERRUPT = "/interrupt"
    SESSIONS = "/sessions"


_COUNT = frozenset({"", "file_share", "thread_broadcast"})
"""Kinds of messages in which a person speaks. All others tell of something, or repeat it."""


def message(event: Body, us: Identity, now: datetime) -> Meaning:
    """A mention comes as two events, and is read once more from the history: all three have one id."""
    if word(event, "subtype") not in _COUNT or event.get("hidden"):
        return Nothing("not something that was said")
    channel, ts, user = word(event, "channel"), word(event, "ts"), word(event, "user")
    if not (channel and ts and user) or event.get("bot_id") or user in {us.user, "USLACKBOT"}:
        return Nothing("not said by a person")
    direct = is_direct(channel, word(event, "channel_type"))
    heard = plain(word(event, "text"), us.user)
    root = word(event, "thread_ts")
    where = thread(us, channel, root or ts, direct=direct)
    mention = direct or heard.mentions_bot or word(event, "type") == "app_mention"
    if not mention and (not root or heard.mentions_first_other or not heard.text):
        return Nothing("people talk to each other", talked=where)
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{channel}:{ts}",
        at=moment(ts, now),
        thread=where,
        user=user,
        what=_meant(heard, mention),
        home=home_of(event),
    )


def _meant(heard: Heard, mention: bool) -> Talk | Order:
    """Whoever says nothing but the bot's name wants to know what it can do."""
    if not heard.text:
        return Order(Command(word=Word.HELP), mention)
    command = command_in(heard.text)
    return Order(command, mention) if command else Talk(heard.text, mention)


def slash(body: Body, us: Identity, now: datetime) -> Meaning:
    """Slack knows no slash command in a thread, and tells of none."""
    channel, trigger = word(body, "channel_id"), word(body, "trigger_id")
    user = word(body, "user_id")
    if not (channel and user and trigger):
        return Nothing("not a whole command")
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{trigger}",
        at=now,
        thread=thread(us, channel, "", direct=is_direct(channel)),
        user=user,
        what=Order(_slash_command(word(body, "command"), word(body, "text"))),
        home=word(body, "team_id"),
    )


def _slash_command(slash: str, text: str) -> Command:
    """An app may have been given another name for `/gwt`: it means the same."""
    match slash:
        case Slash.INTERRUPT:
            said = f"{Word.STOP} {text}"
        case Slash.SESSIONS:
            bare = text.strip().lower() in {"", "list"}
            said = Word.SESSIONS.value if bare else text
        case _:
            said = text
    return command_in(said) or Command(word=Word.HELP)


def stopped(body: Body, event: Body, us: Identity, now: datetime) -> Meaning:
    """Slack's own stop button in the thread."""
    channel, root, user = word(event, "channel"), word(event, "thread_ts"), word(event, "user")
    once = word(body, "event_id") or word(event, "event_ts")
    if not (channel and root and user and once):
        return Nothing("not a whole stop")
    return Delivery(
        id=f"{PLATFORM}:{us.team}:{channel}:{root}:stopped:{once}",
        at=moment(word(event, "event_ts"), now),
        thread=thread(us, channel, root, direct=is_direct(channel)),
        user=user,
        what=Order(Command(word=Word.STOP)),
        home=home_of(event),
    )


def thread(us: Identity, channel: str, root: str, *, direct: bool) -> Thread:
    return Thread(platform=PLATFORM, workspace=us.team, channel=channel, root=root, direct=direct)


def home_of(event: Body) -> str:
    """The workspace the speaker comes from: told only where it may be another one."""
    profile = part(event, "user_profile")
    names = ("user_team", "source_team")
    told = [word(event, name) for name in names] + [word(profile, "team")]
    return next((team for team in told if team), "")
