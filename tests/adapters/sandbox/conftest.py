"""Skipped where bubblewrap cannot work, with what it says."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from tests.adapters.sandbox.jail import Jail, cannot

why_not = functools.cache(cannot)


@pytest.fixture
async def jail(tmp_path: Path) -> Jail:
    if reason := why_not():
        pytest.skip(f"bubblewrap does not work here: {reason}")
    made = Jail(tmp_path)
    await made.build()
    return made
