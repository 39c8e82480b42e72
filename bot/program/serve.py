"""`gwt-bot serve`: the bot in every chat that is configured, at once, until it is told to end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from bot import settings
from bot.domain.sentences import sentences
from bot.engine.desk import Desk
from bot.engine.gate import Gate
from bot.engine.world import World
from bot.errors import BotError, Refused
from bot.ports import Chat
from bot.program.assemble import Plan
from bot.program.chats import configured
from bot.program.dotenv import read_settings
from bot.program.local import at_home
from bot.program.saying import say
from bot.settings import Settings

log = logging.getLogger("bot.program")


async def run(*, umask: int) -> None:
    await read_settings()
    await at_work(settings.load, umask=umask)


async def at_work(
    current: Callable[[], Settings],
    stage: Mapping[str, str] | None = None,
    through: Callable[[World], World] = lambda world: world,
    *,
    umask: int = 0o022,
) -> None:
    """`stage` and `through` are for tests: see `Plan`."""
    platforms = configured(current())
    async with AsyncExitStack() as open_chats:
        chats: dict[str, Chat] = {}
        for platform in platforms:
            chats[platform.name] = await open_chats.enter_async_context(platform.build())
        gate = Gate({platform.name: platform.door for platform in platforms})
        plan = Plan(
            current=current,
            chats=chats,
            gate=gate,
            stage=stage or {},
            umask=umask,
            through=through,
        )
        await _serve(plan, chats)


async def _serve(plan: Plan, chats: Mapping[str, Chat]) -> None:
    """Listen on all of them. One that is refused for good falls silent and says why; with the last one the bot ends."""
    async with at_home(plan) as (desk, _):
        _say(*desk.broken(), *desk.unfinished(), f"At work on {', '.join(chats)}.")
        async with asyncio.TaskGroup() as group:
            falling = group.create_task(_tell_of_falls(desk))
            listening = [_listen(name, chat, desk) for name, chat in chats.items()]
            refused = await asyncio.gather(*listening)
            falling.cancel()
        if any(refused):
            raise BotError("No chat is left to listen to; see above.")


async def _listen(name: str, chat: Chat, desk: Desk) -> bool:
    """Whether it ended because the platform does not want the bot any more."""
    try:
        await chat.listen(desk.take)
    except Refused as refusal:
        log.warning("a chat has ended", extra={"data": {"chat": name, "why": refusal.reason}})
        _say(sentences(f"{name} has ended: {refusal.reason}", refusal.remedy))
        return True
    return False


async def _tell_of_falls(desk: Desk) -> None:
    while True:
        session_id = await desk.fell_over()
        _say(
            f"Session {session_id[:8]} stopped after an error in the bot. The log has the details; start the bot again to go on with it."
        )


def _say(*sentences: str) -> None:
    say(*(f"gwt-bot: {sentence}" for sentence in sentences))
