"""Work that is done beside sessions: questions are answered, reflection proposes intents from recorded observations; an audit lists intents and observations that are out of date."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard, TypeVar

from bot.core.cards import AnswerCard
from bot.core.choices import Word
from bot.core.commands import AnsweredBy, words_answered_by
from bot.core.errors import PortError
from bot.core.events import Commanded, FromPerson
from bot.core.intent import Intent, Source
from bot.core.naming import slug
from bot.core.people import Person, Thread
from bot.core.projections.registry import (
    FiledIntent,
    IntentEdit,
    Observation,
    RegistryContents,
    files_to_check,
    find_stale,
)
from bot.core.session import Session
from bot.core.sheets import Bullets, Element, Text, Tone
from bot.core.states import IntentStatus
from bot.core.text import counted
from bot.core.world import World
from bot.ports import Registry
from bot.steps.asking import Prompt, ask
from bot.steps.intents.answers import QuestionAnswers
from bot.steps.intents.questions import MOST_READ, EstimatePrompt, Proposal, ReflectPrompt
from bot.steps.intents.rules import button_about
from bot.steps.intents.work import NOT_KEPT, Intents

log = logging.getLogger("bot.knowledge")
T = TypeVar("T")

ASK_HOW = "Ask something, for instance: ask where are discounts applied?"
MOST = 20
LONGEST_NAME = 48
MOST_ESTIMATES = 10
"""Intents whose type and risk are estimated after one look."""
MOST_JUDGED = 2_000
"""Most intents that are remembered as estimated."""
WhisperCall = Callable[[Thread, Person, AnswerCard], Awaitable[object]]


@dataclass(frozen=True)
class Knowledge:
    """Runs reflection, audit and estimates, and answers questions, in the background. The owner must close it.

    `whisper` tells one person; `session_in` returns a thread's session.
    """

    world: World
    intents: Intents
    whisper: WhisperCall
    session_in: Callable[[Thread], Session | None]
    _at_work: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _alone: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Two reflections at once would propose the same twice."""
    _judged: set[str] = field(default_factory=set[str])
    """Intents already estimated. Without it, one whose file cannot be written would be asked about at every look."""

    @cached_property
    def _questions(self) -> QuestionAnswers:
        return QuestionAnswers(self.world, self.intents, self._begin, self.session_in)

    def resume(self) -> None:
        """Go on with the questions that were under way when the bot ended."""
        self._questions.resume()

    def concerns(self, event: FromPerson) -> TypeGuard[Commanded]:
        words = words_answered_by(AnsweredBy.KNOWLEDGE)
        return isinstance(event, Commanded) and event.command.word in words

    def answer(self, thread: Thread, event: Commanded) -> AnswerCard | None:
        """Start the work and return an immediate answer, or `None` if the answer follows later."""
        if event.command.word is Word.ASK and not event.command.text:
            return AnswerCard(key=f"answer:{event.id}", title=ASK_HOW)
        if event.command.word is Word.ASK:
            self._questions.take(thread, event)
            return None
        if self.world.registrar.registry is None:
            return AnswerCard(key=f"answer:{event.id}", title=NOT_KEPT)
        work = self._reflected if event.command.word is Word.REFLECT else self._audited
        self._begin(
            self._run_and_report(thread, event.by, f"answer:{event.id}", work(thread, event))
        )
        return None

    def estimate_later(self, repository: str, shelf: RegistryContents) -> None:
        """Estimate missing types and risks in the background."""
        unknown = [
            one
            for one in shelf.intents
            if _is_unknown(one) and _intent_mark(repository, one) not in self._judged
        ]
        if unknown and not self._at_work:
            self._begin(self._estimate(repository, unknown[:MOST_ESTIMATES]))

    def session_ended(self, session: Session) -> None:
        """Reflect on a session's observations at its end, if the operator wants that."""
        if self.world.rules.reflect_after:
            event = FromPerson(
                id=f"reflect:{session.id}", at=self.world.clock.now(), by=session.owner
            )
            work = self._reflected(session.thread, event, session.repository.path)
            self._begin(
                self._run_and_report(session.thread, session.owner, event.id, work, quiet=True)
            )

    async def close(self) -> None:
        # Cancelled work is done when somebody asks again.
        for task in self._at_work:
            task.cancel()
        await asyncio.gather(*self._at_work, return_exceptions=True)

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="knowledge")
        self._at_work.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._at_work.discard(task)
        if not task.cancelled() and (error := task.exception()):
            # nobody awaits this task: a bug in it must show in the log
            log.error("knowledge failed", exc_info=error)

    async def _run_and_report(
        self,
        thread: Thread,
        to: Person,
        key: str,
        work: Awaitable[AnswerCard | None],
        *,
        quiet: bool = False,
    ) -> None:
        try:
            card = await work
        except PortError as problem:
            log.warning("knowledge", extra={"data": {"why": problem.reason}})
            body = (Text(text=problem.remedy),) if problem.remedy else ()
            card = AnswerCard(key=key, title=problem.reason, tone=Tone.FAILURE, body=body)
        if card is not None and not (quiet and card.tone is Tone.PLAIN):
            await self.whisper(thread, to, card.model_copy(update={"key": key}))

    async def _estimate(self, repository: str, unknown: list[FiledIntent]) -> None:
        registry = self.world.registrar.required()
        for filed in unknown:
            intent = filed.intent
            found = await self._answer(EstimatePrompt(intent))
            if len(self._judged) >= MOST_JUDGED:
                self._judged.clear()
            self._judged.add(_intent_mark(repository, filed))
            edit = IntentEdit(type=intent.type or found.type, risk=intent.risk or found.risk)
            try:
                await registry.change(repository, intent.id, edit)
            except PortError as trouble:
                log.warning("not estimated", extra={"data": {"why": trouble.reason}})

    async def _reflected(
        self, thread: Thread, event: FromPerson, repository: str = ""
    ) -> AnswerCard:
        async with self._alone:
            registry, repository, shelf = await self._looked(thread, repository)
            noticed = await registry.noticed(repository)
            if noticed.problem:
                return _problem(noticed.problem)
            used = {id for filed in shelf.intents for id in filed.observations}
            waiting = [one for one in noticed.observations if not one.processed]
            new = [one for one in waiting if one.id not in used][:MOST_READ]
            if not waiting:
                return _card("Nothing was noticed that nobody has read yet.")
            filed = await self._propose(repository, new, [one.intent for one in shelf.intents])
            read = [one.id for one in (*new, *(w for w in waiting if w.id in used))]
            await registry.mark(repository, read)
            return await self._proposals_card(thread, event, repository, filed, len(read))

    async def _propose(
        self, repository: str, new: list[Observation], intents: list[Intent]
    ) -> list[FiledIntent]:
        # Each proposal is filed before its observations count as read: a crash in between loses none.
        proposals = await self._answer(ReflectPrompt(new, intents))
        filed: list[FiledIntent] = []
        for one in proposals:
            intent = Intent(
                id=_name(one),
                title=one.title,
                body=one.body,
                type=one.type,
                risk=one.risk,
                source=Source.REFLECTION,
                created_at=self.world.clock.now(),
            )
            told = FiledIntent(intent=intent, observations=one.observations)
            id = await self.world.registrar.file(repository, told)
            filed.append(told.model_copy(update={"intent": intent.model_copy(update={"id": id})}))
        return filed

    async def _answer(self, question: Prompt[T]) -> T:
        """Return the model's answer, or the fallback."""
        try:
            found, usage = await ask(self.world.llm, question)
        except PortError:
            return question.fallback()
        self.world.beside.add(usage)
        return found

    async def _proposals_card(
        self,
        thread: Thread,
        event: FromPerson,
        repository: str,
        filed: list[FiledIntent],
        read: int,
    ) -> AnswerCard:
        """Return the card of the new proposals. None starts by itself unless the operator's rules allow it."""
        lines: list[str] = []
        for one in filed:
            ran = self.intents.alone(one)
            if ran:
                await self.intents.run(thread, event, repository, one)
            state = "runs already, by the operator's rule" if ran else "waits for approval"
            lines.append(f"{one.intent.id} ({one.intent.type}, {one.intent.risk} risk): {state}")
        seen = counted(read, "observation")
        what = f"{counted(len(filed), 'intent')} proposed of {seen}" if filed else f"{seen} read"
        body: list[Element] = [Bullets(items=tuple(lines))] if lines else []
        if filed:
            body.append(
                Text(text="intent show <name> tells more of one; intent approve or reject decides.")
            )
        else:
            body.append(Text(text="None of them asks for work of its own."))
        tone = Tone.NEEDS_YOU if filed else Tone.PLAIN
        return _card(what, *body, tone=tone)

    async def _audited(self, thread: Thread, event: FromPerson) -> AnswerCard:
        registry, repository, shelf = await self._looked(thread)
        noticed = await registry.noticed(repository)
        if noticed.problem:
            return _problem(noticed.problem)
        seen = noticed.observations
        ages = await self.world.repository.last_changed(repository, files_to_check(seen))
        histories = await registry.histories(repository)
        found = find_stale(seen, shelf.intents, histories, ages, self.world.clock.now())
        told = {one.id for one in seen}
        new = [one for one in found if one.id not in told]
        await self.world.registrar.observe(repository, new)
        if not found:
            return _card("Nothing that is known here is out of date.")
        lines = tuple(one.content for one in found[:MOST])
        return _card(
            f"{len(found)} out of date, {len(new)} of them new",
            Bullets(items=lines),
            Text(text="They are noted as observations. reflect makes proposed intents of them."),
        )

    async def _looked(
        self, thread: Thread, repository: str = ""
    ) -> tuple[Registry, str, RegistryContents]:
        registry = self.world.registrar.required()
        repository = repository or await self.intents.repository(thread)
        return registry, repository, await registry.shelf(repository)


def _is_unknown(filed: FiledIntent) -> bool:
    # An intent with a session is left out: the session judges its own intent.
    intent = filed.intent
    waits = intent.status is IntentStatus.PROPOSED and not filed.session
    return waits and not (intent.type and intent.risk)


def _intent_mark(repository: str, filed: FiledIntent) -> str:
    # Includes the text: a reworded intent is estimated again.
    return f"{repository}:{button_about(filed)}"


def _name(one: Proposal) -> str:
    """Return a file name made of the first words of the title."""
    whole = slug(one.title)
    cut = whole if len(whole) <= LONGEST_NAME else whole[:LONGEST_NAME].rpartition("-")[0]
    return cut.strip("-_") or f"noticed-{one.observations[0][:8]}"


def _card(title: str, *body: Element, tone: Tone = Tone.PLAIN) -> AnswerCard:
    return AnswerCard(key="", title=title, tone=tone, body=body)


def _problem(problem: str) -> AnswerCard:
    return _card("The observations cannot be read", Text(text=problem), tone=Tone.FAILURE)
