"""Where every event from a chat enters: checks permission, removes duplicates, writes to disk, and finds the session.

A thread belongs to one session for ever.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pydantic import JsonValue

from bot.core import overview, session_factory, status_data
from bot.core.actor import Actor
from bot.core.cards import AnswerCard
from bot.core.choices import Word
from bot.core.commands import COMMANDS
from bot.core.console import ThreadStanding
from bot.core.errors import PortError, Unavailable
from bot.core.events import (
    Begun,
    Commanded,
    Configured,
    Continued,
    Edited,
    FromPeople,
    FromPerson,
    Opened,
    Overheard,
    Pressed,
    Said,
    Visited,
    Woken,
)
from bot.core.gate import (
    MAX_WAITING_EVENTS,
    Auditing,
    Deduplication,
    Gate,
    RateLimits,
    RefusalLimit,
)
from bot.core.live_sessions import LiveSessions
from bot.core.overview import GeneralAnswers
from bot.core.people import Person, Role, Thread
from bot.core.repositories import Repositories
from bot.core.session import Session
from bot.core.session_commands import NOT_ALLOWED, AnswerDelivery, SessionCommands
from bot.core.session_factory import SessionStarter, SpecCommand, is_request
from bot.core.sheets import Element, Entry, Text, Tone
from bot.core.states import Phase, Status
from bot.core.text import sentences
from bot.core.world import World
from bot.steps.approve.rules import is_yes
from bot.steps.branches.work import BranchMode, BranchOwners
from bot.steps.decisions import is_held_back
from bot.steps.intents.knowledge import Knowledge
from bot.steps.intents.work import Intents, is_run

log = logging.getLogger("bot.desk")
IDLE_POLL_SECONDS = 0.2
TOO_MUCH_WAITS = "Too many messages are waiting in this session already. Write resume first."
NOTHING_HERE = "There is nothing here yet. Tell me what you would like to have built."


class Desk:
    def __init__(self, world: World, gate: Gate) -> None:
        self._world = world
        self._gate = gate
        self._live = LiveSessions(world)
        self._deduplication = Deduplication()
        self._refusals = RefusalLimit()
        self._limit_refusals = RefusalLimit(to_one=1)
        self._rate_limits = RateLimits(world.rules)
        self._auditing = Auditing(world)
        self._overheard_talk = OverheardTalk(gate, world)
        self._answers = AnswerDelivery(world.clock)
        repositories = Repositories(world)
        intents = self._intents(repositories)
        self._session_starter = SessionStarter(world, repositories)
        self._commands = SessionCommands(
            world,
            gate,
            self._live.actor_of,
            self._live.sessions,
            self._answers,
            self._auditing,
            GeneralAnswers(world, repositories, self._live.sessions, intents),
        )
        self._branches = BranchMode(
            world,
            repositories,
            BranchOwners(world, self._live.sessions),
            self._answers,
            self._live.session_in,
        )
        self._knowledge = Knowledge(world, intents, self._commands.whisper, self._live.session_in)
        world.registrar.ended = self._knowledge.session_ended
        self._home_page = HomePage(world, gate, self._commands, self._live.sessions, intents)
        self._spec_command = self._specs()
        self._home_page_task: asyncio.Task[None] | None = None
        world.nursery.serve(self._start_requested_session, self._pass_on, self._count_session_start)

    def _specs(self) -> SpecCommand:
        return SpecCommand(
            self._world,
            self._session_starter,
            self._commands,
            self._auditing,
            known=self._live.knows,
            begun=self._live.load,
        )

    def _intents(self, repositories: Repositories) -> Intents:
        return Intents(
            self._world,
            repositories,
            self._live.session,
            overview.is_listed_in,
            lambda repository, shelf: self._knowledge.estimate_later(repository, shelf),
        )

    async def open(self, only: frozenset[str] | None = None) -> None:
        """Restore every unfinished session, or only those in `only`; the others stay on disk for a later start.

        No session may hold its slot in the repository queue before all are restored.
        """
        for listed in self._world.store.sessions():
            self._live.note(listed)
        for record in self._world.store.load():
            if only is None or record.session.id in only:
                self._live.load(record).tell(self._woken_event(record.session))
            else:
                self._live.leave(record.session)
        await self._live.wait_for_queues()
        self._world.places.open()
        awake, now = self._live.sessions, self._world.clock.now
        await self._world.logbook.catch_up(awake(), self._live.saved_session)
        self._world.recall.begin(awake(), now())
        lately = self._live.recently_finished()
        await self._world.registrar.catch_up(awake(), lately)
        self._rate_limits.remember((*awake(), *lately), now())
        if only is None:
            self._knowledge.resume()
        self._home_page_task = asyncio.create_task(self._home_page.keep_up(), name="the page")

    async def close(self) -> None:
        # Agents keep working; everything that matters is on disk.
        await self._answers.close()
        await self._knowledge.close()
        if self._home_page_task:
            self._home_page_task.cancel()
            await asyncio.gather(self._home_page_task, return_exceptions=True)
        await self._live.close()
        await self._world.logbook.close()
        await self._world.registrar.close()

    async def take(self, thread: Thread, event: FromPeople) -> bool:
        """Accept an event; return once it is on disk. `False` if it was refused; then the person has been told."""
        if (answered := await self._deduplication.known(event)) is not None:
            return answered
        event = addressed_to_bot(event)
        if self._is_not_for_bot(thread, event):
            return True
        if not self._gate.lets(thread, event):
            return await self._refuse(thread, event)
        if isinstance(event, Opened):
            return True
        if why := self._limit_problem(thread, event):
            return await self._turn_away(thread, event, why)
        may_stop = self._gate.grants(thread, event.by, Role.STOP)
        event = self._world.masker.mask_model(event).model_copy(update={"may_stop": may_stop})
        if isinstance(event, Visited | Configured):
            self._auditing.allowed(thread, event)
            return await self._deduplication.answered(
                event, self._home_page.answered(thread, event)
            )
        if await self._answer_without_session(thread, event):
            return True
        return await self._pass_to_session(thread, event)

    async def _pass_to_session(
        self, thread: Thread, event: Said | Edited | Pressed | Commanded
    ) -> bool:
        """Pass the event to the thread's session, or start one with it."""
        actor = self._live.actor_of(thread)
        if actor is None:
            return await self._start_session(thread, event)
        if not self._may_approve(actor.session, event):
            return await self._refuse(thread, event)
        if is_held_back(actor.session, event) and actor.waiting >= MAX_WAITING_EVENTS:
            return await self._turn_away(thread, event, TOO_MUCH_WAITS)
        if not actor.has_heard(event):
            self._auditing.allowed(thread, event, actor.session.id)
        actor.hear(event)
        return True

    async def _start_session(
        self, thread: Thread, event: Said | Edited | Pressed | Commanded
    ) -> bool:
        # Only a request starts a session, even where the thread's old session file was broken and set aside.
        why = self._session_starter.problem(thread, event)
        if why or not (isinstance(event, Said) and is_request(thread, event)):
            said = self._commands.say(thread, event, why or NOTHING_HERE)
            return await self._deduplication.answered(event, said)
        self._auditing.allowed(thread, event)
        self._live.load(self._session_starter.start_from_request(thread, event))
        return True

    def _limit_problem(self, thread: Thread, event: FromPeople) -> str:
        new = not self._live.knows(thread) and is_request(thread, event)
        begins = new or session_factory.is_spec_command(event) or is_run(event)
        now = self._world.clock.now()
        return self._rate_limits.problem(event, now, begins=begins, open_now=self._live.open)

    async def _turn_away(self, thread: Thread, event: FromPeople, why: str) -> bool:
        """Refuse an event that exceeds a limit. The person is told privately, and not every time."""
        now = self._world.clock.now()
        self._auditing.refused(thread, event, why)
        if self._limit_refusals.may_tell(thread, event.by, now):
            await self._deduplication.answered(
                event, self._commands.say(thread, event, why), taken=False
            )
        return False

    def _is_not_for_bot(self, thread: Thread, event: FromPeople) -> bool:
        """Whether the event is not for the bot: people also talk to each other.

        Unaddressed messages count only in a session's thread and from users with the right role; edits only if the
        session has heard the original message.
        """
        session_id, actor = self._live.session_id_of(thread), self._live.loaded_actor(thread)
        if isinstance(event, Edited):
            return actor is None or not actor.has_heard_of(event.of)
        return self._overheard_talk.overheard(thread, event, session_id, actor)

    async def _answer_without_session(self, thread: Thread, event: FromPeople) -> bool:
        if not isinstance(event, Pressed | Commanded):
            return False
        if self._branches.concerns(event):
            self._auditing.allowed(thread, event)
            return await self._deduplication.answered(event, self._branches.answered(thread, event))
        if isinstance(event, Commanded) and session_factory.is_spec_command(event):
            return await self._deduplication.answered(
                event, self._spec_command.answered(thread, event)
            )
        if self._knowledge.concerns(event):
            self._auditing.allowed(thread, event)
            return await self._deduplication.answered(event, self._answer_knowledge(thread, event))
        known = self._live.knows(thread)
        return await self._deduplication.answered(
            event, self._commands.answered(thread, event, known=known)
        )

    async def _answer_knowledge(self, thread: Thread, event: Commanded) -> bool:
        if card := self._knowledge.answer(thread, event):
            await self._commands.whisper(thread, event.by, card)
        return True

    def broken(self) -> tuple[str, ...]:
        """Return what could not be read at the start, one sentence each."""
        return (*self._world.store.broken, *self._world.audit.broken)

    def unfinished(self) -> tuple[str, ...]:
        """Return the sessions that were unfinished at the start, one sentence each."""
        return overview.unfinished_lines(self._live.unfinished())

    async def welcome(self, thread: Thread, person: Person) -> None:
        """Show the unfinished sessions, with the commands that continue or discard them."""
        if unfinished := self._live.unfinished():
            body = overview.unfinished(unfinished)
            card = AnswerCard(key="welcome", title="Unfinished sessions", body=body)
            await self._commands.whisper(thread, person, card)

    async def settled(self) -> None:
        """Wait until every session waits for a person or for something outside, or is over."""
        while not all(actor.quiet for actor in self.actors()):
            await self._world.clock.sleep(IDLE_POLL_SECONDS)

    async def rest(self, thread: Thread) -> ThreadStanding:
        """Wait until the thread's session cannot go on without a person and its logs are written; return its state."""
        while (actor := self._live.loaded_actor(thread)) and not actor.resting:
            await self._world.clock.sleep(IDLE_POLL_SECONDS)
        await self._world.logbook.written()
        session_id = self._live.session_id_of(thread)
        session = self._live.saved_session(session_id) if session_id else None
        return status_data.thread_standing(session) if session else ThreadStanding()

    async def tell(self, about: str, of: str) -> JsonValue:
        """Return status data for programs. Raises Refused if there is no such session."""
        world = self._world
        if about == "inbox":
            paths = (world.rules.repository, *world.rules.repositories.values())
            registry, top = world.registrar.registry, world.repository.top
            found = await status_data.inbox(world.store, registry, top, paths)
            return [world.masker.mask_model(line) for line in found]
        return status_data.status_of(world.store, about, of)

    async def listed(self, what: Word, thread: Thread) -> tuple[Element, ...]:
        """Return what `intent list` or `branches` would answer here, for a page that shows it all the time.

        Raises PortError. It only reads, so it is neither limited nor audited.
        """
        if what is Word.BRANCHES:
            return await self._branches.listed(thread, self._world.rules.repository)
        return await self._commands.front.intents.listed(thread)

    async def waiting_intents(self, thread: Thread) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
        """Return the intents that wait for a person, and what cannot be read."""
        return await self._commands.front.intents.waiting(thread)

    @property
    def world(self) -> World:
        return self._world

    def session(self, session_id: str) -> Session | None:
        """Return a session as it is now, also by the beginning of its id."""
        return self._live.session(session_id) or self._live.saved_session(session_id)

    def session_id_of(self, thread: Thread) -> str:
        return self._live.session_id_of(thread)

    def actors(self) -> tuple[Actor, ...]:
        return self._live.actors()

    def _may_approve(self, session: Session, event: FromPerson) -> bool:
        # Agreeing to a plan in words is an approval like pressing the button. While a plan is being specified, too: it
        # may be shown before a waiting message is decided on.
        changing = session.phase is Phase.EXECUTING and session.change is not None
        if session.phase not in (Phase.SPECIFYING, Phase.APPROVING) and not changing:
            return True
        agrees = isinstance(event, Said) and is_yes(event.text)
        return not agrees or self._gate.grants(session.thread, event.by, Role.APPROVE)

    async def _refuse(self, thread: Thread, event: FromPeople) -> bool:
        log.warning("refused at the gate", extra={"data": {"by": event.by.id, "event": event.id}})
        self._auditing.refused(thread, event, NOT_ALLOWED, self._live.session_id_of(thread))
        # the home page itself tells the visitor
        silent = isinstance(event, Visited)
        if not silent and self._refusals.may_tell(thread, event.by, self._world.clock.now()):
            await self._deduplication.answered(
                event, self._commands.say(thread, event, NOT_ALLOWED), taken=False
            )
        return False

    def _start_requested_session(self, thread: Thread, session_id: str, event: Begun) -> None:
        """Start a session that another session asked for, in a thread opened for it."""
        if session_id in self._live:
            return
        begun_by = self._live.session_in(event.origin) if event.origin else None
        if record := self._session_starter.start_for_session(thread, session_id, event, begun_by):
            self._live.load(record)

    def _count_session_start(self, by: Person, session_id: str) -> str:
        """Return why this person may not start another session, or an empty string.

        A request made within a session's thread counts like any other.
        """
        if session_id in self._live or self._live.saved_session(session_id):
            return ""
        now = self._world.clock.now()
        return self._rate_limits.one_more(by, session_id, now, now, open_now=self._live.open)

    def _pass_on(self, thread: Thread, event: Continued) -> str:
        actor = self._live.actor_of(thread)
        if actor is None:
            return "that session is no longer there"
        if not self._gate.lets(thread, event):
            return f"{event.by} may not ask for anything in that thread"
        if actor.session.status is Status.FAILED:
            return "that session has failed since; it must be tried again first, or discarded"
        actor.hear(event)
        return ""

    async def next_crashed_session(self) -> str:
        """Wait for the next session that is ended by a bug, and return its id. The others go on."""
        return await self._live.next_crashed_session()

    def _woken_event(self, session: Session) -> Woken:
        # Nothing continues unasked if the operator wants it so, or if nobody could be told because the session's chat
        # is not connected.
        mute = session.thread.platform not in self._world.chats
        hold = self._world.rules.hold_on_restart or mute
        return Woken(**self._world.mark(), restarted=True, hold=hold)


