"""A played GitHub with a repository that has a change to propose."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.github.bed_stage import CALC, Stage
from tests.beds.github import GithubBed


@pytest.fixture
async def github_stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with GithubBed(tmp_path / "hub") as bed:
        shop = bed.repository("acme/shop")
        shop.people.push("agent/a", {"calc.py": CALC}, "Add calc")
        yield Stage(bed, shop, tmp_path)
