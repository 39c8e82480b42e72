"""Joins rooms and handles losing them: which invitations are accepted, and how sessions continue when a room is
replaced.

An invitation is accepted only if the inviter may invite; all others are declined, and spaces always.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from urllib.parse import quote

from nio import AsyncClient

from adapters.matrix.client import SignedOut, json_answer
from adapters.matrix.events import MatrixEvent, sent_at
from adapters.matrix.outgoing import MatrixGateway
from adapters.matrix.storage import RoomMove, RoomMoves, ThreadMove
from adapters.posting import PostingLedger
from bot.core.cards import AnswerCard
from bot.core.choices import Command, Word
from bot.core.errors import Refused
from bot.core.events import Commanded, FromPeople
from bot.core.people import Person, Thread
from bot.core.sheets import Pointer, Text
from bot.ports import Deliver

# Which invitations are accepted, and what events say about the bot's membership.

log = logging.getLogger(__name__)

MayJoin = Callable[[str, str, bool], bool]
"""Inviter (full id), room id, whether it is a direct conversation: may the bot join?"""

_JOIN_SECONDS = 180
"""Seconds: joining a room of another server may take long."""


@dataclass(frozen=True)
class Invitation:
    room: str
    inviter: str
    """Empty if nobody is named; then the invitation is not trusted."""
    direct: bool
    space: bool


@dataclass(frozen=True)
class RemovedFromRoom:
    """Somebody removed the bot from the room."""

    by: str
    banned: bool
    reason: str


@dataclass(frozen=True)
class ReplacedRoom:
    """The room was upgraded: its successor has another id, and the bot is not a member of it."""

    by: str
    room: str


@dataclass(frozen=True)
class JoinedRoom:
    """The bot has joined, for the first time or again."""

    by: str
    """Who invited the bot; empty if nobody is named."""
    event_id: str
    at: datetime


def invitation(room: str, shown: Iterable[MatrixEvent], me: str) -> Invitation:
    """Parse the stripped state of an invitation.

    Most of it comes from the inviter's server, so if it names more than one inviter none is trusted.
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


def accepts_invitation(invited: Invitation, may_join: MayJoin) -> bool:
    """Whether to accept an invitation. One without an inviter, or to a space, is never accepted."""
    if not invited.inviter or invited.space:
        return False
    return may_join(invited.inviter, invited.room, invited.direct)


def membership_change(
    event: MatrixEvent, me: str
) -> RemovedFromRoom | ReplacedRoom | JoinedRoom | None:
    """Return what an event changes in the bot's membership, or None."""
    content, by = _content(event), str(event.get("sender", ""))
    match event.get("type"), event.get("state_key"):
        case "m.room.member", key if key == me == by:
            return _entered(event) if content.get("membership") == "join" else None
        case "m.room.member", key if key == me and by != me:
            membership = content.get("membership")
            if membership in ("leave", "ban"):
                return RemovedFromRoom(by, membership == "ban", str(content.get("reason") or ""))
        case "m.room.tombstone", "":
            return ReplacedRoom(by, str(content.get("replacement_room") or ""))
        case _:
            pass
    return None


def _entered(event: MatrixEvent) -> JoinedRoom | None:
    """Return the join, or None if the bot was a member before and only its profile changed."""
    unsigned = event.get("unsigned")
    told = unsigned if isinstance(unsigned, dict) else {}
    before = told.get("prev_content")
    if isinstance(before, dict) and before.get("membership") == "join":
        return None
    return JoinedRoom(
        str(told.get("prev_sender") or ""), str(event.get("event_id", "")), sent_at(event)
    )


class RoomWatcher(Protocol):
    """Called when the bot's membership of rooms changes. Raise Unavailable to be called again."""

    async def replaced(self, old: str, new: str) -> None:
        """`old` was replaced by `new`."""
        ...

    async def bot_joined(self, room: str, entered: JoinedRoom) -> None:
        """The bot joined the room."""
        ...

    async def bot_removed(self, room: str) -> None:
        """The bot was removed from the room."""
        ...


