"""The client of the local socket: a console, or a single command, connected to the running bot of the same home."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pydantic import JsonValue, ValidationError

from adapters.local import protocol
from adapters.local.chat import LocalConsole
from adapters.local.handshake import (
    MAX_ANSWER_BYTES,
    SocketAnswer,
    SocketFailure,
    TellRequest,
    Welcome,
    bot_ended,
    connected_socket,
    encode_line,
    error_of,
    exchange_greetings,
)
from bot.core.console import ThreadStanding
from bot.core.events import Commanded, FromPeople, Pressed, Said
from bot.core.facts import Fact
from bot.core.people import Person, Thread


@asynccontextmanager
async def connect_to_bot(home: Path, person: Person) -> AsyncGenerator[BotConnection | None, None]:
    """Connect to the running bot; yield None if there is none. Raises Refused if its version differs."""
    calling = await asyncio.to_thread(connected_socket, home)
    if calling is None:
        yield None
        return
    reader, writer = await asyncio.open_unix_connection(sock=calling, limit=MAX_ANSWER_BYTES)
    try:
        welcome = await exchange_greetings(reader, writer)
        there = BotConnection(reader, writer, person, welcome)
        hearing = asyncio.create_task(there.receive(), name="joined")
        try:
            yield there
        finally:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


class BotConnection:
    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        person: Person,
        welcome: Welcome,
    ) -> None:
        self.welcome = welcome
        self._reader = reader
        self._writer = writer
        self._person = person
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[JsonValue]] = {}
        self._seat: LocalConsole | None = None
        self.gone = asyncio.Event()
        """Set when the bot has ended."""

    async def subscribe(self, seat: LocalConsole, thread: Thread, *, earlier: bool = True) -> None:
        """Show all cards to this console from now on."""
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
        return await self._ask(TellRequest.model_validate(request))

    async def _ask(
        self,
        request: protocol.DeliverRequest
        | protocol.LookRequest
        | protocol.RestRequest
        | TellRequest,
    ) -> JsonValue:
        if self.gone.is_set():
            raise bot_ended()
        answer = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = answer
        try:
            self._writer.write(encode_line(request))
            await self._writer.drain()
            return await answer
        except OSError as error:
            raise bot_ended() from error
        finally:
            self._waiting.pop(request.id, None)

    async def receive(self) -> None:
        """Receive until the bot ends; then all waiting requests fail."""
        try:
            while line := await self._reader.readline():
                await self._handle_message(protocol.SENT.validate_json(line))
        except (OSError, ValueError, ValidationError):
            return
        finally:
            self.gone.set()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(bot_ended())

    async def _handle_message(self, sent: Fact) -> None:
        match sent:
            case SocketAnswer(id=id, answer=answer):
                if (waiting := self._waiting.get(id)) and not waiting.done():
                    waiting.set_result(answer)
            case SocketFailure(id=id):
                if (waiting := self._waiting.get(id)) and not waiting.done():
                    waiting.set_exception(error_of(sent))
            case _ if self._seat:
                await self._shown(self._seat, sent)
            case _:
                pass

    async def _shown(self, seat: LocalConsole, sent: Fact) -> None:
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
