"""What the operator set is what the world goes by."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest

from adapters.log import LogFile
from bot.cli.assemble import AssemblyOptions, running_desk
from bot.core.gate import Gate
from bot.core.world import Rules, World
from tests.program.environment import Given


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """The bot's umask and its log are the process's own."""
    umask, level = os.umask(0o022), logging.root.level
    os.umask(umask)
    yield
    os.umask(umask)
    logging.root.setLevel(level)
    for handler in [one for one in logging.root.handlers if isinstance(one, LogFile)]:
        logging.root.removeHandler(handler)
        handler.close()


async def rules_by(given: Given, **environ: str) -> Rules:
    settings, seen = given(**environ), list[World]()

    def look(world: World) -> World:
        seen.append(world)
        return world

    gate = Gate({})
    async with running_desk(
        AssemblyOptions(current=lambda: settings, chats={}, gate=gate, through=look)
    ):
        return seen[0].rules


@pytest.mark.covers("F-RISK-2", "F-RISK-3")
async def test_who_must_approve_is_what_the_operator_says(given: Given) -> None:
    rules = await rules_by(given, GWT_LOW_RISK_ALONE="true", GWT_HIGH_RISK_APPROVERS="2")
    assert (rules.low_risk_alone, rules.high_risk_approvers) == (True, 2)


async def test_who_says_nothing_has_everything_approved_by_one(given: Given) -> None:
    rules = await rules_by(given)
    assert (rules.low_risk_alone, rules.high_risk_approvers) == (False, 1)
