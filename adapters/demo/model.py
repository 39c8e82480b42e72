"""The simulated model: a server on the loopback interface with OpenAI's chat completions API and scripted answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from types import TracebackType
from typing import Self, cast

from adapters.demo import require_stage
from adapters.demo.answers import answer, question_name

PATH = "/v1/chat/completions"
BODY_LIMIT = 8_000_000
REQUEST_SECONDS = 30.0
"""Seconds in which a request must arrive."""


def _today() -> date:
    return datetime.now(UTC).date()


class PlayedModel:
    """`async with PlayedModel(environ) as model: model.base_url`. It listens on 127.0.0.1 only."""

    name = "played"
    key = "played"

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        delay: float = 0.8,
        today: Callable[[], date] = _today,
    ) -> None:
        require_stage(environ)
        self._delay = delay
        self._today = today
        self._server: asyncio.Server | None = None
        self.asked: list[str] = []
        """The questions received, in order."""
        self.talks: set[asyncio.Task[object]] = set()
        """The requests being answered at the moment."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._handle_connection, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._server:
            self._server.close()
            for talk in self.talks:
                talk.cancel()
            await asyncio.gather(*self.talks, return_exceptions=True)
            await self._server.wait_closed()

    @property
    def base_url(self) -> str:
        if self._server is None:
            raise RuntimeError("the played model is not listening yet: use `async with`")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    def answer(self, system: str, user: str, schema: Mapping[str, object] | None) -> str:
        """Return the reply. Raises ConnectionError if the server is to drop the connection."""
        return answer(system, user, self._today().isoformat(), schema=schema)

    async def _handle_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        # One request per connection, which is closed after the answer.
        task = cast("asyncio.Task[object]", asyncio.current_task())
        self.talks.add(task)
        try:
            reply = await self._reply(reader)
            writer.write(reply)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            # the client has disconnected
            pass
        finally:
            self.talks.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _reply(self, reader: asyncio.StreamReader) -> bytes:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                request = await _read(reader)
            messages = _messages(request, self.key)
            self.asked.append(question_name(messages.system))
            await asyncio.sleep(self._delay)
            return _response(200, self._completion(messages))
        except _BadRequestError as problem:
            return _refusal(problem)

    def _completion(self, messages: _Messages) -> dict[str, object]:
        text = self.answer(messages.system, messages.user, messages.schema)
        now = datetime.now(UTC)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text, "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
        return {
            "id": f"chatcmpl-played-{now:%Y%m%d%H%M%S%f}",
            "object": "chat.completion",
            "created": int(now.timestamp()),
            "model": self.name,
            "choices": [choice],
            "usage": _usage(messages, text),
        }


class _BadRequestError(Exception):
    """A request that is answered with a status and a reason."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class _Messages:
    system: str
    user: str
    schema: dict[str, object] | None
    """The schema of the reply, if the request has one."""


async def _read(reader: asyncio.StreamReader) -> _Request:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.LimitOverrunError as error:
        raise _BadRequestError(431, "The headers are too long.") from error
    first, *lines = head.split("\r\n")
    method, _, rest = first.partition(" ")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):
        raise _BadRequestError(400, "The length of the body is not a number.")
    if int(length) > BODY_LIMIT:
        raise _BadRequestError(413, f"The body has more than {BODY_LIMIT} bytes.")
    return _Request(method, rest.partition(" ")[0], headers, await reader.readexactly(int(length)))


def _messages(request: _Request, key: str) -> _Messages:
    """Return the messages of a request, or raise an error that says what is wrong with it."""
    if (request.method, request.path.partition("?")[0]) != ("POST", PATH):
        raise _BadRequestError(404, f"The played model knows only POST {PATH}.")
    if request.headers.get("authorization") != f"Bearer {key}":
        raise _BadRequestError(401, f"The key of the played model is: {key}")
    try:
        body: object = json.loads(request.body)
    except ValueError as error:
        raise _BadRequestError(400, "The body is not JSON.") from error
    if not isinstance(body, dict):
        raise _BadRequestError(400, "The body is not a JSON object.")
    fields = cast("dict[str, object]", body)
    return _Messages(
        _first_message(fields, "system"), _first_message(fields, "user"), _schema(fields)
    )


def _schema(fields: Mapping[str, object]) -> dict[str, object] | None:
    found: object = fields
    for name in ("response_format", "json_schema", "schema"):
        found = cast("dict[str, object]", found).get(name)
        if not isinstance(found, dict):
            return None
    return cast("dict[str, object]", found)


def _first_message(fields: Mapping[str, object], role: str) -> str:
    """Return the content of the first message with this role: the rules, and the data. The played model needs no more."""
    messages = fields.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _BadRequestError(400, "There are no messages.")
    for message in cast("list[object]", messages):
        if isinstance(message, dict):
            entry = cast("dict[str, object]", message)
            content = entry.get("content")
            if entry.get("role") == role and isinstance(content, str):
                return content
    return ""


def _usage(messages: _Messages, text: str) -> dict[str, int]:
    prompt, told = _tokens(messages.system + messages.user), _tokens(text)
    return {"prompt_tokens": prompt, "completion_tokens": told, "total_tokens": prompt + told}


def _tokens(text: str) -> int:
    return -(-len(text.encode()) // 3)


def _refusal(problem: _BadRequestError) -> bytes:
    kind = "invalid_request_error"
    error = {"message": str(problem), "type": kind, "param": None, "code": None}
    return _response(problem.status, {"error": error})


def _response(status: int, body: Mapping[str, object]) -> bytes:
    content = json.dumps(body, ensure_ascii=False).encode()
    head = (
        f"HTTP/1.1 {status} {'OK' if status == 200 else 'Error'}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + content
