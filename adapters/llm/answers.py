"""Reads the answer of a model call, estimates its usage, and logs the call.

No part of an answer is assumed to exist or to have the right type.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

from pydantic import BaseModel, ValidationError

from adapters.llm.capabilities import look_in
from adapters.llm.errors import Problem, read_problem
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.llm import Reply, Tool, Turn, Usage

# The body of an answer. No I/O.

_THOUGHTS = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL)
_END_OF_THOUGHTS = "</think>"
_AGAIN = "The bot asks again by itself."


class EmptyAnswer(Unavailable):
    """The answer contains no text."""


class _Message(BaseModel):
    content: object = None
    refusal: object = None
    tool_calls: object = None
    function_call: object = None
    """As `tool_calls`, of endpoints that speak an older dialect."""

    def look(self) -> str:
        listed = cast("list[object]", self.tool_calls) if isinstance(self.tool_calls, list) else []
        return look_in(listed or [self.function_call])


class _Choice(BaseModel):
    message: _Message | None = None
    finish_reason: object = None


class _Answer(BaseModel):
    choices: list[_Choice] | None = None
    error: object = None
    usage: object = None
    model: object = None


def read_answer(body: bytes, *, question: str, model: str, tools: bool) -> Reply | Problem:
    """Return the reply in an answer with status 200, or the problem it reports instead.

    `tools`: whether some were offered; otherwise calls of them are ignored.
    """
    answer = _parse(body)
    if answer.error:
        return read_problem(200, answer.error, {})
    choice = answer.choices[0] if answer.choices else None
    if choice is None or choice.message is None:
        raise Unavailable("the LLM endpoint sent an answer without a message", _AGAIN)
    finish = choice.finish_reason if isinstance(choice.finish_reason, str) else ""
    look = choice.message.look() if tools else ""
    said = look or _text(choice.message.content)
    text = look or _without_thoughts(said)
    _require_complete(finish, choice.message, text)
    if not text.strip():
        raise EmptyAnswer("the LLM answered with nothing", _AGAIN)
    return Reply(
        text=text,
        usage=_usage(answer.usage, question, said),
        model=answer.model if isinstance(answer.model, str) else model,
        finish_reason="tool_calls" if look else finish,
    )


def _parse(body: bytes) -> _Answer:
    start = body.lstrip()[:1]
    if not start:
        raise Unavailable("the LLM endpoint sent an empty answer", _AGAIN)
    if start == b"<":
        raise Unavailable(
            "the LLM endpoint sent a web page instead of an answer",
            "Check OPENAI_BASE_URL (most addresses end in /v1) and any proxy in between.",
        )
    try:
        return _Answer.model_validate_json(body)
    except ValidationError as error:
        raise Unavailable("the LLM endpoint sent an answer that cannot be read", _AGAIN) from error


def _require_complete(finish: str, message: _Message, text: str) -> None:
    if finish == CUT_OFF and not text.strip():
        raise Refused(
            "the LLM's answer was cut off at its length limit before it began",
            "Raise the endpoint's output limit, set OPENAI_MODEL to a model with a larger one, or ask for something smaller.",
        )
    if finish == "content_filter":
        raise Refused(
            "the LLM endpoint withheld the answer (content filter)", "Put the request differently."
        )
    if message.refusal and not message.content:
        raise Refused("the LLM declines to answer", "Put the request differently.")
    if not finish:
        # a gateway whose upstream died sends half a text just like this
        raise Unavailable(
            "the LLM endpoint did not say that its answer is complete (no finish_reason)",
            f"{_AGAIN} If this stays so, use an endpoint that reports finish_reason.",
        )


def _text(content: object) -> str:
    """Return the text of a message: a string, or a list of parts, some of which are reasoning."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [
        cast("dict[str, object]", part)
        for part in cast("list[object]", content)
        if isinstance(part, dict)
    ]
    return "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")


def _without_thoughts(text: str) -> str:
    # Only reasoning at the beginning is removed: the tag may well occur in the answer itself.
    while match := _THOUGHTS.match(text):
        text = text[match.end() :].lstrip()
    before, end, after = text.partition(_END_OF_THOUGHTS)
    # some chat templates put the opening tag into the prompt, so that only the closing one comes back
    unopened = bool(end) and not before.lstrip().startswith(("{", "[", "`"))
    return after.lstrip() if unopened else text


def _usage(reported: object, asked: str, said: str) -> Usage:
    counts = cast("dict[str, object]", reported) if isinstance(reported, dict) else {}
    return usage_of(
        asked,
        said,
        prompt_tokens=counts.get("prompt_tokens"),
        reply_tokens=counts.get("completion_tokens"),
    )


# The usage of one answer: as reported if possible, otherwise estimated from bytes. No I/O.

_BYTES_A_TOKEN = 3
"""Close to the truth for Japanese and code; four characters per token misses Japanese by two thirds."""


