"""`gwt-bot serve` with the played agent, as a process that can be killed: `python -m tests.stories.served`.

Everything comes from the environment, as for the program itself; also where it is to die (`tests.faults.fate`).
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from adapters.demo import STAGE_VARIABLE
from bot import settings
from bot.__main__ import until_terminated
from bot.cli import serve
from bot.core.world import World
from bot.settings import Settings
from tests.faults.fate import MARKS, Fate


def stage() -> dict[str, str]:
    return {STAGE_VARIABLE: "tests", "GWT_BOT_PACE": os.environ.get("GWT_BOT_PACE", "0.02")}


def current() -> Settings:
    """Also from a .env in the home, and from no other."""
    return settings.load(Path("no") / ".env")


def through(world: World) -> World:
    return Fate.told_by(os.environ).through(world) if MARKS in os.environ else world


if __name__ == "__main__":
    asyncio.run(until_terminated(serve.run_bot(current, stage(), through)))
