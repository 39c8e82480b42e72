"""`gwt-bot console`: the bot in a terminal or a pipe, on the repository it stands in."""

from __future__ import annotations

import asyncio
import getpass
import os
from pathlib import Path

from adapters.chat.console import ConsoleChat
from bot import settings
from bot.domain.people import Person
from bot.engine.desk import Desk
from bot.engine.gate import Gate, everyone_of
from bot.program.assemble import Plan, running_desk
from bot.program.dotenv import refuse_foreign


def me() -> Person:
    """Whoever sits at the terminal, and nobody else."""
    return Person(platform="console", id=f"local:{os.getuid()}", name=getpass.getuser())


def gate_for(person: Person) -> Gate:
    return Gate(everyone_of("console", frozenset({person.id})))


async def run() -> None:
    await asyncio.to_thread(refuse_foreign, Path(".env"))
    person = me()
    chat = ConsoleChat(settings.load().gwt_home, person)
    plan = Plan(
        current=settings.load,
        chats={"console": chat},
        gate=gate_for(person),
        unattended=not chat.by_hand,
    )
    await talk(plan, chat)


async def talk(plan: Plan, chat: ConsoleChat) -> None:
    """Listen until the person leaves. A pipe that has ended does not leave: what was asked for is still done."""
    async with running_desk(plan) as desk:
        await chat.tell(*desk.broken())
        await desk.welcome(chat.thread, chat.person)
        async with asyncio.TaskGroup() as group:
            falling = group.create_task(_tell_of_falls(desk, chat))
            await chat.listen(desk.take)
            if not chat.by_hand:
                await desk.settled()
            falling.cancel()


async def _tell_of_falls(desk: Desk, chat: ConsoleChat) -> None:
    while True:
        session_id = await desk.fell_over()
        await chat.tell(
            f"Session {session_id[:8]} fell over; the log has the details. Start again to go on with it."
        )