class RoomMembership:
    def __init__(self, client: AsyncClient, welcome: MayJoin, watching: RoomWatcher) -> None:
        self._client, self._may_join, self._on_change = client, welcome, watching

    async def answer_invitation(self, invited: Invitation) -> None:
        """Join or decline. Safe to do twice."""
        comes = accepts_invitation(invited, self._may_join)
        data = {"room": invited.room, "by": invited.inviter, "space": invited.space}
        try:
            if comes:
                await json_answer("Joining a room", self._client.join(invited.room), _JOIN_SECONDS)
            else:
                await json_answer("Declining a room", self._client.room_leave(invited.room))
        except SignedOut:
            raise
        except Refused as error:
            # withdrawn meanwhile, or a broken room; the inviter can invite again
            log.warning("an invitation failed", extra={"data": {**data, "reason": error.reason}})
        else:
            log.info("joined" if comes else "declined", extra={"data": data})

    async def handle_event(self, room: str, event: MatrixEvent) -> None:
        """Handle an event if it changes the bot's membership of the room."""
        match membership_change(event, self._client.user_id):
            case RemovedFromRoom(by, banned, reason):
                data = {"room": room, "by": by, "banned": banned, "reason": reason}
                log.warning("put out of a room", extra={"data": data})
                await self._on_change.bot_removed(room)
            case JoinedRoom() as entered:
                await self._on_change.bot_joined(room, entered)
            case ReplacedRoom(by, new):
                data = {"room": room, "by": by, "new": new}
                log.warning("a room was replaced", extra={"data": data})
                await self._on_change.replaced(room, new)
            case None:
                pass


def _content(event: MatrixEvent) -> MatrixEvent:
    content = event.get("content")
    return content if isinstance(content, dict) else {}


# Rooms that are replaced, and rooms the bot is invited back into: sessions continue there. A session keeps its thread,
# wherever its cards are shown. A successor named by an old room counts only if the new room names the old one, and if
# somebody with permission invited the bot there.

MAX_THREADS = 20
"""The most threads per room in which the status is shown."""
_MAX_MOVES = 10
"""The most successive replacements of a room that are followed."""
_PLATFORM = "matrix"


