"""What every command does first and last: safe process defaults, known secrets, masked output."""

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

# Every command loads this module, `--help` too: import slow modules inside functions.

# What the program prints on its terminal, which often goes to a system journal: plain lines, masked like everything
# else.


def say(*lines: str) -> None:
    if not lines:
        return
    from bot.core.masking import Masker

    masker = Masker(_known_secrets())
    for line in lines:
        sys.stderr.write(f"{masker.mask(line)}\n")


class EarlyLog(logging.Handler):
    """Masks records that are logged before logging is set up; Python would print them unmasked."""

    def emit(self, record: logging.LogRecord) -> None:
        say(f"gwt-bot: {record.getMessage()}")


@contextmanager
def exit_on_closed_output() -> Generator[None, None, None]:
    """End quietly if the reader of the output has gone (`| head`), with the exit code of SIGPIPE."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BaseException as error:
        if not is_closed_output_error(error):
            raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in filter(_is_closed, (sys.stdout, sys.stderr)):
            os.dup2(nowhere, stream.fileno())  # Python flushes its buffers at exit
        sys.exit(128 + signal.SIGPIPE)


async def cancel_on_closed_output(work: Coroutine[None, None, int | None]) -> int | None:
    """Cancel the work when nobody reads the output pipe any more, as a closed terminal would.

    Agents keep working, and everything is on disk.
    """
    import asyncio

    task, loop, out = asyncio.ensure_future(work), asyncio.get_running_loop(), sys.stdout.fileno()
    watched = stat.S_ISFIFO(os.fstat(out).st_mode)
    if watched:
        loop.add_reader(
            out, task.cancel
        )  # the write end of a pipe becomes readable only when its reader is gone
    try:
        return await task
    except asyncio.CancelledError:
        if task.cancelled() and watched and _is_closed(sys.stdout):
            raise BrokenPipeError from None
        raise
    finally:
        if watched:
            loop.remove_reader(out)


def is_closed_output_error(error: BaseException | None) -> bool:
    """Whether this error means that our own output was closed.

    Checks stdout and stderr too: broken connections raise the same error.
    """
    if not any(map(_is_closed, (sys.stdout, sys.stderr))):
        return False
    while error is not None and not isinstance(error, BrokenPipeError):
        if isinstance(error, BaseExceptionGroup):
            group = cast("BaseExceptionGroup[BaseException]", error)
            return any(map(is_closed_output_error, group.exceptions))
        error = error.__cause__ or error.__context__
    return error is not None


def _is_closed(stream: TextIO) -> bool:
    asked = select.poll()
    asked.register(stream.fileno(), 0)
    return any(what & (select.POLLERR | select.POLLHUP) for _, what in asked.poll(0))


def _known_secrets() -> dict[str, str]:
    from bot import settings

    known = secrets_in(os.environ)
    try:
        return {**known, **settings.load().secrets}
    except SettingsError:
        return known


# Values that must never be shown, as far as they are known; more may be learned while the bot runs.

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE | re.ASCII)


def secrets_in(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables whose names say that they are secret.

    Not `…_FILE` and `…_PATH`: a path to a key is no secret, and users need to see it.
    """
    return {
        name: value
        for name, value in environ.items()
        if _SECRET_NAME.search(name) and not name.upper().endswith(("_FILE", "_PATH"))
    }


# What the bot does at start for its own safety: nobody else may read its files and its memory.

CANARY = "GWT_CANARY_TOKEN"
"""A worthless value kept among the secrets. Where it shows up, a secret could have leaked, too."""
_PR_SET_DUMPABLE = 4


def restrict_process() -> int:
    """Make new files readable by their owner only; return the former umask, for files in users' repositories.

    On Linux, also keep other programs of the same user from reading the bot's memory, environment and open files.
    Programs the bot starts and root are not affected.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    clean_search_path()
    return os.umask(0o077)


def clean_search_path() -> None:
    """Clean the PATH of the bot and of everything it starts.

    Adapters use the PATH of this environment and filter nothing themselves.
    """
    os.environ["PATH"] = absolute_search_path(os.environ.get("PATH", ""))


def absolute_search_path(search: str) -> str:
    """Return a PATH without relative folders and agents' worktrees.

    A relative folder such as `./node_modules/.bin` depends on where a program is started, and git is started in agents'
    worktrees: with `.` in the PATH a repository could replace `git`.
    """
    from pathlib import PurePosixPath

    paths = map(PurePosixPath, search.split(os.pathsep))
    kept = [str(one) for one in paths if one.is_absolute() and ".worktrees" not in one.parts]
    return os.pathsep.join(kept) or os.defpath


def require_private_home(home: Path) -> None:
    """Raise SettingsError if others can read the home.

    It is not fixed silently: its secrets may have been read already, and a person must know.
    """
    if not home.is_dir() or not _is_open_to_others(home):
        return
    if seen := sorted(path.name for path in home.iterdir() if _is_open_to_others(path)):
        raise SettingsError(
            f"{home} can be read by others, and so can what is in it ({', '.join(seen[:5])}).\n"
            f"  chmod -R go-rwx {home}\n"
            "  Should others have accounts on this machine, change the keys that are in there."
        )


@contextmanager
def canary_in_environment(environ: Mapping[str, str]) -> Generator[dict[str, str], None, None]:
    """Put the canary value into the bot's own environment, where no program that it starts may find it.

    An existing value is kept.
    """
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


def _is_open_to_others(path: Path) -> bool:
    found = path.lstat()
    return not stat.S_ISLNK(found.st_mode) and bool(found.st_mode & 0o077)


def local_person() -> Person:
    """Return the person at this terminal: the user who runs the program."""
    import getpass

    from bot.core.people import Person

    return Person(platform="console", id=f"local:{os.getuid()}", name=getpass.getuser())
