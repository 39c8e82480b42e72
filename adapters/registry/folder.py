"""Files below a repository's `.forge`. No link there is followed, no pipe waited for, nothing read without bounds.

Whoever works in the repository can leave links, pipes and anything else under these names. Files are put in place whole, and
never over what somebody else has written meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from adapters.files import Disk, folder_below, read_plain
from bot.core.errors import Refused, Unavailable

FOLDER = ".forge"
MOST_NAMES = 5_000


class ChangedError(Exception):
    """Somebody else has written the file since it was read."""


class RegistryFolder:
    """`within` is where below `.forge` the files lie. `umask`: the operator's own, these are files of people, too."""

    def __init__(self, top: str, *within: str, umask: int = 0o022) -> None:
        self._top = Path(top)
        self._within = within
        self._umask = umask
        self.name = "/".join((FOLDER, *within))

    def names(self) -> list[str]:
        """What lies there, sorted; nothing where there is no such folder."""
        try:
            with self._opened(make=False) as at:
                return sorted(_listed(at))
        except FileNotFoundError:
            return []

    def read(self, name: str, limit: int) -> bytes | None:
        """A plain file's content; None where there is none. Refused: it is no plain file, or larger than `limit`."""
        try:
            with self._opened(make=False) as at:
                return self._content(at, name, limit)
        except FileNotFoundError:
            return None

    def create(self, name: str, content: bytes) -> bool:
        """Put a new file there. False: that name is taken."""
        with self._opened(make=True) as at:
            mode = 0o666 & ~self._umask
            return Disk().create(
                Path(name), content, mode=mode, folder=at, temporary=_temporary(name)
            )

    def replace(self, name: str, content: bytes, *, was: bytes, limit: int) -> None:
        """Put another content in place of `was`. ChangedError: that is no longer what stands there."""
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
        """Into another folder, under a name that is free there. Gone already: then it was moved before."""
        with self._opened(make=False) as at, into._opened(make=True) as there:
            stem, dot, end = name.rpartition(".")
            for free in (name, *(f"{stem}-{n}{dot}{end}" for n in range(2, MOST_NAMES))):
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
        """The folder itself, step by step: a link on the way is no folder."""
        mode = 0o777 & ~self._umask if make else None
        try:
            parts = (FOLDER, *self._within)
            with folder_below(self._top, parts, make=mode, exact=True, follow_top=True) as at:
                yield at
        except FileNotFoundError as error:
            if not make:
                raise
            raise Refused(f"there is no checkout at {self._top} any more") from error
        except NotADirectoryError as error:
            raise self._no_folder() from error
        except OSError as error:
            if error.errno == errno.ELOOP:  # a link where a folder should be
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
            content = read_plain(name, limit + 1, folder=at)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise Refused(f"{self.name}/{name} is no plain file that can be read") from error
        if len(content) > limit:
            raise Refused(f"{self.name}/{name} is larger than {limit // 1024} KiB")
        return content


def _temporary(name: str) -> str:
    """Several bots may work in one repository."""
    return f".{name[:80]}.{os.getpid()}.new"


def _listed(at: int) -> list[str]:
    with os.scandir(at) as entries:
        return [entry.name for entry in islice(entries, MOST_NAMES)]
