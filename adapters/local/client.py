"""The client of the local socket: a console, or a single command, that has joined the bot at work on the same home."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pydantic import JsonValue, ValidationError

from adapters.local import protocol
from adapters.local.chat import LocalSeat
from bot.core.console import ThreadStanding
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.events import Commanded, FromPeople, Pressed, Said
from bot.core.facts import Fact
from bot.core.people import Person, Thread

PATIENCE = 10.0
"""Seconds in which a bot that is alive says hello."""


@asynccontextmanager
async def connect_to_bot(home: Path, person: Person) -> AsyncGenerator[BotConnection | None, None]:
    """None: no bot is at work there. Raises Refused where one is that speaks another language."""
    calling = await asyncio.to_thread(protocol.connected_socket, home)
    if calling is None:
        yield None
        return
    reader, writer = await asyncio.open_unix_connection(sock=calling, limit=protocol.LONGEST_SENT)
    try:
        welcome = await _handshake(reader, writer)
        there = BotConnection(reader, writer, person, welcome)
        hearing = asyncio.create_task(there.hear(), name="joined")
        try:
            yield there
        finally:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _handshake(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> protocol.Welcome:
    writer.write(protocol.encode_line(protocol.Hello(gwt_bot=protocol.VERSION)))
    try:
        async with asyncio.timeout(PATIENCE):
            await writer.drain()
            welcome = protocol.Welcome.model_validate_json(await reader.readline())
    except (OSError, ValueError, TimeoutError) as error:
        raise Refused(
            "The bot at work here does not answer on its socket.",
            "Look at what it says; perhaps it must be started again.",
        ) from error
    if welcome.gwt_bot != protocol.VERSION:
        raise Refused(
            f"The bot at work here is of version {welcome.version}, which this one cannot talk to.",
            "Start it again, so that both are of the same version.",
        )
    return welcome


class BotConnection:
    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        person: Person,
        welcome: protocol.Welcome,
    ) -> None:
        self.welcome = welcome
        self._reader = reader
        self._writer = writer
        self._person = person
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[JsonValue]] = {}
        self._seat: LocalSeat | None = None
        self.gone = asyncio.Event()
        """The bot has ended."""

    async def look(self, seat: LocalSeat, thread: Thread, *, earlier: bool = True) -> None:
        """From now on this seat sees everything."""
        self._seat = seat
        await self._ask(
            protocol.LookRequest(id=next(self._numbers), thread=thread, earlier=earlier)
        )

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        if not isinstance(event, Said | Pressed | Commanded):
            return False
        request = protocol.DeliverRequest(id=next(self._numbers), thread=thread, event=event)
        return bool(await self._ask(request))

    async def rest(self, thread: Thread) -> ThreadStanding:
        request = protocol.RestRequest(id=next(self._numbers), thread=thread)
        return ThreadStanding.model_validate(await self._ask(request))

    async def tell(self, about: str, of: str = "") -> JsonValue:
        request = {"id": next(self._numbers), "about": about, "of": of}
        return await self._ask(protocol.TellRequest.model_validate(request))

    async def _ask(
        self,
        request: protocol.DeliverRequest
        | protocol.LookRequest
        | protocol.RestRequest
        | protocol.TellRequest,
    ) -> JsonValue:
        if self.gone.is_set():
            raise _bot_ended()
        answer = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = answer
        try:
            self._writer.write(protocol.encode_line(request))
            await self._writer.drain()
            return await answer
        except OSError as error:
            raise _bot_ended() from error
        finally:
            self._waiting.pop(request.id, None)

    async def hear(self) -> None:
        """Until the bot ends: then whoever waits for an answer is told so."""
        try:
            while line := await self._reader.readline():
                await self._heard(protocol.SENT.validate_json(line))
        except (OSError, ValueError, ValidationError):
            return
        finally:
            self.gone.set()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(_bot_ended())

    async def _heard(self, sent: Fact) -> None:
        match sent:
            case protocol.SocketAnswer(id=id, answer=answer):
                if (waiting := self._waiting.get(id)) and not waiting.done():
                    waiting.set_result(answer)
            case protocol.SocketFailure(id=id):
                if (waiting := self._waiting.get(id)) and not waiting.done():
                    waiting.set_exception(_error_of(sent))
            case _ if self._seat:
                await self._shown(self._seat, sent)
            case _:
                pass

    async def _shown(self, seat: LocalSeat, sent: Fact) -> None:
        match sent:
            case protocol.CardShown(thread=thread, card=card):
                await seat.show(thread, card)
            case protocol.ThreadOpened(thread=thread, card=card):
                await seat.open(thread, card)
            case protocol.Whispered(thread=thread, card=card):
                await seat.whisper(thread, self._person, card)
            case protocol.Turned(thread=thread):
                await seat.turn_to(thread)
            case _:
                pass


def _error_of(failure: protocol.SocketFailure) -> PortError:
    kind = Unavailable if failure.again else Refused
    return kind(failure.reason, failure.remedy)


def _bot_ended() -> Unavailable:
    return Unavailable("The bot has ended.", "Agents go on; start it again to go on with it.")
