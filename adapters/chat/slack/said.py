"""What people write in messages, and what Slack's own stop button says: which of it is for the bot, and in which thread. Pure."""

from __future__ import annotations

from datetime import datetime

from adapters.chat.slack.delivery import (
    Body,
    Delivery,
    Edit,
    Meaning,
    Nothing,
    Order,
    Talk,
    is_direct,
    moment,
    part,
    word,
)
from adapters.chat.slack.offered import Offered, offered_in
from adapters.chat.slack.people import PLATFORM
from adapters.chat.slack.preflight import Identity
from adapters.chat.slack.words import Heard, plain
from bot.domain.choices import Command, Word, command_in
from bot.domain.people import Thread

_COUNT = frozenset({"", "file_share", "thread_broadcast"})
"""Kinds of messages in which a person speaks. All others tell of something, or repeat it."""


def message(event: Body, us: Identity, now: datetime) -> Meaning:
    """A mention comes as two events, and is read once more from the history: all three have one id."""
    channel, ts, user = word(event, "channel"), word(event, "ts"), word(event, "user")
    if word(event, "subtype") == "message_changed":
        return _edited(event, us, now)
    if not (channel and is_said(event, us)):
        return Nothing("not said by a person")
    direct = is_direct(channel, word(event, "channel_type"))
    heard = plain(word(event, "text"), us.user)
    root = word(event, "thread_ts")
    where = thread(us, channel, root or ts, direct=direct)
    mention = direct or heard.mentions_bot or word(event, "type") == "app_mention"
    files = offered_in(event, us.team)
    nothing = not (heard.text or files)
    if not mention and (not root or heard.mentions_first_other or nothing):
        return Nothing("people talk to each other", talked=where)
    return Delivery(
        id=_id_of(us, channel, ts),
        at=moment(ts, now),
        thread=where,
        user=user,
        what=_meant(heard, mention, ts, files),
        home=home_of(event),
    )


def _edited(event: Body, us: Identity, now: datetime) -> Meaning:
    """Slack sends the same kind of event when it unfolds a link: only where a person has edited the words does it count."""
    channel, changed, before = (
        word(event, "channel"),
        part(event, "message"),
        part(event, "previous_message"),
    )
    ts, edit = word(changed, "ts"), part(changed, "edited")
    same = word(changed, "text") == word(before, "text")
    if same or not (channel and ts and word(edit, "ts")) or not is_said(changed, us):
        return Nothing("no message was edited by its author")
    if word(edit, "user") != word(changed, "user"):
        return Nothing("edited by somebody else")
    of = _id_of(us, channel, ts)
    return Delivery(
        id=f"{of}:edited:{word(edit, 'ts')}",
        at=moment(word(edit, "ts"), now),
        thread=thread(us, channel, word(changed, "thread_ts") or ts, direct=is_direct(channel)),
        user=word(changed, "user"),
        what=Edit(of, plain(word(changed, "text"), us.user).text),
        home=home_of(changed),
    )


def _id_of(us: Identity, channel: str, ts: str) -> str:
    return f"{PLATFORM}:{us.team}:{channel}:{ts}"


def is_said(event: Body, us: Identity) -> bool:
    """Whether a person speaks in it."""
    if word(event, "subtype") not in _COUNT or event.get("hidden"):
        return False
    user = word(event, "user")
    return bool(word(event, "ts") and user) and not (
        event.get("bot_id") or user in {us.user, "USLACKBOT"}
    )


def _meant(heard: Heard, mention: bool, ts: str, files: tuple[Offered, ...]) -> Talk | Order:
    """Whoever says nothing but the bot's name wants to know what it can do."""
    if not (heard.text or files):
        return Order(Command(word=Word.HELP), mention)
    command = command_in(heard.text)
    return Order(command, mention) if command else Talk(heard.text, mention, ts, files)


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
