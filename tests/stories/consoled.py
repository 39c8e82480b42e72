"""`gwt-bot console` with the played agent, at a terminal of its own: `python -m tests.stories.consoled`.

Everything comes from the environment, as for the program itself.
"""

from __future__ import annotations

import asyncio

from adapters.console.chat import ConsoleChat
from bot.__main__ import until_terminated
from bot.cli.assemble import AssemblyOptions
from bot.cli.console import run_local_console
from bot.cli.process import local_person
from bot.cli.serve import console_gate
from tests.stories.served import current, stage


async def run() -> None:
    person = local_person()
    chat = ConsoleChat(current().gwt_home, person)
    gate = console_gate(person)
    await run_local_console(
        AssemblyOptions(current=current, chats={"console": chat}, gate=gate, stage=stage()), chat
    )


if __name__ == "__main__":
    asyncio.run(until_terminated(run()))
