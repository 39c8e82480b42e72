"""`gwt-bot console` with the played agent, at a terminal of its own: `python -m tests.stories.consoled`.

Everything comes from the environment, as for the program itself.
"""

from __future__ import annotations

import asyncio

from adapters.console.chat import ConsoleChat
from bot.__main__ import until_terminated
from bot.cli.assemble import Plan
from bot.cli.console import talk
from bot.cli.process import me
from bot.cli.serve import gate_for
from tests.stories.served import current, stage


async def run() -> None:
    person = me()
    chat = ConsoleChat(current().gwt_home, person)
    gate = gate_for(person)
    await talk(Plan(current=current, chats={"console": chat}, gate=gate, stage=stage()), chat)


if __name__ == "__main__":
    asyncio.run(until_terminated(run()))
