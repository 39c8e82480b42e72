"""The files of sessions, and the meaning of disk errors. sessions/<id>.json is the export for people and other
programs; sessions/unfinished/<id>.journal is the truth and read at start; sessions/finished/<id>.journal is that of
ended sessions and read on request.

Every file and folder is private.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from adapters.files import TEMPORARY_SUFFIX, Disk, make_private, open_private, try_lock
from bot.core.errors import Refused, Unavailable
from bot.os_errors import RIGHTS

_REASONS = {
    errno.ENOSPC: (
        "the disk is full",
        "Free some space on the disk that holds {0}; the bot goes on by itself.",
    ),
    errno.EDQUOT: (
        "the disk quota is used up",
        "Free some space under {0}; the bot goes on by itself.",
    ),
    errno.EFBIG: (
        "the disk is full: no file may grow further",
        "Raise the limit on file sizes (ulimit -f) or free space under {0}; the bot goes on by itself.",
    ),
    errno.EROFS: (
        "the disk is read-only",
        "Mount the disk that holds {0} so that it can be written to.",
    ),
    errno.EIO: ("the disk reports an input/output error", "Check the disk that holds {0}."),
}


def disk_error(error: OSError, path: Path) -> Unavailable:
    """Return the error in plain words, with a remedy."""
    where = error.filename or path
    told = error.strerror or str(error)
    other = (told if where == path else f"{told}: {where}", f"{RIGHTS} See: ls -ld {where}")
    reason, remedy = _REASONS.get(error.errno or 0, other)
    return Unavailable(f"{reason}, so nothing can be kept under {path}", remedy.format(path))


# The files of sessions. A session is moved to `finished` only after its export is written, and back before anything
# else is written: so an unfinished session is always in `unfinished`, whenever the bot is killed.

JOURNAL = ".journal"
EXPORT = ".json"
MAX_NAME_LENGTH = 150


class SessionFolder:
    def __init__(self, home: Path, disk: Disk, now: Callable[[], datetime]) -> None:
        self._disk = disk
        self._now = now
        make_private(home)
        self.exports = make_private(home / "sessions")
        self.unfinished = make_private(self.exports / "unfinished")
        self.finished = make_private(self.exports / "finished")
        self.evidence = make_private(home / "evidence")
        self.index = home / "index.json"

    def journal(self, session_id: str) -> Path:
        """Return the path of its journal, which may not exist."""
        name = file_name(session_id) + JOURNAL
        over = self.finished / name
        return over if over.exists() else self.unfinished / name

    def export(self, session_id: str) -> Path:
        return self.exports / (file_name(session_id) + EXPORT)

    def journals(self) -> tuple[set[str], set[str]]:
        """Return the names of all unfinished and of all finished sessions."""
        return _names_in(self.unfinished, JOURNAL), _names_in(self.finished, JOURNAL)

    def foreign_exports(self) -> set[str]:
        """Return the names of exports without a journal, which somebody else has put there."""
        return _names_in(self.exports, EXPORT).difference(*self.journals())

    def finish(self, journal: Path) -> None:
        # Without sync: if the move is lost, the journal is still unfinished and is moved again.
        journal.replace(self.finished / journal.name)

    def reopen(self, journal: Path) -> Path:
        """Move the journal back; durable before anything else is written."""
        back = self.unfinished / journal.name
        if journal != back:
            journal.replace(back)
            self._disk.sync_directory(self.unfinished)
            self._disk.sync_directory(self.finished)
        return back

    def put_aside(self, path: Path) -> Path:
        """Rename a broken file, without overwriting an earlier one."""
        stamp = self._now().strftime("%Y%m%dT%H%M%SZ")
        aside = path.with_name(f"{path.name}.broken-{stamp}")
        number = 1
        while aside.exists():
            number += 1
            aside = path.with_name(f"{path.name}.broken-{stamp}-{number}")
        return path.rename(aside)

    def remove_temporary_files(self) -> None:
        """Remove temporary files left by a crash."""
        home = self.index.parent
        for directory in (home, self.exports, self.unfinished, self.finished, self.evidence):
            for name in _names_in(directory, TEMPORARY_SUFFIX):
                (directory / (name + TEMPORARY_SUFFIX)).unlink()


def file_name(session_id: str) -> str:
    """Return a safe file name for any id."""
    name = quote(session_id, safe="")
    if len(name) <= MAX_NAME_LENGTH and not name.startswith("."):
        return name
    return f"{name.lstrip('.')[:40]}~{sha256(session_id.encode()).hexdigest()[:32]}"


def _names_in(directory: Path, ending: str) -> set[str]:
    # Plain strings, because there may be ten thousand.
    with os.scandir(directory) as entries:
        return {entry.name.removesuffix(ending) for entry in entries if entry.name.endswith(ending)}


# One bot per home: whoever holds the lock owns everything in it.


class InstanceLock:
    """Held for the life of the process; the kernel releases it, however the process ends."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._fd: int | None = None

    def acquire(self) -> None:
        """Acquire the lock.

        Raises Refused with the process that holds it, or Unavailable if the home cannot be created.
        """
        fd = self._opened()
        if not try_lock(fd):
            holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(fd)
            raise Refused(
                f"another gwt-bot (process {holder}) already uses {self._home}",
                "Stop that one first, or give this one a home of its own with GWT_HOME.",
            )
        # the process id is only information: on a full disk the lock is held without it
        with suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._fd = fd

    def _opened(self) -> int:
        try:
            return open_private(make_private(self._home) / "lock", os.O_RDWR)
        except OSError as error:
            raise disk_error(error, self._home) from error

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
