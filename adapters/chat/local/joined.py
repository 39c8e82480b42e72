"""The other end of the local socket: a console, or a single command, that has joined the bot at work on the same home."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pydantic import JsonValue, ValidationError

from adapters.chat.local import address, wire
from adapters.chat.local.chat import Seat
from bot.domain.events import Commanded, FromPeople, Pressed, Said
from bot.domain.facts import Fact
from bot.domain.people import Person, Thread
from bot.domain.repl import Standing
from bot.errors import PortError, Refused, Unavailable

PATIENCE = 10.0
"""Seconds in which a bot that is alive says hello."""


@asynccontextmanager
async def joined(home: Path, person: Person) -> AsyncGenerator[Joined | None, None]:
    """None: no bot is at work there. Raises Refused where one is that speaks another language."""
    calling = await asyncio.to_thread(address.connected, home)
    if calling is None:
        yield None
        return
    reader, writer = await asyncio.open_unix_connection(sock=calling, limit=wire.LONGEST_SENT)
    try:
        welcome = await _welcome(reader, writer)
        there = Joined(reader, writer, person, welcome)
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


async def _welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> wire.Welcome:
    writer.write(wire.line(wire.Hello(gwt_bot=wire.VERSION)))
    try:
        async with asyncio.timeout(PATIENCE):
            await writer.drain()
            welcome = wire.Welcome.model_validate_json(await reader.readline())
    except (OSError, ValueError, TimeoutError) as error:
        raise Refused(
            "The bot at work here does not answer on its socket.",
            "Look at what it says; perhaps it must be started again.",
        ) from error
    if welcome.gwt_bot != wire.VERSION:
        raise Refused(
            f"The bot at work here is of version {welcome.version}, which this one cannot talk to.",
            "Start it again, so that both are of the same version.",
        )
    return welcome


class Joined:
    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        person: Person,
        welcome: wire.Welcome,
    ) -> None:
        self.welcome = welcome
        self._reader = reader
        self._writer = writer
        self._person = person
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[JsonValue]] = {}
        self._seat: Seat | None = None
        self.gone = asyncio.Event()
        """The bot has ended."""

    async def look(self, seat: Seat, thread: Thread, *, earlier: bool = True) -> None:
        """From now on this seat sees everything."""
        self._seat = seat
        await self._ask(wire.Look(id=next(self._numbers), thread=thread, earlier=earlier))

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        if not isinstance(event, Said | Pressed | Commanded):
            return False
        request = wire.Deliver(id=next(self._numbers), thread=thread, event=event)
        return bool(await self._ask(request))

    async def rest(self, thread: Thread) -> Standing:
        request = wire.Rest(id=next(self._numbers), thread=thread)
        return Standing.model_validate(await self._ask(request))

    async def tell(self, about: str, of: str = "") -> JsonValue:
        request = {"id": next(self._numbers), "about": about, "of": of}
        return await self._ask(wire.Tell.model_validate(request))

    async def _ask(self, request: wire.Deliver | wire.Look | wire.Rest | wire.Tell) -> JsonValue:
        if self.gone.is_set():
            raise _ended()
        answer = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = answer
        try:
            self._writer.write(wire.line(request))
            await self._writer.drain()
            return await answer
        except OSError as error:
            raise _ended() from error
        finally:
            self._waiting.pop(request.id, None)

    async def hear(self) -> None:
        """Until the bot ends: then whoever waits for an answer is told so."""
        try:
            while line := await self._reader.readline():
                await self._heard(wire.SENT.validate_json(line))
        except (OSError, ValueError, ValidationError):
            return
        finally:
            self.gone.set()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(_ended())

    async def _heard(self, sent: Fact) -> None:
        match sent:
            case wire.Answer(id=id, answer=answer):
                if (waiting := self._waiting.get(id)) and not waiting.done():
                    waiting.set_result(answer)
            case wire.Failure(id=id):
                if (waiting := self._waiting.get(id)) and not waiting.done():
                    waiting.set_exception(_problem(sent))
            case _ if self._seat:
                await self._shown(self._seat, sent)
            case _:
                pass

    async def _shown(self, seat: Seat, sent: Fact) -> None:
        match sent:
            case wire.Shown(thread=thread, card=card):
                await seat.show(thread, card)
            case wire.Opened(thread=thread, card=card):
                await seat.open(thread, card)
            case wire.Whispered(thread=thread, card=card):
                await seat.whisper(thread, self._person, card)
            case wire.Turned(thread=thread):
                await seat.turn_to(thread)
            case _:
                pass


def _problem(failure: wire.Failure) -> PortError:
    kind = Unavailable if failure.again else Refused
    return kind(failure.reason, failure.remedy)


def _ended() -> Unavailable:
    return Unavailable("The bot has ended.", "Agents go on; start it again to go on with it.")
