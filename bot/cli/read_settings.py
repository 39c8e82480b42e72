"""Reads the operator's settings. A .env that is part of a repository is refused."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from adapters.processes import ProgramTimeout, run_blocking
from bot import settings
from bot.cli.process import say
from bot.core.errors import SettingsError
from bot.settings import Settings

_GIT = (
    *("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    # git must answer even if the repository belongs to another user
    *("-c", "safe.directory=*"),
)
GIT_SECONDS = 10.0


async def read_settings() -> Settings:
    """Read the settings, as every command does first. Unreadable lines of a .env are reported and skipped."""
    await asyncio.to_thread(refuse_tracked_env_file, Path(".env"))
    current = settings.load()
    say(*(f"gwt-bot: {line}. The line is not used." for line in current.bad_lines))
    return current


def refuse_tracked_env_file(env_file: Path) -> None:
    # If git tracks the .env, the author of the repository could redirect the operator's key to any address.
    if not (env_file.is_file() and _is_tracked(env_file.absolute())):
        return
    raise SettingsError(
        f"{env_file} is part of the repository, so it may not be yours: settings are not taken from it.\n"
        "  Put yours into ~/.gwt/.env, or stop tracking the file: git rm --cached .env"
    )


def _is_tracked(env_file: Path) -> bool:
    environment = {"PATH": os.environ.get("PATH", ""), "GIT_OPTIONAL_LOCKS": "0"}
    command = [*_GIT, "ls-files", "--error-unmatch", "--", env_file.name]
    try:
        code, _, complaints = run_blocking(
            command, cwd=env_file.parent, env=environment, seconds=GIT_SECONDS
        )
    except FileNotFoundError:
        return False
    except ProgramTimeout as error:
        raise SettingsError(
            f"git does not say within {GIT_SECONDS:g} seconds whether {env_file} is part of a repository.\n"
            "  Look what is wrong with that repository, or put your settings into ~/.gwt/.env."
        ) from error
    # old versions of git refuse with "dubious ownership" in spite of safe.directory
    return code == 0 or b"dubious ownership" in complaints
