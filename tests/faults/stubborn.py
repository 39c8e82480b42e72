"""A person who wants something built, and presses what she is offered until it has come of it, whatever becomes of the bot."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from adapters.demo.texts import REQUEST
from bot.core.session import Session
from bot.core.states import Phase
from tests.faults.lives import LONGEST
from tests.stories.serving import Serving

LOOK_EVERY = 0.2
PLANNED = (Phase.INTAKE, Phase.CLARIFYING, Phase.SPECIFYING)
"""Before she has been asked whether it shall be built."""


class Hands(Protocol):
    """What a person does in one chat."""

    async def asks(self, text: str) -> None: ...

    async def presses_if_she_can(self, label: str, on: str) -> None:
        """What is offered there under this label, unless an earlier press is on its way, or arrived."""
        ...

    def faults(self) -> list[str]:
        """What she saw more or less often than it should be."""
        ...


@dataclass(frozen=True)
class Step:
    label: str
    on: str
    past: Callable[[Session], bool]
    """Whether it has come of it."""


def steps(merge: str, last: str) -> tuple[Step, ...]:
    return (
        Step("Use all defaults", "", lambda one: one.phase not in PLANNED[:2]),
        Step("Approve", "revision 1?", lambda one: one.phase not in (*PLANNED, Phase.APPROVING)),
        Step(merge, last, lambda one: one.phase is Phase.DONE),
    )


async def has_it_built(hands: Hands, bot: Serving, merge: str, last: str) -> None:
    """From the request to the end of its session: «merge» is pressed on the card that says `last`."""
    await hands.asks(REQUEST)
    await eventually(bot, lambda: bool(bot.sessions()), "it was heard")
    for step in steps(merge, last):
        await _presses(hands, bot, step)


async def _presses(hands: Hands, bot: Serving, step: Step) -> None:
    end = time.monotonic() + LONGEST
    while not step.past(_session(bot)):
        if time.monotonic() > end:
            raise AssertionError(f"«{step.label}» led nowhere: {how_it_stands(bot)}")
        await hands.presses_if_she_can(step.label, step.on)
        await asyncio.sleep(LOOK_EVERY)


async def eventually(bot: Serving, so: Callable[[], bool], what: str) -> None:
    """Or it says how things stand."""
    try:
        async with asyncio.timeout(LONGEST):
            while not so():  # noqa: ASYNC110 - another process changes it
                await asyncio.sleep(LOOK_EVERY)
    except TimeoutError:
        raise AssertionError(f"never: {what}. {how_it_stands(bot)}") from None


def _session(bot: Serving) -> Session:
    return bot.sessions()[-1]


def how_it_stands(bot: Serving) -> str:
    lines = [
        f"{one.short} {one.status} {one.phase} {one.control.trouble} {one.control.failure} "
        f"{[(t.key, t.state, t.blocked or t.pull_problem) for t in one.tasks]}"
        for one in bot.sessions()
    ]
    return "\n".join([*lines, *bot.open_orders(), bot.out[-1500:]])
