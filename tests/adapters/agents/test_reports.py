"""How a run of an agent CLI ends for the bot: what its hooks and its report tell, whoever was killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.agents.launch import AgentClis
from adapters.tmux.spool import Spool, recorded_end
from bot.core.runs import AgentUsage, CompletionSource, RunEnd
from bot.core.states import Outcome
from tests.adapters.agents.programs import CONVERSATION, OWN_IDS, AgentPrograms
from tests.adapters.tmux.own_server import OwnServer, own_server, until

REPORT = {
    "conversation": "ses_1",
    "message": "Built.",
    "error": "It broke.",
    "usage": {"input_tokens": 3, "output_tokens": 2, "cost": 0.5},
}
PATIENCE = 30.0


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    spool = Spool(tmp_path, "run-1")
    spool.path.mkdir()
    return spool


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[OwnServer]:
    folder = tmp_path / "server"
    folder.mkdir()
    async with own_server(folder) as made:
        yield made


def end_of(spool: Spool) -> RunEnd | None:
    return recorded_end(spool, process_gone=True, source=CompletionSource.PROCESS_EXIT)


def put(spool: Spool, name: str, value: object) -> None:
    (spool.path / name).write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.covers("G-RULE-COST-2")
@pytest.mark.parametrize(
    ("code", "outcome", "message"),
    [(0, Outcome.FINISHED, "Built."), (1, Outcome.FAILED, "It broke.")],
)
def test_an_end_tells_what_the_report_knows(
    spool: Spool, code: int, outcome: Outcome, message: str
) -> None:
    put(spool, "report", REPORT)
    (spool.path / "exit").write_text(f"{code}\n")
    assert end_of(spool) == RunEnd(
        outcome=outcome,
        source=CompletionSource.PROCESS_EXIT,
        exit_code=code,
        message=message,
        conversation="ses_1",
        usage=AgentUsage(input_tokens=3, output_tokens=2, cost=0.5),
    )


def test_a_stopped_run_can_be_gone_on_with(spool: Spool) -> None:
    put(spool, "report", REPORT)
    spool.mark_stopped()
    end = end_of(spool)
    assert end is not None
    assert (end.outcome, end.conversation) == (Outcome.KILLED, "ses_1")


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"usage": {"input_tokens": "many"}}', "{}"])
def test_a_report_that_is_none_is_as_if_it_were_not_there(spool: Spool, text: str) -> None:
    (spool.path / "report").write_text(text)
    (spool.path / "exit").write_text("0\n")
    end = end_of(spool)
    assert end is not None
    assert (end.outcome, end.message, end.usage) == (Outcome.FINISHED, "", None)


def test_a_link_in_its_place_is_not_followed(spool: Spool, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(json.dumps(REPORT))
    (spool.path / "report").symlink_to(tmp_path / "secret")
    assert spool.report.message == ""


@pytest.mark.covers("G-RULE-END-1")
@pytest.mark.parametrize(
    "at_work", [{"background_tasks": [{"status": "running"}]}, {"session_crons": [{"id": "1"}]}]
)
def test_a_stop_of_an_agent_that_will_be_woken_is_no_end(
    spool: Spool, at_work: dict[str, object]
) -> None:
    stop: dict[str, object] = {"hook_event_name": "Stop", "last_assistant_message": "Later."}
    put(spool, "1-Stop.json", stop | at_work)
    assert end_of(spool) is None
    nothing: dict[str, list[str]] = {"background_tasks": [], "session_crons": []}
    put(spool, "2-Stop.json", stop | nothing)
    end = end_of(spool)
    assert end is not None
    assert (end.outcome, end.message) == (Outcome.FINISHED, "Later.")


def test_a_failed_turn_is_told_in_the_words_people_see(spool: Spool) -> None:
    failure = {
        "hook_event_name": "StopFailure",
        "error": "rate_limit",
        "last_assistant_message": "You've hit your limit",
    }
    put(spool, "1-StopFailure.json", failure)
    put(spool, "2-Stop.json", {"hook_event_name": "Stop"})
    end = end_of(spool)
    assert end is not None
    assert (end.outcome, end.message) == (Outcome.FAILED, "You've hit your limit")


@pytest.mark.tmux
@pytest.mark.parametrize("victim", ["screen", "cli", "pane"])
async def test_a_run_killed_in_any_way_still_tells_its_conversation(
    server: OwnServer, tmp_path: Path, victim: str
) -> None:
    programs = AgentPrograms(tmp_path / "programs")
    event = json.dumps({"type": "thread.started", "thread_id": OWN_IDS["codex"]})
    programs.add("codex", f"#!/bin/sh\necho '{event}'\necho $$ $PPID > pids\nexec sleep 300\n")
    spool = server.spool("run-1")
    launch = await AgentClis(programs.environ).launch(
        "codex",
        cwd=str(server.worktree),
        prompt="x",
        conversation=CONVERSATION,
        resume=False,
        nonce="0",
        spool=str(spool),
    )
    panes = server.panes()
    await panes.start("run-1", str(server.worktree), launch, "x")
    await until(lambda: (spool / "report").exists() and _two(server.worktree / "pids") is not None)
    cli, screen = _two(server.worktree / "pids") or (0, 0)
    if victim == "pane":
        await server.tmux("kill-session", "-t", "=run-1")
    else:
        os.kill(cli if victim == "cli" else screen, signal.SIGKILL)
    end = await asyncio.wait_for(panes.ended("run-1"), PATIENCE)
    assert end.outcome in (Outcome.FAILED, Outcome.KILLED, Outcome.VANISHED)
    assert end.conversation == OWN_IDS["codex"]
    assert await panes.stop("run-1") == ()


def _two(path: Path) -> tuple[int, int] | None:
    words = path.read_text().split() if path.exists() else []
    return (int(words[0]), int(words[1])) if len(words) == 2 else None
