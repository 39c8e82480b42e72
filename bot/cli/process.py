"""What every command does first and last: safe defaults for the process, known secrets, masked output."""

from __future__ import annotations

import logging
import os
import re
import select
import signal
import stat
import sys
from collections.abc import Coroutine, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, cast

from bot.core.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

    from bot.core.people import Person

# Everything begins here, `--help` too: what takes long to import is imported where it is used.

# What the program says on its terminal, which is often somebody's journal: in plain lines, and
# masked like everything else.


def say(*lines: str) -> None:
    if not lines:
        return
    from bot.core.masking import Masker

    masker = Masker(_known())
    for line in lines:
        sys.stderr.write(f"{masker.mask(line)}\n")


class EarlyLog(logging.Handler):
    """For what is logged before there is a log: Python would write it down as it is."""

    def emit(self, record: logging.LogRecord) -> None:
        say(f"gwt-bot: {record.getMessage()}")


@contextmanager
def ending_with_its_reader() -> Generator[None, None, None]:
    """Whoever has read enough (`| head`) wants no word about it. The exit code is the one of all programs that end so."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BaseException as error:
        if not is_lost_reader(error):
            raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in filter(_is_unread, (sys.stdout, sys.stderr)):
            os.dup2(nowhere, stream.fileno())  # Python empties what it still holds at its end
        sys.exit(128 + signal.SIGPIPE)


async def until_reader_is_gone(work: Coroutine[None, None, int | None]) -> int | None:
    """A pipe that nobody reads any more ends it as a terminal does that is closed: agents work on, everything is on disk."""
    import asyncio

    task, loop, out = asyncio.ensure_future(work), asyncio.get_running_loop(), sys.stdout.fileno()
    watched = stat.S_ISFIFO(os.fstat(out).st_mode)
    if watched:
        loop.add_reader(out, task.cancel)  # whoever writes has nothing to read but the end
    try:
        return await task
    except asyncio.CancelledError:
        if task.cancelled() and watched and _is_unread(sys.stdout):
            raise BrokenPipeError from None
        raise
    finally:
        if watched:
            loop.remove_reader(out)


def is_lost_reader(error: BaseException | None) -> bool:
    """A pipe broke, and it is our own output: connections break in the same words."""
    if not any(map(_is_unread, (sys.stdout, sys.stderr))):
        return False
    while error is not None and not isinstance(error, BrokenPipeError):
        if isinstance(error, BaseExceptionGroup):
            group = cast("BaseExceptionGroup[BaseException]", error)
            return any(map(is_lost_reader, group.exceptions))
        error = error.__cause__ or error.__context__
    return error is not None


def _is_unread(stream: TextIO) -> bool:
    asked = select.poll()
    asked.register(stream.fileno(), 0)
    return any(what & (select.POLLERR | select.POLLHUP) for _, what in asked.poll(0))


def _known() -> dict[str, str]:
    from bot import settings

    known = secrets_in(os.environ)
    try:
        return {**known, **settings.load().secrets}
    except SettingsError:
        return known


# What must never be shown, as far as it is known; it may grow while the bot runs.

_TELLING = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE | re.ASCII)


def secrets_in(environ: Mapping[str, str]) -> dict[str, str]:
    """Values of variables whose names say that they are secret. Where a key lies is none, and people have to be told."""
    return {
        name: value
        for name, value in environ.items()
        if _TELLING.search(name) and not name.upper().endswith(("_FILE", "_PATH"))
    }


# What the bot does for its own safety when it starts: what it keeps and what it holds in memory
# is nobody else's to read.

CANARY = "GWT_CANARY_TOKEN"
"""A value that opens nothing. Wherever it shows, a secret could have shown, too."""
_PR_SET_DUMPABLE = 4


def keep_to_itself() -> int:
    """What is made from now on is its owner's alone. The umask there was, for files in people's repositories.

    On Linux no other program of the same user can read the bot's memory, environment and open files, either. Programs the bot
    starts are not concerned; root can read everything all the same.
    """
    if sys.platform == "linux":
        import ctypes

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
    from pathlib import PurePosixPath

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
    import secrets

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


# Who sits at this machine: whoever runs the program.


def me() -> Person:
    """Whoever runs this, and nobody else."""
    import getpass

    from bot.core.people import Person

    return Person(platform="console", id=f"local:{os.getuid()}", name=getpass.getuser())
