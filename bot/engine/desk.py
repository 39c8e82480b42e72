"""The desk: who may, was it heard before, is it written down, which session is it for. The one way in.

One thread is one session, for ever.
"""

from __future__ import annotations

import asyncio
import logging

from pydantic import JsonValue

from bot.domain.cards import AnswerCard
from bot.domain.events import (
    Begun,
    Commanded,
    Configured,
    Continued,
    Edited,
    FromPeople,
    FromPerson,
    Opened,
    Pressed,
    Said,
    Visited,
    Woken,
)
from bot.domain.people import Person, Role, Thread
from bot.domain.repl import Standing
from bot.domain.session import Session
from bot.domain.states import Phase, Status
from bot.engine import front, overview, readout, wizard
from bot.engine.actor import Actor
from bot.engine.answers import Answers
from bot.engine.auditing import Auditing
from bot.engine.awake import Awake
from bot.engine.beginning import Beginning, is_request
from bot.engine.branch_mode import BranchMode
from bot.engine.branch_mode.whose import Whose
from bot.engine.front import Front
from bot.engine.gate import Gate
from bot.engine.intents import Intents, is_run
from bot.engine.knowledge import Knowledge
from bot.engine.looking import Looking
from bot.engine.measure import MOST_WAITING, Measure
from bot.engine.once import Once
from bot.engine.passing import Passing, meant
from bot.engine.pointing import NOT_ALLOWED, Pointing
from bot.engine.refusals import Refusals
from bot.engine.repositories import Repositories
from bot.engine.wizard import Wizard
from bot.engine.world import World
from bot.flow import held_back
from bot.flow.approve import is_yes

log = logging.getLogger("bot.desk")
SETTLING = 0.2
TOO_MUCH_WAITS = "Too many messages are waiting in this session already. Write resume first."
NOTHING_HERE = "There is nothing here yet. Tell me what you would like to have built."


