"""Rooms that are replaced, and rooms the bot is brought back into: the threads of sessions go on, for who waits there.

A thread of a session stays the one it was, wherever its cards stand. What an old room says of its successor counts only
if that says the same, and if somebody who may has brought the bot there.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from nio import AsyncClient

from adapters.chat.matrix.answers import SignedOut, ask
from adapters.chat.matrix.gateway import Gateway
from adapters.chat.matrix.moves import Move, Moves, Went
from adapters.chat.matrix.rooms import Entered, Watching, Welcome
from adapters.posting import Ledger
from bot.domain.cards import AnswerCard
from bot.domain.choices import Command, Word
from bot.domain.events import Commanded, FromPeople
from bot.domain.people import Person, Thread
from bot.domain.sheets import Pointer, Text
from bot.errors import Refused
from bot.ports import Deliver

log = logging.getLogger(__name__)

MOST = 20
"""Threads of a room in which it is said how they stand."""
_FARTHEST = 10
"""Rooms that replace each other."""
_PLATFORM = "matrix"


class Moving:
    def __init__(
        self, client: AsyncClient, gateway: Gateway, ledger: Ledger, moves: Moves, welcome: Welcome
    ) -> None:
        self._client, self._gateway, self._ledger = client, gateway, ledger
        self._moves, self._welcome = moves, welcome

    async def place(self, thread: Thread) -> Thread:
        """Where its cards stand now. In a new room a thread begins with the way to the old one."""
        for _ in range(_FARTHEST):
            move = self._moves.from_room(thread.channel)
            if move is None or not self._counts(move):
                break
            thread = self._moves.now(thread) or await self._go_on(thread, move.new)
        return thread

    def origin(self, thread: Thread) -> Thread:
        """Of which thread that is spoken, wherever that happens."""
        for _ in range(_FARTHEST):
            was = self._moves.was(thread)
            move = self._moves.from_room(was.channel) if was else None
            if was is None or move is None or not self._counts(move):
                break
            thread = was
        return thread

    def home(self, deliver: Deliver) -> Deliver:
        """Delivers what is heard in a thread as said in the one it comes from."""

        async def delivered(thread: Thread, event: FromPeople) -> bool:
            return await deliver(self.origin(thread), event)

        return delivered

    def watching(self, deliver: Deliver) -> Watching:
        return _Watching(self, deliver)

    async def replaced(self, old: str, new: str) -> None:
        """People are told in the old room, as long as that takes a word, and the operator in any case."""
        known = self._moves.from_room(old)
        if known is None or known.new != new:
            self._moves.keep(Move(old=old, new=new))
        log.warning(
            "invite the bot into the new room, and add it to MATRIX_ROOMS",
            extra={"data": {"old": old, "new": new}},
        )
        try:
            await self._gateway.show(_room(old), _farewell(new))
        except SignedOut:
            raise
        except Refused as refused:
            log.info("the old room is closed", extra={"data": {"why": refused.reason}})

    def put_out(self, room: str) -> None:
        """Nothing is sent there any more."""
        self._gateway.shut(room)

    async def came(self, room: str, entered: Entered, deliver: Deliver) -> None:
        """Whoever has brought the bot is shown how everything stands there that is not over."""
        self._gateway.back_in(room)
        for move in self._moves.into(room):
            if not move.by and entered.by and await self._is_successor(move):
                self._moves.keep(move.model_copy(update={"by": entered.by}))
        for thread in list(self._unfinished(room))[-MOST:]:
            status = Commanded(
                id=f"{entered.event_id}:{thread.root}",
                at=entered.at,
                by=Person(platform=_PLATFORM, id=entered.by),
                command=Command(word=Word.STATUS),
            )
            await deliver(thread, status)

    def _unfinished(self, room: str) -> Iterator[Thread]:
        """Something can be chosen there. Each thread by its first name."""
        rooms = {room, *(move.old for move in self._moves.into(room) if self._counts(move))}
        threads = [thread for thread in self._ledger.threads() if thread.channel in rooms]
        waiting = (t for t in threads if t.root and self._ledger.offering(t))
        yield from {one.key: one for one in map(self.origin, waiting)}.values()

    def _counts(self, move: Move) -> bool:
        return bool(move.by) and self._welcome(move.by, move.new, False)

    async def _go_on(self, thread: Thread, new: str) -> Thread:
        if not thread.root:
            return thread.model_copy(update={"channel": new})
        link = Pointer(text="What was said before", thread=thread)
        card = AnswerCard(key=f"moved:{thread.root}", title="This goes on here", body=(link,))
        begun = await self._gateway.open(_room(new), card)
        if owner := self._gateway.began(thread):
            self._gateway.remember_root(begun, owner)
        self._moves.keep(Went(was=thread, now=begun))
        return begun

    async def _is_successor(self, move: Move) -> bool:
        """Both rooms say so: else any room could be made to follow another."""
        path = f"/_matrix/client/v3/rooms/{quote(move.new, safe='')}/state/m.room.create/"
        headers = {"Authorization": f"Bearer {self._client.access_token}"}
        call = self._client.send("GET", path, headers=headers)
        try:
            told = await ask("Looking at a new room", call)
        except SignedOut:
            raise
        except Refused as refused:
            log.warning("no successor", extra={"data": {"room": move.new, "why": refused.reason}})
            return False
        predecessor = told.get("predecessor")
        return isinstance(predecessor, dict) and predecessor.get("room_id") == move.old


@dataclass(frozen=True)
class _Watching:
    moving: Moving
    deliver: Deliver

    async def replaced(self, old: str, new: str) -> None:
        await self.moving.replaced(old, new)

    async def came(self, room: str, entered: Entered) -> None:
        await self.moving.came(room, entered, self.deliver)

    async def put_out(self, room: str) -> None:
        self.moving.put_out(room)


def _room(room: str) -> Thread:
    return Thread(platform=_PLATFORM, channel=room, root="")


def _farewell(new: str) -> AnswerCard:
    steps = (
        f"Whoever runs this bot adds {new} to MATRIX_ROOMS and starts it again.",
        "Then somebody who may ask for work invites me there, and every session goes on in the new room.",
    )
    body = tuple(Text(text=step) for step in steps)
    return AnswerCard(key=f"replaced:{new}", title="This room was replaced.", body=body)
