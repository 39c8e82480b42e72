"""Lists, shows, approves, rejects and runs intents; and returns those that wait, for the inbox."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.core.cards import AnswerCard, RootCard
from bot.core.choices import Verb, Word
from bot.core.commands import COMMANDS, AnsweredBy
from bot.core.errors import PortError
from bot.core.events import Begun, Commanded, FromPerson, Pressed
from bot.core.naming import derived_id
from bot.core.people import Thread
from bot.core.projections.registry import FiledIntent, IntentEdit, RegistryContents
from bot.core.repositories import Repositories
from bot.core.session import Session
from bot.core.sheets import Element, Entry, Text, Tone
from bot.core.world import World
from bot.ports import IndexedSession, Registry
from bot.steps.chat import chat_of
from bot.steps.intents import rules as intents
from bot.steps.intents.rules import IntentContext

log = logging.getLogger("bot.intents")

NOT_KEPT = "No intents are kept here (GWT_INTENTS is off)."
CHANGED = "It has changed since that was shown. Look at it again."
_VERBS = {
    "approve": Verb.INTENT_APPROVE,
    "reject": Verb.INTENT_REJECT,
    "run": Verb.INTENT_RUN,
}
VERBS = frozenset(_VERBS.values())
Awake = Callable[[str], Session | None]


@dataclass(frozen=True)
class Intents:
    """Answers commands and presses about intents.

    `may_see`: whether a session may be known in another thread; `looked`: called with what was found.
    """

    world: World
    repositories: Repositories
    awake: Awake
    may_see: Callable[[Thread, IndexedSession], bool]
    looked: Callable[[str, RegistryContents], None]
    _start_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Two people who run the same intent at once must start only one session."""

    def concerns(self, event: FromPerson) -> bool:
        if isinstance(event, Pressed):
            return event.verb in VERBS
        if not isinstance(event, Commanded):
            return False
        return COMMANDS[event.command.word].answered_by is AnsweredBy.INTENTS

    async def answer(self, thread: Thread, event: Pressed | Commanded) -> AnswerCard:
        """Carry out the request and return the answer; a failure becomes an answer, too."""
        key = f"answer:{event.id}"
        registry = self.world.registrar.registry
        if registry is None:
            return AnswerCard(key=key, title=NOT_KEPT)
        try:
            repository = await self.repository(thread)
            shelf = await self.shelf(registry, repository, thread)
            return await self._answered(registry, repository, thread, event, shelf)
        except PortError as problem:
            body = (Text(text=problem.remedy),) if problem.remedy else ()
            return AnswerCard(key=key, title=problem.reason, tone=Tone.FAILURE, body=body)

    async def repository(self, thread: Thread) -> str:
        """Return the main checkout of the channel's repository."""
        return await self.world.repository.top(self.repositories.path_for(thread))

    async def shelf(self, registry: Registry, repository: str, thread: Thread) -> RegistryContents:
        """Return the registry with drafts picked up, and each intent with its current status."""
        await self.world.registrar.import_drafts(repository, self.world.clock)
        await self.world.registrar.written()
        shelf = await registry.shelf(repository)
        self.looked(repository, shelf)
        seen = {listed.id: listed for listed in self.world.store.sessions()}
        found = tuple(
            intents.with_session_status(filed, self._session(filed))
            for filed in shelf.intents
            if filed.session not in seen or self.may_see(thread, seen[filed.session])
        )
        own = self.world.registrar.problem(repository)
        problems = shelf.problems if own in ("", *shelf.problems) else (*shelf.problems, own)
        # people write these files: their content becomes requests and is shown shortened
        return self.world.masker.mask_model(RegistryContents(intents=found, problems=problems))

    async def listed(self, thread: Thread) -> tuple[Element, ...]:
        """Return all intents of the channel's repository, each with its buttons. Raises PortError."""
        registry = self.world.registrar.registry
        if registry is None:
            return (Text(text=NOT_KEPT),)
        shelf = await self.shelf(registry, await self.repository(thread), thread)
        return intents.intent_list(shelf, self._context_of)

    async def waiting(self, thread: Thread) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
        """Return the intents that wait for a person, and what cannot be read."""
        registry = self.world.registrar.registry
        if registry is None:
            return (), ()
        try:
            shelf = await self.shelf(registry, await self.repository(thread), thread)
        except PortError as problem:
            return (), (f"Intents: {problem.reason}",)
        free = intents.waiting_intents(
            shelf.intents, lambda filed: self._live_session(filed) is not None
        )
        waiting = tuple(
            intents.intent_entry(filed, self._context_of(filed))
            for filed in free[: intents.MOST_LISTED]
        )
        return waiting, shelf.problems

    async def run(
        self, thread: Thread, event: FromPerson, repository: str, filed: FiledIntent
    ) -> str:
        """Start the intent's session in a thread of its own; return why not, or where.

        Idempotent: the session's id is derived from the event.
        """
        registry = self.world.registrar.registry
        if registry is None:
            return NOT_KEPT
        async with self._start_lock:
            if why := await self._begun_already(registry, repository, filed):
                return why
            return await self._begin(registry, thread, event, repository, filed)

    async def _begun_already(self, registry: Registry, repository: str, filed: FiledIntent) -> str:
        """Return why it must not be started again, if somebody else started it after it was shown."""
        there = (await registry.shelf(repository)).find(filed.intent.id) or filed
        session = self._live_session(there)
        return intents.why_not_possible(there, Verb.INTENT_RUN, session) if session else ""

    async def _begin(
        self,
        registry: Registry,
        thread: Thread,
        event: FromPerson,
        repository: str,
        filed: FiledIntent,
    ) -> str:
        id, session = filed.intent.id, derived_id("intent", filed.intent.id, event.id)
        await registry.change(repository, id, IntentEdit(session=session), seen=filed.intent.status)
        root = RootCard(
            key=f"root:{session}",
            session=session.replace("-", "")[:8],
            title=filed.intent.title,
            request=filed.intent.body,
            by=str(event.by),
        )
        opened = await chat_of(self.world, thread.platform).open(thread, root)
        begun = Begun(
            id=derived_id(session, "begun"),
            at=self.world.clock.now(),
            by=event.by,
            text=filed.intent.body,
            intent=intents.as_session_intent(filed),
            title=filed.intent.title,
            parent=filed.intent.parent,
            path=repository,
        )
        self.world.nursery.begin(opened, session, begun)
        await chat_of(self.world, thread.platform).turn_to(opened)
        _note("run", event, id, session=session)
        return ""

    async def _answered(
        self,
        registry: Registry,
        repository: str,
        thread: Thread,
        event: Pressed | Commanded,
        shelf: RegistryContents,
    ) -> AnswerCard:
        key = f"answer:{event.id}"
        what, name = _request_of(event)
        if what in ("", "list"):
            return AnswerCard(
                key=key, title="Intents", body=intents.intent_list(shelf, self._context_of)
            )
        filed = shelf.find(name)
        if filed is None:
            title = f"I know no intent {name}. intent list tells of all."
            body = intents.problem_list(shelf.problems)
            return AnswerCard(key=key, title=title, tone=Tone.FAILURE, body=body)
        if what == "show":
            return intents.intent_card(key, filed, self._context_of(filed))
        if isinstance(event, Pressed) and event.about != intents.button_about(filed):
            return intents.intent_card(key, filed, self._context_of(filed), CHANGED)
        session = self._live_session(filed)
        if why := intents.why_not_possible(filed, _VERBS[what], session, alone=self.alone(filed)):
            return AnswerCard(key=key, title=why, tone=Tone.FAILURE)
        if what == "run":
            return await self._run(key, thread, event, repository, filed)
        status = intents.status_wanted(_VERBS[what])
        changed = await registry.change(
            repository, filed.intent.id, IntentEdit(status=status), seen=filed.intent.status
        )
        _note(what, event, filed.intent.id)
        title = f"Intent {filed.intent.id} is {status}, by {event.by}"
        return intents.intent_card(key, changed, self._context_of(changed), title, Tone.SUCCESS)

    async def _run(
        self,
        key: str,
        thread: Thread,
        event: Pressed | Commanded,
        repository: str,
        filed: FiledIntent,
    ) -> AnswerCard:
        if thread.home:
            return AnswerCard(key=key, title="Say that in the channel its session shall begin in.")
        why_not = await self.run(thread, event, repository, filed)
        title = why_not or f"Intent {filed.intent.id} runs: its session has a message of its own"
        return AnswerCard(key=key, title=title, tone=Tone.FAILURE if why_not else Tone.SUCCESS)

    def alone(self, filed: FiledIntent) -> bool:
        rules = self.world.rules
        return rules.low_risk_alone and intents.may_start_unapproved(
            filed.intent, rules.low_risk_sources
        )

    def _session(self, filed: FiledIntent) -> Session | None:
        """Return the live session that carries it out."""
        session = self.awake(filed.session) if filed.session else None
        return session if session and intents.carries_out(session, filed) else None

    def _live_session(self, filed: FiledIntent) -> Session | None:
        session = self._session(filed)
        return session if session and not session.over else None

    def _context_of(self, filed: FiledIntent) -> IntentContext:
        return IntentContext(self._live_session(filed), self.alone(filed))


def is_run(event: FromPerson) -> bool:
    """Whether the event asks for a session to start."""
    if isinstance(event, Commanded):
        return event.command.word is Word.INTENT and event.command.argument == "run"
    return isinstance(event, Pressed) and event.verb is Verb.INTENT_RUN


def _request_of(event: Pressed | Commanded) -> tuple[str, str]:
    """Return what to do with which intent."""
    if isinstance(event, Commanded):
        return event.command.argument, event.command.text
    what = next((word for word, verb in _VERBS.items() if verb is event.verb), "")
    return what, event.about.partition("@")[0]


def _note(what: str, event: FromPerson, id: str, **more: str) -> None:
    # Logs who did it, which the files themselves do not show.
    log.info("intent", extra={"data": {"what": what, "intent": id, "by": event.by.id, **more}})
