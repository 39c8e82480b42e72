"""`gwt-bot serve`: runs the bot in every configured chat and on the local socket until it is ended."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from importlib.metadata import version

from adapters.local.chat import LocalChat
from adapters.local.handshake import VERSION, Welcome
from adapters.local.server import serve_socket
from bot import settings
from bot.cli.assemble import AssemblyOptions, running_desk
from bot.cli.chats import configured_chats
from bot.cli.page import BotPage, Page
from bot.cli.process import local_person, say
from bot.cli.read_settings import read_settings
from bot.core.desk import Desk
from bot.core.errors import BotError, Refused
from bot.core.gate import Gate, single_list_doors
from bot.core.people import Person
from bot.core.text import sentences
from bot.core.world import World
from bot.ports import Chat
from bot.settings import Settings

log = logging.getLogger("bot.program")


async def run(*, umask: int) -> None:
    await read_settings()
    await run_bot(settings.load, umask=umask)


async def run_bot(
    current: Callable[[], Settings],
    stage: Mapping[str, str] | None = None,
    through: Callable[[World], World] = lambda world: world,
    *,
    umask: int = 0o022,
) -> None:
    """Run the bot in all configured chats. `stage` and `through` are for tests: see `AssemblyOptions`."""
    platforms = configured_chats(current())
    async with AsyncExitStack() as open_chats:
        chats: dict[str, Chat] = {}
        for platform in platforms:
            chats[platform.name] = await open_chats.enter_async_context(platform.build())
        gate = Gate({platform.name: platform.door for platform in platforms})
        plan = AssemblyOptions(
            current=current,
            chats=chats,
            gate=gate,
            stage=stage or {},
            umask=umask,
            through=through,
        )
        await _serve(plan, chats)


async def _serve(plan: AssemblyOptions, chats: Mapping[str, Chat]) -> None:
    """Listen on all chats.

    A chat that refuses the bot for good is reported and dropped; after the last one, BotError ends the bot.
    """
    async with running_bot_with_console(plan) as (desk, _, _):
        _say(*desk.broken(), *desk.unfinished(), f"At work on {', '.join(chats)}.")
        async with asyncio.TaskGroup() as group:
            falling = group.create_task(_report_crashed_sessions(desk))
            listening = [_listen(name, chat, desk) for name, chat in chats.items()]
            refused = await asyncio.gather(*listening)
            falling.cancel()
        if any(refused):
            raise BotError("No chat is left to listen to; see above.")


async def _listen(name: str, chat: Chat, desk: Desk) -> bool:
    """Listen on one chat. Return `True` if the platform refused the bot for good."""
    try:
        await chat.listen(desk.take)
    except Refused as refusal:
        log.warning("a chat has ended", extra={"data": {"chat": name, "why": refusal.reason}})
        _say(sentences(f"{name} has ended: {refusal.reason}", refusal.remedy))
        return True
    return False


async def _report_crashed_sessions(desk: Desk) -> None:
    while True:
        session_id = await desk.next_crashed_session()
        _say(
            f"Session {session_id[:8]} stopped after an error in the bot. The log has the details; start the bot again to go on with it."
        )


def _say(*sentences: str) -> None:
    say(*(f"gwt-bot: {sentence}" for sentence in sentences))


# The running bot with access for the person at this machine: the console's chat and the local socket.


def console_gate(person: Person) -> Gate:
    return Gate(single_list_doors("console", frozenset({person.id})))


@asynccontextmanager
async def running_bot_with_console(
    plan: AssemblyOptions,
) -> AsyncGenerator[tuple[Desk, LocalChat, Page], None]:
    """Run the bot with all chats of the plan and the local console. One gate protects them all."""
    person = local_person()
    home = plan.current().gwt_home
    local = LocalChat(home, person)
    doors = {**plan.gate.doors, **console_gate(person).doors}
    plan = replace(
        plan, chats={**plan.chats, "console": local}, gate=Gate(doors, here=person.platform)
    )
    async with running_desk(plan) as desk:
        desk.world.visits.shown = local.note_elsewhere
        hearing = asyncio.create_task(local.listen(desk.take), name="local")
        page = Page(local, BotPage(desk, plan.current, plan.example))
        backend = _SocketBackend(desk, page)
        try:
            async with serve_socket(home, local, backend, _welcome(plan.current())):
                yield desk, local, page
        finally:
            await page.close()
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)


def _welcome(current: Settings) -> Welcome:
    return Welcome(
        gwt_bot=VERSION,
        version=version("gwt-bot"),
        pid=os.getpid(),
        repository=str(current.gwt_repository),
    )


class _SocketBackend:
    """What the local socket gives access to."""

    def __init__(self, desk: Desk, page: Page) -> None:
        self.rest = desk.rest
        self.greet = desk.welcome
        self.tell = desk.tell
        self.page_address = page.address