class MovedRooms:
    def __init__(
        self,
        client: AsyncClient,
        gateway: MatrixGateway,
        ledger: PostingLedger,
        moves: RoomMoves,
        welcome: MayJoin,
    ) -> None:
        self._client, self._gateway, self._ledger = client, gateway, ledger
        self._moves, self._may_join = moves, welcome

    async def current_thread(self, thread: Thread) -> Thread:
        """Return the thread in which its cards are shown now. A new room's thread begins with a link to the old one."""
        for _ in range(_MAX_MOVES):
            move = self._moves.from_room(thread.channel)
            if move is None or not self._is_confirmed(move):
                break
            thread = self._moves.moved_to(thread) or await self._continue_in(thread, move.new)
        return thread

    def original_thread(self, thread: Thread) -> Thread:
        """Return the original thread of a thread in a new room."""
        for _ in range(_MAX_MOVES):
            was = self._moves.moved_from(thread)
            move = self._moves.from_room(was.channel) if was else None
            if was is None or move is None or not self._is_confirmed(move):
                break
            thread = was
        return thread

    def deliver_to_origin(self, deliver: Deliver) -> Deliver:
        """Wrap `deliver` so that events of a moved thread arrive as events of the original one."""

        async def delivered(thread: Thread, event: FromPeople) -> bool:
            return await deliver(self.original_thread(thread), event)

        return delivered

    def watching(self, deliver: Deliver) -> RoomWatcher:
        return _MovingWatcher(self, deliver)

    async def replaced(self, old: str, new: str) -> None:
        """Report the replacement in the old room, if that is still possible, and always to the operator."""
        known = self._moves.from_room(old)
        if known is None or known.new != new:
            self._moves.record(RoomMove(old=old, new=new))
        log.warning(
            "invite the bot into the new room, and add it to MATRIX_ROOMS",
            extra={"data": {"old": old, "new": new}},
        )
        try:
            await self._gateway.show(_room_thread(old), _replaced_card(new))
        except SignedOut:
            raise
        except Refused as refused:
            log.info("the old room is closed", extra={"data": {"why": refused.reason}})

    def bot_removed(self, room: str) -> None:
        """Stop sending to the room."""
        self._gateway.block_room(room)

    async def bot_joined(self, room: str, entered: JoinedRoom, deliver: Deliver) -> None:
        """Show the person who invited the bot the status of every unfinished session in the room."""
        self._gateway.unblock_room(room)
        for move in self._moves.moves_into(room):
            if not move.by and entered.by and await self._is_successor(move):
                self._moves.record(move.model_copy(update={"by": entered.by}))
        for thread in list(self._unfinished(room))[-MAX_THREADS:]:
            status = Commanded(
                id=f"{entered.event_id}:{thread.root}",
                at=entered.at,
                by=Person(platform=_PLATFORM, id=entered.by),
                command=Command(word=Word.STATUS),
            )
            await deliver(thread, status)

    def _unfinished(self, room: str) -> Iterator[Thread]:
        """Yield the original threads in which a choice is open."""
        rooms = {
            room,
            *(move.old for move in self._moves.moves_into(room) if self._is_confirmed(move)),
        }
        threads = [thread for thread in self._ledger.threads() if thread.channel in rooms]
        waiting = (t for t in threads if t.root and self._ledger.cards_with_choices(t))
        yield from {one.key: one for one in map(self.original_thread, waiting)}.values()

    def _is_confirmed(self, move: RoomMove) -> bool:
        return bool(move.by) and self._may_join(move.by, move.new, False)

    async def _continue_in(self, thread: Thread, new: str) -> Thread:
        if not thread.root:
            return thread.model_copy(update={"channel": new})
        link = Pointer(text="What was said before", thread=thread)
        card = AnswerCard(key=f"moved:{thread.root}", title="This goes on here", body=(link,))
        begun = await self._gateway.open(_room_thread(new), card)
        if owner := self._gateway.thread_owner(thread):
            self._gateway.remember_owner(begun, owner)
        self._moves.record(ThreadMove(was=thread, now=begun))
        return begun

    async def _is_successor(self, move: RoomMove) -> bool:
        # Both rooms must name each other; otherwise any room could claim to succeed another.
        path = f"/_matrix/client/v3/rooms/{quote(move.new, safe='')}/state/m.room.create/"
        headers = {"Authorization": f"Bearer {self._client.access_token}"}
        call = self._client.send("GET", path, headers=headers)
        try:
            told = await json_answer("Looking at a new room", call)
        except SignedOut:
            raise
        except Refused as refused:
            log.warning("no successor", extra={"data": {"room": move.new, "why": refused.reason}})
            return False
        predecessor = told.get("predecessor")
        return isinstance(predecessor, dict) and predecessor.get("room_id") == move.old


@dataclass(frozen=True)
class _MovingWatcher:
    moving: MovedRooms
    deliver: Deliver

    async def replaced(self, old: str, new: str) -> None:
        await self.moving.replaced(old, new)

    async def bot_joined(self, room: str, entered: JoinedRoom) -> None:
        await self.moving.bot_joined(room, entered, self.deliver)

    async def bot_removed(self, room: str) -> None:
        self.moving.bot_removed(room)


def _room_thread(room: str) -> Thread:
    return Thread(platform=_PLATFORM, channel=room, root="")


def _replaced_card(new: str) -> AnswerCard:
    steps = (
        f"Whoever runs this bot adds {new} to MATRIX_ROOMS and starts it again.",
        "Then somebody who may ask for work invites me there, and every session goes on in the new room.",
    )
    body = tuple(Text(text=step) for step in steps)
    return AnswerCard(key=f"replaced:{new}", title="This room was replaced.", body=body)
