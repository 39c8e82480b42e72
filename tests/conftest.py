"""What most stories begin with: a bot at work in a world in memory."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, settings

from tests.stories.stage import Stage

pytest_plugins = ["tests.beds.synapse.fixtures", "tests.faults.figures"]

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
"""What takes long on a busy machine is not wrong."""


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.open()
    yield stage
    await stage.close()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of several workers each begins with its share of what takes long: else one is at work alone in the end."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers == 1:
        return
    long = [item for item in items if _takes_long(item)]
    short = [item for item in items if not _takes_long(item)]
    shares = [len(short) * number // workers for number in range(workers + 1)]
    items[:] = [
        item
        for number, (begin, end) in enumerate(pairwise(shares))
        for item in (*long[number::workers], *short[begin:end])
    ]


def _takes_long(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("slow", "tmux"))
