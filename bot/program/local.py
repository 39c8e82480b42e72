"""The bot at work, with the way in for whoever sits at this machine: the console's chat and the local socket."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version

from adapters.chat.local import VERSION, LocalChat, Welcome, open_door
from bot.domain.people import Person
from bot.engine.desk import Desk
from bot.engine.gate import Gate, everyone_of
from bot.program.assemble import Plan, running_desk
from bot.program.owner import me
from bot.settings import Settings


def gate_for(person: Person) -> Gate:
    return Gate(everyone_of("console", frozenset({person.id})))


@asynccontextmanager
async def at_home(plan: Plan) -> AsyncGenerator[tuple[Desk, LocalChat], None]:
    """With all chats of the plan, and this one besides. One gate stands in front of them all."""
    person = me()
    home = plan.current().gwt_home
    local = LocalChat(home, person)
    doors = {**plan.gate.doors, **gate_for(person).doors}
    plan = replace(
        plan, chats={**plan.chats, "console": local}, gate=Gate(doors, here=person.platform)
    )
    async with running_desk(plan) as desk:
        hearing = asyncio.create_task(local.listen(desk.take), name="local")
        try:
            async with open_door(home, local, _Behind(desk), _welcome(plan.current())):
                yield desk, local
        finally:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)


def _welcome(current: Settings) -> Welcome:
    return Welcome(
        gwt_bot=VERSION,
        version=version("gwt-bot"),
        pid=os.getpid(),
        repository=str(current.gwt_repository),
    )


class _Behind:
    """What the local socket leads to."""

    def __init__(self, desk: Desk) -> None:
        self.rest = desk.rest
        self.greet = desk.welcome
        self.tell = desk.tell