# Messages in a session's thread that are not for the bot. From users without permission they are context at most.

MAX_CONTEXT_CHARS = 400
"""Characters of one message that are kept as context."""


def addressed_to_bot(event: FromPeople) -> FromPeople:
    """Return a command as plain talk unless it addresses the bot by a mention or its sign:

    `branch out` among people is talk. `model <address> <name>` becomes the event that its form would send.
    """
    if not isinstance(event, Commanded):
        return event
    command = event.command
    if command.word is Word.MODEL and command.argument and event.mention:
        return Configured(
            id=event.id, at=event.at, by=event.by, base_url=command.argument, model=command.text
        )
    if event.mention or not COMMANDS[command.word].like_talk:
        return event
    text = " ".join(part for part in (command.word, command.argument, command.text) if part)
    return Said(id=event.id, at=event.at, by=event.by, text=text, mention=False)


class OverheardTalk:
    def __init__(self, gate: Gate, world: World) -> None:
        self._gate = gate
        self._world = world
        self._limit = RefusalLimit()
        """Limits what is kept per person and per channel within a time window."""

    def overheard(
        self, thread: Thread, event: FromPeople, session_id: str, actor: Actor | None
    ) -> bool:
        """Whether the message is not for the bot and needs no further handling.

        `session_id`: empty if the thread has no session.
        """
        if not isinstance(event, Said | Commanded) or event.mention:
            return False
        if not session_id:
            return True
        if not isinstance(event, Said) or self._gate.lets(thread, event):
            return False
        if actor and not actor.session.over and self._gate.may_give_context(thread, event.by):
            self._keep_context(thread, event, actor)
        return True

    def _keep_context(self, thread: Thread, event: Said, actor: Actor) -> None:
        # Limited in number and length, so that it fills neither the disk nor the model's context.
        if not self._limit.may_tell(thread, event.by, self._world.clock.now()):
            return
        # mask at most ten times what is kept; mask before cutting, as half a secret would not be recognised
        text = self._world.masker.mask(event.text[: 10 * MAX_CONTEXT_CHARS])[:MAX_CONTEXT_CHARS]
        try:
            actor.hear(Overheard(id=event.id, at=event.at, by=event.by, text=text))
        except Unavailable as full:
            # nobody waits for it: if the disk is full it is dropped
            log.warning("context was not kept", extra={"data": {"why": full.reason}})


