"""The desk: who may, was it heard before, is it written down, which session is it for. The one way in.

One thread is one session, for ever. A session whose work is over sleeps on disk until somebody speaks in its thread.
"""

from __future__ import annotations

import asyncio
import logging

from bot.domain.cards import AnswerCard
from bot.domain.choices import Word
from bot.domain.events import Commanded, Event, FromPerson, Said, Woken
from bot.domain.people import Person, Role, Thread
from bot.domain.record import Record
from bot.domain.session import Session
from bot.domain.states import Phase
from bot.engine import front
from bot.engine.actor import Actor
from bot.engine.gate import Gate
from bot.engine.perform import telling
from bot.engine.world import World
from bot.flow.approve import is_yes

log = logging.getLogger("bot.desk")
SETTLING = 0.2


class Desk:
    def __init__(self, world: World, gate: Gate) -> None:
        self._world = world
        self._gate = gate
        self._actors: dict[str, Actor] = {}
        self._lives: dict[str, asyncio.Task[None]] = {}
        self._threads: dict[str, str] = {}
        self._fallen: asyncio.Queue[str] = asyncio.Queue()

    async def open(self) -> None:
        """Bring back every session that is not over; only when all are back may any hold its place."""
        for listed in self._world.store.sessions():
            self._threads[listed.thread.key] = listed.id
        for record in self._world.store.load():
            actor = self._awaken(record)
            actor.tell(self._woken(record.session))
        await self._in_line()
        self._world.places.open()

    async def _in_line(self) -> None:
        """Until everybody who held or awaited a place stands in line for it again."""
        lives = [(self._actors[session_id], life) for session_id, life in self._lives.items()]
        for actor, life in lives:
            up = asyncio.create_task(actor.up.wait())
            await asyncio.wait({life, up}, return_when=asyncio.FIRST_COMPLETED)
            up.cancel()
        await asyncio.sleep(0)

    async def close(self) -> None:
        """Agents work on; everything that matters is on disk."""
        for life in self._lives.values():
            life.cancel()
        await asyncio.gather(*self._lives.values(), return_exceptions=True)

    async def take(self, thread: Thread, event: Event) -> None:
        """Returns when the event is on disk, or was refused and the person told."""
        if not isinstance(event, FromPerson):
            return
        if not self._gate.lets(event.by, event):
            await self._refuse(thread, event)
            return
        event = self._world.masker.mask_model(event)
        if isinstance(event, Commanded) and await self._answered_here(thread, event):
            return
        actor = self._actor_for(thread, event)
        if actor is None:
            await self._say(
                thread,
                event.by,
                "There is nothing here yet. Tell me what you would like to have built.",
            )
            return
        if not self._may_approve(actor.session, event):
            await self._refuse(thread, event)
            return
        actor.hear(event)

    def broken(self) -> tuple[str, ...]:
        """What could not be read at the start, a sentence each."""
        return self._world.store.broken

    async def welcome(self, thread: Thread, person: Person) -> None:
        """What has not been finished, with the words that go on with it or give it up."""
        unfinished = [actor.session for actor in self.actors() if not actor.session.over]
        if unfinished:
            body = front.unfinished(unfinished)
            card = AnswerCard(key="welcome", title="Unfinished sessions", body=body)
            await telling.chat_of(self._world, thread.platform).whisper(
                thread, person, self._world.masker.mask_model(card)
            )

    async def settled(self) -> None:
        """Until every session waits for a person or for something outside, or is over."""
        while not all(actor.quiet for actor in self.actors()):
            await self._world.clock.sleep(SETTLING)

    def actors(self) -> tuple[Actor, ...]:
        return tuple(self._actors.values())

    def _may_approve(self, session: Session, event: FromPerson) -> bool:
        """To say yes to a plan is to approve it, whether by button or in words."""
        if session.phase is not Phase.APPROVING:
            return True
        agrees = isinstance(event, Said) and is_yes(event.text)
        return not agrees or self._gate.grants(event.by, Role.APPROVE)

    async def _refuse(self, thread: Thread, event: FromPerson) -> None:
        await self._say(thread, event.by, "You may not do that here. Ask whoever runs this bot.")
        log.warning("refused at the gate", extra={"data": {"by": event.by.id, "event": event.id}})

    def _actor_for(self, thread: Thread, event: FromPerson) -> Actor | None:
        session_id = self._threads.get(thread.key)
        if session_id in self._actors:
            return self._actors[session_id]
        record = self._world.store.find(session_id) if session_id else None
        if record:
            # one that fell over has lost its place: another may hold it by now
            record.session.has_place = False
            return self._awaken(record)
        # also where the session's file was broken and put aside
        if isinstance(event, Said) and event.mention:
            return self._awaken(Record(session=self._new_session(thread, event)))
        return None

    def _new_session(self, thread: Thread, event: Said) -> Session:
        """Its agent is fixed with the survey: until then a wrong setting can be mended."""
        return Session(
            id=self._world.clock.new_id(),
            created_at=event.at,
            updated_at=event.at,
            thread=thread,
            owner=event.by,
            repository=self._world.rules.repository,
            test_command=self._world.rules.test_command,
        )

    def _awaken(self, record: Record) -> Actor:
        session = record.session
        actor = Actor(record, self._world)
        self._actors[session.id] = actor
        self._threads[session.thread.key] = session.id
        life = asyncio.create_task(actor.run(), name=f"session {session.short}")
        self._lives[session.id] = life
        life.add_done_callback(lambda ended: self._ended(session.id, ended))
        return actor

    def _ended(self, session_id: str, life: asyncio.Task[None]) -> None:
        """A life ends only by the bot's own end, or by a bug so deep that the session could not even say so."""
        self._lives.pop(session_id, None)
        self._actors.pop(session_id, None)
        if not life.cancelled() and (error := life.exception()):
            log.error("a session fell over", exc_info=error, extra={"data": {"id": session_id}})
            self._fallen.put_nowait(session_id)

    async def fell_over(self) -> str:
        """The next session that a bug has ended. The others live on."""
        return await self._fallen.get()

    async def _answered_here(self, thread: Thread, event: Commanded) -> bool:
        """Commands that are not about the session of this thread."""
        command = event.command
        if command.word in (Word.RESUME, Word.DISCARD, Word.STOP, Word.INFO) and command.argument:
            await self._for_another(thread, event)
            return True
        body = front.answer(self._world, command.word, list(self._world.store.sessions()))
        if body is None:
            return False
        card = AnswerCard(key=f"answer:{event.id}", title=front.TITLES[command.word], body=body)
        await telling.chat_of(self._world, thread.platform).whisper(
            thread, event.by, self._world.masker.mask_model(card)
        )
        return True

    async def _for_another(self, thread: Thread, event: Commanded) -> None:
        """`resume 1a2b`: the same word, said in the thread of that session."""
        record = self._world.store.find(event.command.argument)
        if record is None:
            await self._say(
                thread,
                event.by,
                f"I know no session {event.command.argument}. sessions lists them.",
            )
            return
        meant = event.model_copy(
            update={"command": event.command.model_copy(update={"argument": ""})}
        )
        actor = self._actor_for(record.session.thread, meant)
        if actor:
            await self._turn_to(record.session.thread)
            actor.hear(meant)

    async def _turn_to(self, thread: Thread) -> None:
        """A chat that shows one thread at a time is told which one is meant now."""
        chat = telling.chat_of(self._world, thread.platform)
        turn_to = getattr(chat, "turn_to", None)
        if turn_to is not None:
            await turn_to(thread)

    async def _say(self, thread: Thread, to: Person, text: str) -> None:
        clock = self._world.clock
        card = AnswerCard(key=f"private:{clock.new_id()}", title=text)
        await telling.chat_of(self._world, thread.platform).whisper(thread, to, card)

    def _woken(self, session: Session) -> Woken:
        """Nothing goes on unasked if the operator wants it so, or if nobody could be told about it."""
        mute = session.thread.platform not in self._world.chats
        hold = self._world.rules.hold_on_restart or mute
        return Woken(**self._world.mark(), restarted=True, hold=hold)
