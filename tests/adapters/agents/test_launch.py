"""Agent CLIs as data: what starts, with which flags, prompt and environment; and why one cannot run here."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from adapters.agents.launch import AgentClis
from bot.core.errors import Refused
from bot.core.runs import Launch
from tests.adapters.agents.programs import CLIS, CONVERSATION, NAMES, OWN_IDS, Programs, is_gone

PROMPT = "# Task T001: 割引\n$(rm -rf /) \"quoted\" 'too' `x`\n" + "long " * 60_000
ROOT, SOMEBODY = 0, 1000


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    programs = Programs(tmp_path)
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
    programs: Programs, agent: str, resume: bool
) -> None:
    clis = AgentClis(programs.environ)
    begun = await launch(clis, agent, resume=resume, spool=programs.spool)
    assert programs.start(begun, PROMPT).stdin == PROMPT


@pytest.mark.covers("G-RULE-END-6")
@pytest.mark.parametrize("resume", [False, True])
async def test_claude_in_its_pane_gets_the_prompt_as_its_last_argument(
    programs: Programs, resume: bool
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
    programs: Programs, agent: str, first: str, again: str
) -> None:
    clis = AgentClis(programs.environ)
    assert first in " ".join((await launch(clis, agent)).argv)
    programs.remember(agent, CONVERSATION)
    assert again in " ".join((await launch(clis, agent, resume=True)).argv)


@pytest.mark.parametrize("agent", OWN_IDS)
async def test_a_cli_that_chooses_its_own_ids_goes_on_under_the_id_it_told(
    programs: Programs, agent: str
) -> None:
    clis, own = AgentClis(programs.environ), OWN_IDS[agent]
    programs.remember(agent, own)
    assert own in (await launch(clis, agent, conversation=own, resume=True)).argv
    assert own not in (await launch(clis, agent, conversation=own)).argv


@pytest.mark.parametrize("agent", NAMES)
async def test_a_conversation_the_cli_has_never_heard_of_is_begun(
    programs: Programs, agent: str
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
    programs: Programs, agent: str
) -> None:
    clis = AgentClis(programs.environ)
    started = programs.start(await launch(clis, agent, spool=programs.spool), "x")
    assert clis.flags(agent)
    assert set(clis.flags(agent).split()) <= set(started.arguments)


@pytest.mark.parametrize("agent", NAMES)
async def test_nothing_secret_of_the_bot_reaches_an_agent(programs: Programs, agent: str) -> None:
    environ = programs.environ | {"GITHUB_TOKEN": "ghp_x", "MATRIX_ACCESS_TOKEN": "syt_x"}
    started = programs.start(await launch(AgentClis(environ), agent, spool=programs.spool), "x")
    names = set(started.environment)
    assert not names & {"SLACK_BOT_TOKEN", "GITHUB_TOKEN", "MATRIX_ACCESS_TOKEN", "GWT_BOT_STAGE"}
    assert "OPENAI_API_KEY" not in names, "it may be the key of the master model"


async def test_an_agent_gets_its_own_key_and_only_variables_that_are_set(
    programs: Programs,
) -> None:
    env = (await launch(AgentClis(programs.environ | {"ANTHROPIC_MODEL": ""}), "claude")).env
    assert env["ANTHROPIC_API_KEY"] == "sk-ant-of-claude"
    assert "ANTHROPIC_BASE_URL" not in env
    assert "ANTHROPIC_MODEL" not in env


@pytest.mark.parametrize("agent", NAMES)
@pytest.mark.parametrize("code", [0, 7])
async def test_the_exit_code_of_the_agent_is_the_panes(
    programs: Programs, agent: str, code: int
) -> None:
    programs.will_say("", code)
    begun = await launch(AgentClis(programs.environ), agent, spool=programs.spool)
    assert programs.start(begun, "x").code == code


NOT_READY: list[tuple[str, str, str]] = [
    ("codex", "", "`codex` is not on the PATH"),
    ("codex", "#!/bin/sh\necho 'node: not found' >&2\nexit 127\n", "node: not found"),
    ("codex", "#!/nowhere/sh\n", "cannot be started"),
    ("no-such-agent {prompt}", "", "not on the PATH"),
    ("claude --message-file={prompt_file}", "", "a word of its own"),
    (" ", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "program", "problem"), NOT_READY)
async def test_an_agent_that_cannot_run_here_is_told_with_the_reason(
    programs: Programs, agent: str, program: str, problem: str
) -> None:
    if program:
        programs.add("codex", program)
    elif agent == "codex":
        (programs.bin / "codex").unlink()
    own = agent if agent != "codex" else ""
    clis = AgentClis(programs.environ, other_command=own.strip(), user=lambda: SOMEBODY)
    ready = await clis.ready("other" if own else "codex", "/r")
    assert not ready.ok
    assert problem in ready.problem
    assert ready.remedy


@pytest.mark.covers("G-ASSUME-2")
@pytest.mark.parametrize(("sandbox", "ok"), [("", False), ("0", False), ("1", True)])
async def test_claude_as_root_wants_a_sandbox(programs: Programs, sandbox: str, ok: bool) -> None:
    environ = programs.environ | {"IS_SANDBOX": sandbox}
    ready = await AgentClis(environ, user=lambda: ROOT).ready("claude", "/r")
    assert ready.ok is ok
    assert ("IS_SANDBOX=1" in ready.remedy) is not ok
    assert (await AgentClis(environ, user=lambda: SOMEBODY).ready("claude", "/r")).ok


async def test_a_program_that_tells_no_version_in_time_is_ended_with_its_children(
    programs: Programs, tmp_path: Path
) -> None:
    programs.add("codex", f"#!/bin/sh\nsleep 300 & echo $! > {tmp_path}/child\nwait\n")
    clis = AgentClis(programs.environ, seconds=1)
    ready = await clis.ready("codex", "/r")
    assert not ready.ok
    assert "within 1 seconds" in ready.problem
    assert is_gone(int((tmp_path / "child").read_text(encoding="utf-8")))


async def test_the_version_is_asked_without_the_bots_secrets(
    programs: Programs, tmp_path: Path
) -> None:
    programs.add("codex", f"#!/bin/sh\nenv > {tmp_path}/environment\necho codex-cli 0.169.1\n")
    ready = await AgentClis(programs.environ).ready("codex", "/r")
    assert ready.version == "0.169.1"
    told = (tmp_path / "environment").read_text(encoding="utf-8")
    assert "sk-" not in told
    assert "xoxb" not in told


async def test_a_program_in_the_repository_is_not_taken_for_the_agent(programs: Programs) -> None:
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
    programs: Programs, command: str, argument: str | None, stdin: str
) -> None:
    clis = AgentClis(programs.environ, other_command=command)
    started = programs.start(asyncio.run(launch(clis, "other")), PROMPT[:50])
    assert started.stdin == stdin
    if argument:
        assert "\n".join(started.arguments).endswith(argument.rstrip("\n"))
    else:
        assert Path(started.arguments[-1]).read_text(encoding="utf-8") == PROMPT[:50]


def test_an_operators_command_that_cannot_be_read_is_refused(programs: Programs) -> None:
    with pytest.raises(Refused, match="quotation"):
        AgentClis(programs.environ, other_command="agent 'half")


async def test_the_played_agent_is_ready_only_on_its_stage_and_in_its_sample(
    programs: Programs, tmp_path: Path
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
    programs: Programs, tmp_path: Path
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
async def test_a_version_without_the_options_is_not_enough(programs: Programs, agent: str) -> None:
    programs.add(agent, "#!/bin/sh\necho fake-agent 0.1.9\n")
    ready = await AgentClis(programs.environ).ready(agent, "/r")
    assert not ready.ok
    assert "0.1.9" in ready.problem
    assert CLIS[agent].oldest in ready.problem
    assert ready.remedy


KEYS = ("ANTHROPIC_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY")

LOGINS = {
    "claude": (".claude/.credentials.json", '{"claudeAiOauth": {}}'),
    "claude-print": (".claude.json", '{"oauthAccount": {}}'),
    "codex": (".codex/auth.json", '{"tokens": {}}'),
    "gemini": (".gemini/settings.json", '{"security": {"auth": {"selectedType": "x"}}}'),
    "opencode": (".local/share/opencode/auth.json", '{"x": {"type": "api", "key": "k"}}'),
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "repository"
    path.mkdir()
    return path


def without_keys(programs: Programs) -> dict[str, str]:
    return {name: value for name, value in programs.environ.items() if name not in KEYS}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def set_up(programs: Programs, **settings: object) -> None:
    write(programs.bin.parent / ".claude.json", json.dumps(settings))


@pytest.mark.covers("G-ASSUME-2", "R-EXECUTOR-2")
@pytest.mark.parametrize("agent", NAMES)
async def test_a_cli_nobody_has_logged_in_to_is_not_ready(
    programs: Programs, repository: Path, agent: str
) -> None:
    clis = AgentClis(without_keys(programs))
    ready = await clis.ready(agent, str(repository))
    assert not ready.ok
    assert "logged in" in ready.problem
    assert ready.remedy
    write(programs.bin.parent / LOGINS[agent][0], LOGINS[agent][1])
    assert (await clis.ready(agent, str(repository))).ok


@pytest.mark.parametrize("agent", NAMES)
async def test_an_empty_file_is_no_login(programs: Programs, repository: Path, agent: str) -> None:
    write(programs.bin.parent / LOGINS[agent][0], "{}")
    assert not (await AgentClis(without_keys(programs)).ready(agent, str(repository))).ok


async def test_a_claude_that_knows_all_asks_nothing(programs: Programs, repository: Path) -> None:
    trusted = {str(repository.parent): {"hasTrustDialogAccepted": True}}
    approved = {"approved": ["sk-ant-of-claude"[-20:]]}
    set_up(programs, hasCompletedOnboarding=True, projects=trusted, customApiKeyResponses=approved)
    ready = await AgentClis(programs.environ).ready("claude", str(repository))
    assert (ready.ok, ready.warnings) == (True, ())


def _nothing_to_ask(repository: Path) -> dict[str, object]:
    """What Claude Code remembers of somebody who has worked there with it."""
    return {
        "hasCompletedOnboarding": True,
        "projects": {str(repository): {"hasTrustDialogAccepted": True}},
        "customApiKeyResponses": {"approved": ["sk-ant-of-claude"]},
    }


@pytest.mark.covers("O-X6")
@pytest.mark.parametrize(("known", "warned"), [
    ({"hasCompletedOnboarding": False}, "set up"),
    ({"projects": {}}, "buttons"),
    ({"projects": {"/elsewhere": {"hasTrustDialogAccepted": True}}}, "trust"),
    ({"customApiKeyResponses": {"approved": []}}, "ANTHROPIC_API_KEY"),
    ({"customApiKeyResponses": {"approved": None}}, "ANTHROPIC_API_KEY"),
])  # fmt: skip
async def test_what_claude_will_ask_is_told_beforehand_and_refuses_nothing(
    programs: Programs, repository: Path, known: dict[str, object], warned: str
) -> None:
    set_up(programs, **(_nothing_to_ask(repository) | known))
    ready = await AgentClis(programs.environ).ready("claude", str(repository))
    assert ready.ok
    (warning,) = ready.warnings
    assert warned in warning
    assert "sk-ant" not in warning
    assert (await AgentClis(programs.environ).ready("claude-print", str(repository))).warnings == ()


@pytest.mark.covers("O-X6")
@pytest.mark.parametrize(("known", "helps"), [
    ({"projects": {}}, "--project-mode fixed"),
    ({"hasCompletedOnboarding": False}, "in a terminal"),
    ({"customApiKeyResponses": {}}, "GWT_AGENT"),
])  # fmt: skip
async def test_what_claude_will_ask_in_a_script_is_told_with_what_helps_where_nobody_answers(
    programs: Programs, repository: Path, known: dict[str, object], helps: str
) -> None:
    set_up(programs, **(_nothing_to_ask(repository) | known))
    ready = await AgentClis(programs.environ).ready("claude", str(repository), answered=False)
    assert ready.ok
    (warning,) = ready.warnings
    assert "Nobody can answer" in warning
    assert "buttons" not in warning
    assert "claude-print" in warning
    assert helps in warning


@pytest.mark.parametrize(("agent", "path", "text"), [
    ("claude-print", ".claude/settings.json", '{"hooks": {}}'),
    ("claude-print", ".claude/settings.json", '{"hooks": {"Stop": []}}'),
    ("claude-print", ".claude/settings.json", '{"permissions": {"ask": ["Bash"]}}'),
    ("claude-print", ".mcp.json", "{}"),
    ("codex", ".codex/config.toml", "[mcp_servers]"),
    ("gemini", ".gemini/settings.json", '{"mcpServers": {}}'),
    ("gemini", ".env", "GEMINI_API_KEY=x"),
    ("opencode", "opencode.json", '{"plugin": []}'),
    ("opencode", ".opencode/plugin", ""),
    ("claude", ".claude/settings.local.json", '{"hooks": {}}'),
    ("claude", ".claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "x"}}'),
    ("codex", ".env", "CODEX_HOME=evil"),
])  # fmt: skip
def test_settings_of_the_repository_that_can_run_something_are_told(
    programs: Programs, agent: str, path: str, text: str
) -> None:
    clis = AgentClis(programs.environ)
    assert path in clis.settings(agent)
    [told, *_] = clis.brought(agent, {path: text})
    assert path in told


@pytest.mark.parametrize("agent", NAMES[1:])
def test_a_repository_without_such_settings_is_not_remarked_upon(
    programs: Programs, agent: str
) -> None:
    harmless = {
        ".claude/settings.json": '{"model": "some-model"}',
        ".env": "PORT=80",
        "opencode.json": '{"model": "x"}',
    }
    assert AgentClis(programs.environ).brought(agent, harmless) == ()


@pytest.mark.parametrize(
    ("version", "ok"),
    [("2.1.99", False), ("2.1.144", False), ("2.1.145", True), ("2.2", True), ("3.0.0-beta", True)],
)
async def test_versions_are_compared_as_numbers(
    programs: Programs, repository: Path, version: str, ok: bool
) -> None:
    programs.add("claude", f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    assert (await AgentClis(programs.environ).ready("claude", str(repository))).ok is ok


NOTES_ITS_FOLDER = """\
#!/bin/sh
ls -A > "$(dirname "$0")/found"; pwd > "$(dirname "$0")/folder"
echo 99.1.2
"""


async def test_a_known_cli_tells_its_version_in_an_empty_folder(
    programs: Programs, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shims of version managers read settings of the folder they are called in."""
    write(repository / ".tool-versions", "claude 1\n")
    monkeypatch.chdir(repository)
    programs.add("codex", NOTES_ITS_FOLDER)
    ready = await AgentClis(programs.environ).ready("codex", str(repository))
    assert (ready.version, ready.warnings) == ("99.1.2", ())
    assert (programs.bin / "found").read_text() == ""
    folder = Path((programs.bin / "folder").read_text().strip())
    assert not folder.is_relative_to(repository)
    assert not list(folder.parent.glob(folder.name))


@pytest.mark.covers("O-X20")
@pytest.mark.parametrize("where", ["command", "folder", "link"])
async def test_a_program_that_is_not_known_or_of_the_repository_is_not_started_to_be_looked_at(
    programs: Programs, repository: Path, where: str
) -> None:
    (own := Programs(repository / "tools")).add("codex", NOTES_ITS_FOLDER)
    environ, command = programs.environ, f"{own.bin / 'codex'} {{prompt_file}}"
    if where == "folder":
        environ["PATH"] = f"{own.bin}:{environ['PATH']}"
    elif where == "link":
        (programs.bin / "codex").unlink()
        (programs.bin / "codex").symlink_to(own.bin / "codex")
    clis = AgentClis(environ, other_command=command)
    ready = await clis.ready("other" if where == "command" else "codex", str(repository))
    assert (ready.ok, ready.version) == (True, "")
    assert "not tried whether `codex` starts" in ready.warnings[0]
    assert not (own.bin / "found").exists()


async def test_that_a_version_cannot_be_asked_for_want_of_a_folder_is_told(
    programs: Programs, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(repository / "gone"))
    ready = await AgentClis(programs.environ).ready("codex", str(repository))
    assert "gone" in ready.problem
    assert "TMPDIR" in ready.remedy
