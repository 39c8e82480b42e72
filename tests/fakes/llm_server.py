"""An endpoint for chat completions on the loopback that answers, and misbehaves, in every way the test asks for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self, cast

_STEP = 0.02
"""Seconds between two bytes of a body that trickles."""


@dataclass(frozen=True)
class Asked:
    """One request, as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, object]

    @property
    def texts(self) -> tuple[str, ...]:
        messages = cast("list[dict[str, str]]", self.body["messages"])
        return tuple(message["content"] for message in messages)

    @property
    def format(self) -> str:
        """How JSON was asked for; empty: it was not."""
        wanted = cast("dict[str, str]", self.body.get("response_format") or {})
        return wanted.get("type", "")


@dataclass(frozen=True)
class Talk:
    """One request and the connection it came on."""

    asked: Asked
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    over: asyncio.Event
    """Set at the end of the test."""

    async def useless(self, seconds: float | None = None) -> bool:
        """Wait, at most so long, until the client has hung up or the test is over."""
        ends: list[asyncio.Task[object]] = [
            asyncio.create_task(self.reader.read()),
            asyncio.create_task(self.over.wait()),
        ]
        done, _ = await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in ends:
            task.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
        return bool(done)


Behaviour = Callable[[Talk], Awaitable[None]]


class LlmServer:
    """Each request gets the next behaviour; the last one stays."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self._behaviours = list(behaviours)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self._over = asyncio.Event()
        self.asked: list[Asked] = []
        self.keeps_alive = False
        """Whether a connection stays open after its answer, until the client closes it."""
        self.heard = asyncio.Event()
        """Set by the first request."""
        self.left = asyncio.Event()
        """Set by the first connection that has come to its end, on whichever side."""

    def then(self, *behaviours: Behaviour) -> None:
        self._behaviours[:] = behaviours

    @property
    def url(self) -> str:
        assert self._server is not None
        host, port = cast("tuple[str, int]", self._server.sockets[0].getsockname())
        return f"http://{host}:{port}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._over.set()
        self._server.close()
        await asyncio.gather(*self._open)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._open.add(task)
        try:
            asked = await _read(reader)
            self.asked.append(asked)
            self.heard.set()
            behave = self._behaviours[0] if len(self._behaviours) == 1 else self._behaviours.pop(0)
            talk = Talk(asked, reader, writer, self._over)
            await behave(talk)
            if not writer.is_closing() and self.keeps_alive:
                await talk.useless()
        except ConnectionError:
            pass
        finally:
            self.left.set()
            writer.close()
            self._open.discard(task)


def says(content: object, *, finish: object = "stop", **more: object) -> Behaviour:
    """A completion with this content; `more` is put beside the choices."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return answers(
        {"id": "x", "object": "chat.completion", "model": "m-1", "choices": [choice], **more}
    )


def streams(*events: object, kind: str = "text/event-stream", end: bool = True) -> Behaviour:
    """Server-sent events: bytes as they are, everything else as JSON in a line of data."""

    async def behave(talk: Talk) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n"
        talk.writer.write(head.encode())
        for event in (*events, b"data: [DONE]\n\n") if end else events:
            if not isinstance(event, bytes):
                event = b"data: " + json.dumps(event).encode() + b"\n\n"
            talk.writer.write(event)
            await talk.writer.drain()

    return behave


def delta(text: object = None, *, finish: str | None = None, **more: object) -> dict[str, object]:
    """One piece of a streamed answer."""
    said = {"content": text} if text is not None else {}
    return {
        "model": "m-1",
        "choices": [{"index": 0, "delta": {**said, **more}, "finish_reason": finish}],
    }


def echoes() -> Behaviour:
    """Says back what the user's message was."""

    async def behave(talk: Talk) -> None:
        await says(talk.asked.texts[-1])(talk)

    return behave


def fails(status: int, headers: Mapping[str, str] | None = None, **error: object) -> Behaviour:
    """An error as OpenAI words it."""
    return answers({"error": error}, status=status, headers=headers)


def answers(
    body: object,
    *,
    status: int = 200,
    kind: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Behaviour:
    """Any body: bytes as they are, everything else as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def behave(talk: Talk) -> None:
        talk.writer.write(_head(status, kind, len(content), headers or {}) + content)

    return behave


def without_format(*refused: str, status: int = 400) -> Behaviour:
    """Answers, but turns these formats down by name."""

    async def behave(talk: Talk) -> None:
        message = f"'response_format' of type '{talk.asked.format}' is not supported"
        no = fails(status, message=message, param="response_format")
        await (no if talk.asked.format in refused else says("{}"))(talk)

    return behave


def cut() -> Behaviour:
    """Closes the connection without a word."""

    async def behave(talk: Talk) -> None:
        talk.writer.close()

    return behave


def half() -> Behaviour:
    """Closes the connection in the middle of the body."""

    async def behave(talk: Talk) -> None:
        talk.writer.write(_head(200, "application/json", 1000, {}) + b'{"choices": [')

    return behave


def silent() -> Behaviour:
    """Takes the request and never answers."""

    async def behave(talk: Talk) -> None:
        await talk.useless()

    return behave


def trickles() -> Behaviour:
    """Sends its body byte by byte, so that no single read takes long, and never comes to an end."""

    async def behave(talk: Talk) -> None:
        talk.writer.write(_head(200, "application/json", 1_000_000, {}))
        while not await talk.useless(_STEP):
            talk.writer.write(b" ")
            await talk.writer.drain()

    return behave


def endless(status: int = 200) -> Behaviour:
    """Sends its body in chunks, as fast as they are taken, until nobody takes them any more."""

    async def behave(talk: Talk) -> None:
        head = f"HTTP/1.1 {status} Whatever\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        talk.writer.write(head.encode())
        while not (talk.over.is_set() or talk.writer.is_closing()):
            talk.writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
            await talk.writer.drain()

    return behave


def _head(status: int, kind: str, length: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Type: {kind}", f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])
    }
    length = int(headers.get("content-length", "0"))
    body = cast("dict[str, object]", json.loads(await reader.readexactly(length) or b"{}"))
    return Asked(path=head[0].split()[1], headers=headers, body=body)
