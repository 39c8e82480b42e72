"""What most stories begin with: a bot at work in a world in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from _pytest.terminal import TerminalReporter

from tests.stories.stage import Stage

pytest_plugins = ["tests.beds.synapse.fixtures", "tests.faults.figures"]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.open()
    yield stage
    await stage.close()


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """How many schedules were simulated, whichever worker did it."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    told = [dict(report.user_properties).get("schedules", 0) for report in reports]
    if schedules := sum(int(str(number)) for number in told):
        terminalreporter.write_line(f"simulation: {schedules} schedules")
