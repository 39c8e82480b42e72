"""What of the machine is used up or denied, in the words that everybody uses for it: a full disk is no bug of the bot's."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from bot.errors import Unavailable

LEAST_ROOM = 64 * 1024
"""Bytes. With less, git and tests fail in words of their own, of which few name the disk."""
_ROOM = "Free some space there; the bot goes on by itself."
_REASONS = {
    errno.ENOSPC: ("the disk is full", _ROOM),
    errno.EDQUOT: ("the disk quota is used up", _ROOM),
    errno.EROFS: ("the disk is read-only", "Make it writable; the bot goes on by itself."),
    errno.EIO: ("the disk reports an input/output error", "Check that disk."),
    errno.EMFILE: ("too many files are open", "Raise the limit of the bot's process: ulimit -n."),
    errno.ENFILE: ("too many files are open on this machine", "Look what has opened them."),
}


def of_the_machine(error: OSError, folder: Path | None = None) -> Unavailable | None:
    """The same error in plain words; None where it is another kind of error. `folder`: where it was met; the error
    itself may know only a name."""
    reason, remedy = _REASONS.get(error.errno or 0, ("", ""))
    if not reason:
        return None
    where = folder or error.filename
    return Unavailable(f"{reason} ({where})" if where else reason, remedy)


def require_room(doing: str, *folders: Path) -> None:
    """After something has failed: raise Unavailable where the reason may well be that a disk is full."""
    for folder in folders:
        try:
            disk = os.statvfs(folder)
        except OSError:
            continue
        if disk.f_bavail * disk.f_frsize < LEAST_ROOM or (disk.f_files and not disk.f_favail):
            raise Unavailable(f"the disk is full ({folder}; {doing} failed)", _ROOM)