class Desk:
    def __init__(self, world: World, gate: Gate) -> None:
        self._world = world
        self._gate = gate
        self._awake = Awake(world)
        self._once = Once()
        self._refusals = Refusals()
        self._too_much = Refusals(to_one=1)
        self._measure = Measure(world.rules)
        self._auditing = Auditing(world)
        self._passing = Passing(gate, world)
        self._answers = Answers(world.clock)
        repositories = Repositories(world)
        intents = self._intents(repositories)
        self._beginning = Beginning(world, repositories)
        self._pointing = Pointing(
            world,
            gate,
            self._awake.actor_of,
            self._awake.sessions,
            self._answers,
            self._auditing,
            Front(world, repositories, self._awake.sessions, intents),
        )
        self._branches = BranchMode(
            world,
            repositories,
            Whose(world, self._awake.sessions),
            self._answers,
            self._awake.session_in,
        )
        self._knowledge = Knowledge(world, intents, self._pointing.whisper)
        world.registrar.ended = self._knowledge.session_ended
        self._looking = Looking(world, gate, self._pointing, self._awake.sessions, intents)
        self._wizard = self._specs()
        self._page: asyncio.Task[None] | None = None
        world.nursery.serve(self._begin_elsewhere, self._pass_on, self._one_more)

    def _specs(self) -> Wizard:
        return Wizard(
            self._world,
            self._beginning,
            self._pointing,
            self._auditing,
            known=self._awake.knows,
            begun=self._awake.wake,
        )

    def _intents(self, repositories: Repositories) -> Intents:
        return Intents(
            self._world,
            repositories,
            self._awake.session,
            overview.lists,
            lambda repository, shelf: self._knowledge.estimate_later(repository, shelf),
        )

    async def open(self, only: frozenset[str] | None = None) -> None:
        """Bring back every session that is not over; only when all are back may any hold its place.

        `only`: no others than these, which stay as they are for a start that wants them.
        """
        for listed in self._world.store.sessions():
            self._awake.note(listed)
        for record in self._world.store.load():
            if only is None or record.session.id in only:
                self._awake.wake(record).tell(self._woken(record.session))
            else:
                self._awake.leave(record.session)
        await self._awake.in_line()
        self._world.places.open()
        awake, now = self._awake.sessions, self._world.clock.now
        await self._world.logbook.catch_up(awake(), self._awake.on_disk)
        self._world.recall.begin(awake(), now())
        lately = self._awake.lately_over()
        await self._world.registrar.catch_up(awake(), lately)
        self._measure.remember((*awake(), *lately), now())
        self._page = asyncio.create_task(self._looking.keep_up(), name="the page")

    async def close(self) -> None:
        """Agents work on; everything that matters is on disk."""
        await self._answers.close()
        await self._knowledge.close()
        if self._page:
            self._page.cancel()
            await asyncio.gather(self._page, return_exceptions=True)
        await self._awake.close()
        await self._world.logbook.close()
        await self._world.registrar.close()

    async def take(self, thread: Thread, event: FromPeople) -> bool:
        """Returns when the event is on disk; False: it was refused, and the person told."""
        if (answered := await self._once.known(event)) is not None:
            return answered
        event = meant(event)
        if self._overheard(thread, event):
            return True
        if not self._gate.lets(thread, event):
            return await self._refuse(thread, event)
        if isinstance(event, Opened):
            return True
        if why := self._beyond_measure(thread, event):
            return await self._turn_away(thread, event, why)
        may_stop = self._gate.grants(thread, event.by, Role.STOP)
        event = self._world.masker.mask_model(event).model_copy(update={"may_stop": may_stop})
        if isinstance(event, Visited | Configured):
            self._auditing.allowed(thread, event)
            return await self._once.answered(event, self._looking.answered(thread, event))
        if await self._answered_elsewhere(thread, event):
            return True
        return await self._heard(thread, event)

    async def _heard(self, thread: Thread, event: Said | Edited | Pressed | Commanded) -> bool:
        """By the session of the thread, or by the one that begins with it."""
        actor = self._awake.actor_of(thread)
        if actor is None:
            return await self._begun(thread, event)
        if not self._may_approve(actor.session, event):
            return await self._refuse(thread, event)
        if held_back(actor.session, event) and actor.waiting >= MOST_WAITING:
            return await self._turn_away(thread, event, TOO_MUCH_WAITS)
        if not actor.has_heard(event):
            self._auditing.allowed(thread, event, actor.session.id)
        actor.hear(event)
        return True

    async def _begun(self, thread: Thread, event: Said | Edited | Pressed | Commanded) -> bool:
        """A session begins with a request, also where its file was broken and put aside."""
        why = self._beginning.problem(thread, event)
        if why or not (isinstance(event, Said) and is_request(thread, event)):
            said = self._pointing.say(thread, event, why or NOTHING_HERE)
            return await self._once.answered(event, said)
        self._auditing.allowed(thread, event)
        self._awake.wake(self._beginning.by_request(thread, event))
        return True

    def _beyond_measure(self, thread: Thread, event: FromPeople) -> str:
        new = not self._awake.knows(thread) and is_request(thread, event)
        begins = new or wizard.is_wanted(event) or is_run(event)
        now = self._world.clock.now()
        return self._measure.problem(event, now, begins=begins, open_now=self._awake.open)

    async def _turn_away(self, thread: Thread, event: FromPeople, why: str) -> bool:
        """It is too much: told once in a while, and to them alone."""
        now = self._world.clock.now()
        self._auditing.refused(thread, event, why)
        if self._too_much.worth_telling(thread, event.by, now):
            await self._once.answered(event, self._pointing.say(thread, event, why), taken=False)
        return False

    def _overheard(self, thread: Thread, event: FromPeople) -> bool:
        """People talk to each other: a word that is not for the bot counts in a session's thread, from those who may.

        An edit counts where the session has heard the message that was edited.
        """
        session_id, actor = self._awake.id_in(thread), self._awake.now_in(thread)
        if isinstance(event, Edited):
            return actor is None or not actor.has_heard_of(event.of)
        return self._passing.overheard(thread, event, session_id, actor)

    async def _answered_elsewhere(self, thread: Thread, event: FromPeople) -> bool:
        if not isinstance(event, Pressed | Commanded):
            return False
        if self._branches.concerns(event):
            self._auditing.allowed(thread, event)
            return await self._once.answered(event, self._branches.answered(thread, event))
        if isinstance(event, Commanded) and wizard.is_wanted(event):
            return await self._once.answered(event, self._wizard.answered(thread, event))
        if self._knowledge.concerns(event):
            self._auditing.allowed(thread, event)
            return await self._once.answered(event, self._known(thread, event))
        known = self._awake.knows(thread)
        return await self._once.answered(event, self._pointing.answered(thread, event, known=known))

    async def _known(self, thread: Thread, event: Commanded) -> bool:
        if card := self._knowledge.answer(thread, event):
            await self._pointing.whisper(thread, event.by, card)
        return True

    def broken(self) -> tuple[str, ...]:
        """What could not be read at the start, a sentence each."""
        return (*self._world.store.broken, *self._world.audit.broken)

    def unfinished(self) -> tuple[str, ...]:
        """What was not finished at the start, a sentence each."""
        return front.told_of(self._awake.unfinished())

    async def welcome(self, thread: Thread, person: Person) -> None:
        """What has not been finished, with the words that go on with it or give it up."""
        if unfinished := self._awake.unfinished():
            body = front.unfinished(unfinished)
            card = AnswerCard(key="welcome", title="Unfinished sessions", body=body)
            await self._pointing.whisper(thread, person, card)

    async def settled(self) -> None:
        """Until every session waits for a person or for something outside, or is over."""
        while not all(actor.quiet for actor in self.actors()):
            await self._world.clock.sleep(SETTLING)

    async def rest(self, thread: Thread) -> Standing:
        """Until nothing moves in the session of that thread without a person, its logs written; how it stands then."""
        while (actor := self._awake.now_in(thread)) and not actor.resting:
            await self._world.clock.sleep(SETTLING)
        await self._world.logbook.written()
        session_id = self._awake.id_in(thread)
        session = self._awake.on_disk(session_id) if session_id else None
        return readout.standing(session) if session else Standing()

    async def tell(self, about: str, of: str) -> JsonValue:
        """How things stand, for a program to read. Raises Refused where there is no such session."""
        world = self._world
        if about == "inbox":
            paths = (world.rules.repository, *world.rules.repositories.values())
            registry, top = world.registrar.registry, world.repository.top
            found = await readout.inbox(world.store, registry, top, paths)
            return [world.masker.mask_model(line) for line in found]
        return readout.told(world.store, about, of)

    def actors(self) -> tuple[Actor, ...]:
        return self._awake.actors()

    def _may_approve(self, session: Session, event: FromPerson) -> bool:
        """To say yes to a plan is to approve it, whether by button or in words; also where the plan comes first while
        the word still waits."""
        changing = session.phase is Phase.EXECUTING and session.change is not None
        if session.phase not in (Phase.SPECIFYING, Phase.APPROVING) and not changing:
            return True
        agrees = isinstance(event, Said) and is_yes(event.text)
        return not agrees or self._gate.grants(session.thread, event.by, Role.APPROVE)

    async def _refuse(self, thread: Thread, event: FromPeople) -> bool:
        log.warning("refused at the gate", extra={"data": {"by": event.by.id, "event": event.id}})
        self._auditing.refused(thread, event, NOT_ALLOWED, self._awake.id_in(thread))
        # who may not come in is told so by the page itself
        silent = isinstance(event, Visited)
        if not silent and self._refusals.worth_telling(thread, event.by, self._world.clock.now()):
            await self._once.answered(
                event, self._pointing.say(thread, event, NOT_ALLOWED), taken=False
            )
        return False

    def _begin_elsewhere(self, thread: Thread, session_id: str, event: Begun) -> None:
        """Another session wants one, in a thread that was opened for it."""
        if session_id in self._awake:
            return
        begun_by = self._awake.session_in(event.origin) if event.origin else None
        if record := self._beginning.by_session(thread, session_id, event, begun_by):
            self._awake.wake(record)

    def _one_more(self, by: Person, session_id: str) -> str:
        """What is asked for in a session's thread is measured as any request is."""
        if session_id in self._awake or self._awake.on_disk(session_id):
            return ""
        now = self._world.clock.now()
        return self._measure.one_more(by, session_id, now, now, open_now=self._awake.open)

    def _pass_on(self, thread: Thread, event: Continued) -> str:
        actor = self._awake.actor_of(thread)
        if actor is None:
            return "that session is no longer there"
        if not self._gate.lets(thread, event):
            return f"{event.by} may not ask for anything in that thread"
        if actor.session.status is Status.FAILED:
            return "that session has failed since; it must be tried again first, or discarded"
        actor.hear(event)
        return ""

    async def fell_over(self) -> str:
        """The next session that a bug has ended. The others live on."""
        return await self._awake.fell_over()

    def _woken(self, session: Session) -> Woken:
        """Nothing goes on unasked if the operator wants it so, or if nobody could be told about it."""
        mute = session.thread.platform not in self._world.chats
        hold = self._world.rules.hold_on_restart or mute
        return Woken(**self._world.mark(), restarted=True, hold=hold)
