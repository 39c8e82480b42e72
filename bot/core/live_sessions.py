"""The sessions that are running, and the threads of all of them. A session whose work is over stays on disk until somebody writes in its thread."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from bot.core.actor import Actor
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.core.projections.registry_writer import LATELY
from bot.core.session import Session
from bot.core.world import World
from bot.ports import IndexedSession

log = logging.getLogger("bot.desk")
ASLEEP_AFTER = timedelta(hours=1)
"""A session that is over stays awake for so long: people often say something more."""
MOST_AT_REST = 5
"""Sessions that are over and awake. One more, and the one that has rested longest sleeps: to wake it is a read from disk."""


class LiveSessions:
    def __init__(self, world: World) -> None:
        self._world = world
        self._actors: dict[str, Actor] = {}
        self._lives: dict[str, asyncio.Task[None]] = {}
        self._threads: dict[str, str] = {}
        self._left: dict[str, Session] = {}
        """Unfinished ones that this bot was told to leave as they are."""
        self._fallen: asyncio.Queue[str] = asyncio.Queue()

    def note(self, listed: IndexedSession) -> None:
        """Which thread it has, whether it is to wake or not."""
        self._threads[listed.thread.key] = listed.id

    def leave(self, session: Session) -> None:
        """Unfinished, and not brought back: it is known how it stands, and nothing is done for it."""
        self._left[session.id] = session

    def wake(self, record: Record) -> Actor:
        self._let_sleep()
        session = record.session
        self._left.pop(session.id, None)
        actor = Actor(record, self._world)
        self._actors[session.id] = actor
        self._threads[session.thread.key] = session.id
        life = asyncio.create_task(actor.run(), name=f"session {session.short}")
        self._lives[session.id] = life
        life.add_done_callback(lambda ended: self._ended(session.id, ended))
        return actor

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._actors

    def actors(self) -> tuple[Actor, ...]:
        return tuple(self._actors.values())

    def sessions(self) -> list[Session]:
        return [actor.session for actor in self.actors()]

    def unfinished(self) -> list[Session]:
        return [session for session in self.sessions() if not session.over]

    @property
    def open(self) -> int:
        """How many have something left to do, or to be asked."""
        return sum(not actor.may_sleep for actor in self.actors())

    def knows(self, thread: Thread) -> bool:
        """Whether it has a session, awake or not."""
        return thread.key in self._threads

    def id_in(self, thread: Thread) -> str:
        """Of its session, awake or not; empty: it has none."""
        return self._threads.get(thread.key, "")

    def now_in(self, thread: Thread) -> Actor | None:
        """Of its session, if that is awake."""
        return self._actors.get(self.id_in(thread))

    def actor_of(self, thread: Thread) -> Actor | None:
        """Of its session, which is woken if it sleeps."""
        if actor := self.now_in(thread):
            return actor
        session_id = self.id_in(thread)
        record = self._world.store.find(session_id) if session_id else None
        if record is None:
            return None
        # one that fell over has lost its place: another may hold it by now
        record.session.queue.has_place = False
        return self.wake(record)

    def session_in(self, thread: Thread) -> Session | None:
        """Its session, which is woken if it sleeps."""
        actor = self.actor_of(thread)
        return actor.session if actor else None

    def session(self, session_id: str) -> Session | None:
        """That session, if it is awake or unfinished."""
        actor = self._actors.get(session_id)
        return actor.session if actor else self._left.get(session_id)

    def on_disk(self, session_id: str) -> Session | None:
        """That session as it was saved last."""
        record = self._world.store.find(session_id)
        return record.session if record else None

    def lately_over(self) -> list[Session]:
        """Those that sleep and changed last, as they were saved."""
        listed = [one for one in self._world.store.sessions() if one.id not in self]
        found = [self.on_disk(one.id) for one in listed[:LATELY]]
        return [one for one in found if one]

    async def in_line(self) -> None:
        """Until everybody who held or awaited a place stands in line for it again."""
        lives = [(self._actors[session_id], life) for session_id, life in self._lives.items()]
        for actor, life in lives:
            up = asyncio.create_task(actor.up.wait())
            await asyncio.wait({life, up}, return_when=asyncio.FIRST_COMPLETED)
            up.cancel()
        await asyncio.sleep(0)

    async def close(self) -> None:
        """Agents work on; everything that matters is on disk."""
        lives = [*self._lives.values()]
        for life in lives:
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)

    async def fell_over(self) -> str:
        """The next session that a bug has ended. The others live on."""
        return await self._fallen.get()

    def _let_sleep(self) -> None:
        """Looked at whenever another one wakes: so what is awake does not grow with all that has ever been done."""
        now = self._world.clock.now()
        at_rest = [actor.session for actor in self._actors.values() if actor.may_sleep]
        at_rest.sort(key=lambda session: session.updated_at, reverse=True)
        for number, session in enumerate(at_rest):
            if number >= MOST_AT_REST or now - session.updated_at > ASLEEP_AFTER:
                del self._actors[session.id]
                self._lives.pop(session.id).cancel()

    def _ended(self, session_id: str, life: asyncio.Task[None]) -> None:
        """A life ends only by the bot's own end, or by a bug so deep that the session could not even say so."""
        if self._lives.get(session_id) is life:
            del self._lives[session_id], self._actors[session_id]
        if not life.cancelled() and (error := life.exception()):
            log.error("a session fell over", exc_info=error, extra={"data": {"id": session_id}})
            self._fallen.put_nowait(session_id)
