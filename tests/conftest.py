"""What most stories begin with: a bot at work in a world in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.stories.stage import Stage

pytest_plugins = ["tests.beds.synapse.fixtures", "tests.faults.figures"]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.open()
    yield stage
    await stage.close()
