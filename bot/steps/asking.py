"""Asks the model one question.

The reply is checked and asked for again at most twice, with what was wrong; then a fallback is used. Each question is a
subclass of `Prompt`. Its prompt file is the system message; everything that comes from outside travels as data in a
separate message.
"""

from __future__ import annotations

import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import Any, ClassVar, Generic, Self, TypedDict, TypeVar, cast

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from bot.core.actions import ActionBase
from bot.core.errors import PortError
from bot.core.events import Event
from bot.core.languages import is_in_language
from bot.core.llm import (
    BYTES_PER_TOKEN,
    ModelRole,
    Reply,
    Turn,
    Usage,
    estimate_tokens,
    shortened_parts,
    token_budget,
)
from bot.core.looks import TOOLS, Look, SeenLook, looks_in
from bot.core.session import Session
from bot.core.world import World, performs
from bot.ports import Llm
from bot.steps.looking import Looker, with_looks

log = logging.getLogger("bot.perform")

T = TypeVar("T")
A = TypeVar("A", bound=ActionBase)
E = TypeVar("E", bound=Event)
M = TypeVar("M", bound=BaseModel)
MAX_REASKS = 2
MAX_REPLY_CHARS = 400_000
"""Characters of a reply. A longer one comes from a model that does not stop, and nobody could read it."""
MAX_ECHO_CHARS = 4000
"""Characters of a wrong reply that are shown to the model again."""


