"""The program's log of agents: each start, each end and how it came, each stop."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import pytest

from bot.core.cards import NeedsYouCard
from bot.core.choices import Word
from tests.stories.stage import Stage


@pytest.fixture
async def stage(caplog: pytest.LogCaptureFixture) -> AsyncIterator[Stage]:
    caplog.set_level(logging.INFO, logger="agent.sub")
    stage = Stage()
    await stage.open()
    await stage.is_planned()
    yield stage
    await stage.close()


def logged(caplog: pytest.LogCaptureFixture, what: str) -> list[Mapping[str, object]]:
    return [
        record.__dict__["data"]
        for record in caplog.records
        if record.name == "agent.sub" and record.getMessage() == what
    ]


@pytest.mark.covers("G-RULE-LOG-3")
async def test_the_start_of_every_agent_is_logged(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    await stage.approves()
    runs = [task.run.id for task in stage.session().tasks if task.run]
    started = logged(caplog, "started")
    assert sorted(str(data["run"]) for data in started) == sorted(runs)
    assert {data["session"] for data in started} == {stage.session().id}
    assert sorted(str(data["task"]) for data in started) == ["T001", "T002"]
    assert {data["agent"] for data in started} == {"played"}


@pytest.mark.covers("G-RULE-LOG-3")
async def test_the_end_of_an_agent_is_logged_with_how_it_ended(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    await stage.approves()
    finished, failed = stage.panes.running()
    stage.panes.finish(finished)
    stage.panes.finish(failed, exit_code=3)
    await stage.settle()
    ends = {f"run-{data['run']}": data for data in logged(caplog, "ended")}
    assert (ends[finished]["outcome"], ends[finished]["exit_code"]) == ("finished", 0)
    assert (ends[failed]["outcome"], ends[failed]["exit_code"]) == ("failed", 3)


async def test_a_stop_is_logged_with_what_would_not_end(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    await stage.approves()
    first, second = stage.panes.running()
    stage.panes.stubborn[first] = (42,)
    await stage.commands_(Word.STOP)
    stops = {f"run-{data['run']}": data["survivors"] for data in logged(caplog, "stopped")}
    assert stops == {first: (42,), second: ()}


@pytest.mark.covers("G-RULE-TRUST-1")
async def test_agents_that_were_to_be_in_a_sandbox_never_start_without_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stage = Stage()
    stage.rules = replace(stage.rules, sandboxed=True)
    await stage.open()
    await stage.is_planned()
    assert stage.session().agents.sandboxed
    stage.rules = replace(stage.rules, sandboxed=False)
    await stage.revive()
    await stage.approves()
    assert stage.panes.started == []
    card = stage.chat.card(f"needs-you:T001:{stage.session().tasks[0].asking}")
    assert isinstance(card, NeedsYouCard)
    assert "there is none any more" in card.reason
    await stage.close()
