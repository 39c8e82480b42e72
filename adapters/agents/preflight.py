"""What can be known of an agent CLI without starting it: its login, its user, and what a repository would have it run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from adapters.agents.entry import (
    CONVERSATION,
    CONVERSATION_BEGINS,
    AgentCli,
    Login,
    Place,
    RepositorySetting,
)

MOST = 1 << 20
"""Bytes read of a file somebody else wrote."""


def logged_in(login: Login | None, environ: Mapping[str, str]) -> bool:
    if login is None or any(environ.get(name) for name in login.variables):
        return True
    return any(_holds(path_of(place, environ), login.keys) for place in login.places)


def kept(place: Place, conversation: str, environ: Mapping[str, str]) -> bool:
    """Whether the conversation is there to be gone on with."""
    if not re.fullmatch(r"[\w-]+", conversation):
        return False
    name = place.name.replace(CONVERSATION, conversation)
    name = name.replace(CONVERSATION_BEGINS, conversation[:8])
    try:
        return any(path_of(Place(place.variable, place.default), environ).glob(name))
    except OSError:
        return False


def path_of(place: Place, environ: Mapping[str, str]) -> Path:
    folder = environ.get(place.variable) if place.variable else ""
    path = Path(folder) if folder else Path(environ.get("HOME") or "/") / place.default
    return path / place.name if place.name else path


def older(version: str, oldest: str) -> bool:
    """Whether a version is older than that one. One that cannot be read is not."""
    if not version or not oldest:
        return False
    return _numbers(version) < _numbers(oldest)


def brought(cli: AgentCli, files: Mapping[str, str]) -> tuple[str, ...]:
    """What in the repository reaches into the CLI, a sentence each."""
    there = (one for one in cli.settings if one.path in files)
    return tuple(
        _sentence(cli, one) for one in there if not one.keys or _says(files[one.path], one.keys)
    )


def _sentence(cli: AgentCli, one: RepositorySetting) -> str:
    return f"The repository has settings of its own for `{cli.command[0]}`: {one.path} {one.does}."


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def _holds(path: Path, keys: tuple[str, ...]) -> bool:
    """Whether there is such a file, or folder, with one of these words in it."""
    try:
        if not path.is_file():
            return path.is_dir() and not keys
        with path.open("rb") as file:
            text = file.read(MOST).decode("utf-8", "replace")
    except OSError:
        return False
    return not keys or _says(text, keys)


def _says(text: str, keys: tuple[str, ...]) -> bool:
    return any(re.search(rf"\b{re.escape(key)}", text) for key in keys)