def usage_of(question: str, answer: str, *, prompt_tokens: object, reply_tokens: object) -> Usage:
    """Return the usage of one call. The reported values may be of any type."""
    return Usage(
        calls=1,
        prompt_tokens=_count(prompt_tokens, question),
        reply_tokens=_count(reply_tokens, answer),
    )


def _count(reported: object, text: str) -> int:
    if isinstance(reported, int) and not isinstance(reported, bool) and reported > 0:
        return reported
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_A_TOKEN)


# An answer that was cut off at its length limit is continued. It is never repaired: a plan that lost its last task would
# look like a plan.

CUT_OFF = "length"
"""The `finish_reason` of such an answer."""
MAX_CONTINUATIONS = 3
_CONTINUE = (
    "Your answer was cut off at its length limit. Continue it exactly where it stopped, in the middle of a word if need be: "
    "repeat nothing, explain nothing, put no fence around it."
)
_LEAST_OVERLAP, _MOST_OVERLAP = 20, 200
"""Characters that a continuation repeats of what stands before it, in spite of what it was told."""


class AskOnce(Protocol):
    """Sends one request. An answer that was cut off has the finish_reason `CUT_OFF`."""

    async def __call__(
        self, question: Question, schema: dict[str, object] | None, tools: Sequence[Tool]
    ) -> Reply: ...


async def whole_answer(
    ask: AskOnce, question: Question, schema: dict[str, object] | None, tools: Sequence[Tool]
) -> Reply:
    """Ask, and have an answer that was cut off continued. If it still has no end its finish_reason stays `CUT_OFF`."""
    reply = await ask(question, schema, tools)
    for _ in range(MAX_CONTINUATIONS):
        if reply.finish_reason != CUT_OFF:
            break
        turn = Turn(answer=reply.text, then=_CONTINUE)
        try:
            # without a schema, which an endpoint may enforce: the rest of an object is none
            more = await ask(replace(question, turns=(*question.turns, turn)), None, ())
        except (Refused, EmptyAnswer):
            break  # it does not fit into the window, for example
        reply = Reply(
            text=_joined(reply.text, more.text),
            usage=reply.usage + more.usage,
            model=more.model,
            finish_reason=more.finish_reason,
            context_window=more.context_window,
        )
    return reply.model_copy(update={"text": reply.text.strip()})


def _joined(text: str, more: str) -> str:
    for length in range(min(_MOST_OVERLAP, len(text), len(more)), _LEAST_OVERLAP - 1, -1):
        if text.endswith(more[:length]):
            return text + more[length:]
    return text + more


# Every model call is one log record, whatever its result. Secrets reach neither the model nor the log.

LOGGER = "agent.master.llm"

MaskText = Callable[[str], str]


@dataclass(frozen=True)
class Question:
    """What the model is asked: the system text, the data, and what both sides have said since."""

    system: str
    data: str
    turns: tuple[Turn, ...] = ()

    @property
    def text(self) -> str:
        return "".join((self.system, self.data, *(one.answer + one.then for one in self.turns)))


Ask = Callable[[Question], Awaitable[Reply]]
"""Takes a masked question and returns the reply."""


class CallLog:
    """The calls of one model. `mask` hides secrets in what is sent, logged and shown."""

    def __init__(self, mask: MaskText, log: logging.Logger | None = None) -> None:
        self.mask = mask
        self._log = log or logging.getLogger(LOGGER)

    async def record(self, target: str, asked: Question, ask: Ask) -> Reply:
        """Make a call and log who was asked, the question, the result and the duration."""
        question = await asyncio.to_thread(self._presentable, asked)
        told: dict[str, object] = {"failed": "it was given up"}
        begun = asyncio.get_running_loop().time()
        try:
            reply = await ask(question)
            # in a thread: masking a long answer would block everything else for too long
            shown = await asyncio.to_thread(self.mask, reply.text)
            told = {**reply.model_dump(), "text": shown}
        except PortError as error:
            told = {"failed": self.mask(error.reason)}
            raise
        finally:
            took = round(asyncio.get_running_loop().time() - begun, 3)
            sent: dict[str, object] = {"system": question.system, "data": question.data}
            if question.turns:
                sent["turns"] = [one.model_dump() for one in question.turns]
            logged = {"seconds": took, "endpoint": self.mask(target), **sent, **told}
            self._log.info("call", extra={"data": logged})
        return reply

    def _presentable(self, asked: Question) -> Question:
        """Mask the texts and make them valid Unicode, because file names in a repository may not be."""

        def clean(text: str) -> str:
            return self.mask(text.encode("utf-8", "replace").decode())

        turns = (Turn(answer=clean(one.answer), then=clean(one.then)) for one in asked.turns)
        return Question(clean(asked.system), clean(asked.data), tuple(turns))
