"""What every model behind the `Llm` port does, the scripted one and a real endpoint's client alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

import pytest

from adapters.llm import CLAUDE_CODE, CODEX, CliLlm, LlmAccess, MasterCli, OpenAiLlm
from bot.core.errors import Refused, Unavailable
from bot.core.llm import Usage
from bot.ports import Llm
from tests.fakes import llm_programs
from tests.fakes.llm import ScriptedLlm
from tests.fakes.llm_programs import LlmPrograms
from tests.fakes.llm_server import LlmServer, echoes, fails, says, silent

pytestmark = pytest.mark.covers("G-FR-013", "G-MODULE-2")
SCHEMA: dict[str, object] = {"type": "object", "properties": {"a": {"type": "integer"}}}


class World(Protocol):
    """A model, and the means to have it do things."""

    @property
    def llm(self) -> Llm: ...

    def will_say(self, *texts: str) -> None: ...
    def will_echo(self) -> None: ...
    def will_hang(self) -> None: ...
    def will_be_away(self) -> None: ...
    def will_refuse(self) -> None: ...


class Scripted:
    def __init__(self) -> None:
        self.llm = ScriptedLlm()

    def will_say(self, *texts: str) -> None:
        self.llm.release()
        self.llm.then(*texts)

    def will_echo(self) -> None:
        self.llm = ScriptedLlm(lambda call: call.data)

    def will_hang(self) -> None:
        self.llm.hold()

    def will_be_away(self) -> None:
        self.llm.then(Unavailable("away", "It comes back."))

    def will_refuse(self) -> None:
        self.llm.then(Refused("no", "Change something."))


class Endpoint:
    def __init__(self, server: LlmServer) -> None:
        self._server = server
        self.llm = OpenAiLlm(LlmAccess(server.url, "m-1", "key"), mask=str, timeout=30)

    def will_say(self, *texts: str) -> None:
        self._server.then(*map(says, texts))

    def will_echo(self) -> None:
        self._server.then(echoes())

    def will_hang(self) -> None:
        self._server.then(silent())

    def will_be_away(self) -> None:
        self._server.then(fails(503))

    def will_refuse(self) -> None:
        self._server.then(fails(401))


class Program:
    """An agent CLI on this machine."""

    def __init__(self, cli: MasterCli, programs: LlmPrograms) -> None:
        self._programs = programs
        self.llm = CliLlm(cli, {"PATH": str(programs.bin)}, mask=str, timeout=30)

    def will_say(self, *texts: str) -> None:
        self._programs.then(*map(llm_programs.says, texts))

    def will_echo(self) -> None:
        self._programs.then(llm_programs.does("echo"))

    def will_hang(self) -> None:
        self._programs.then(llm_programs.does("hang"))

    def will_be_away(self) -> None:
        self._programs.then(llm_programs.fails("API Error: Connection refused"))

    def will_refuse(self) -> None:
        self._programs.then(llm_programs.fails("Invalid API key · Fix external API key"))


CLIS = {"claude-code": CLAUDE_CODE, "codex": CODEX}


@pytest.fixture(params=["scripted", "endpoint", *CLIS])
async def world(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[World]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    if request.param == "scripted":
        yield Scripted()
        return
    if request.param in CLIS:
        yield Program(CLIS[request.param], LlmPrograms(tmp_path))
        return
    async with LlmServer() as server:
        yield Endpoint(server)


async def test_an_answer_is_text_with_its_cost(world: World) -> None:
    world.will_say("はい, yes")
    reply = await world.llm.complete("system", "data", schema=None)
    assert reply.text == "はい, yes"
    assert reply.finish_reason == "stop"
    assert reply.model
    assert reply.usage.calls == 1
    assert reply.usage.prompt_tokens >= 3
    assert reply.usage.reply_tokens >= 3


async def test_costs_add_up(world: World) -> None:
    world.will_say("one", "two")
    replies = [await world.llm.complete("s", "d", schema=None) for _ in range(2)]
    assert sum((reply.usage for reply in replies), Usage()).calls == 2


async def test_with_a_schema_the_answer_is_still_text(world: World) -> None:
    world.will_say('{"a": 1}')
    assert (await world.llm.complete("s", "d", schema=SCHEMA)).text == '{"a": 1}'


async def test_a_model_that_is_away_is_unavailable_until_it_is_back(world: World) -> None:
    world.will_be_away()
    with pytest.raises(Unavailable) as away:
        await world.llm.complete("s", "d", schema=None)
    assert away.value.reason
    assert away.value.remedy
    world.will_say("back")
    assert (await world.llm.complete("s", "d", schema=None)).text == "back"


async def test_a_model_that_refuses_says_what_to_change(world: World) -> None:
    world.will_refuse()
    with pytest.raises(Refused) as refused:
        await world.llm.complete("s", "d", schema=None)
    assert refused.value.reason
    assert refused.value.remedy


async def test_questions_asked_at_once_get_each_its_own_answer(world: World) -> None:
    world.will_echo()
    asked = [f"question {n}" for n in range(8)]
    replies = await asyncio.gather(*(world.llm.complete("s", one, schema=None) for one in asked))
    assert [reply.text for reply in replies] == asked


async def test_a_call_that_hangs_can_be_given_up(world: World) -> None:
    world.will_hang()
    hanging = asyncio.create_task(world.llm.complete("s", "d", schema=None))
    await asyncio.wait({hanging}, timeout=0.05)
    assert not hanging.done()
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    world.will_say("next")
    assert (await world.llm.complete("s", "d", schema=None)).text == "next"
