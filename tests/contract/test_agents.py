"""What every `Agents` does, whether in memory or with real programs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.agents.launch import AgentClis
from bot.core.errors import Refused
from bot.core.runs import CompletionSource, Launch, RunEnd
from bot.core.states import Outcome
from bot.ports import Agents
from tests.adapters.agents.programs import CONVERSATION, NAMES, Programs
from tests.fakes.agents import FakeAgents

pytestmark = pytest.mark.covers("R-EXECUTOR-1")


@pytest.fixture(params=["fake", "real"])
def agents(request: pytest.FixtureRequest, tmp_path: Path) -> Agents:
    if request.param == "fake":
        return FakeAgents(*NAMES)
    programs = Programs(tmp_path)
    for name in NAMES:
        programs.add(name)
    programs.remember("claude", CONVERSATION)
    return AgentClis(programs.environ)


@pytest.mark.covers("G-ASSUME-2", "R-EXECUTOR-2")
@pytest.mark.parametrize("agent", NAMES)
async def test_an_installed_agent_is_ready_and_tells_its_version(
    agents: Agents, agent: str
) -> None:
    ready = await agents.ready(agent, "/repository")
    assert (ready.agent, ready.ok, ready.problem) == (agent, True, "")
    assert ready.version


@pytest.mark.covers("G-ASSUME-2", "R-EXECUTOR-2")
async def test_an_unknown_agent_is_not_ready_and_the_remedy_is_told(agents: Agents) -> None:
    ready = await agents.ready("hal9000", "/repository")
    assert not ready.ok
    assert "hal9000" in ready.problem
    assert ready.remedy


async def test_an_unknown_agent_cannot_be_launched(agents: Agents) -> None:
    with pytest.raises(Refused, match="hal9000") as refusal:
        await launch(agents, "hal9000")
    assert refusal.value.remedy


@pytest.mark.parametrize("agent", NAMES)
async def test_the_same_launch_comes_out_the_same(agents: Agents, agent: str) -> None:
    assert await launch(agents, agent) == await launch(agents, agent)


@pytest.mark.parametrize("agent", NAMES)
@pytest.mark.parametrize("resume", [False, True])
async def test_the_prompt_reaches_the_agent_by_file_or_standard_input(
    agents: Agents, agent: str, resume: bool
) -> None:
    started = await launch(agents, agent, resume=resume)
    tokens = {"{prompt}", "{prompt_file}"} & set(started.argv)
    assert bool(tokens) != (started.stdin == "prompt")
    assert not any("do the thing" in word for word in started.argv)


@pytest.mark.covers("G-RULE-END-9")
@pytest.mark.parametrize("agent", NAMES)
async def test_people_are_told_its_flags_and_its_end_needs_no_marker(
    agents: Agents, agent: str
) -> None:
    assert agents.flags(agent).startswith("--")
    assert not agents.uses_marker(agent)
    assert (await launch(agents, agent)).marker == ""


@pytest.mark.parametrize("agent", NAMES)
@pytest.mark.parametrize("outcome", list(Outcome))
def test_an_end_that_tells_of_no_limit_stays_as_it_is(
    agents: Agents, agent: str, outcome: Outcome
) -> None:
    end = RunEnd(
        outcome=outcome,
        source=CompletionSource.PROCESS_EXIT,
        message="I have changed what is shown when a limit is reached.",
    )
    assert agents.with_limit(agent, end, "", datetime(2026, 5, 1, tzinfo=UTC)) == end


async def launch(agents: Agents, agent: str, *, resume: bool = False) -> Launch:
    return await agents.launch(
        agent,
        cwd="/worktree",
        prompt="do the thing",
        conversation=CONVERSATION,
        resume=resume,
        nonce="0f0f",
        spool="/spool/run-1",
    )
