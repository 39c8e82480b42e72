"""The screen of an agent CLI that streams events: readable lines, its exit code, and nothing that steers a terminal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from adapters.agents import screen
from adapters.agents.launch import AgentClis
from tests.adapters.agent_programs import AgentPrograms, Started


@pytest.fixture
def programs(tmp_path: Path) -> AgentPrograms:
    programs = AgentPrograms(tmp_path)
    programs.add("claude")
    return programs


def run_claude(programs: AgentPrograms) -> Started:
    launch = AgentClis(programs.environ).launch(
        "claude", prompt="x", conversation="8a3c", resume=False, nonce="0f0f", spool="/spool/run-1"
    )
    return programs.start(launch, "x")


def test_a_killed_claude_is_told_as_a_shell_would(programs: AgentPrograms) -> None:
    programs.add("claude", "#!/bin/sh\nkill -9 $$\n")
    assert run_claude(programs).code == 137


def test_what_claude_streams_is_readable_in_the_pane(programs: AgentPrograms) -> None:
    events: list[object] = [
        {"type": "system", "subtype": "init", "session_id": "8a3c", "model": "some-model"},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "I begin.\nNow."}]}},
        tool_use("Bash", command="git commit -m 'feat: x'\nand more"),
        tool_use("Mystery"),
        {"type": "user", "message": {"content": [{"is_error": True, "content": "no such file"}]}},
        {"type": "something new"},
        {"type": "result", "is_error": False, "num_turns": 4, "total_cost_usd": 0.125},
    ]
    programs.will_say("not json\n" + "\n".join(json.dumps(event) for event in events) + "\n")
    shown = run_claude(programs).shown
    assert shown.splitlines() == [
        "not json",
        "conversation 8a3c, model some-model",
        "I begin.",
        "Now.",
        "● Bash git commit -m 'feat: x'",
        "● Mystery",
        "  ✗ no such file",
        "done: 4 turns, $0.12",
    ]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('{"type": "assistant"', '{"type": "assistant"\n'),
        ("{}", ""),
        ('{"type": "assistant", "message": {"content": "text"}}', ""),
        ('{"type": "assistant", "message": {"content": [1, null, {"type": "text"}]}}', ""),
        ('{"type": "result", "is_error": true, "result": null}', "failed\nnull\n"),
        ("\x1b[31mred\x1b[0m\x07 \x1b]52;c;aGFja2Vk\x07bell", "red bell\n"),
        ("x" * 5000, "x" * 400 + "…\n"),
    ],
)
def test_odd_lines_of_a_stream_neither_break_the_screen_nor_steer_the_terminal(
    line: str, shown: str
) -> None:
    out = io.StringIO()
    screen.show(line, out)
    assert out.getvalue() == shown


def tool_use(name: str, **given: str) -> dict[str, object]:
    part = {"type": "tool_use", "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [part]}}
