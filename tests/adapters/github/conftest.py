"""A repository hosted on a played GitHub, with work of an agent on a branch."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.github.forge_stage import Stage, forge_stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with forge_stage(tmp_path) as made:
        yield made
