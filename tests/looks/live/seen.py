"""What one person sees of the played Slack just now, as pieces of HTML that are exchanged when they change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from tests.beds.slack import BOT, Message, SlackBed, View
from tests.beds.slack.people import Channel, User
from tests.looks.page import Post, home, message, modal
from tests.looks.page.html import Json, box, tag, text

_PERSON = re.compile(r"<@([A-Z0-9]+)>")
_CHANNEL = re.compile(r"<#([A-Z0-9]+)>")
NO_HOME = "The app has not shown a home tab yet."


def seen(bed: SlackBed, user: str, channel: str, root: str) -> Json:
    """`root`: of the thread that is open beside the channel; empty: none is."""
    view = _form(bed, user)
    page = bed.home(user)
    return {
        "places": "".join(_place(bed, one, user, channel) for one in _places(bed, user)),
        "channel": [_piece(bed, one, in_thread=False) for one in _in_channel(bed, user, channel)],
        "thread": [
            _piece(bed, one, in_thread=True) for one in _in_thread(bed, user, channel, root)
        ],
        "modal": {"id": view.id, "html": modal(view.told), "errors": view.errors} if view else None,
        "home": home(page.told) if page else box("hint", text(NO_HOME)),
        "working": bed.session_status(channel, root) == "processing" if root else False,
        "complaints": list(bed.world.complaints),
    }


def _places(bed: SlackBed, user: str) -> Iterator[Channel]:
    bed.dm(user)
    for one in bed.world.channels.values():
        if user in one.members and not one.archived:
            yield one


def _place(bed: SlackBed, one: Channel, user: str, current: str) -> str:
    others = [bed.world.users[id].name for id in one.members if id != user and one.kind == "im"]
    name = others[0] if others else f"# {one.name}"
    class_ = "place current" if one.id == current else "place"
    return tag("button", text(name), class_=class_, type="button", data_place=one.id)


def _in_channel(bed: SlackBed, user: str, channel: str) -> Iterator[tuple[Message, bool]]:
    for one in bed.messages(channel):
        if not one.thread or one.broadcast:
            yield one, False
    for one in bed.ephemerals(user):
        if one.channel == channel and not one.thread:
            yield one, True


def _in_thread(bed: SlackBed, user: str, channel: str, root: str) -> Iterator[tuple[Message, bool]]:
    if not root:
        return
    told = [(one, False) for one in bed.thread(channel, root)]
    told += [(one, True) for one in bed.ephemerals(user) if one.thread == root]
    yield from sorted(told, key=lambda pair: pair[0].ts)


def _piece(bed: SlackBed, one: tuple[Message, bool], *, in_thread: bool) -> Json:
    shown, private = one
    replies = len(bed.thread(shown.channel, shown.ts)) - 1
    own = shown.by.id == BOT
    post = Post(
        name=shown.by.name,
        text=_named(shown.text, bed.world.users, bed.world.channels),
        blocks=shown.blocks if own else [],
        at=f"{datetime.fromtimestamp(float(shown.ts), UTC):%H:%M}",
        app=bool(shown.by.bot_id),
        private=private,
        edited=bool(shown.edited),
        reactions={name: len(who) for name, who in shown.reactions.items() if who},
        files=tuple(str(file.get("name", "")) for file in shown.files),
        replies="" if in_thread or private else _replies(replies),
        ts=shown.ts,
    )
    return {"key": shown.ts, "html": message(post)}


def _replies(count: int) -> str:
    return f"{count} repl{'y' if count == 1 else 'ies'}" if count else "Reply in a thread"


def _named(words: str, users: dict[str, User], channels: dict[str, Channel]) -> str:
    """People and channels by their names, as a client shows them."""
    words = _PERSON.sub(lambda m: f"<@{m[1]}|{users[m[1]].name}>" if m[1] in users else m[0], words)
    return _CHANNEL.sub(
        lambda m: f"<#{m[1]}|{channels[m[1]].name}>" if m[1] in channels else m[0], words
    )


def _form(bed: SlackBed, user: str) -> View | None:
    """The newest form on that person's screen."""
    return next((view for view in reversed(bed.views) if view.user == user), None)
