"""Keeps the bot's own files out of everybody's status. Its rule: in the repository's `info/exclude`, never in a file people commit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from adapters.git.place import Place

PATTERNS = ("/.worktrees/", ".claude/settings.local.json")
REGISTRY = ".forge/"
"""Where the bot keeps intents beside people's own."""
LIMIT = 1024 * 1024


def is_registry(path: str) -> bool:
    """Whether it is no work of people's that could be lost or mixed up."""
    return path.startswith(REGISTRY)


def keep_out_of_status(main: Place, patterns: Sequence[str] = PATTERNS) -> None:
    """Add what is missing, and leave every other line as it is. One file serves all worktrees of the repository."""
    path = main.common / "info" / "exclude"
    old = _read(path)
    missing = [pattern for pattern in patterns if pattern not in old.splitlines()]
    if not missing:
        return
    ending = "" if not old or old.endswith("\n") else "\n"
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name("exclude.gwt-bot")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write((old + ending + "\n".join(missing) + "\n").encode("utf-8", "surrogateescape"))
    temporary.replace(path)


def _read(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(LIMIT).decode("utf-8", "surrogateescape")
