"""Finds the running bot of a home, greets it, and asks for its state.

Cards and events are in `protocol`, which imports their models; commands that only read do not need them.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from bot.core.errors import PortError, Refused, Unavailable
from bot.core.facts import Fact

VERSION = 4
MAX_REQUEST_BYTES = 4 * 1024 * 1024
"""The most bytes per line that the bot reads: a request is a typed or pasted text."""
MAX_ANSWER_BYTES = 512 * 1024 * 1024
"""The most bytes per line that the bot sends, which may contain all sessions. The client trusts the bot."""
GREETING_TIMEOUT = 10.0
"""Seconds in which a running bot answers the greeting."""


class Hello(Fact):
    gwt_bot: int


class Welcome(Fact):
    gwt_bot: int
    version: str
    pid: int
    repository: str
    """The path of the default repository."""


class TellRequest(Fact):
    """A request for the bot's state, for programs."""

    ask: Literal["tell"] = "tell"
    id: int
    about: Literal["status", "sessions", "session", "usage", "inbox", "page"]
    of: str = ""
    port: int = Field(default=0, ge=0, le=65535)
    """For the page: where it shall be reached besides, for a tunnel."""


class SocketAnswer(Fact):
    kind: Literal["answer"] = "answer"
    id: int
    answer: JsonValue = None


class SocketFailure(Fact):
    """An error. `again`: a retry may work later."""

    kind: Literal["failure"] = "failure"
    id: int
    reason: str
    remedy: str = ""
    again: bool = False


_ANSWER: TypeAdapter[SocketAnswer | SocketFailure] = TypeAdapter(
    Annotated[SocketAnswer | SocketFailure, Field(discriminator="kind")]
)


async def ask_bot(
    home: Path, about: str, of: str = "", *, port: int = 0
) -> tuple[JsonValue, int] | None:
    """Return the running bot's answer and its process id, or None if no bot is running."""
    calling = await asyncio.to_thread(connected_socket, home)
    if calling is None:
        return None
    reader, writer = await asyncio.open_unix_connection(sock=calling, limit=MAX_ANSWER_BYTES)
    try:
        welcome = await exchange_greetings(reader, writer)
        request = {"id": 1, "about": about, "of": of, "port": port}
        writer.write(encode_line(TellRequest.model_validate(request)))
        await writer.drain()
        # nothing was subscribed to, so the next line is the answer
        told = _ANSWER.validate_json(await reader.readline())
    except (OSError, ValidationError) as error:
        raise bot_ended() from error
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    if isinstance(told, SocketFailure):
        raise error_of(told)
    return told.answer, welcome.pid


async def exchange_greetings(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Welcome:
    """Exchange greetings and return the bot's. Raises Refused if its version differs or it does not answer."""
    writer.write(encode_line(Hello(gwt_bot=VERSION)))
    try:
        async with asyncio.timeout(GREETING_TIMEOUT):
            await writer.drain()
            welcome = Welcome.model_validate_json(await reader.readline())
    except (OSError, ValueError, TimeoutError) as error:
        raise Refused(
            "The bot at work here does not answer on its socket.",
            "Look at what it says; perhaps it must be started again.",
        ) from error
    if welcome.gwt_bot != VERSION:
        raise Refused(
            f"The bot at work here is of version {welcome.version}, which this one cannot talk to.",
            "Start it again, so that both are of the same version.",
        )
    return welcome


def error_of(failure: SocketFailure) -> PortError:
    kind = Unavailable if failure.again else Refused
    return kind(failure.reason, failure.remedy)


def bot_ended() -> Unavailable:
    return Unavailable("The bot has ended.", "Agents go on; start it again to go on with it.")


def encode_line(fact: Fact) -> bytes:
    return fact.model_dump_json().encode() + b"\n"


# The path of the socket: in the bot's home, private like everything there. It may be longer than a socket name is
# allowed to be.

SOCKET_NAME = "socket"
LONGEST_SOCKET_NAME = 100
"""Bytes that a socket name may have on every system."""


def socket_path(home: Path) -> Path:
    return home / SOCKET_NAME


@contextmanager
def short_socket_name(home: Path) -> Iterator[str]:
    """Yield a name for the socket that is short enough, for the time it takes to bind or connect."""
    path = socket_path(home)
    if len(os.fsencode(path)) <= LONGEST_SOCKET_NAME:
        yield str(path)
        return
    try:
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Refused(f"{home} cannot be opened: {error.strerror}.") from error
    try:
        short = Path(f"/proc/self/fd/{folder}")
        if not short.exists():
            raise Refused(
                f"The path of {path} is too long for a socket.", "Choose a shorter GWT_HOME."
            )
        yield str(short / SOCKET_NAME)
    finally:
        os.close(folder)


def listening_socket(home: Path) -> socket.socket:
    """Return a listening socket for its owner only.

    The caller holds the home's lock, so an existing socket file is stale and removed.
    """
    socket_path(home).unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_socket_name(home) as name:
            # the home is closed to other users; a umask would affect all files the bot creates meanwhile
            listening.bind(name)
            Path(name).chmod(0o600)
        listening.listen(16)
        listening.setblocking(False)
    except BaseException:
        listening.close()
        raise
    return listening


def connected_socket(home: Path) -> socket.socket | None:
    """Return a connection to the running bot, or None if there is none."""
    calling = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    calling.settimeout(5)
    try:
        with short_socket_name(home) as name:
            calling.connect(name)
    except (OSError, Refused):
        calling.close()
        return None
    calling.setblocking(False)
    return calling
