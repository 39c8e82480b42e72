"""A machine's user as an agent CLI finds it: set up, logged in with keys that are none, and aimed at the played model."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

CANARIES = {
    "SLACK_BOT_TOKEN": "xoxb-canary-of-slack",
    "GITHUB_TOKEN": "ghp_canaryofgithub",
    "MATRIX_ACCESS_TOKEN": "syt_canary_of_matrix",
    "OPENAI_API_KEY": "sk-canary-of-the-master-model",
}
"""Secrets of the bot, which no agent may see."""
KEY = "sk-ant-api03-fakefakefakefake"
QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
}
"""What keeps the CLIs from asking anybody but the model."""
_CODEX = """\
model = "gpt-played"
model_provider = "played"
check_for_update_on_startup = false
[model_providers.played]
name = "played"
base_url = "{url}/v1"
env_key = "CODEX_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
"""


@dataclass(frozen=True)
class Place:
    home: Path
    repository: Path
    worktree: Path
    pane: dict[str, str]
    """What every pane has."""
    bot: dict[str, str]
    """The bot's own environment."""


def prepare(folder: Path, url: str, programs: Path) -> Place:
    home, temporary = folder / "home", folder / "temporary"
    for one in (home, temporary, folder / "server"):
        one.mkdir()
    repository = folder / "repository"
    pane = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "TMPDIR": str(temporary),
        **_git_identity(),
    }
    worktree = _repository(repository, pane)
    _settings(home, repository, url)
    return Place(home, repository, worktree, pane, pane | _bot(home, url))


def _bot(home: Path, url: str) -> dict[str, str]:
    return {
        **CANARIES,
        **QUIET,
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "IS_SANDBOX": "1",
        "CODEX_HOME": str(home / ".codex"),
        "CODEX_API_KEY": "fake-key-of-codex",
        "GEMINI_API_KEY": "fake-key-of-gemini",
        "GEMINI_MODEL": "gemini-2.5-pro",
        "GOOGLE_GEMINI_BASE_URL": url,
        "OPENCODE_CONFIG": str(home / "opencode.json"),
    }


def _git_identity() -> dict[str, str]:
    somebody = {"NAME": "Somebody", "EMAIL": "somebody@example.com"}
    roles = ("AUTHOR", "COMMITTER")
    return {f"GIT_{role}_{what}": who for role in roles for what, who in somebody.items()}


def _repository(path: Path, environment: dict[str, str]) -> Path:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=path, env=environment, check=True)

    path.mkdir()
    git("init", "-q", "-b", "main")
    (path / "README.md").write_text("# A repository\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "Begin")
    git("worktree", "add", "-q", "-b", "agent/work", ".worktrees/agent-work")
    return path / ".worktrees" / "agent-work"


def _settings(home: Path, repository: Path, url: str) -> None:
    _write(
        home / ".claude.json",
        {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(repository): {"hasTrustDialogAccepted": True}},
        },
    )
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(_CODEX.format(url=url), encoding="utf-8")
    (home / ".gemini").mkdir()
    _write(
        home / ".gemini" / "settings.json",
        {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
        },
    )
    provider: dict[str, object] = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "fake-key-of-opencode"},
        "models": {"gpt-played": {"name": "Played"}},
    }
    _write(
        home / "opencode.json",
        {
            "autoupdate": False,
            "share": "disabled",
            "model": "played/gpt-played",
            "small_model": "played/gpt-played",
            "provider": {"played": provider},
        },
    )


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")
