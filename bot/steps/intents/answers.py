"""Answers what people ask with `ask`, with the code in hand. A restart loses no question: it is answered afterwards, once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial

from bot.core.cards import AnswerCard
from bot.core.errors import PortError
from bot.core.events import Commanded
from bot.core.llm import context_tokens, token_budget
from bot.core.people import Thread
from bot.core.projections.records import AskedQuestion, AskedQuestions
from bot.core.retry import with_retries
from bot.core.session import Session
from bot.core.sheets import Text, Tone
from bot.core.text import cut, sentences
from bot.core.world import World
from bot.steps.asking import ask, for_its_model, session_tokens
from bot.steps.chat import chat_of
from bot.steps.intents.work import Intents
from bot.steps.looking import Looker
from bot.steps.talk.evidence import Evidence, code_about, evidence_for
from bot.steps.talk.questions import AskPrompt

log = logging.getLogger("bot.knowledge")
MOST_ANSWERED = 200
"""Ids of answered questions that are remembered: a platform may deliver one again after a restart."""
LONGEST_QUOTE = 80


@dataclass(frozen=True)
class QuestionAnswers:
    """`begin` runs work in the background; `session_in` returns a thread's session."""

    world: World
    intents: Intents
    begin: Callable[[Coroutine[None, None, None]], None]
    session_in: Callable[[Thread], Session | None]

    @cached_property
    def _asked(self) -> AskedQuestions:
        return self.world.questions.load()

    def take(self, thread: Thread, event: Commanded) -> None:
        """Answer a question in the background. It is on disk when this returns."""
        if event.id in self._asked.open or event.id in self._asked.answered:
            return
        one = AskedQuestion(thread=thread, event=event)
        try:
            self._save(one)
        except PortError:
            del self._asked.open[event.id]
            raise
        self.begin(self._answer(one))

    def resume(self) -> None:
        """Go on with what was under way when the bot ended: ask once more; after another end, say so."""
        for one in [*self._asked.open.values()]:
            answer = one.answer
            if one.resumed and answer is None:
                said = cut(one.event.command.text, LONGEST_QUOTE)
                title = f"I was ended twice while I looked for an answer to “{said}”. Please ask me again."
                answer = AnswerCard(key=_key(one.event), title=title, tone=Tone.FAILURE)
            again = one.model_copy(update={"resumed": True, "answer": answer})
            self._save(again)
            self.begin(self._answer(again))

    def _save(self, one: AskedQuestion) -> None:
        self._asked.open[one.event.id] = one
        self.world.questions.save(self._asked)

    async def _answer(self, one: AskedQuestion) -> None:
        """Answer where everybody in the thread can read it."""
        world, thread = self.world, one.thread
        card = one.answer or world.masker.mask_model(await self._card(thread, one.event))
        with _logged():
            # what was answered is shown after a restart, and not asked again
            self._save(one.model_copy(update={"answer": card}))
        with _logged():
            show = partial(chat_of(world, thread.platform).show, thread, card)
            await with_retries(world, show, _tell_nobody, order="", quiet=True)
        del self._asked.open[one.event.id]
        self._asked.answered[:] = [*self._asked.answered, one.event.id][-MOST_ANSWERED:]
        with _logged():
            world.questions.save(self._asked)

    async def _card(self, thread: Thread, event: Commanded) -> AnswerCard:
        try:
            body = Text(text=await self._reply(thread, event.command.text))
            return AnswerCard(key=_key(event), title=f"To {event.by}", body=(body,))
        except PortError as problem:
            told = sentences(f"I cannot answer that now: {problem.reason}", problem.remedy)
            return AnswerCard(key=_key(event), title=told, tone=Tone.FAILURE)

    async def _reply(self, thread: Thread, question: str) -> str:
        session = self.session_in(thread)
        if session:
            session = await for_its_model(self.world, session, AskPrompt.role)
            evidence = await evidence_for(self.world, session, question)
            tokens = session_tokens(session)
        else:
            window = await self.world.rules.context_window(AskPrompt.role)
            evidence, tokens = await self._code(thread, question, window), token_budget(window)
        found, usage = await ask(self.world.llm, AskPrompt(question, evidence, session), tokens)
        self.world.beside.add(usage)
        return await evidence.checked(found)

    async def _code(self, thread: Thread, question: str, window: int) -> Evidence:
        """Return the evidence for a question outside of any session: the repository of the channel as it is checked out."""
        path = await self.intents.repository(thread)
        commit = (await self.world.repository.checkout(path)).commit
        tokens = context_tokens(window)
        looker = Looker(self.world.repository, path, commit, tokens, self.world.masker.mask)
        return Evidence(looker=looker, code=await code_about(looker, question, tokens))


def _key(event: Commanded) -> str:
    return f"answer:{event.id}"


def _tell_nobody(_event: object) -> None: ...


@contextmanager
def _logged() -> Generator[None]:
    try:
        yield
    except PortError as problem:
        log.warning("a question", extra={"data": {"why": problem.reason}})
