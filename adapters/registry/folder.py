"""Files below a repository's `.forge`.

Whoever works in the repository can leave links, pipes and anything else there, so no link is followed, no pipe is
waited for, and every read is limited. Files are written atomically, and never over another's changes.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from adapters.files import Disk, open_folder_below, read_regular_file
from bot.core.errors import Refused, Unavailable

FOLDER = ".forge"
MAX_NAME_TRIES = 5_000


class ChangedError(Exception):
    """Somebody else has written the file since it was read."""


class RegistryFolder:
    """A folder of the registry.

    `within`: its path below `.forge`; `umask`: the operator's own, because these are files of people, too.
    """

    def __init__(self, top: str, *within: str, umask: int = 0o022) -> None:
        self._top = Path(top)
        self._within = within
        self._umask = umask
        self.name = "/".join((FOLDER, *within))

    def names(self) -> list[str]:
        """Return the sorted names of its files; empty if the folder does not exist."""
        try:
            with self._opened(make=False) as at:
                return sorted(_listed(at))
        except FileNotFoundError:
            return []

    def read(self, name: str, limit: int) -> bytes | None:
        """Return the content of a regular file, or None if there is none.

        Raises Refused if it is not a regular file, or larger than `limit`.
        """
        try:
            with self._opened(make=False) as at:
                return self._content(at, name, limit)
        except FileNotFoundError:
            return None

    def create(self, name: str, content: bytes) -> bool:
        """Create a file; return False if the name is taken."""
        with self._opened(make=True) as at:
            mode = 0o666 & ~self._umask
            return Disk().create(
                Path(name), content, mode=mode, folder=at, temporary=_temporary(name)
            )

    def replace(self, name: str, content: bytes, *, was: bytes, limit: int) -> None:
        """Replace the content `was` by another. Raises ChangedError if the file has other content now."""
        try:
            with self._opened(make=False) as at:
                mode = stat.S_IMODE(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)
                Disk().replace(
                    Path(name),
                    content,
                    mode=mode,
                    folder=at,
                    temporary=_temporary(name),
                    check=lambda: self._require(at, name, was, limit),
                )
        except FileNotFoundError as gone:
            raise ChangedError from gone

    def move(self, name: str, into: RegistryFolder) -> None:
        """Move a file into another folder, under a free name. If it is gone it was moved before."""
        with self._opened(make=False) as at, into._opened(make=True) as there:
            stem, dot, end = name.rpartition(".")
            for free in (name, *(f"{stem}-{n}{dot}{end}" for n in range(2, MAX_NAME_TRIES))):
                try:
                    os.link(name, free, src_dir_fd=at, dst_dir_fd=there, follow_symlinks=False)
                except FileExistsError:
                    continue
                except FileNotFoundError:
                    return
                os.unlink(name, dir_fd=at)
                return

    @contextmanager
    def _opened(self, *, make: bool) -> Generator[int]:
        # Opened step by step, so that no part of the path can be a link.
        mode = 0o777 & ~self._umask if make else None
        try:
            parts = (FOLDER, *self._within)
            with open_folder_below(self._top, parts, make=mode, exact=True, follow_top=True) as at:
                yield at
        except FileNotFoundError as error:
            if not make:
                raise
            raise Refused(f"there is no checkout at {self._top} any more") from error
        except NotADirectoryError as error:
            raise self._no_folder() from error
        except OSError as error:
            if error.errno == errno.ELOOP:  # a link in place of a folder
                raise self._no_folder() from error
            raise Unavailable(
                f"{self._top / self.name} cannot be used: {error.strerror}",
                "See that the folder is writable and that there is room on the disk.",
            ) from error

    def _no_folder(self) -> Refused:
        return Refused(
            f"{self.name} is no folder of the repository's own",
            "It must be a plain folder, no link and no file.",
        )

    def _require(self, at: int, name: str, was: bytes, limit: int) -> None:
        if self._content(at, name, limit) != was:
            raise ChangedError

    def _content(self, at: int, name: str, limit: int) -> bytes:
        try:
            content = read_regular_file(name, limit + 1, folder=at)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise Refused(f"{self.name}/{name} is no plain file that can be read") from error
        if len(content) > limit:
            raise Refused(f"{self.name}/{name} is larger than {limit // 1024} KiB")
        return content


def _temporary(name: str) -> str:
    # Includes the process id, because several bots may work in one repository.
    return f".{name[:80]}.{os.getpid()}.new"


def _listed(at: int) -> list[str]:
    with os.scandir(at) as entries:
        return [entry.name for entry in islice(entries, MAX_NAME_TRIES)]
