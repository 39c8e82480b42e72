"""What tests of the way out to Slack begin with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.slack.office import Office, office


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[Office]:
    async with office(tmp_path) as one:
        yield one
