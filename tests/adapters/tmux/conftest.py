"""A tmux server for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.tmux.own_server import Tmux, own_server


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Tmux]:
    async with own_server(tmp_path) as made:
        yield made
