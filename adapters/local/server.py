"""The server of the local socket: who may connect, and what each may do.

No peer can harm the bot: only processes of the same user, a limited number of them, each with limited lines, requests
and unread output. Peers that violate the protocol or do not read are disconnected.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol, Self

import psutil
from pydantic import JsonValue, ValidationError

from adapters.local import handshake, protocol
from adapters.local.chat import LocalChat
from bot.core.cards import Card
from bot.core.console import ThreadStanding
from bot.core.errors import PortError, Unavailable
from bot.core.facts import Fact
from bot.core.people import Person, Thread

log = logging.getLogger("bot.local")

MOST_PEERS = 32
MAX_PENDING_REQUESTS = 64
"""The most unanswered requests of one peer."""
MAX_UNREAD_LINES = 2_000
"""The most lines that a peer has not read yet."""
PEER_TIMEOUT = 10.0
"""Seconds to send the greeting, and to read anything at all while lines wait."""


class BotQueries(Protocol):
    """The questions about the bot that the server can answer."""

    async def rest(self, thread: Thread) -> ThreadStanding: ...

    def greet(self, thread: Thread, person: Person) -> Awaitable[None]: ...

    async def tell(self, about: str, of: str) -> JsonValue: ...

    async def page_address(self, session: str, port: int) -> str: ...


@asynccontextmanager
async def serve_socket(
    home: Path, chat: LocalChat, queries: BotQueries, welcome: handshake.Welcome
) -> AsyncGenerator[None, None]:
    """Serve the socket. If it cannot be created the error is logged, and everything else works."""
    try:
        listening = handshake.listening_socket(home)
    except (OSError, PortError) as problem:
        log.warning("no local socket", extra={"data": {"why": str(problem)}})
        yield
        return
    door = _SocketServer(chat, queries, welcome)
    server = await asyncio.start_unix_server(
        door.handle_connection,
        sock=listening,
        limit=handshake.MAX_REQUEST_BYTES,
        start_serving=False,
    )
    try:
        # no await up to here, so that a cancelled task always leaves something that can be closed
        await server.start_serving()
        yield
    finally:
        server.close()
        await door.close()
        with suppress(OSError):
            handshake.socket_path(home).unlink()


class _SocketServer:
    def __init__(self, chat: LocalChat, behind: BotQueries, welcome: handshake.Welcome) -> None:
        self._chat = chat
        self._behind = behind
        self._welcome = welcome
        self._peers: set[asyncio.Task[None]] = set()

    def handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("socket")
        if len(self._peers) >= MOST_PEERS or not is_owner(peer) or is_agent(peer):
            log.warning("shown out", extra={"data": {"uid": uid_of(peer)}})
            writer.close()
            return
        task = asyncio.create_task(self._come(reader, writer), name="peer")
        self._peers.add(task)
        task.add_done_callback(self._peers.discard)

    async def _come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._attend(reader, writer)
        except OSError:
            pass  # the peer has disconnected
        except Exception:
            # the boundary of a connection: an error of one peer must not affect the bot or others
            log.exception("a peer was let go")
        finally:
            writer.close()

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await self._is_welcome(reader, writer):
            async with _Peer(writer, self._chat, self._behind) as peer:
                await peer.serve(reader)

    async def _is_welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        try:
            async with asyncio.timeout(PEER_TIMEOUT):
                hello = handshake.Hello.model_validate_json(await reader.readline())
        except (ValidationError, ValueError, TimeoutError):
            return False
        writer.write(handshake.encode_line(self._welcome))
        await writer.drain()
        return hello.gwt_bot == handshake.VERSION

    async def close(self) -> None:
        for task in self._peers:
            task.cancel()
        await asyncio.gather(*self._peers, return_exceptions=True)


class _Peer:
    """One connection, which becomes a console of the chat once it subscribes."""

    def __init__(self, writer: asyncio.StreamWriter, chat: LocalChat, behind: BotQueries) -> None:
        self._writer = writer
        self._chat = chat
        self._behind = behind
        self._unsent: asyncio.Queue[bytes] = asyncio.Queue(MAX_UNREAD_LINES)
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._writing = asyncio.create_task(self._write(), name="peer")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._chat.leave(self)
        for task in (*self._tasks, self._writing):
            task.cancel()
        await asyncio.gather(*self._tasks, self._writing, return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Handle requests until the peer disconnects, sends an invalid one, or stops reading."""
        while not self._writing.done():
            reading = asyncio.ensure_future(reader.readline())
            await asyncio.wait({reading, self._writing}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                reading.cancel()
                return
            try:
                line = reading.result()
                request = protocol.REQUESTS.validate_json(line) if line else None
            except ValueError:
                # no JSON, no request, or a line that is too long
                self._send(
                    handshake.SocketFailure(id=0, reason="That is no request of this version.")
                )
                await self._drained()
                return
            if request is None or not await self._handle_request(request):
                return

    async def _handle_request(self, request: protocol.Request) -> bool:
        # Requests are handled in order; only the slow ones run concurrently.
        match request:
            case protocol.DeliverRequest():
                await self._answer(request.id, self._deliver(request))
            case protocol.LookRequest():
                await self._answer(request.id, self._look(request))
            case handshake.TellRequest():
                await self._answer(request.id, self._tell(request))
            case protocol.RestRequest():
                if len(self._tasks) >= MAX_PENDING_REQUESTS:
                    return False
                task = asyncio.create_task(self._answer(request.id, self._rest(request)))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        return True

    async def _answer(self, id: int, work: Awaitable[JsonValue]) -> None:
        try:
            self._send(handshake.SocketAnswer(id=id, answer=await work))
        except PortError as problem:
            again = isinstance(problem, Unavailable)
            told = handshake.SocketFailure(
                id=id, reason=problem.reason, remedy=problem.remedy, again=again
            )
            self._send(told)

    async def _deliver(self, request: protocol.DeliverRequest) -> JsonValue:
        return await self._chat.deliver(self, request.thread, request.event)

    async def _look(self, request: protocol.LookRequest) -> JsonValue:
        self._chat.leave(self)
        if request.earlier:
            await self._chat.catch_up(self)
        self._chat.sit(self)
        if request.earlier:
            person = self._chat.person
            await self._chat.greet(self, self._behind.greet(request.thread, person))
        return None

    async def _rest(self, request: protocol.RestRequest) -> JsonValue:
        standing = await self._behind.rest(request.thread)
        return standing.model_dump(mode="json")

    async def _tell(self, request: handshake.TellRequest) -> JsonValue:
        if request.about == "page":
            return await self._behind.page_address(request.of, request.port)
        return await self._behind.tell(request.about, request.of)

    async def show(self, thread: Thread, card: Card) -> None:
        self._send(protocol.CardShown(thread=thread, card=card))

    async def open(self, thread: Thread, card: Card) -> Thread:
        self._send(protocol.ThreadOpened(thread=thread, card=card))
        return thread

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        self._send(protocol.Whispered(thread=thread, card=card))

    async def turn_to(self, thread: Thread) -> None:
        self._send(protocol.Turned(thread=thread))

    def _send(self, fact: Fact) -> None:
        # Never blocks: a peer that is too far behind is disconnected.
        try:
            self._unsent.put_nowait(handshake.encode_line(fact))
        except asyncio.QueueFull:
            log.warning("a peer reads too slowly")
            self._writing.cancel()

    async def _write(self) -> None:
        while True:
            self._writer.write(await self._unsent.get())
            async with asyncio.timeout(PEER_TIMEOUT):
                await self._writer.drain()
            self._unsent.task_done()

    async def _drained(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PEER_TIMEOUT):
                await self._unsent.join()


# The user at the other end of a local socket, as reported by the kernel. Where it cannot report that, nobody is let in.

_UCRED = struct.Struct("3i")
"""Linux: pid, uid, gid."""
_XUCRED = struct.Struct("=2I")
"""macOS: a version, then the uid."""
_AGENT_VARIABLE = "GWT_SPOOL"
"""An environment variable set for every run of an agent."""
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 0x001


def is_owner(peer: socket.socket) -> bool:
    """Whether the peer runs as the same user as this program."""
    return uid_of(peer) == os.getuid()


def is_agent(peer: socket.socket) -> bool:
    """Whether the peer was started by an agent; without a sandbox agents run as the same user, but must not act as a
    person.

    A program can hide its origin, so this only stops those that do not try to. A process that has ended counts as an
    agent: it could be anybody's, and waits for no answer.
    """
    try:
        raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        pid = int(_UCRED.unpack(raw)[0])
    except (AttributeError, OSError, struct.error):
        return False
    # 0: from the host around this container, where no agents run
    return pid != 0 and belongs_to_agent(pid)


def belongs_to_agent(pid: int) -> bool:
    """Whether the process, or one that it descends from, was started for the run of an agent."""
    try:
        caller = psutil.Process(pid)
        family = (caller, *caller.parents())
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False
    return any(_AGENT_VARIABLE in _environ(process) for process in family)


def _environ(process: psutil.Process) -> dict[str, str]:
    """Return the environment of a process; empty if it may not be read."""
    try:
        return process.environ()
    except (OSError, psutil.Error):
        return {}


def uid_of(peer: socket.socket) -> int | None:
    try:
        if linux := getattr(socket, "SO_PEERCRED", None):
            raw = peer.getsockopt(socket.SOL_SOCKET, linux, _UCRED.size)
            return int(_UCRED.unpack(raw)[1])
        raw = peer.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 128)
        return int(_XUCRED.unpack_from(raw)[1])
    except (OSError, struct.error):
        return None
