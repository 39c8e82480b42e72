"""R9: the real program at work for a while, one session after the other: no file stays open, and memory stays what it is."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from adapters.demo.texts import REQUEST
from tests.stories.conversation.scene import ends_complete
from tests.stories.serving import FRESH
from tests.stories.slack_talker import in_a_channel

MINUTES = float(os.environ.get("SOAK_MINUTES", "10"))
pytestmark = [
    pytest.mark.tmux,
    pytest.mark.slow,
    pytest.mark.faults,
    pytest.mark.timeout(60 * MINUTES + 1800),
]
PAUSE = float(os.environ.get("SOAK_PAUSE", "0"))
"""Seconds between two sessions."""
WARM = 2
"""Sessions before what is usual is known: everything has been imported, and every pool filled."""
MORE_FILES = 3
MORE_MEMORY = 1.05
"""Times what it took half way, when what is kept of the last few sessions is there, and allocators know what they need."""


@dataclass(frozen=True)
class Use:
    files: int
    threads: int
    memory: float
    """MB."""

    @classmethod
    def of(cls, pid: int) -> Use:
        process = psutil.Process(pid)
        memory = process.memory_info().rss / 2**20
        return cls(process.num_fds(), process.num_threads(), memory)


async def test_session_after_session_it_needs_no_more_than_before(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    used: list[Use] = []
    unlimited = {"GWT_MOST_IN_AN_HOUR": "0"}
    async with in_a_channel(tmp_path, late=True, **{FRESH: "yes"}, **unlimited) as scene:
        first = scene.bot.git("rev-parse", "main")
        end = time.monotonic() + 60 * MINUTES
        while time.monotonic() < end or len(used) <= WARM:
            await scene.person.asks(REQUEST)
            if used:
                await scene.person.presses("Plan it here", on="go on with something")
            await scene.person.presses("Use all defaults")
            await scene.person.presses("Approve", on="revision 1?")
            await ends_complete(scene)
            used.append(Use.of(scene.bot.pid))
            # for who looks on, and should it end early
            (tmp_path / "used").write_text("\n".join(map(str, used)))
            await asyncio.sleep(PAUSE)
            # the next one finds what this one has found
            scene.bot.git("reset", "--quiet", "--hard", first)
    before, half, after = used[WARM - 1], used[(WARM - 1 + len(used)) // 2], used[-1]
    record_property(
        "R9",
        f"{len(used)} sessions in {MINUTES:g} minutes; open files {before.files} → {after.files}, "
        f"threads {before.threads} → {after.threads}, "
        f"memory {before.memory:.0f} MB → {half.memory:.0f} MB → {after.memory:.0f} MB",
    )
    assert after.files <= before.files + MORE_FILES, used
    assert after.memory <= half.memory * MORE_MEMORY, used
