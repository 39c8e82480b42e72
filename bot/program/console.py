"""`gwt-bot console`: the bot in a terminal or a pipe, on the repository it stands in."""

from __future__ import annotations

import asyncio
import getpass
import os

from adapters.chat.console import ConsoleChat
from bot import settings
from bot.domain.people import Person
from bot.engine.gate import Gate, everyone_of
from bot.program.assemble import Plan, running_desk


def me() -> Person:
    """Whoever sits at the terminal, and nobody else."""
    return Person(platform="console", id=f"local:{os.getuid()}", name=getpass.getuser())


def gate_for(person: Person) -> Gate:
    return Gate(everyone_of("console", frozenset({person.id})))


async def run() -> None:
    person = me()
    chat = ConsoleChat(settings.load().gwt_home, person)
    await talk(Plan(current=settings.load, chats={"console": chat}, gate=gate_for(person)), chat)


async def talk(plan: Plan, chat: ConsoleChat) -> None:
    """Listen until the person leaves. In a pipe: until what was asked for is done."""
    async with running_desk(plan) as desk:
        for sentence in desk.broken():
            await chat.tell(sentence)
        await desk.welcome(chat.thread, chat.person)
        listening = asyncio.create_task(chat.listen(desk.take))
        falling = asyncio.create_task(desk.fell_over())
        await asyncio.wait({listening, falling}, return_when=asyncio.FIRST_COMPLETED)
        for task in (listening, falling):
            task.cancel()
        await asyncio.gather(listening, falling, return_exceptions=True)
