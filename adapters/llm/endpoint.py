"""Asks an OpenAI-compatible endpoint once, within one time limit; the one who asks decides about asking again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import AnyHttpUrl, TypeAdapter, ValidationError

from adapters.llm.answer import read_answer
from adapters.llm.problem import Problem, judge, read_problem
from bot.domain.world import Reply
from bot.errors import PortError, Refused, Unavailable

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LOGGER = "agent.master.llm"


@dataclass(frozen=True)
class LlmAccess:
    """Where the model is, its name there, and the key."""

    base_url: str
    model: str
    api_key: str = field(repr=False)


class OpenAiLlm:
    """The `Llm` port over chat completions.

    `settings_source` is asked at every call, so settings that come later work without a restart.
    `mask` covers secrets in what is sent, logged and told.
    """

    def __init__(
        self,
        settings_source: Callable[[], LlmAccess | None],
        *,
        mask: Callable[[str], str],
        timeout: float = 120.0,
        log: logging.Logger | None = None,
    ) -> None:
        self._settings_source = settings_source
        self._mask = mask
        self._timeout = timeout
        self._log = log or logging.getLogger(LOGGER)
        self._formats: dict[tuple[str, str], int] = {}
        """Per endpoint and model: how many of the formats for JSON it has turned down."""

    async def complete(self, system: str, data: str, *, schema: dict[str, object] | None) -> Reply:
        """One answer to `system` about `data`; every call is logged, whatever comes of it."""
        access = self._access()
        system, data = await asyncio.to_thread(self._presentable, system, data)
        told: dict[str, object] = {"failed": "it was given up"}
        begun = asyncio.get_running_loop().time()
        try:
            reply = await self._in_time(access, system, data, schema)
            told = {**reply.model_dump(), "text": self._mask(reply.text)}
        except PortError as error:
            told = {"failed": error.reason}
            raise
        finally:
            took = round(asyncio.get_running_loop().time() - begun, 3)
            asked = {"endpoint": self._mask(access.base_url), "system": system, "data": data}
            self._log.info("call", extra={"data": {"seconds": took, **asked, **told}})
        return reply

    def _access(self) -> LlmAccess:
        access = self._settings_source()
        if access is None:
            raise Unavailable(
                "AI settings are required",
                "Set OPENAI_BASE_URL, OPENAI_MODEL and OPENAI_API_KEY; the bot goes on as soon as they are there.",
            )
        try:
            TypeAdapter(AnyHttpUrl).validate_python(access.base_url)
        except ValidationError as error:
            raise Refused(
                "OPENAI_BASE_URL is not a web address", "Set it to one, for example https://…/v1."
            ) from error
        if not (access.api_key.isascii() and access.api_key.isprintable()):
            raise Refused(
                "OPENAI_API_KEY holds characters that no key has", "Set it anew, on one line."
            )
        return access

    def _presentable(self, *texts: str) -> list[str]:
        """Masked, and valid Unicode: a repository may hold file names that are not."""
        return [self._mask(text.encode("utf-8", "replace").decode()) for text in texts]

    async def _in_time(
        self, access: LlmAccess, system: str, data: str, schema: dict[str, object] | None
    ) -> Reply:
        client = await asyncio.to_thread(_client, access, self._timeout)
        try:
            # The library's own limit is per read: a body that trickles would never meet it.
            async with client, asyncio.timeout(self._timeout):
                return await self._ask(client, access, system, data, schema)
        except TimeoutError as error:
            raise Unavailable(
                f"the LLM endpoint did not answer within {self._timeout:g} seconds",
                "The bot tries again by itself.",
            ) from error

    async def _ask(
        self,
        client: AsyncOpenAI,
        access: LlmAccess,
        system: str,
        data: str,
        schema: dict[str, object] | None,
    ) -> Reply:
        """Ask for JSON in the best way the endpoint takes, and remember which that is."""
        formats = _formats(schema)
        key = (access.base_url, access.model)
        while True:
            turned_down = min(self._formats.get(key, 0), len(formats) - 1)
            answer = await self._once(client, access, system, data, formats[turned_down])
            if isinstance(answer, Reply):
                return answer
            if not answer.dislikes_the_format or turned_down == len(formats) - 1:
                raise judge(self._told(answer, access), access.model)
            self._formats[key] = turned_down + 1

    async def _once(
        self,
        client: AsyncOpenAI,
        access: LlmAccess,
        system: str,
        data: str,
        extra: dict[str, object],
    ) -> Reply | Problem:
        import openai  # late: it costs a good part of a second, and only who asks shall pay

        try:
            # The raw answer: the library returns web pages and errors as if they were completions.
            raw = await client.chat.completions.with_raw_response.create(
                model=access.model,
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
            raise Unavailable(
                f"the LLM endpoint cannot be reached ({_cause(error)})",
                "Check OPENAI_BASE_URL and the network; the bot tries again by itself.",
            ) from error
        return read_answer(raw.content, asked=system + data, model=access.model)

    def _told(self, problem: Problem, access: LlmAccess) -> Problem:
        """The problem without secrets: some endpoints quote the key they refuse."""
        message = (
            problem.message.replace(access.api_key, "…") if access.api_key else problem.message
        )
        return Problem(problem.status, problem.code, self._mask(message), "", problem.retry_after)


def _formats(schema: dict[str, object] | None) -> list[dict[str, object]]:
    """The ways to ask for JSON, best first; the last is to say so in the prompt only."""
    if schema is None:
        return [{}]
    named = {"name": "reply", "schema": schema, "strict": False}
    return [
        {"response_format": {"type": "json_schema", "json_schema": named}},
        {"response_format": {"type": "json_object"}},
        {},
    ]


def _client(access: LlmAccess, timeout: float) -> AsyncOpenAI:
    """A client for one call: a connection kept for the next would as likely be dead by then. Slow, so in a thread."""
    import openai

    try:
        return openai.AsyncOpenAI(
            base_url=access.base_url,
            api_key=access.api_key or "none",
            max_retries=0,
            timeout=timeout,
        )
    except (ImportError, ValueError) as error:
        raise Refused(
            f"the LLM cannot be asked: {error}", "Check OPENAI_BASE_URL and the proxy settings."
        ) from error


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
