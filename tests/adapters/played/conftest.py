"""A sample repository to play in, and a way to run the played agent in it as the real executable that it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from adapters.demo.answers import answer
from adapters.demo.model import PlayedModel
from adapters.demo.sample import make_sample
from adapters.demo.texts import REQUEST
from tests.prompts import REPLIES

ROOT = Path(__file__).parents[3]
TESTS = ("python3", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
RECEIPT_FAILED = (
    "\n## What came of the last try\nFAIL: test_cents_always_have_two_digits\nFAILED (failures=1)\n"
)

STAGE = {"GWT_BOT_STAGE": "tests"}


def git(path: Path, *arguments: str) -> str:
    argv = ["git", "-c", "user.name=Test", "-c", "user.email=test@localhost", *arguments]
    done = subprocess.run(argv, cwd=path, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def subjects(path: Path) -> list[str]:
    """The subjects of the commits ahead of main, oldest first."""
    return git(path, "log", "--reverse", "--format=%s", "main..HEAD").splitlines()


def run_tests(path: Path) -> subprocess.CompletedProcess[str]:
    return run_python(path, *TESTS[1:])


def run_python(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Without bytecode: a file that changes twice within a second would be taken for the old one.
    argv = [TESTS[0], "-B", *arguments]
    return subprocess.run(argv, cwd=path, capture_output=True, text=True, check=False)


def agent_environment(**changes: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME")}
    return kept | {"PYTHONPATH": str(ROOT), "GWT_BOT_STAGE": "tests", "GWT_BOT_PACE": "0"} | changes


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "sample"
    make_sample(path)
    return path


@pytest.fixture
def worktree(sample: Path) -> Path:
    return add_worktree(sample, "task")


def add_worktree(sample: Path, name: str) -> Path:
    path = sample.parent / name
    git(sample, "worktree", "add", "--quiet", "-b", f"agent/{name}", str(path))
    return path


def start_agent(
    worktree: Path, prompt: str, *flags: str, **environment: str
) -> subprocess.Popen[str]:
    prompt_file = worktree.parent / f"{worktree.name}.md"
    prompt_file.write_text(prompt, encoding="utf-8")
    agent = [sys.executable, "-P", "-m", "adapters.demo.agent"]
    return subprocess.Popen(
        [*agent, "--prompt-file", str(prompt_file), "--conversation", "c-1", *flags],
        cwd=worktree,
        env=agent_environment(**environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run_agent(
    worktree: Path, prompt: str, *flags: str, typed: str = "", **environment: str
) -> tuple[int, str]:
    """Its exit code, and what it showed."""
    with start_agent(worktree, prompt, *flags, **environment) as process:
        shown, _ = process.communicate(typed, timeout=120)
        return process.returncode, shown


@pytest.fixture
async def model() -> AsyncIterator[PlayedModel]:
    async with PlayedModel(STAGE, delay=0, today=lambda: date(2026, 1, 2)) as model:
        yield model


@pytest.fixture
async def client(model: PlayedModel) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=model.base_url, api_key=model.key, max_retries=0) as client:
        yield client


async def ask(client: AsyncOpenAI, question: str, **told: object) -> str:
    data = {"request": REQUEST, "spec_id": "SPEC-0123abcd", **told}
    reply = await client.chat.completions.create(
        model=PlayedModel.name,
        messages=[
            {"role": "system", "content": f"# {question}\n\nOne question to the model."},
            {"role": "user", "content": json.dumps(data)},
        ],
    )
    return reply.choices[0].message.content or ""


def replied(question: str, **told: object) -> dict[str, Any]:
    """The JSON reply to a question, asked twice: nothing is remembered, and nothing is left to chance."""
    data = {"request": REQUEST, "spec_id": "SPEC-0123abcd", **told}
    first, second = (written(question, **data) for _ in range(2))
    assert first == second
    return json.loads(first)


def written(question: str, **told: object) -> str:
    data = {"request": REQUEST, "spec_id": "SPEC-0123abcd", **told}
    schema = REPLIES[question].model_json_schema() if question in REPLIES else None
    user = json.dumps(data, ensure_ascii=False)
    return answer(f"# {question}\n", user, "2026-01-02", schema=schema)
