"""What a run of an agent CLI leaves: by its hooks, by its report, whoever was killed; and whatever happens it is let go on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.agents.clis import HOOK_EVENTS, claude_hooks
from adapters.agents.launch import AgentClis
from adapters.tmux.spool import Spool, recorded_end
from bot.core.runs import AgentUsage, CompletionSource, RunEnd
from bot.core.states import Outcome
from tests.adapters.agents.programs import CONVERSATION, OWN_IDS, Programs
from tests.adapters.tmux.own_server import Tmux, own_server, until

ANSWER = {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 7}


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """A folder with a name that a shell would stumble over."""
    path = tmp_path / "a spool's $(folder)"
    path.mkdir()
    for name, text in claude_hooks(str(path)).items():
        (path / name).write_text(text, encoding="utf-8")
        (path / name).chmod(0o700)
    (path / "started").touch()
    return path


def call(spool: Path, event: str, told: str) -> subprocess.CompletedProcess[bytes]:
    """As Claude Code does it: the command of the settings in a shell, the event on its standard input."""
    settings = json.loads((spool / "settings.json").read_text(encoding="utf-8"))
    (entry,) = settings["hooks"][event][0]["hooks"]
    return subprocess.run(
        ["sh", "-c", entry["command"]],
        input=told.encode(),
        env={"PATH": os.environ["PATH"], "HOME": str(spool.parent / "home")},
        cwd=spool.parent,
        capture_output=True,
        check=False,
    )


def transcript(spool: Path, *answers: dict[str, object]) -> Path:
    path = spool.parent / "home" / ".claude" / "projects" / "x" / "8a3c.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in answers), encoding="utf-8")
    return path


def answer(id: str, text: str, *, later: float = 1.0, **usage: int) -> dict[str, object]:
    moment = datetime.now(UTC) + timedelta(seconds=later)
    content = [{"type": "text", "text": text}]
    message = {"id": id, "content": content, "usage": {**ANSWER, **usage}}
    return {"type": "assistant", "timestamp": moment.isoformat(), "message": message}


def report(spool: Path) -> dict[str, object]:
    return json.loads((spool / "report").read_text(encoding="utf-8"))


def stop(transcript: Path | str, said: str = "Done.") -> str:
    return json.dumps({"transcript_path": str(transcript), "last_assistant_message": said})


@pytest.mark.covers("G-US4.1", "G-FR-006")
@pytest.mark.parametrize("event", HOOK_EVENTS)
def test_every_event_is_kept_whole_and_nothing_is_said_back(spool: Path, event: str) -> None:
    told = json.dumps({"hook_event_name": event, "text": "x" * 200_000})
    done = call(spool, event, told)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (kept,) = spool.glob(f"*-{event}.json")
    assert kept.read_text(encoding="utf-8") == told
    assert kept.stat().st_mode & 0o777 == 0o600
    assert not list(spool.glob(".*.json"))


def test_their_names_sort_by_time(spool: Path) -> None:
    for number in range(3):
        call(spool, "Notification", json.dumps({"number": number}))
    names = sorted(spool.glob("*-Notification.json"))
    assert [json.loads(one.read_text())["number"] for one in names] == [0, 1, 2]


@pytest.mark.covers("G-DEP-4")
@pytest.mark.parametrize("event", HOOK_EVENTS)
def test_a_hook_that_cannot_do_its_work_stops_nobody(spool: Path, event: str) -> None:
    for name in ("started", "settings.json"):
        kept = (spool / name).read_bytes()
        (spool / name).unlink()
        (spool / name).write_bytes(kept) if name == "settings.json" else None
    assert call(spool, event, "this is no JSON").returncode == 0


def test_the_usage_of_the_run_is_added_up_once_for_each_answer(spool: Path) -> None:
    path = transcript(
        spool,
        answer("earlier", "An earlier run.", later=-3600),
        answer("one", "I begin.", output_tokens=1),
        answer("one", "I begin.", output_tokens=9),
        {"type": "user", "message": {"content": "usage"}},
        answer("two", "Done."),
    )
    call(spool, "Stop", stop(path))
    usage = {"input_tokens": 240, "output_tokens": 16, "cost": None}
    assert report(spool)["usage"] == usage
    assert report(spool)["message"] == "Done."


def test_agents_it_has_sent_out_count_too(spool: Path) -> None:
    path = transcript(spool, answer("one", "Done."))
    sent = path.with_suffix("") / "subagents" / "agent-1.jsonl"
    sent.parent.mkdir(parents=True)
    sent.write_text(json.dumps(answer("two", "Looked.")), encoding="utf-8")
    call(spool, "SessionEnd", stop(path))
    assert report(spool)["usage"] == {"input_tokens": 240, "output_tokens": 14, "cost": None}


def test_only_its_own_folder_is_read(spool: Path, tmp_path: Path) -> None:
    inside = transcript(spool, answer("one", "Done."))
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_bytes(inside.read_bytes())
    link = inside.with_name("link.jsonl")
    link.symlink_to(elsewhere)
    for path in (elsewhere, link, inside.parent / ".." / ".." / ".." / ".." / "elsewhere.jsonl"):
        call(spool, "Stop", stop(path))
        assert report(spool)["usage"] is None


def test_the_end_of_a_transcript_that_comes_a_little_later_is_waited_for(spool: Path) -> None:
    path = transcript(spool, answer("one", "I begin."))
    line = json.dumps(answer("two", "Done."))
    late = f"sleep 0.2; cat >> {path}"
    with subprocess.Popen(["sh", "-c", late], stdin=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        writer.stdin.write(f"{line}\n".encode())
        writer.stdin.close()
        call(spool, "Stop", stop(path))
    assert report(spool)["usage"] == {"input_tokens": 240, "output_tokens": 14, "cost": None}


REPORT = {
    "conversation": "ses_1",
    "message": "Built.",
    "error": "It broke.",
    "usage": {"input_tokens": 3, "output_tokens": 2, "cost": 0.5},
}

PATIENCE = 120.0


@pytest.fixture
def run(tmp_path: Path) -> Spool:
    run = Spool(tmp_path, "run-1")
    run.path.mkdir()
    return run


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Tmux]:
    folder = tmp_path / "server"
    folder.mkdir()
    async with own_server(folder) as made:
        yield made


def end_of(run: Spool) -> RunEnd | None:
    return recorded_end(run, process_gone=True, source=CompletionSource.PROCESS_EXIT)


def put(run: Spool, name: str, value: object) -> None:
    (run.path / name).write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.covers("G-RULE-COST-2")
@pytest.mark.parametrize(
    ("code", "outcome", "message"),
    [(0, Outcome.FINISHED, "Built."), (1, Outcome.FAILED, "It broke.")],
)
def test_an_end_tells_what_the_report_knows(
    run: Spool, code: int, outcome: Outcome, message: str
) -> None:
    put(run, "report", REPORT)
    (run.path / "exit").write_text(f"{code}\n")
    assert end_of(run) == RunEnd(
        outcome=outcome,
        source=CompletionSource.PROCESS_EXIT,
        exit_code=code,
        message=message,
        conversation="ses_1",
        usage=AgentUsage(input_tokens=3, output_tokens=2, cost=0.5),
    )


def test_a_stopped_run_can_be_gone_on_with(run: Spool) -> None:
    put(run, "report", REPORT)
    run.mark_stopped()
    end = end_of(run)
    assert end is not None
    assert (end.outcome, end.conversation) == (Outcome.KILLED, "ses_1")


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"usage": {"input_tokens": "many"}}', "{}"])
def test_a_report_that_is_none_is_as_if_it_were_not_there(run: Spool, text: str) -> None:
    (run.path / "report").write_text(text)
    (run.path / "exit").write_text("0\n")
    end = end_of(run)
    assert end is not None
    assert (end.outcome, end.message, end.usage) == (Outcome.FINISHED, "", None)


def test_a_link_in_its_place_is_not_followed(run: Spool, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(json.dumps(REPORT))
    (run.path / "report").symlink_to(tmp_path / "secret")
    assert run.report.message == ""


@pytest.mark.covers("G-RULE-END-1")
@pytest.mark.parametrize(
    "at_work", [{"background_tasks": [{"status": "running"}]}, {"session_crons": [{"id": "1"}]}]
)
def test_a_stop_of_an_agent_that_will_be_woken_is_no_end(
    run: Spool, at_work: dict[str, object]
) -> None:
    stop: dict[str, object] = {"hook_event_name": "Stop", "last_assistant_message": "Later."}
    put(run, "1-Stop.json", stop | at_work)
    assert end_of(run) is None
    nothing: dict[str, list[str]] = {"background_tasks": [], "session_crons": []}
    put(run, "2-Stop.json", stop | nothing)
    end = end_of(run)
    assert end is not None
    assert (end.outcome, end.message) == (Outcome.FINISHED, "Later.")


def test_a_failed_turn_is_told_in_the_words_people_see(run: Spool) -> None:
    failure = {
        "hook_event_name": "StopFailure",
        "error": "rate_limit",
        "last_assistant_message": "You've hit your limit",
    }
    put(run, "1-StopFailure.json", failure)
    put(run, "2-Stop.json", {"hook_event_name": "Stop"})
    end = end_of(run)
    assert end is not None
    assert (end.outcome, end.message) == (Outcome.FAILED, "You've hit your limit")


@pytest.mark.tmux
@pytest.mark.parametrize("victim", ["screen", "cli", "pane"])
async def test_a_run_killed_in_any_way_still_tells_its_conversation(
    server: Tmux, tmp_path: Path, victim: str
) -> None:
    programs = Programs(tmp_path / "programs")
    event = json.dumps({"type": "thread.started", "thread_id": OWN_IDS["codex"]})
    programs.add("codex", f"#!/bin/sh\necho '{event}'\necho $$ $PPID > pids\nexec sleep 300\n")
    run = server.spool("run-1")
    launch = await AgentClis(programs.environ).launch(
        "codex",
        cwd=str(server.worktree),
        prompt="x",
        conversation=CONVERSATION,
        resume=False,
        nonce="0",
        spool=str(run),
    )
    panes = server.panes()
    await panes.start("run-1", str(server.worktree), launch, "x")
    await until(lambda: (run / "report").exists() and _two(server.worktree / "pids") is not None)
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
