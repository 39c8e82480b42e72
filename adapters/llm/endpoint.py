"""Asks an OpenAI-compatible endpoint once, within one time limit; the one who asks decides about asking again."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pydantic import AnyHttpUrl, TypeAdapter, ValidationError

from adapters.llm.answer import NothingSaid, read_answer
from adapters.llm.calls import Calls, Mask
from adapters.llm.client import new_client
from adapters.llm.formats import Formats, is_useful, ways
from adapters.llm.problem import Problem, judge, read_problem
from bot.domain.world import Reply
from bot.errors import PortError, Refused, Unavailable

if TYPE_CHECKING:
    from openai import AsyncOpenAI


@dataclass(frozen=True)
class LlmAccess:
    """Where the model is, its name there, and the key."""

    base_url: str
    model: str
    api_key: str = field(repr=False)
    key_setting: str = "OPENAI_API_KEY"
    """What people call the key: the setting it comes from."""


class OpenAiLlm:
    """The `Llm` port over chat completions. `formats` is what has been learnt of endpoints so far."""

    def __init__(
        self,
        access: LlmAccess,
        *,
        mask: Mask,
        timeout: float = 120.0,
        formats: Formats | None = None,
        log: logging.Logger | None = None,
    ) -> None:
        self._access = access
        self._timeout = timeout
        self._formats = formats or Formats()
        self._calls = Calls(mask, log)

    async def complete(self, system: str, data: str, *, schema: dict[str, object] | None) -> Reply:
        """One answer to `system` about `data`; every call is logged, whatever comes of it."""
        _check(self._access)

        async def ask(system: str, data: str) -> Reply:
            return await self._in_time(system, data, schema)

        return await self._calls.record(self._access.base_url, system, data, ask)

    async def _in_time(self, system: str, data: str, schema: dict[str, object] | None) -> Reply:
        access = self._access
        client = await asyncio.to_thread(new_client, access.base_url, access.api_key, self._timeout)
        try:
            # The library's own limit is per read: a body that trickles would never meet it.
            async with client, asyncio.timeout(self._timeout):
                return await self._ask(client, system, data, schema)
        except TimeoutError as error:
            raise Unavailable(
                f"the LLM endpoint did not answer within {self._timeout:g} seconds",
                "The bot tries again by itself.",
            ) from error

    async def _ask(
        self, client: AsyncOpenAI, system: str, data: str, schema: dict[str, object] | None
    ) -> Reply:
        """Ask for JSON in the best way the endpoint takes, and remember which that is."""
        key = (self._access.base_url, self._access.model)
        while True:
            level = self._formats.level(key, schema)
            try:
                answer = await self._once(client, system, data, ways(schema)[level])
            except NothingSaid:
                if schema:
                    self._formats.learn(key, level, useful=False)
                raise
            if isinstance(answer, Reply):
                if schema:
                    self._formats.learn(key, level, useful=is_useful(answer.text, schema))
                return answer
            if not answer.dislikes_the_format or level == len(ways(schema)) - 1:
                raise judge(self._told(answer), self._access.model, self._access.key_setting)
            self._formats.turn_down(key, level)

    async def _once(
        self, client: AsyncOpenAI, system: str, data: str, extra: dict[str, object]
    ) -> Reply | Problem:
        import openai  # late: it costs a good part of a second, and only who asks shall pay

        try:
            # The raw answer: the library returns web pages and errors as if they were completions.
            raw = await client.chat.completions.with_raw_response.create(
                model=self._access.model,
                messages=[
                    {"role": "system", "content": system},
                    {"role": "user", "content": data},
                ],
                extra_body=extra,
            )
        except openai.APIStatusError as error:
            return read_problem(error.status_code, error.body, error.response.headers)
        except openai.APITimeoutError as error:
            raise TimeoutError from error
        except openai.APIError as error:
            if isinstance(error.__cause__, PortError):
                raise error.__cause__ from error  # our own client has said what is wrong
            raise Unavailable(
                f"the LLM endpoint cannot be reached ({_cause(error)})",
                "Check OPENAI_BASE_URL and the network; the bot tries again by itself.",
            ) from error
        return read_answer(raw.content, asked=system + data, model=self._access.model)

    def _told(self, problem: Problem) -> Problem:
        """The problem without secrets: some endpoints quote the key they refuse."""
        key = self._access.api_key
        message = problem.message.replace(key, "…") if key else problem.message
        return replace(problem, message=self._calls.mask(message), whole="")


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
