"""A request in a terminal becomes merged work, by the real program with a real agent CLI. Only the two models are played."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.demo import STAGE_VARIABLE
from adapters.demo.model import PlayedModel
from adapters.demo.sample import make_sample
from adapters.demo.texts import REQUEST
from tests.clis.bench import missing, prepare
from tests.clis.model import Model, Say, Shell
from tests.clis.place import CANARIES, Place

pytestmark = [pytest.mark.clis, pytest.mark.tmux]
PATIENCE = 300.0
ANSWERS = (
    ("Use all defaults", "1"),
    ("Approve", "1"),
    ("Everything is built", "1"),
    ("[y/N]", "y"),
)
"""What is pressed, in this order, when it shows."""


@pytest.mark.parametrize("agent", ["claude", "claude-print", "codex", "gemini", "opencode"])
async def test_a_request_becomes_merged_work(
    agent: str, model: Model, tmp_path: Path, latency: list[str]
) -> None:
    if lacks := missing(agent):
        pytest.skip(lacks)
    place = prepare(tmp_path, model.url)
    shop = tmp_path / "shop"
    make_sample(shop)
    _trust(place, shop)
    model.plays(*(step for number in (1, 2, 3) for step in _work(number)))
    began = time.monotonic()

    async with PlayedModel({STAGE_VARIABLE: "tests"}, delay=0) as master:
        said = await _talk(_settings(place, shop, agent, master.base_url), shop)

    latency.append(
        f"{agent}: {time.monotonic() - began:.1f} s from the request to the merged whole"
    )
    assert "COMPLETE: " in said, said[-3000:]
    subjects = _git(shop, "log", "--format=%s", "main")
    assert [f"feat: part {number}" in subjects for number in (1, 2, 3)] == [True] * 3
    assert _git(shop, "branch", "--list", "agent/*") == ""
    assert not [name for name, value in CANARIES.items() if value in said]


def _work(number: int) -> tuple[Shell, Say]:
    command = (
        f"printf 'part = {number}\\n' > basket/part_{number}.py && git add -A && "
        f"git commit -q -m 'feat: part {number}'"
    )
    return Shell(command), Say(f"Part {number} is there, and its tests pass.")


def _settings(place: Place, shop: Path, agent: str, master: str) -> dict[str, str]:
    return place.bot | {
        "OPENAI_BASE_URL": master,
        "OPENAI_MODEL": "played-model",
        "OPENAI_API_KEY": "played",
        "GWT_HOME": str(place.home / ".gwt"),
        "GWT_REPOSITORY": str(shop),
        "GWT_AGENT": agent,
        "GWT_AGENT_ENV": ",".join(
            name for name in place.bot if name.startswith(("OPENCODE", "CLAUDE"))
        ),
        # one agent at a time: the played model cannot tell them apart
        "GWT_PARALLEL": "1",
        "GWT_PULL_REQUESTS": "false",
    }


def _trust(place: Place, shop: Path) -> None:
    """As a person has done who has worked there with Claude Code before."""
    path = place.home / ".claude.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["projects"][str(shop)] = {"hasTrustDialogAccepted": True}
    path.write_text(json.dumps(settings), encoding="utf-8")


async def _talk(environment: dict[str, str], shop: Path) -> str:
    """All that the program said, until it was done or had nothing more to say."""
    said = ""
    try:
        async with _program(environment, shop) as process, asyncio.timeout(PATIENCE):
            async for more in _answering(process):
                said += more
    except TimeoutError:
        raise AssertionError(f"it did not come to its end:\n{said[-4000:]}") from None
    return said


async def _answering(process: asyncio.subprocess.Process) -> AsyncIterator[str]:
    """What it says; each answer is given when its question stands there."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{REQUEST}\n".encode())
    left, unread = list(ANSWERS), ""
    while chunk := await process.stdout.read(4096):
        text = chunk.decode("utf-8", "replace")
        yield text
        unread += text
        while left and left[0][0] in unread:
            shows, press = left.pop(0)
            unread = unread.partition(shows)[2]
            process.stdin.write(f"{press}\n".encode())
        if "COMPLETE: " in unread:
            process.stdin.close()


@asynccontextmanager
async def _program(
    environment: dict[str, str], shop: Path
) -> AsyncGenerator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        # a script would work on a copy otherwise, which nobody has told Claude Code to trust
        *(sys.executable, "-m", "bot", "console"),
        *("--project-mode", "fixed", "--project-root", str(shop)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment | {"PYTHONPATH": str(Path(__file__).parents[2])},
        cwd=shop.parent,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def _git(path: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(path), *arguments], capture_output=True, check=True)
    return done.stdout.decode()
