"""A bot that hears what is said in a played Slack, and one that only shows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.slack.bot import DEAF, Bot, bot_in
from tests.beds.slack import SlackBed


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with bot_in(tmp_path) as one:
        yield one


@pytest.fixture
def bed(bot: Bot) -> SlackBed:
    return bot.bed


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[Bot]:
    """Nobody listens to Slack here."""
    async with bot_in(tmp_path, grants=DEAF, hears=False) as one:
        yield one
