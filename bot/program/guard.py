"""What the bot does for its own safety when it starts: what it keeps and what it holds in memory is nobody else's to read."""

from __future__ import annotations

import ctypes
import os
import secrets
import stat
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from bot.errors import SettingsError

CANARY = "GWT_CANARY_TOKEN"
"""A value that opens nothing. Wherever it shows, a secret could have shown, too."""
_PR_SET_DUMPABLE = 4


def keep_to_itself() -> int:
    """What is made from now on is its owner's alone. The umask there was, for files in people's repositories.

    On Linux no other program of the same user can read the bot's memory, environment and open files, either. Programs the bot
    starts are not concerned; root can read everything all the same.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    search_whole_paths()
    return os.umask(0o077)


def search_whole_paths() -> None:
    """For the bot and everything that it starts. Adapters are given the PATH of this environment, and filter nothing."""
    os.environ["PATH"] = whole_paths(os.environ.get("PATH", ""))


def whole_paths(search: str) -> str:
    """A PATH without relative folders and agents' worktrees.

    Where `./node_modules/.bin` leads is decided by the folder a program is started in, and git is started in worktrees of
    agents: with `.` in the PATH a repository would say what `git` is.
    """
    paths = map(PurePosixPath, search.split(os.pathsep))
    kept = [str(one) for one in paths if one.is_absolute() and ".worktrees" not in one.parts]
    return os.pathsep.join(kept) or os.defpath


def refuse_open(home: Path) -> None:
    """What others could read may have been read: that is for a person to know, and not to be mended in silence."""
    if not home.is_dir() or not _open(home):
        return
    if seen := sorted(path.name for path in home.iterdir() if _open(path)):
        raise SettingsError(
            f"{home} can be read by others, and so can what is in it ({', '.join(seen[:5])}).\n"
            f"  chmod -R go-rwx {home}\n"
            "  Should others have accounts on this machine, change the keys that are in there."
        )


@contextmanager
def canary(environ: Mapping[str, str]) -> Generator[dict[str, str], None, None]:
    """Into the environment of the bot itself, where nothing that it starts may find it. One that was set is kept."""
    before = os.environ.get(CANARY)
    value = environ.get(CANARY) or secrets.token_hex(16)
    os.environ[CANARY] = value
    try:
        yield {**environ, CANARY: value}
    finally:
        if before is None:
            os.environ.pop(CANARY, None)
        else:
            os.environ[CANARY] = before


def _open(path: Path) -> bool:
    found = path.lstat()
    return not stat.S_ISLNK(found.st_mode) and bool(found.st_mode & 0o077)
