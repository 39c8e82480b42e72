"""What can be known about an agent CLI before it works: its login, its version, what the repository would make it run,
what it would ask.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import cast

from adapters.agents.entry import (
    CONVERSATION,
    CONVERSATION_BEGINS,
    AgentCli,
    CliLogin,
    CliPlace,
    RepositorySetting,
)
from adapters.processes import ProgramTimeout, run

# What is known without starting it: its login, its user, and what a repository would make it run.

MAX_FILE_BYTES = 1 << 20
"""The most bytes read of a file somebody else wrote."""


def logged_in(login: CliLogin | None, environ: Mapping[str, str]) -> bool:
    if login is None or any(environ.get(name) for name in login.variables):
        return True
    return any(_file_contains(path_of(place, environ), login.keys) for place in login.places)


def conversation_exists(place: CliPlace, conversation: str, environ: Mapping[str, str]) -> bool:
    """Whether the conversation exists and can be continued."""
    if not re.fullmatch(r"[\w-]+", conversation):
        return False
    name = place.name.replace(CONVERSATION, conversation)
    name = name.replace(CONVERSATION_BEGINS, conversation[:8])
    try:
        return any(path_of(CliPlace(place.variable, place.default), environ).glob(name))
    except OSError:
        return False


def path_of(place: CliPlace, environ: Mapping[str, str]) -> Path:
    folder = environ.get(place.variable) if place.variable else ""
    path = Path(folder) if folder else Path(environ.get("HOME") or "/") / place.default
    return path / place.name if place.name else path


def is_older(version: str, oldest: str) -> bool:
    """Whether a version is older than `oldest`. An unreadable version is not."""
    if not version or not oldest:
        return False
    return _numbers(version) < _numbers(oldest)


def repository_settings(cli: AgentCli, files: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for each file of the repository that affects the CLI."""
    there = (one for one in cli.settings if one.path in files)
    return tuple(
        _sentence(cli, one)
        for one in there
        if not one.keys or _contains_any(files[one.path], one.keys)
    )


def _sentence(cli: AgentCli, one: RepositorySetting) -> str:
    return f"The repository has settings of its own for `{cli.command[0]}`: {one.path} {one.does}."


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def _file_contains(path: Path, keys: tuple[str, ...]) -> bool:
    """Whether the file exists and contains one of these words; without words, whether the file or folder exists."""
    try:
        if not path.is_file():
            return path.is_dir() and not keys
        with path.open("rb") as file:
            text = file.read(MAX_FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    return not keys or _contains_any(text, keys)


def _contains_any(text: str, keys: tuple[str, ...]) -> bool:
    return any(re.search(rf"\b{re.escape(key)}", text) for key in keys)


# What Claude Code may ask a person at its first start in a repository. The bot shows such a question with buttons, but
# it is better not asked. In a script nobody presses them and the question would end the run, so it is better known
# before anything is planned.

_KEY_END = 20
"""Claude Code remembers an API key by this many of its last characters."""
_SHOWN = "The question will be shown here with its answers as buttons."
_UNHEARD = "Nobody can answer that in a script: the run would end, and its task be blocked."


def claude_startup_questions(
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
    if not _is_trusted(_object(settings.get("projects")), Path(repository)):
        warnings.append(
            f"Claude Code has not been told to trust {repository}. {told} {_trust_remedy(answered)}"
        )
    key = environ.get("ANTHROPIC_API_KEY", "")
    approved = _object(settings.get("customApiKeyResponses")).get("approved")
    if key and not (isinstance(approved, list) and key[-_KEY_END:] in approved):
        warnings.append(
            f"Claude Code will ask whether to use the key in ANTHROPIC_API_KEY. {told}"
            + ("" if answered else " The agent claude-print (GWT_AGENT) asks nothing.")
        )
    return tuple(warnings)


def _trust_remedy(answered: bool) -> str:
    # A temporary copy is a new folder each time, so its trust question cannot have been answered before.
    if answered:
        return "Run `claude` there once to be asked beforehand."
    return (
        "Name the agent claude-print (GWT_AGENT), which asks nothing; or let the script work in a folder where"
        " `claude` was told so, in place of a copy: --project-mode fixed --project-root …"
    )


def _is_trusted(projects: dict[str, object], repository: Path) -> bool:
    # Trust in a folder includes everything below it, such as worktrees.
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


# Asking a program for its version: an answer proves that it can be started here. This happens before anybody has
# approved anything, so it runs in an empty folder: shims of version managers read settings of the folder they are
# called in, and a wrapper that does something else does not do it in a repository.

_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


class VersionUnavailable(Exception):  # noqa: N818 - what was found, rather than an error
    """The program does not report a version. `reason` continues a sentence that begins with its name."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


async def ask_version(command: tuple[str, ...], env: Mapping[str, str], seconds: float) -> str:
    """Return the version; empty if the program runs but prints nothing that looks like one. Raises NoVersion."""
    try:
        with TemporaryDirectory(prefix="gwt-version-", ignore_cleanup_errors=True) as folder:
            return await _ask_in(command, env, seconds, folder)
    except OSError as error:
        where = error.filename or gettempdir()
        raise VersionUnavailable(
            f"cannot be asked for its version: {where}: {error.strerror}.",
            "Make room for temporary files, or say by TMPDIR where they go.",
        ) from error


async def _ask_in(
    command: tuple[str, ...], env: Mapping[str, str], seconds: float, folder: str
) -> str:
    try:
        ended = await run(command, cwd=folder, env=env, merge=True, seconds=seconds)
    except ProgramTimeout as error:
        raise VersionUnavailable(f"did not tell its version within {seconds:g} seconds.") from error
    except OSError as error:
        raise VersionUnavailable(
            f"cannot be started: {error.strerror}.",
            "Install it again, or name another agent: GWT_AGENT.",
        ) from error
    output = ended.out.text()
    if ended.code != 0:
        raise VersionUnavailable(f"fails: {_last_line(output) or f'exit code {ended.code}'}")
    found = _VERSION.search(output)
    return found.group() if found else ""


def _last_line(output: str) -> str:
    return (output.strip().splitlines() or [""])[-1][:300]
