"""The real CLIs as the master model, against a played endpoint on this machine. GWT_BOT_TEST_CLIS names the folder they are in."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from adapters.llm import CLAUDE_CODE, CODEX, CliLlm, MasterCli
from bot.core.errors import PortError, Refused, Unavailable
from tests.fakes.llm_programs import until

FOLDER = os.environ.get("GWT_BOT_TEST_CLIS", "")
NEEDED = ("claude", "codex", "llmock")
MISSING = [name for name in NEEDED if not (FOLDER and shutil.which(name, path=FOLDER))]

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"GWT_BOT_TEST_CLIS names no folder with {', '.join(MISSING)}"
)

FIXTURES: dict[str, object] = {
    "fixtures": [
        {"match": {"userMessage": "GOOD"}, "response": {"content": '{"a": "はい"}'}},
        *(
            {
                "match": {"userMessage": word},
                "response": {"error": {"message": message, "type": kind}, "status": status},
            }
            for word, status, kind, message in (
                ("UNKNOWN", 401, "authentication_error", "invalid x-api-key"),
                ("LIMITED", 429, "rate_limit_error", "slow down"),
                ("LONG", 400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            )
        ),
    ]
}


@pytest.fixture
async def endpoint(tmp_path: Path) -> AsyncIterator[str]:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = cast("int", door.getsockname()[1])
    (tmp_path / "fixtures.json").write_text(json.dumps(FIXTURES))
    process = await asyncio.create_subprocess_exec(
        *(f"{FOLDER}/llmock", "-p", str(port), "-f", str(tmp_path / "fixtures.json")),
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await until(lambda: _open(port))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


def _open(port: int) -> bool:
    with socket.socket() as door:
        return door.connect_ex(("127.0.0.1", port)) == 0


def heard(endpoint: str) -> list[dict[str, Any]]:
    """What the endpoint was asked."""
    with urllib.request.urlopen(f"{endpoint}/__aimock/journal") as answer:  # noqa: S310 - this machine
        return [cast("dict[str, Any]", one["body"]) for one in json.load(answer)]


@pytest.fixture(params=["claude-code", "codex"])
def llm(request: pytest.FixtureRequest, endpoint: str, tmp_path: Path) -> CliLlm:
    environ = {
        "PATH": f"{FOLDER}:{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "ANTHROPIC_BASE_URL": endpoint,
        "ANTHROPIC_API_KEY": "sk-ant-api03-fakefakefakefake",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CODEX_API_KEY": "fake-key-of-codex",
        "CODEX_HOME": str(tmp_path / "codex"),
    }
    (tmp_path / "home").mkdir()
    (tmp_path / "codex").mkdir()
    cli = CLAUDE_CODE if request.param == "claude-code" else _codex_at(endpoint)
    return CliLlm(cli, environ, mask=str, timeout=60)


def _codex_at(endpoint: str) -> MasterCli:
    provider = (
        f'model_providers.mock={{name="mock",base_url="{endpoint}/v1",env_key="CODEX_API_KEY",'
        'wire_api="responses",request_max_retries=0,stream_max_retries=0}'
    )
    *command, last = CODEX.command
    aimed = (*command, "-c", 'model_provider="mock"', "-c", provider, last)
    return replace(CODEX, command=aimed)


async def test_it_answers_as_a_model_with_nothing_but_the_rules_and_the_data(
    llm: CliLlm, endpoint: str
) -> None:
    reply = await llm.complete("Rules 規則.", '{"request": "GOOD"}', schema={"type": "object"})
    assert json.loads(reply.text) == {"a": "はい"}
    assert reply.usage.prompt_tokens > 0
    (asked,) = await asyncio.to_thread(heard, endpoint)
    said = json.dumps(asked["messages"], ensure_ascii=False)
    assert "Rules 規則." in said
    assert asked["messages"][-1]["content"].strip() == '{"request": "GOOD"}'
    assert len(said) < 2000, "nothing of the CLI's own instructions is sent along"
    assert not asked.get("tools")


@pytest.mark.parametrize(("word", "raised", "reason"), [
    ("UNKNOWN", Refused, "is refused"),
    ("LIMITED", Unavailable, "429"),
    ("LONG", Refused, "too long"),
    ("NOTHING", Refused, "this model"),
])  # fmt: skip
async def test_its_failures_are_understood(
    llm: CliLlm, word: str, raised: type[PortError], reason: str
) -> None:
    with pytest.raises(raised) as error:
        await llm.complete("s", f'{{"request": "{word}"}}', schema=None)
    assert reason in error.value.reason
