"""Asks an OpenAI-compatible endpoint once. The caller decides about retries.

The answer is streamed where the endpoint can: so a time-out says that it is silent, not that it writes much.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import AnyHttpUrl, TypeAdapter, ValidationError

from adapters.llm.answers import (
    CallLog,
    EmptyAnswer,
    MaskText,
    Question,
    read_answer,
    whole_answer,
)
from adapters.llm.capabilities import Capabilities, Request
from adapters.llm.client import LlmAccess, new_client
from adapters.llm.errors import Problem, error_for, read_problem
from adapters.llm.windows import Windows, limit_in
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.llm import ModelRole, Reply, Tool, Turn

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionMessageParam


MOST_SILENCES = 20
"""A whole answer, with its continuations, may take this many times as long as a silence."""


class OpenAiLlm:
    """The `Llm` port over chat completions.

    `timeout`: seconds of silence after which the endpoint counts as away. `capabilities` and `windows` hold what was
    learned about endpoints.
    """

    def __init__(
        self,
        access: LlmAccess,
        *,
        mask: MaskText,
        timeout: float = 120.0,
        most_seconds: float = 0.0,
        capabilities: Capabilities | None = None,
        windows: Windows | None = None,
        log: logging.Logger | None = None,
    ) -> None:
        self._access = access
        self._key = (access.base_url, access.model)
        self._timeout = timeout
        self._most_seconds = most_seconds or timeout * MOST_SILENCES
        self._capabilities = capabilities or Capabilities()
        self._windows = windows or Windows()
        self._calls = CallLog(mask, log)

    async def complete(
        self,
        system: str,
        data: str,
        *,
        schema: dict[str, object] | None,
        turns: Sequence[Turn] = (),
        tools: Sequence[Tool] = (),
        role: ModelRole = ModelRole.MAIN,
    ) -> Reply:
        """Return the answer to `system` about `data` and the turns; every call is logged, whatever its result."""
        _check(self._access)

        async def ask(question: Question) -> Reply:
            access = self._access
            client = await asyncio.to_thread(
                new_client, access.base_url, access.api_key, self._timeout
            )
            try:
                async with client, asyncio.timeout(self._most_seconds):
                    asking = partial(self._ask, client)
                    return await whole_answer(asking, question, schema, tools)
            except TimeoutError as error:
                raise Unavailable(
                    f"the LLM endpoint did not come to an end within {self._most_seconds:g} seconds",
                    "The bot tries again by itself.",
                ) from error

        question = Question(system, data, tuple(turns))
        return await self._calls.record(self._access.base_url, question, ask)

    async def _ask(
        self,
        client: AsyncOpenAI,
        question: Question,
        schema: dict[str, object] | None,
        tools: Sequence[Tool],
    ) -> Reply:
        """Ask in the best way the endpoint accepts, and remember which that is."""
        known = self._capabilities
        limited = True
        while True:
            most = self._windows.output(self._access, question.text) if limited else 0
            request = known.request(self._key, schema, tools, most)
            try:
                answer = await self._once(client, question, request)
            except EmptyAnswer:
                known.record_answer(request, "")
                raise
            if isinstance(answer, Reply):
                known.record_answer(request, answer.text)
                return answer
            if answer.is_too_long:
                self._windows.learn(self._key, limit_in(answer.message))
            self._windows.learn_output(self._key, answer.output_limit)
            if answer.is_too_long and request.output and limited:
                limited = False  # question and answer together were too long: the answer may be as long as it fits
            elif not known.record_refusal(request, answer):
                raise error_for(
                    self._masked_problem(answer), self._access.model, self._access.key_setting
                )

    async def _once(
        self, client: AsyncOpenAI, question: Question, request: Request
    ) -> Reply | Problem:
        import openai  # imported late, because it takes a good part of a second, and only calls should pay for that

        try:
            # the raw response, because the library returns web pages and errors as if they were completions
            raw = await client.chat.completions.with_raw_response.create(
                model=self._access.model, messages=_messages(question), extra_body=request.fields
            )
        except openai.APIStatusError as error:
            return read_problem(error.status_code, error.body, error.response.headers)
        except openai.APITimeoutError as error:
            raise Unavailable(
                f"the LLM endpoint was silent for {self._timeout:g} seconds",
                "The bot tries again by itself.",
            ) from error
        except openai.APIError as error:
            if isinstance(error.__cause__, PortError):
                raise error.__cause__ from error  # our own client has reported what is wrong
            raise Unavailable(
                f"the LLM endpoint cannot be reached ({_cause(error)})",
                "Check OPENAI_BASE_URL and the network; the bot tries again by itself.",
            ) from error
        return read_answer(
            raw.content, question=question.text, model=self._access.model, tools=request.native
        )

    def _masked_problem(self, problem: Problem) -> Problem:
        # Masked, because some endpoints quote the key they refuse.
        key = self._access.api_key
        message = problem.message.replace(key, "…") if key else problem.message
        return replace(problem, message=self._calls.mask(message), whole="")


def _messages(question: Question) -> list[ChatCompletionMessageParam]:
    """Return the messages in their order; what was sent before stays as it is, so that its prefix is cached."""
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": question.system},
        {"role": "user", "content": question.data},
    ]
    for one in question.turns:
        # some endpoints refuse an empty message
        messages.append({"role": "assistant", "content": one.answer or "(nothing)"})
        messages.append({"role": "user", "content": one.then})
    return messages


def _check(access: LlmAccess) -> None:
    try:
        TypeAdapter(AnyHttpUrl).validate_python(access.base_url)
    except ValidationError as error:
        raise Refused(
            "OPENAI_BASE_URL is not a web address", "Set it to one, for example https://…/v1."
        ) from error
    if not (access.api_key.isascii() and access.api_key.isprintable()):
        raise Refused(
            f"{access.key_setting} holds characters that no key has", "Set it anew, on one line."
        )


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
