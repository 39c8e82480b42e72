"""Who is at the other end of a local socket, as the kernel says. Where it cannot say, nobody is let in."""

from __future__ import annotations

import os
import socket
import struct

_UCRED = struct.Struct("3i")
"""Linux: pid, uid, gid."""
_XUCRED = struct.Struct("=2I")
"""macOS: a version, then the uid."""
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 0x001


def is_owner(peer: socket.socket) -> bool:
    """Whether the one who has connected is the user this program runs as."""
    return uid_of(peer) == os.getuid()


def uid_of(peer: socket.socket) -> int | None:
    try:
        if linux := getattr(socket, "SO_PEERCRED", None):
            raw = peer.getsockopt(socket.SOL_SOCKET, linux, _UCRED.size)
            return int(_UCRED.unpack(raw)[1])
        raw = peer.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 128)
        return int(_XUCRED.unpack_from(raw)[1])
    except (OSError, struct.error):
        return None