class ModelReply(BaseModel):
    """Base of the reply models: strict about required fields, ignores unknown ones."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)


PROMPTS: dict[str, type[Prompt[Any]]] = {}
"""Every question to the model, by the name of its prompt file. Filled as the modules of the steps are imported."""


class Prompt(ABC, Generic[T]):
    """One question to the model: its data, how the reply is read, and the fallback without a valid reply.

    `name`: the file in bot/prompts. `role`: which model is asked. `reply`: the model of a JSON reply, or None for a text.
    """

    name: ClassVar[str]
    role: ClassVar[ModelRole] = ModelRole.MAIN
    reply: ClassVar[type[ModelReply] | None]

    def __init_subclass__(
        cls,
        name: str = "",
        reply: type[ModelReply] | None = None,
        role: ModelRole = ModelRole.MAIN,
    ) -> None:
        super().__init_subclass__()
        if name:
            cls.name, cls.reply, cls.role = name, reply, role
            PROMPTS[name] = cls

    def known(self) -> T | None:
        """Return the answer if it is known without asking, else None."""
        return None

    @abstractmethod
    def data(self) -> dict[str, object]:
        """Return the data that the model gets."""

    def read(self, text: str) -> T:
        """Read the reply. A ValueError says, in a sentence for the model, what is wrong with it."""
        return cast(T, json_parser(self.reply, text) if self.reply else text)

    async def complaint(self, found: T) -> str:
        """Return what is wrong with a result and only the world can tell, as for a line that a file does not have.

        The model is told once; what it says then is taken.
        """
        return ""

    @abstractmethod
    def fallback(self) -> T:
        """Return the result to use when the model gave no valid reply."""

    def looker(self) -> Looker | None:
        """Return what the model may look at the repository with before it answers."""
        return None

    def prose(self, found: T) -> str | None:
        """Return the parts of the result that people read; they must be in `data["language"]`."""
        return None


class ResultFields(TypedDict):
    """The first fields of an event that answers a question."""

    id: str
    at: AwareDatetime
    answers: str
    usage: Usage
    looks: tuple[SeenLook, ...]


class SessionPrompt(Prompt[T], Generic[T, A, E]):
    """A question about a session, with the action that asks it and the event that results."""

    def __init_subclass__(
        cls,
        name: str = "",
        reply: type[ModelReply] | None = None,
        role: ModelRole = ModelRole.MAIN,
        asked_by: type[A] | None = None,
    ) -> None:
        super().__init_subclass__(name, reply, role)
        if asked_by is not None:
            performs(asked_by)(cls.perform)

    @classmethod
    @abstractmethod
    async def about(cls, world: World, session: Session, order: A) -> Self:
        """Create the question for an action. Raises Refused if its subject no longer exists."""

    def unasked(self, trouble: PortError) -> T:
        """Return the result to use when the model cannot be reached.

        By default raises the error, so that the actor retries.
        """
        raise trouble

    async def prepared(self, llm: Llm) -> tuple[Self, Usage]:
        """Ask what must be known before the question itself. Return the question with it, and what that has cost."""
        return self, Usage()

    @abstractmethod
    async def event(self, world: World, found: T, fields: ResultFields) -> E:
        """Return the event that tells the session the result."""

    @classmethod
    async def perform(cls, world: World, session: Session, order: A) -> E:
        """Ask the question and return its event. Safe to repeat: asking changes nothing, and the last result counts."""
        session = await for_its_model(world, session, cls.role)
        question = await cls.about(world, session, order)
        try:
            question, before = await question.prepared(world.llm)
            found, usage = await ask(world.llm, question, session_tokens(session))
            usage = before + usage
        except PortError as trouble:
            found, usage = question.unasked(trouble), Usage()
            data = {"id": session.id, "question": cls.name, "why": trouble.reason}
            log.warning("done without the model", extra={"data": data})
        looker = question.looker()
        seen = tuple(looker.seen) if looker else ()
        fields: ResultFields = {
            **world.mark(),
            "answers": order.key,
            "usage": usage,
            "looks": seen,
        }
        return await question.event(world, found, fields)


async def for_its_model(
    world: World, session: Session, role: ModelRole = ModelRole.MAIN
) -> Session:
    """Return the session as it is, with the window of the model that would be asked now, and how that counts tokens.

    The window may have changed since the session began: other settings, a limit that an error has named, a fallback.
    """
    window = await world.rules.context_window(role) or session.llm.context_window
    scale = session.llm.scale_of(world.rules.asked_model(role))
    llm = session.llm.model_copy(update={"context_window": window, "token_scale": scale})
    return session.model_copy(update={"llm": llm})


def session_tokens(session: Session) -> int:
    """Return how many tokens, as they are estimated, may be sent at once to the model of a session."""
    return int(token_budget(session.llm.context_window) / session.llm.token_scale)


async def ask(llm: Llm, question: Prompt[T], tokens: int = 0) -> tuple[T, Usage]:
    """Ask, and ask again at most twice with what was wrong; then use the fallback.

    Before it answers the model may look at the repository. A valid answer in another language than `data["language"]`,
    or about which the question has a complaint, is asked for once more, and then accepted. `tokens` may be sent at
    once, as they are estimated; 0 means that there is no bound.
    """
    if (known := question.known()) is not None:
        return known, Usage()
    exchange = _Exchange(llm, question, tokens)
    said: str | None = None
    usable: list[T] = []
    wrong_answers = 0
    while wrong_answers <= MAX_REASKS:
        reply = await exchange.reply()
        text = _valid_unicode(reply.text)
        try:
            _require_end(reply)
            if await exchange.looked(text):
                continue
            found = question.read(_bounded(text))
        except (ValueError, RecursionError) as wrong:
            if text == said or usable:
                break  # it ignored the request once, or there is an answer already
            said, problem = text, _described(wrong)
        else:
            problem = "" if usable else await _problem_of(question, found, exchange.data)
            if not problem:
                return found, exchange.usage
            usable.append(found)
        wrong_answers += 1
        exchange.refuse(text, problem)
    return (usable[0] if usable else question.fallback()), exchange.usage


class _Exchange:
    """What is said to the model and by it about one question: the data, then looks, and answers that were refused."""

    def __init__(self, llm: Llm, question: Prompt[Any], tokens: int) -> None:
        self.data = question.data()
        self._llm, self._question, self._looker = llm, question, question.looker()
        self._system = system_message(question.name, looks=self._looker is not None)
        self._sent = json.dumps(self.data, ensure_ascii=False)
        self._size = estimate_tokens(self._system + self._sent)
        self._room = tokens - self._size if tokens else None
        self._turns: tuple[Turn, ...] = ()
        parts = tuple(f"{question.name}: {part}" for part in shortened_parts(self.data))
        self.usage = Usage(shortened=tuple(dict.fromkeys(parts)))
        if self._looker and self._room is not None:
            self._looker.tokens = min(self._looker.tokens, self._room)
        if self._looker and not self._looker.is_open:
            self._looker, self._system = None, system_message(question.name)
        schema = _json_schema(question.reply) if question.reply else None
        self._schema = with_looks(schema) if schema and self._looker else schema

    async def reply(self) -> Reply:
        tools = TOOLS if self._looker and self._looker.is_open else ()
        reply = await self._llm.complete(
            self._system,
            self._sent,
            schema=self._schema,
            turns=self._turns,
            tools=tools,
            role=self._question.role,
        )
        self.usage += reply.usage + Usage(estimated=self._size + turns_size(self._turns))
        return reply

    async def looked(self, text: str) -> bool:
        """Show the model what it asked to see; return whether it asked for anything."""
        looks = _looks_asked_for(self._question, text) if self._looker else ()
        if self._looker and looks:
            found = await self._looker.answer(looks)
            self._turns = (*self._turns, Turn(answer=text[:MAX_ECHO_CHARS], then=found))
        return bool(looks)

    def refuse(self, text: str, problem: str) -> None:
        then = f"This answer cannot be used: {problem}. Answer again, whole, as the task says."
        turn = Turn(answer=text[:MAX_ECHO_CHARS], then=then)
        self._turns = fitting_turns((*self._turns, turn), self._room)


async def _problem_of(question: Prompt[T], found: T, data: dict[str, object]) -> str:
    """Return why a valid result is asked for once more; empty if it is good."""
    language, prose = str(data.get("language", "")), question.prose(found)
    foreign = prose is not None and not is_in_language(prose, language)
    told = f"everything that people read must be written in {language}, the language of the request"
    problems = (told if foreign else "", await question.complaint(found))
    return "; ".join(problem for problem in problems if problem)


def _looks_asked_for(question: Prompt[T], text: str) -> tuple[Look, ...]:
    """Return what the model wants to look at; nothing if this is its answer. A ValueError says what is wrong with it."""
    if '"look"' not in text:
        return ()
    is_document = question.reply is None and any(line[:2] == "# " for line in text.splitlines())
    return () if is_document else looks_in(json_object_in(without_code_fence(text)))


def turns_size(turns: Iterable[Turn]) -> int:
    """Return the estimated tokens of the turns."""
    return sum(estimate_tokens(turn.answer + turn.then) for turn in turns)


def fitting_turns(turns: tuple[Turn, ...], tokens: int | None) -> tuple[Turn, ...]:
    """Return the turns that fit into so many tokens: the oldest are dropped first, then the last answer is cut."""
    kept = list(turns)
    if tokens is None or not kept or turns_size(kept) <= tokens:
        return turns
    while len(kept) > 1 and turns_size(kept) > tokens:
        kept.pop(0)
    last = kept[-1]
    room = max(0, tokens - estimate_tokens(last.then)) * BYTES_PER_TOKEN
    answer = last.answer.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    return (*kept[:-1], Turn(answer=answer, then=last.then))


def _valid_unicode(text: str) -> str:
    """Replace lone surrogates, which neither a file nor a request can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _require_end(reply: Reply) -> None:
    if reply.finish_reason == "length":
        raise ValueError("it was cut off at the length limit, so it must be much shorter")


