"""These tests are run by name only (`make test-agents`): the programs they drive are large, and fetched by `fetch`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.tmux.own_server import own_server
from tests.clis.bench import Bench, missing, prepare
from tests.clis.model import Model, playing

LATENCY = pytest.StashKey[list[str]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "clis" in str(config.option.markexpr):
        return
    skipped = pytest.mark.skip(reason="drives the real agent CLIs: make test-agents")
    for item in items:
        if item.get_closest_marker("clis"):
            item.add_marker(skipped)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LATENCY] = []


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash[LATENCY]:
        terminalreporter.write_line(line)


@pytest.fixture
def latency(request: pytest.FixtureRequest) -> list[str]:
    """Lines for the end of the test run."""
    return request.config.stash[LATENCY]


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    async with playing() as model:
        yield model


@pytest.fixture
async def bench(model: Model, tmp_path: Path, agent: str) -> AsyncIterator[Bench]:
    """The agent that the test names, ready to be started in a worktree."""
    if lacks := missing(agent):
        pytest.skip(lacks)
    place = prepare(tmp_path, model.url)
    async with own_server(tmp_path / "server") as server:
        yield Bench(agent, place, server)
