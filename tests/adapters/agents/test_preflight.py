"""What is found out about an agent CLI before it works: its login, its questions, and what a repository would have it do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapters.agents.launch import AgentClis
from tests.adapters.agents.programs import NAMES, AgentPrograms

KEYS = ("ANTHROPIC_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY")
LOGINS = {
    "claude": (".claude/.credentials.json", '{"claudeAiOauth": {}}'),
    "claude-print": (".claude.json", '{"oauthAccount": {}}'),
    "codex": (".codex/auth.json", '{"tokens": {}}'),
    "gemini": (".gemini/settings.json", '{"security": {"auth": {"selectedType": "x"}}}'),
    "opencode": (".local/share/opencode/auth.json", '{"x": {"type": "api", "key": "k"}}'),
}


@pytest.fixture
def programs(tmp_path: Path) -> AgentPrograms:
    programs = AgentPrograms(tmp_path)
    for name in NAMES:
        programs.add(name)
    return programs


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "repository"
    path.mkdir()
    return path


def without_keys(programs: AgentPrograms) -> dict[str, str]:
    return {name: value for name, value in programs.environ.items() if name not in KEYS}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def set_up(programs: AgentPrograms, **settings: object) -> None:
    write(programs.bin.parent / ".claude.json", json.dumps(settings))


@pytest.mark.covers("G-ASSUME-2", "R-EXECUTOR-2")
@pytest.mark.parametrize("agent", NAMES)
async def test_a_cli_nobody_has_logged_in_to_is_not_ready(
    programs: AgentPrograms, repository: Path, agent: str
) -> None:
    clis = AgentClis(without_keys(programs))
    ready = await clis.ready(agent, str(repository))
    assert not ready.ok
    assert "logged in" in ready.problem
    assert ready.remedy
    write(programs.bin.parent / LOGINS[agent][0], LOGINS[agent][1])
    assert (await clis.ready(agent, str(repository))).ok


@pytest.mark.parametrize("agent", NAMES)
async def test_an_empty_file_is_no_login(
    programs: AgentPrograms, repository: Path, agent: str
) -> None:
    write(programs.bin.parent / LOGINS[agent][0], "{}")
    assert not (await AgentClis(without_keys(programs)).ready(agent, str(repository))).ok


async def test_a_claude_that_knows_all_asks_nothing(
    programs: AgentPrograms, repository: Path
) -> None:
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
    programs: AgentPrograms, repository: Path, known: dict[str, object], warned: str
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
    programs: AgentPrograms, repository: Path, known: dict[str, object], helps: str
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
    programs: AgentPrograms, agent: str, path: str, text: str
) -> None:
    clis = AgentClis(programs.environ)
    assert path in clis.settings(agent)
    [told, *_] = clis.brought(agent, {path: text})
    assert path in told


@pytest.mark.parametrize("agent", NAMES[1:])
def test_a_repository_without_such_settings_is_not_remarked_upon(
    programs: AgentPrograms, agent: str
) -> None:
    harmless = {
        ".claude/settings.json": '{"model": "some-model"}',
        ".env": "PORT=80",
        "opencode.json": '{"model": "x"}',
    }
    assert AgentClis(programs.environ).brought(agent, harmless) == ()


@pytest.mark.parametrize(
    ("version", "ok"), [("2.1.144", False), ("2.1.145", True), ("2.2", True), ("3.0.0-beta", True)]
)
async def test_versions_are_compared_as_numbers(
    programs: AgentPrograms, repository: Path, version: str, ok: bool
) -> None:
    programs.add("claude", f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    assert (await AgentClis(programs.environ).ready("claude", str(repository))).ok is ok


NOTES_ITS_FOLDER = """\
#!/bin/sh
ls -A > "$(dirname "$0")/found"; pwd > "$(dirname "$0")/folder"
echo 99.1.2
"""


async def test_a_known_cli_tells_its_version_in_an_empty_folder(
    programs: AgentPrograms, repository: Path, monkeypatch: pytest.MonkeyPatch
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
    programs: AgentPrograms, repository: Path, where: str
) -> None:
    (own := AgentPrograms(repository / "tools")).add("codex", NOTES_ITS_FOLDER)
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


async def test_an_own_command_that_is_not_there_is_not_ready(
    programs: AgentPrograms, repository: Path
) -> None:
    clis = AgentClis(programs.environ, other_command="no-such-agent {prompt}")
    assert "not on the PATH" in (await clis.ready("other", str(repository))).problem


async def test_that_a_version_cannot_be_asked_for_want_of_a_folder_is_told(
    programs: AgentPrograms, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(repository / "gone"))
    ready = await AgentClis(programs.environ).ready("codex", str(repository))
    assert "gone" in ready.problem
    assert "TMPDIR" in ready.remedy
