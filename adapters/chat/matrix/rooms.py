"""Coming into rooms and losing them: whose invitation is followed, and what is said of a room that is no more.

An invitation is followed only if the one who invites is welcome to; all others are declined, and spaces always.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from nio import AsyncClient

from adapters.chat.matrix.answers import SignedOut, ask
from adapters.chat.matrix.batch import Event
from adapters.chat.matrix.heard import at
from bot.errors import Refused

log = logging.getLogger(__name__)

Welcome = Callable[[str, str, bool], bool]
"""Inviter (full id), room id, whether it is a conversation of two: may the bot come?"""

_JOIN_SECONDS = 180
"""Entering a room of another server takes its time."""


@dataclass(frozen=True)
class Invitation:
    room: str
    inviter: str
    """Empty: nobody is named, so nobody is trusted."""
    direct: bool
    space: bool


@dataclass(frozen=True)
class PutOut:
    """Somebody made the bot leave."""

    by: str
    banned: bool
    reason: str


@dataclass(frozen=True)
class Replaced:
    """The room was upgraded: it goes on elsewhere, and the bot is not there by itself."""

    by: str
    room: str


@dataclass(frozen=True)
class Entered:
    """The bot has come, for the first time or again."""

    by: str
    """Who has brought it; empty: nobody is named."""
    event_id: str
    at: datetime


def invitation(room: str, shown: Iterable[Event], me: str) -> Invitation:
    """What the room shows of itself to the invited, in short.

    Most of it is told by the server of the one who invites: where it names another one too, nobody is believed.
    """
    inviters, direct, space = set[str](), False, False
    for event in shown:
        content = _content(event)
        match event.get("type"), event.get("state_key"):
            case "m.room.create", _:
                space = space or content.get("type") == "m.space"
            case "m.room.member", key if key == me and content.get("membership") == "invite":
                inviters.add(str(event.get("sender", "")))
                direct = content.get("is_direct") is True
            case _:
                pass
    inviter = inviters.pop() if len(inviters) == 1 else ""
    return Invitation(room, inviter, direct, space)


def may_come(invited: Invitation, welcome: Welcome) -> bool:
    """Whether an invitation is followed. Without a name it is not, whatever `welcome` thinks of nobody."""
    if not invited.inviter or invited.space:
        return False
    return welcome(invited.inviter, invited.room, invited.direct)


def change(event: Event, me: str) -> PutOut | Replaced | Entered | None:
    """What an event means for the bot's being in the room."""
    content, by = _content(event), str(event.get("sender", ""))
    match event.get("type"), event.get("state_key"):
        case "m.room.member", key if key == me == by:
            return _entered(event) if content.get("membership") == "join" else None
        case "m.room.member", key if key == me and by != me:
            membership = content.get("membership")
            if membership in ("leave", "ban"):
                return PutOut(by, membership == "ban", str(content.get("reason") or ""))
        case "m.room.tombstone", "":
            return Replaced(by, str(content.get("replacement_room") or ""))
        case _:
            pass
    return None


def _entered(event: Event) -> Entered | None:
    """None: it was there already, and has another name now."""
    unsigned = event.get("unsigned")
    told = unsigned if isinstance(unsigned, dict) else {}
    before = told.get("prev_content")
    if isinstance(before, dict) and before.get("membership") == "join":
        return None
    return Entered(str(told.get("prev_sender") or ""), str(event.get("event_id", "")), at(event))


class Watching(Protocol):
    """Whoever is told what becomes of rooms. Unavailable: it shall be told again."""

    async def replaced(self, old: str, new: str) -> None:
        """`old` was given up, and goes on as `new`."""
        ...

    async def came(self, room: str, entered: Entered) -> None:
        """The bot is in the room."""
        ...

    async def put_out(self, room: str) -> None:
        """And now it is not."""
        ...


class Rooms:
    def __init__(self, client: AsyncClient, welcome: Welcome, watching: Watching) -> None:
        self._client, self._welcome, self._watching = client, welcome, watching

    async def answer(self, invited: Invitation) -> None:
        """Come or decline. Safe to do twice: who is in a room is in it, who is not is not."""
        comes = may_come(invited, self._welcome)
        data = {"room": invited.room, "by": invited.inviter, "space": invited.space}
        try:
            if comes:
                await ask("Joining a room", self._client.join(invited.room), _JOIN_SECONDS)
            else:
                await ask("Declining a room", self._client.room_leave(invited.room))
        except SignedOut:
            raise
        except Refused as error:
            # Taken back meanwhile, or a room that is broken. Who invites can do it again.
            log.warning("an invitation failed", extra={"data": {**data, "reason": error.reason}})
        else:
            log.info("joined" if comes else "declined", extra={"data": data})

    async def notice(self, room: str, event: Event) -> None:
        """Look whether an event changes the bot's being in the room."""
        match change(event, self._client.user_id):
            case PutOut(by, banned, reason):
                data = {"room": room, "by": by, "banned": banned, "reason": reason}
                log.warning("put out of a room", extra={"data": data})
                await self._watching.put_out(room)
            case Entered() as entered:
                await self._watching.came(room, entered)
            case Replaced(by, new):
                data = {"room": room, "by": by, "new": new}
                log.warning("a room was replaced", extra={"data": data})
                await self._watching.replaced(room, new)
            case None:
                pass


def _content(event: Event) -> Event:
    content = event.get("content")
    return content if isinstance(content, dict) else {}
