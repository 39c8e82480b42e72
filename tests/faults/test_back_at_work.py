"""R5: the real program, started on the files of twenty sessions: how soon each of them has looked around and decided."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from adapters.store import JournalStore
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.core.session import Session
from tests.beds.slack import MIKA, PUBLIC, TEAM, SlackBed
from tests.steps.scenes import awaiting_approval
from tests.stories.serving import FRESH, PATIENCE, Serving, in_slack, serving

pytestmark = [pytest.mark.tmux, pytest.mark.slow, pytest.mark.faults]
SESSIONS = 20


def one_of_many(number: int, root: str, bot: Serving) -> Session:
    session = awaiting_approval()
    session.id = f"{number:08x}-0000-4000-8000-000000000000"
    session.thread = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=root)
    session.repository.path, session.repository.base_commit = (
        str(bot.shop),
        bot.git("rev-parse", "main"),
    )
    return session


async def test_twenty_sessions_are_back_after_a_start(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    async with SlackBed() as bed, serving(tmp_path, **in_slack(bed, MIKA)) as bot:
        bed.leeway.unacked = True
        store = JournalStore(bot.home)
        for number in range(SESSIONS):
            root = await bed.say(MIKA, PUBLIC, f"Wish {number}")
            store.save(Record(session=one_of_many(number, root.ts, bot)))
        store.close()
        before = {one.id: one.updated_at for one in bot.sessions()}
        begun = time.monotonic()
        bot.start(**{FRESH: "yes"})
        await bed.connected(seconds=PATIENCE)
        connected = time.monotonic() - begun
        await bot.until(lambda: all(one.updated_at > before[one.id] for one in bot.sessions()))
        took = time.monotonic() - begun
        used = psutil.Process(bot.pid).cpu_times()
        assert len(before) == SESSIONS
        record_property(
            "R5",
            f"{SESSIONS} sessions on disk: connected {connected:.1f} s after the start of the program, all have "
            f"decided after {took:.1f} s, of which it has used the processor for {used.user + used.system:.1f} s",
        )
        assert "Traceback" not in bot.out
