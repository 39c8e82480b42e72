"""Agent CLIs as data: what starts, with which flags, prompt and environment; and why one cannot run here."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from adapters.agents.launch import AgentClis
from bot.core.errors import Refused
from bot.core.runs import Launch
from tests.adapters.agents.programs import (
    CLIS,
    CONVERSATION,
    NAMES,
    OWN_IDS,
    AgentPrograms,
    is_gone,
)

PROMPT = "# Task T001: 割引\n$(rm -rf /) \"quoted\" 'too' `x`\n" + "long " * 60_000
ROOT, SOMEBODY = 0, 1000


@pytest.fixture
def programs(tmp_path: Path) -> AgentPrograms:
    programs = AgentPrograms(tmp_path)
    for name in NAMES:
        programs.add(name)
    return programs


async def launch(
    clis: AgentClis,
    agent: str,
    *,
    conversation: str = CONVERSATION,
    resume: bool = False,
    spool: str | Path = "/spool/run-1",
) -> Launch:
    return await clis.launch(
        agent,
        cwd="/worktree",
        prompt=PROMPT,
        conversation=conversation,
        resume=resume,
        nonce="0f0f",
        spool=str(spool),
    )


@pytest.mark.covers("G-US3.2")
@pytest.mark.parametrize("agent", NAMES[1:])
@pytest.mark.parametrize("resume", [False, True])
async def test_the_prompt_arrives_byte_for_byte_however_long(
    programs: AgentPrograms, agent: str, resume: bool
) -> None:
    clis = AgentClis(programs.environ)
    begun = await launch(clis, agent, resume=resume, spool=programs.spool)
    assert programs.start(begun, PROMPT).stdin == PROMPT


@pytest.mark.covers("G-RULE-END-6")
@pytest.mark.parametrize("resume", [False, True])
async def test_claude_in_its_pane_gets_the_prompt_as_its_last_argument(
    programs: AgentPrograms, resume: bool
) -> None:
    programs.remember("claude", CONVERSATION)
    begun = await launch(AgentClis(programs.environ), "claude", resume=resume)
    assert begun.argv[-2:] == ("--", "{prompt}"), "it may begin with a dash"
    assert begun.stdin == "terminal"
    short = "-- do 'it'\n$(rm -rf /)"
    assert programs.start(begun, short).arguments[-2:] == short.splitlines()


@pytest.mark.parametrize(
    ("agent", "first", "again"),
    [
        (agent, f"--session-id {CONVERSATION}", f"--resume {CONVERSATION}")
        for agent in ("claude", "claude-print", "gemini")
    ],
)
async def test_a_conversation_is_begun_and_gone_on_with_under_its_id(
    programs: AgentPrograms, agent: str, first: str, again: str
) -> None:
    clis = AgentClis(programs.environ)
    assert first in " ".join((await launch(clis, agent)).argv)
    programs.remember(agent, CONVERSATION)
    assert again in " ".join((await launch(clis, agent, resume=True)).argv)


@pytest.mark.parametrize("agent", OWN_IDS)
async def test_a_cli_that_chooses_its_own_ids_goes_on_under_the_id_it_told(
    programs: AgentPrograms, agent: str
) -> None:
    clis, own = AgentClis(programs.environ), OWN_IDS[agent]
    programs.remember(agent, own)
    assert own in (await launch(clis, agent, conversation=own, resume=True)).argv
    assert own not in (await launch(clis, agent, conversation=own)).argv


@pytest.mark.parametrize("agent", NAMES)
async def test_a_conversation_the_cli_has_never_heard_of_is_begun(
    programs: AgentPrograms, agent: str
) -> None:
    clis = AgentClis(programs.environ)
    assert await launch(clis, agent, resume=True) == await launch(clis, agent)
    odd = "../../*"
    assert await launch(clis, agent, conversation=odd, resume=True) == await launch(
        clis, agent, conversation=odd
    )


@pytest.mark.covers("G-RULE-END-6", "G-RULE-END-7", "G-RULE-END-8", "G-RULE-END-9")
@pytest.mark.parametrize("agent", NAMES)
async def test_the_flags_shown_to_people_are_those_that_are_used(
    programs: AgentPrograms, agent: str
) -> None:
    clis = AgentClis(programs.environ)
    started = programs.start(await launch(clis, agent, spool=programs.spool), "x")
    assert clis.flags(agent)
    assert set(clis.flags(agent).split()) <= set(started.arguments)


@pytest.mark.parametrize("agent", NAMES)
async def test_nothing_secret_of_the_bot_reaches_an_agent(
    programs: AgentPrograms, agent: str
) -> None:
    environ = programs.environ | {"GITHUB_TOKEN": "ghp_x", "MATRIX_ACCESS_TOKEN": "syt_x"}
    started = programs.start(await launch(AgentClis(environ), agent, spool=programs.spool), "x")
    names = set(started.environment)
    assert not names & {"SLACK_BOT_TOKEN", "GITHUB_TOKEN", "MATRIX_ACCESS_TOKEN", "GWT_BOT_STAGE"}
    assert "OPENAI_API_KEY" not in names, "it may be the key of the master model"


async def test_an_agent_gets_its_own_key_and_only_variables_that_are_set(
    programs: AgentPrograms,
) -> None:
    env = (await launch(AgentClis(programs.environ | {"ANTHROPIC_MODEL": ""}), "claude")).env
    assert env["ANTHROPIC_API_KEY"] == "sk-ant-of-claude"
    assert "ANTHROPIC_BASE_URL" not in env
    assert "ANTHROPIC_MODEL" not in env


@pytest.mark.parametrize("agent", NAMES)
@pytest.mark.parametrize("code", [0, 7])
async def test_the_exit_code_of_the_agent_is_the_panes(
    programs: AgentPrograms, agent: str, code: int
) -> None:
    programs.will_say("", code)
    begun = await launch(AgentClis(programs.environ), agent, spool=programs.spool)
    assert programs.start(begun, "x").code == code


async def test_a_missing_program_is_told_with_its_name(tmp_path: Path) -> None:
    ready = await AgentClis({"PATH": str(tmp_path)}, user=lambda: SOMEBODY).ready("codex", "/r")
    assert not ready.ok
    assert "`codex` is not on the PATH" in ready.problem
    assert ready.remedy


@pytest.mark.covers("G-ASSUME-2")
@pytest.mark.parametrize(("sandbox", "ok"), [("", False), ("0", False), ("1", True)])
async def test_claude_as_root_wants_a_sandbox(
    programs: AgentPrograms, sandbox: str, ok: bool
) -> None:
    environ = programs.environ | {"IS_SANDBOX": sandbox}
    ready = await AgentClis(environ, user=lambda: ROOT).ready("claude", "/r")
    assert ready.ok is ok
    assert ("IS_SANDBOX=1" in ready.remedy) is not ok
    assert (await AgentClis(environ, user=lambda: SOMEBODY).ready("claude", "/r")).ok


async def test_a_program_that_fails_is_told_with_its_own_words(programs: AgentPrograms) -> None:
    programs.add("codex", "#!/bin/sh\necho 'node: not found' >&2\nexit 127\n")
    ready = await AgentClis(programs.environ).ready("codex", "/r")
    assert not ready.ok
    assert "node: not found" in ready.problem


async def test_a_program_that_cannot_be_executed_is_told(programs: AgentPrograms) -> None:
    programs.add("codex", "#!/nowhere/sh\n")
    ready = await AgentClis(programs.environ).ready("codex", "/r")
    assert not ready.ok
    assert "cannot be started" in ready.problem


async def test_a_program_that_tells_no_version_in_time_is_ended_with_its_children(
    programs: AgentPrograms, tmp_path: Path
) -> None:
    programs.add("codex", f"#!/bin/sh\nsleep 300 & echo $! > {tmp_path}/child\nwait\n")
    clis = AgentClis(programs.environ, seconds=1)
    ready = await clis.ready("codex", "/r")
    assert not ready.ok
    assert "within 1 seconds" in ready.problem
    assert is_gone(int((tmp_path / "child").read_text(encoding="utf-8")))


async def test_the_version_is_asked_without_the_bots_secrets(
    programs: AgentPrograms, tmp_path: Path
) -> None:
    programs.add("codex", f"#!/bin/sh\nenv > {tmp_path}/environment\necho codex-cli 0.169.1\n")
    ready = await AgentClis(programs.environ).ready("codex", "/r")
    assert ready.version == "0.169.1"
    told = (tmp_path / "environment").read_text(encoding="utf-8")
    assert "sk-" not in told
    assert "xoxb" not in told


async def test_a_program_in_the_repository_is_not_taken_for_the_agent(
    programs: AgentPrograms,
) -> None:
    argv = (await launch(AgentClis(programs.environ), "codex")).argv
    assert str(programs.bin / "codex") in argv
    claude = await launch(AgentClis(programs.environ), "claude")
    assert claude.argv[0] == str(programs.bin / "claude")


@pytest.mark.covers("G-RULE-END-9")
@pytest.mark.parametrize(("command", "argument", "stdin"), [
    ("claude --message-file {prompt_file}", None, ""),
    ("claude --ask {prompt}", PROMPT[:50], ""),
    ("claude 'two words'", "two words", PROMPT[:50]),
])  # fmt: skip
def test_an_operators_own_command_gets_the_prompt_where_it_wants_it(
    programs: AgentPrograms, command: str, argument: str | None, stdin: str
) -> None:
    clis = AgentClis(programs.environ, other_command=command)
    started = programs.start(asyncio.run(launch(clis, "other")), PROMPT[:50])
    assert started.stdin == stdin
    if argument:
        assert "\n".join(started.arguments).endswith(argument.rstrip("\n"))
    else:
        assert Path(started.arguments[-1]).read_text(encoding="utf-8") == PROMPT[:50]


async def test_a_prompt_inside_a_word_is_refused_beforehand(programs: AgentPrograms) -> None:
    clis = AgentClis(programs.environ, other_command="claude --message-file={prompt_file}")
    ready = await clis.ready("other", "/r")
    assert not ready.ok
    assert "a word of its own" in ready.problem


def test_an_operators_command_that_cannot_be_read_is_refused(programs: AgentPrograms) -> None:
    with pytest.raises(Refused, match="quotation"):
        AgentClis(programs.environ, other_command="agent 'half")


async def test_without_an_operators_command_there_is_no_other(programs: AgentPrograms) -> None:
    ready = await AgentClis(programs.environ).ready("other", "/r")
    assert not ready.ok


async def test_the_played_agent_is_ready_only_on_its_stage_and_in_its_sample(
    programs: AgentPrograms, tmp_path: Path
) -> None:
    sample, foreign = tmp_path / "sample", tmp_path / "foreign"
    for folder in (sample, foreign):
        folder.mkdir()
    (sample / ".gwt-sample").touch()
    on_stage = AgentClis(programs.environ)
    off_stage = AgentClis(programs.environ | {"GWT_BOT_STAGE": "production"})
    assert (await on_stage.ready("played", str(sample))).ok
    assert "sample repository" in (await on_stage.ready("played", str(foreign))).problem
    assert "only in the demo" in (await off_stage.ready("played", str(sample))).problem


def test_the_played_agent_starts_from_anywhere_and_refuses_a_foreign_place(
    programs: AgentPrograms, tmp_path: Path
) -> None:
    started = asyncio.run(launch(AgentClis(programs.environ), "played"))
    done = subprocess.run(
        [word.replace("{prompt_file}", "/dev/null") for word in started.argv],
        cwd=tmp_path,
        env={"PATH": programs.environ["PATH"]} | started.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert "sample repository" in done.stderr


@pytest.mark.covers("G-ASSUME-2")
@pytest.mark.parametrize("agent", NAMES)
async def test_a_version_without_the_options_is_not_enough(
    programs: AgentPrograms, agent: str
) -> None:
    programs.add(agent, "#!/bin/sh\necho fake-agent 0.1.9\n")
    ready = await AgentClis(programs.environ).ready(agent, "/r")
    assert not ready.ok
    assert "0.1.9" in ready.problem
    assert CLIS[agent].oldest in ready.problem
    assert ready.remedy
