"""`gwt-bot console` with the played agent, at a terminal of its own: `python -m tests.stories.consoled`.

Everything comes from the environment, as for the program itself.
"""

from __future__ import annotations

import asyncio

from adapters.chat.console import ConsoleChat
from bot.__main__ import until_terminated
from bot.program.assemble import Plan
from bot.program.console import gate_for, me, talk
from tests.stories.served import current, stage


async def run() -> None:
    person = me()
    chat = ConsoleChat(current().gwt_home, person)
    gate = gate_for(person)
    await talk(Plan(current=current, chats={"console": chat}, gate=gate, stage=stage()), chat)


if __name__ == "__main__":
    asyncio.run(until_terminated(run()))
