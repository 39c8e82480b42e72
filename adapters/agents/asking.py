"""What a CLI may ask a person at its first start in a repository. The bot shows it with buttons; better it is not asked.

In a script nobody presses them: there the question ends the run, which is better known before anything is planned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

_KEY_END = 20
"""Claude Code remembers a key by so many of its last characters."""
_SHOWN = "The question will be shown here with its answers as buttons."
_UNHEARD = "Nobody can answer that in a script: the run would end, and its task be blocked."


def claude_asks(
    environ: Mapping[str, str], repository: str, answered: bool = True
) -> tuple[str, ...]:
    settings = _settings(environ)
    told = _SHOWN if answered else _UNHEARD
    warnings: list[str] = []
    if settings.get("hasCompletedOnboarding") is not True:
        warnings.append(
            "Claude Code has not been set up for this user and will ask for several things first."
            + ("" if answered else f" {_UNHEARD}")
            + " Run `claude` once in a terminal, or name the agent claude-print, which asks nothing."
        )
    if not _trusted(_object(settings.get("projects")), Path(repository)):
        warnings.append(
            f"Claude Code has not been told to trust {repository}. {told} {_trusting(answered)}"
        )
    key = environ.get("ANTHROPIC_API_KEY", "")
    approved = _object(settings.get("customApiKeyResponses")).get("approved")
    if key and not (isinstance(approved, list) and key[-_KEY_END:] in approved):
        warnings.append(
            f"Claude Code will ask whether to use the key in ANTHROPIC_API_KEY. {told}"
            + ("" if answered else " The agent claude-print (GWT_AGENT) asks nothing.")
        )
    return tuple(warnings)


def _trusting(answered: bool) -> str:
    """A temporary copy is new each time: nobody can have been asked there beforehand."""
    if answered:
        return "Run `claude` there once to be asked beforehand."
    return (
        "Name the agent claude-print (GWT_AGENT), which asks nothing; or let the script work in a folder where"
        " `claude` was told so, in place of a copy: --project-mode fixed --project-root …"
    )


def _trusted(projects: dict[str, object], repository: Path) -> bool:
    """What is trusted is so with all that lies below it, worktrees included."""
    folders = (str(folder) for folder in (repository, *repository.parents))
    return any(_object(projects.get(one)).get("hasTrustDialogAccepted") is True for one in folders)


def _settings(environ: Mapping[str, str]) -> dict[str, object]:
    folder = environ.get("CLAUDE_CONFIG_DIR") or environ.get("HOME", "/")
    try:
        text = (Path(folder) / ".claude.json").read_text(encoding="utf-8", errors="replace")
        return _object(json.loads(text))
    except (OSError, ValueError):
        return {}


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