def _bounded(text: str) -> str:
    if len(text) > MAX_REPLY_CHARS:
        raise ValueError(
            f"the answer has {len(text)} characters; at most {MAX_REPLY_CHARS} are read"
        )
    return text


def _described(wrong: Exception) -> str:
    if isinstance(wrong, ValidationError):
        problems = wrong.errors(include_url=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in problems[:10])
    return str(wrong)[:1000] or type(wrong).__name__


def json_parser(model: type[M], text: str) -> M:
    """Parse a reply that is one JSON object."""
    found = json_object_in(without_code_fence(text))
    _refuse_schema(found, model)
    return model.model_validate(found)


def _refuse_schema(found: dict[str, object], model: type[BaseModel]) -> None:
    # Some models return the JSON schema itself, which would be valid if every field has a default.
    known = set(model.model_fields)
    described = isinstance(found.get("properties"), dict) and "properties" not in known
    if described or {"$schema", "$defs", "$ref"} & set(found) - known:
        raise ValueError("that is the JSON schema itself; answer with an object that follows it")


def without_code_fence(text: str) -> str:
    """Remove the code fence that some models put around the whole reply."""
    body = text.strip()
    if body.startswith("```") and body.endswith("```") and "\n" in body:
        body = body[body.index("\n") + 1 : -3].strip()
    return body


def system_message(name: str, *, looks: bool = False) -> str:
    """Return the prompt of a question, with how to look at the repository if it may."""
    return "\n".join([prompt(name), *([prompt("looking")] if looks else [])])


def prompt(name: str) -> str:
    return (resources.files("bot.prompts") / f"{name}.md").read_text(encoding="utf-8")


@cache
def _json_schema(model: type[BaseModel]) -> dict[str, object]:
    # Cached: creating the schema takes longer than everything else that a question costs here.
    return model.model_json_schema()


# Finds the JSON object in a reply with other text around it. A broken object is never repaired, as it might mean
# anything.

_OPENING = re.compile(r'\{(?=\s*["}])')
"""The beginning of an object; rare in prose."""


def json_object_in(text: str) -> dict[str, object]:
    """Return the outermost object, or the largest of several.

    Raises ValueError if there is none or one cannot be parsed.
    """
    found = max(_objects(text), key=lambda one: one[0], default=None)
    if found is None:
        raise ValueError("the answer holds no JSON object")
    return found[1]


def _objects(text: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield each outermost object with its length.

    Raises ValueError at a broken one without searching inside it: a part of a truncated reply is not the reply.
    """
    decoder = json.JSONDecoder()
    at = _OPENING.search(text)
    while at:
        try:
            found, end = decoder.raw_decode(text, at.start())
        except json.JSONDecodeError as broken:
            where = f"line {broken.lineno} column {broken.colno}"
            raise ValueError(f"the JSON is broken at {where}: {broken.msg}") from broken
        yield end - at.start(), cast("dict[str, object]", found)
        at = _OPENING.search(text, end)