# The bot's home page: shown to each visitor, kept up to date while they may be looking, and where an operator chooses
# the model.


@dataclass(frozen=True)
class HomePage:
    world: World
    gate: Gate
    pointing: SessionCommands
    awake: Callable[[], Iterable[Session]]
    intents: Intents

    async def answered(self, thread: Thread, event: Visited | Configured) -> bool:
        if isinstance(event, Configured):
            await self._configure(thread, event)
        else:
            self.world.visits.come(thread, event.by)
        await self._show(thread, event.by)
        return True

    async def keep_up(self) -> None:
        """Keep the pages up to date until cancelled."""
        await self.world.visits.keep_up(self.world.clock, self._show)

    async def _show(self, thread: Thread, person: Person) -> None:
        # Only on the visitor's own page: elsewhere everybody might see it.
        if thread.home:
            entries, _ = await self.intents.waiting(thread)
            card = await overview.home(self.world, self.gate, self.awake(), thread, person, entries)
            await self.pointing.whisper(thread, person, card)

    async def _configure(self, thread: Thread, event: Configured) -> None:
        key = f"answer:{event.id}"
        try:
            self.world.preferences.choose_model(event.base_url, event.model)
        except PortError as problem:
            body = (Text(text=sentences(problem.reason, problem.remedy)),)
            title = "That was not changed"
            card = AnswerCard(key=key, title=title, tone=Tone.FAILURE, body=body)
        else:
            title = f"From now on I ask {event.model} at {event.base_url}"
            card = AnswerCard(key=key, title=title, tone=Tone.SUCCESS)
        await self.pointing.whisper(thread, event.by, card)
