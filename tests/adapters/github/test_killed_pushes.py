"""A push is killed at every stage of what it does: the next one finds its way, and nobody's work is lost."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from bot.core.errors import PortError
from tests.adapters.git.killing import KilledGit, at, strace_works
from tests.adapters.git.worlds import git
from tests.adapters.github.forge_stage import BRANCH, forge_stage
from tests.faults.figures import Count

PUSHING = (("openat", (4, 8, 12, 16, 20)), ("write", (1, 2, 3)), ("read", (5, 12, 20)))


@pytest.mark.parametrize(("call", "points"), at(*PUSHING))
async def test_a_killed_push_is_made_once(
    tmp_path: Path, call: str, points: Sequence[int], count: Count
) -> None:
    if reason := strace_works(tmp_path):
        pytest.skip(f"git cannot be killed at a chosen point: {reason}")
    killed, deaths = KilledGit(tmp_path, '*" push "*'), 0
    async with forge_stage(tmp_path) as stage:
        others = stage.shop.tip("main")
        for nth in points:
            commit = stage.works({f"{call}.py": f"n = {nth}\n"})
            killed.arm(call, nth)
            with suppress(PortError):
                await stage.publish(stage.github(environ=killed.environment), commit)
            killed.disarm()
            deaths += killed.killed.exists()
            await stage.publish(stage.github(), commit)
            assert stage.shop.tip(BRANCH) == commit
            assert stage.shop.tip("main") == others
            assert git(stage.top, "status", "--porcelain") == ""
            if not killed.killed.exists() and isinstance(points, range):
                break
        count("R3", kills=deaths, violations=0)
        assert deaths >= len(points) / 2 or isinstance(points, range)
