"""A whole session by a script, and by single commands that speak to the bot at work: the real program, played agents."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from adapters.demo.texts import REQUEST
from tests.stories.serving import ROOT, Serving, serving

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
PATIENCE = 120.0


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncGenerator[Serving, None]:
    async with serving(tmp_path, GWT_BOT_STAGE="tests", GWT_BOT_PACE="0.02") as bot:
        yield bot


class Ran:
    def __init__(self, code: int, out: str) -> None:
        self.code, self.out = code, out


async def run(bot: Serving, *arguments: str, script: str = "") -> Ran:
    process = await started(bot, *arguments)
    async with asyncio.timeout(PATIENCE):
        out, _ = await process.communicate(script.encode())
    return Ran(process.returncode or 0, out.decode())


async def started(bot: Serving, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", *arguments),
        cwd=bot.shop,
        env={**bot.environ, "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


def fixed(bot: Serving) -> tuple[str, ...]:
    return ("console", "--project-mode", "fixed", "--project-root", str(bot.shop))


@pytest.mark.covers("R-REPL-MODE-11", "R-PROPERTY-28")
async def test_a_script_carries_a_request_to_its_end_and_the_logs_are_there_then(
    bot: Serving,
) -> None:
    first = await run(bot, *fixed(bot), script=f"{REQUEST}\ndefaults\n")
    assert first.code == 2, first.out
    assert "waits for you: Shall I build" in first.out
    rest = await run(bot, *fixed(bot), script="approve\n1\ny\n")
    assert rest.code == 0, rest.out
    assert "basket/checkout.py" in bot.git("ls-tree", "-r", "--name-only", "main")
    logs = [json.loads(path.read_text()) for path in bot.home.glob("logs/sessions/*/tasks/*.json")]
    assert sorted(log["status"] for log in logs) == ["complete"] * 3
    memory: dict[str, Any] = json.loads((bot.home / "repl.json").read_text())
    assert memory["current_task_id"] is None
    assert memory["last_task_id"] in {log["task_id"] for log in logs}
    await logs_are_told(bot)


async def logs_are_told(bot: Serving) -> None:
    """By a single command: all of them, one in full, and an exit code for one there is not."""
    [session] = json.loads((await run(bot, "sessions", "--json")).out)
    listed = await run(bot, "logs", session["id"][:8])
    assert all(key in listed.out for key in ("T001", "T002", "T003"))
    full = await run(bot, "logs", "T002", "--full")
    assert "EXECUTOR_DISPATCH" in full.out
    missing = await run(bot, "logs", "T009")
    assert (missing.code, "There are: T001, T002, T003." in missing.out) == (1, True)


@pytest.mark.covers("B-FLOW-RUN-1", "B-CMD-run", "B-CMD-resume", "B-CMD-info")
async def test_single_commands_speak_to_the_bot_at_work(bot: Serving) -> None:
    console = await started(bot, *fixed(bot), "--no-exit-on-eof")
    assert console.stdin
    console.stdin.close()
    await bot.until((bot.home / "socket").exists)
    asked = await run(bot, "run", REQUEST)
    assert asked.code == 2, asked.out
    assert "waits for you: A few questions before I plan" in asked.out
    status = json.loads((await run(bot, "status", "--json")).out)
    assert status["bot"] == {"running": True, "pid": console.pid}
    [session] = status["sessions"]
    assert session["waits_for"] == ["A few questions before I plan"]
    info = await run(bot, "info", session["id"][:8])
    assert str(bot.shop) in info.out
    stopped = await run(bot, "stop", session["id"][:8])
    assert stopped.code == 0, stopped.out
    assert "Paused" in (await run(bot, "resume", "--list")).out
    resumed = await run(bot, "resume", session["id"][:8])
    assert resumed.code == 2, resumed.out
    assert "Active" in (await run(bot, "sessions")).out
    console.terminate()
    await console.wait()
