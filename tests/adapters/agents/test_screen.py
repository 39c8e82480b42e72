"""The screen of an agent CLI that streams events: readable lines, a report, its exit code, and nothing that steers a terminal."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from adapters.agents.launch import AgentClis
from adapters.agents.screen.events import RunReport
from adapters.agents.screen.run import PaneScreen, reader_of
from tests.adapters.agents.programs import CONVERSATION, Programs, Started

Json = dict[str, Any]
THREAD = "01a1f0b4-a1db-79a3-9c2a-b30e02fa4d96"
SESSION = "ses_e0f4e98cdffe4UEE4LW3zMzU7T"
PROGRAMS = {"claude": "claude-print", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    programs = Programs(tmp_path)
    for name in PROGRAMS.values():
        programs.add(name)
    return programs


def start(programs: Programs, events: str) -> Started:
    launched = AgentClis(programs.environ).launch(
        PROGRAMS[events],
        cwd="/worktree",
        prompt="x",
        conversation=CONVERSATION,
        resume=False,
        nonce="0f0f",
        spool=str(programs.spool),
    )
    return programs.start(asyncio.run(launched), "x")


def kept(programs: Programs) -> Json:
    return json.loads((programs.spool / "report").read_text(encoding="utf-8"))


def lines(events: Iterable[object]) -> str:
    return "".join(f"{json.dumps(event)}\n" for event in events)


CLAUDE: list[Json] = [
    {"type": "system", "subtype": "init", "session_id": "8a3c", "model": "some-model"},
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "I begin.\nNow."}]}},
    {
        "type": "assistant",
        "message": {
            "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "make\nx"}}]
        },
    },
    {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Mystery"}]}},
    {"type": "user", "message": {"content": [{"is_error": True, "content": "no such file"}]}},
    {"type": "something new"},
    {
        "type": "result",
        "is_error": False,
        "num_turns": 4,
        "total_cost_usd": 0.125,
        "result": "Built.",
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 30, "output_tokens": 5},
    },
]
CODEX: list[Json] = [
    {"type": "thread.started", "thread_id": THREAD},
    {"type": "item.completed", "item": {"type": "error", "message": "Unknown model."}},
    {"type": "item.started", "item": {"type": "command_execution", "command": "make"}},
    {"type": "item.completed", "item": {"type": "command_execution", "command": "make", "exit_code": 2, "status": "failed"}},
    {"type": "item.completed", "item": {"type": "file_change", "changes": [{"path": "a.py", "kind": "add"}]}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "Built."}},
    {"type": "turn.completed", "usage": {"input_tokens": 40, "output_tokens": 5}},
]  # fmt: skip
GEMINI: list[Json] = [
    {"type": "init", "session_id": "8a3c", "model": "some-model"},
    {"type": "message", "role": "user", "content": "a wish"},
    {"type": "message", "role": "assistant", "content": "I be", "delta": True},
    {"type": "message", "role": "assistant", "content": "gin.\nNow.", "delta": True},
    {"type": "tool_use", "tool_name": "run_shell_command", "parameters": {"command": "make"}},
    {"type": "tool_result", "status": "error", "error": {"message": "no make"}},
    {"type": "message", "role": "assistant", "content": "Built.", "delta": True},
    {"type": "result", "status": "success", "stats": {"total_tokens": 45, "input_tokens": 40, "output_tokens": 5}},
]  # fmt: skip
OPENCODE: list[Json] = [
    {"type": "step_start", "sessionID": SESSION, "part": {}},
    {
        "type": "tool_use",
        "sessionID": SESSION,
        "part": {
            "tool": "bash",
            "state": {"status": "error", "input": {"command": "make"}, "error": "no make"},
        },
    },
    {
        "type": "step_finish",
        "sessionID": SESSION,
        "part": {"tokens": {"input": 10, "output": 3, "cache": {"read": 10}}, "cost": 0.1},
    },
    {"type": "text", "sessionID": SESSION, "part": {"text": "Built."}},
    {
        "type": "step_finish",
        "sessionID": SESSION,
        "part": {"tokens": {"input": 20, "output": 2}, "cost": 0.025},
    },
]
SHOWN = {
    "claude": ["conversation 8a3c, model some-model", "I begin.", "Now.", "● Bash make", "● Mystery", "  ✗ no such file", "done: 4 turns, $0.12"],
    "codex": [f"conversation {THREAD}", "  ! Unknown model.", "● make", "  ✗ exit code 2", "● add a.py", "Built.", "done"],
    "gemini": ["conversation 8a3c, model some-model", "I begin.", "Now.", "● run_shell_command make", "  ✗ no make", "Built.", "done"],
    "opencode": [f"conversation {SESSION}", "● bash make", "  ✗ no make", "Built."],
}  # fmt: skip
STREAMS = {"claude": CLAUDE, "codex": CODEX, "gemini": GEMINI, "opencode": OPENCODE}


@pytest.mark.parametrize("events", STREAMS)
def test_what_a_cli_streams_is_readable_in_the_pane(programs: Programs, events: str) -> None:
    programs.will_say("not json\n" + lines(STREAMS[events]))
    assert start(programs, events).shown.splitlines() == ["not json", *SHOWN[events]]


@pytest.mark.covers("G-RULE-COST-2")
@pytest.mark.parametrize(("events", "conversation", "cost"), [
    ("claude", "", 0.125),
    ("codex", THREAD, None),
    ("gemini", "", None),
    ("opencode", SESSION, 0.125),
])  # fmt: skip
def test_what_is_worth_knowing_of_a_run_is_kept(
    programs: Programs, events: str, conversation: str, cost: float | None
) -> None:
    programs.will_say(lines(STREAMS[events]))
    assert start(programs, events).code == 0
    usage = {"input_tokens": 40, "output_tokens": 5, "cost": cost}
    assert kept(programs) == {
        "conversation": conversation,
        "message": "Built.",
        "error": "",
        "usage": usage,
    }
    assert stat.S_IMODE((programs.spool / "report").stat().st_mode) == 0o600


FAILURES: dict[str, tuple[Json, str]] = {
    "claude": ({"type": "result", "is_error": True, "result": "API Error: 400 Bad"}, "400 Bad"),
    "codex": (
        {"type": "turn.failed", "error": {"message": '{"error": {"message": "Bad thing"}}'}},
        "Bad thing",
    ),
    "gemini": (
        {
            "type": "result",
            "status": "error",
            "error": {"message": '[API Error: {"error":{"message":"Bad thing"}}]'},
        },
        "API Error: Bad thing",
    ),
    "opencode": (
        {
            "type": "error",
            "sessionID": SESSION,
            "error": {
                "data": {
                    "message": "Slow down",
                    "statusCode": 429,
                    "responseHeaders": {"retry-after": "60"},
                }
            },
        },
        "HTTP 429: Slow down (retry after 60 s)",
    ),
}


@pytest.mark.covers("G-LIMIT-2")
@pytest.mark.parametrize("events", FAILURES)
def test_a_failure_is_one_whatever_the_exit_code_says(programs: Programs, events: str) -> None:
    event, words = FAILURES[events]
    programs.will_say(lines([event]))
    assert start(programs, events).code == 1
    assert words in kept(programs)["error"]


@pytest.mark.parametrize("events", STREAMS)
def test_a_failure_without_an_event_is_told_with_its_last_lines(
    programs: Programs, events: str
) -> None:
    programs.add(PROGRAMS[events], "#!/bin/sh\necho 'Error: no session' >&2\nexit 42\n")
    assert start(programs, events).code == 42
    assert kept(programs)["error"] == "Error: no session"


def test_an_error_that_was_got_over_is_no_failure(programs: Programs) -> None:
    programs.will_say(lines([FAILURES["opencode"][0], *OPENCODE]))
    assert start(programs, "opencode").code == 0
    assert kept(programs)["error"] == ""


def test_a_conversation_that_goes_on_counts_only_what_is_new(
    programs: Programs, tmp_path: Path
) -> None:
    record = tmp_path / "codex" / "sessions" / "2026" / "01" / "02" / f"rollout-x-{THREAD}.jsonl"
    record.parent.mkdir(parents=True)
    total = {"input_tokens": 30, "output_tokens": 4}
    record.write_text(
        lines(
            [
                {"type": "event_msg", "payload": {"info": {"total_token_usage": total}}},
                {"payload": "total_token_usage"},
            ]
        ),
        encoding="utf-8",
    )
    report = RunReport()
    reader = reader_of("codex", report, {"CODEX_HOME": str(tmp_path / "codex")})
    screen = PaneScreen(reader, io.StringIO())
    for event in CODEX:
        screen.show(json.dumps(event))
    assert (report.input_tokens, report.output_tokens) == (10, 1)


def test_a_killed_cli_is_told_as_a_shell_would(programs: Programs) -> None:
    programs.add("claude", "#!/bin/sh\nkill -9 $$\n")
    assert start(programs, "claude").code == 137


def test_what_was_known_survives_the_death_of_everybody(programs: Programs, tmp_path: Path) -> None:
    programs.add(
        "codex",
        f"#!/bin/sh\necho '{json.dumps(CODEX[0])}'\necho $$ > {tmp_path}/pid\n"
        f"while :; do [ -e {tmp_path}/spool/report ] && kill -9 $PPID $$; done\n",
    )
    assert start(programs, "codex").code == -signal.SIGKILL
    assert kept(programs)["conversation"] == THREAD


def test_the_cli_is_asked_to_end_when_its_screen_is(programs: Programs, tmp_path: Path) -> None:
    programs.add(
        "codex",
        f"#!/bin/sh\ntrap 'echo ended > {tmp_path}/ended; exit 3' TERM\n"
        f"echo '{json.dumps(CODEX[0])}'\nwhile [ ! -e {tmp_path}/spool/report ]; do sleep 0.05; done\n"
        "kill -TERM $PPID\nwhile :; do sleep 0.1; done\n",
    )
    assert start(programs, "codex").code == 3
    assert (tmp_path / "ended").exists()


def test_the_screen_starts_from_its_path_alone(tmp_path: Path) -> None:
    program = Path(reader_of.__code__.co_filename).parent
    folder = tmp_path / "adapters" / "agents"
    folder.mkdir(parents=True)
    (tmp_path / "adapters" / "__init__.py").write_text("raise SystemExit(9)", encoding="utf-8")
    done = subprocess.run(
        ["python3", "-I", str(program), "codex", str(tmp_path / "report"), "true"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("line", "shown"), [
    ('{"type": "assistant"', '{"type": "assistant"\n'),
    ("{}", ""),
    ("[" * 5000, "[" * 400 + "…\n"),
    ('{"type": "assistant", "message": {"content": "text"}}', ""),
    ('{"type": "assistant", "message": {"content": [1, null, {"type": "text"}]}}', ""),
    ('{"type": "result", "is_error": true, "result": null}', "failed\nnull\n"),
    ("\x1b[31mred\x1b[0m\x07 \x1b]52;c;aGFja2Vk\x07bell", "red bell\n"),
    ("x" * 5000, "x" * 400 + "…\n"),
])  # fmt: skip
def test_odd_lines_of_a_stream_neither_break_the_screen_nor_steer_the_terminal(
    line: str, shown: str
) -> None:
    out = io.StringIO()
    PaneScreen(reader_of("claude", RunReport(), {}), out).show(line)
    assert out.getvalue() == shown


@pytest.mark.parametrize("events", STREAMS)
def test_events_of_another_shape_are_as_if_they_were_not_there(events: str) -> None:
    out = io.StringIO()
    report = RunReport()
    screen = PaneScreen(reader_of(events, report, {}), out)
    odd_values: list[object] = [None, 7, "text", [], [[]], {"x": {}}]
    for event in STREAMS[events]:
        for name in event:
            for odd in odd_values:
                screen.show(json.dumps(event | {name: odd}))
    screen.end()
    assert len(report.text()) < 20_000
