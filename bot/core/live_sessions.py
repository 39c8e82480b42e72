"""The sessions in memory, and the threads of all sessions.

A finished session is unloaded to disk until somebody writes in its thread.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from bot.core.actor import Actor
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.core.projections.registry_writer import MAX_RECENT_SESSIONS
from bot.core.session import Session
from bot.core.world import World
from bot.ports import IndexedSession

log = logging.getLogger("bot.desk")
UNLOAD_AFTER = timedelta(hours=1)
"""A finished session stays in memory this long, as people often add something."""
MAX_LOADED_FINISHED = 5
"""The most finished sessions in memory.

Beyond that the least recently changed one is unloaded; loading it again is one read from disk.
"""


class LiveSessions:
    def __init__(self, world: World) -> None:
        self._world = world
        self._actors: dict[str, Actor] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._threads: dict[str, str] = {}
        self._unloaded: dict[str, Session] = {}
        """Unfinished sessions that this bot was told not to restore."""
        self._crashed: asyncio.Queue[str] = asyncio.Queue()

    def note(self, listed: IndexedSession) -> None:
        """Remember the session's thread, whether or not the session will be loaded."""
        self._threads[listed.thread.key] = listed.id

    def leave(self, session: Session) -> None:
        """Keep an unfinished session's state for reports only; no actor runs it."""
        self._unloaded[session.id] = session

    def load(self, record: Record) -> Actor:
        self._unload_finished()
        session = record.session
        self._unloaded.pop(session.id, None)
        actor = Actor(record, self._world)
        self._actors[session.id] = actor
        self._threads[session.thread.key] = session.id
        life = asyncio.create_task(actor.run(), name=f"session {session.short}")
        self._tasks[session.id] = life
        life.add_done_callback(lambda ended: self._actor_ended(session.id, ended))
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
        """How many sessions still have something to do or to ask."""
        return sum(not actor.can_be_unloaded for actor in self.actors())

    def knows(self, thread: Thread) -> bool:
        """Whether the thread has a session, loaded or not."""
        return thread.key in self._threads

    def session_id_of(self, thread: Thread) -> str:
        """Return the id of the thread's session, loaded or not; empty if it has none."""
        return self._threads.get(thread.key, "")

    def loaded_actor(self, thread: Thread) -> Actor | None:
        """Return the actor of the thread's session if it is loaded."""
        return self._actors.get(self.session_id_of(thread))

    def actor_of(self, thread: Thread) -> Actor | None:
        """Return the actor of the thread's session; load the session if necessary."""
        if actor := self.loaded_actor(thread):
            return actor
        session_id = self.session_id_of(thread)
        record = self._world.store.find(session_id) if session_id else None
        if record is None:
            return None
        # a session that a bug ended has lost its slot: another may hold it by now
        record.session.queue.has_place = False
        return self.load(record)

    def session_in(self, thread: Thread) -> Session | None:
        """Return the thread's session; load it if necessary."""
        actor = self.actor_of(thread)
        return actor.session if actor else None

    def session(self, session_id: str) -> Session | None:
        """Return the session if it is loaded or unfinished."""
        actor = self._actors.get(session_id)
        return actor.session if actor else self._unloaded.get(session_id)

    def saved_session(self, session_id: str) -> Session | None:
        """Return the session as last saved."""
        record = self._world.store.find(session_id)
        return record.session if record else None

    def recently_finished(self) -> list[Session]:
        """Return the most recently changed sessions that are not loaded, as saved."""
        listed = [one for one in self._world.store.sessions() if one.id not in self]
        found = [self.saved_session(one.id) for one in listed[:MAX_RECENT_SESSIONS]]
        return [one for one in found if one]

    async def wait_for_queues(self) -> None:
        """Wait until every session that held or awaited a slot is back in its repository's queue."""
        lives = [(self._actors[session_id], life) for session_id, life in self._tasks.items()]
        for actor, life in lives:
            up = asyncio.create_task(actor.up.wait())
            await asyncio.wait({life, up}, return_when=asyncio.FIRST_COMPLETED)
            up.cancel()
        await asyncio.sleep(0)

    async def close(self) -> None:
        # Agents keep working; everything that matters is on disk.
        lives = [*self._tasks.values()]
        for life in lives:
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)

    async def next_crashed_session(self) -> str:
        """Wait for the next session that is ended by a bug, and return its id. The others go on."""
        return await self._crashed.get()

    def _unload_finished(self) -> None:
        # Called whenever a session is loaded, so that memory does not grow with the number of finished sessions.
        now = self._world.clock.now()
        at_rest = [actor.session for actor in self._actors.values() if actor.can_be_unloaded]
        at_rest.sort(key=lambda session: session.updated_at, reverse=True)
        for number, session in enumerate(at_rest):
            if number >= MAX_LOADED_FINISHED or now - session.updated_at > UNLOAD_AFTER:
                del self._actors[session.id]
                self._tasks.pop(session.id).cancel()

    def _actor_ended(self, session_id: str, life: asyncio.Task[None]) -> None:
        # An actor ends only with the bot, or by a bug so deep that the session could not even report it.
        if self._tasks.get(session_id) is life:
            del self._tasks[session_id], self._actors[session_id]
        if not life.cancelled() and (error := life.exception()):
            log.error("a session fell over", exc_info=error, extra={"data": {"id": session_id}})
            self._crashed.put_nowait(session_id)
