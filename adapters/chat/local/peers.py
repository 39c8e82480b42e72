"""Who is at the other end of a local socket, as the kernel says. Where it cannot say, nobody is let in."""

from __future__ import annotations

import os
import socket
import struct

import psutil

_UCRED = struct.Struct("3i")
"""Linux: pid, uid, gid."""
_XUCRED = struct.Struct("=2I")
"""macOS: a version, then the uid."""
_RUN = "GWT_SPOOL"
"""What every run of an agent has in its environment."""
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 0x001


def is_owner(peer: socket.socket) -> bool:
    """Whether the one who has connected is the user this program runs as."""
    return uid_of(peer) == os.getuid()


def is_agent(peer: socket.socket) -> bool:
    """Whether it was started by an agent: they are the same user where no sandbox holds them, and people they are not.

    Nothing keeps a program from hiding where it comes from; this is for those that only do as they were told. One that
    is gone by now could be anybody's, and waits for no answer.
    """
    try:
        raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        pid = int(_UCRED.unpack(raw)[0])
    except (AttributeError, OSError, struct.error):
        return False
    if pid == 0:  # of a machine around this one: agents are not there
        return False
    try:
        caller = psutil.Process(pid)
        family = (caller, *caller.parents())
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False
    return any(_RUN in _environ(process) for process in family)


def _environ(process: psutil.Process) -> dict[str, str]:
    """Of a process that may be looked at; of any other, nothing."""
    try:
        return process.environ()
    except (OSError, psutil.Error):
        return {}


def uid_of(peer: socket.socket) -> int | None:
    try:
        if linux := getattr(socket, "SO_PEERCRED", None):
            raw = peer.getsockopt(socket.SOL_SOCKET, linux, _UCRED.size)
            return int(_UCRED.unpack(raw)[1])
        raw = peer.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 128)
        return int(_XUCRED.unpack_from(raw)[1])
    except (OSError, struct.error):
        return None
