"""Where the socket is: in the bot's home, private like everything there. A path may be longer than a socket's name can be."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import Refused

NAME = "socket"
LONGEST = 100
"""Bytes that a socket's name may have everywhere."""


def path_in(home: Path) -> Path:
    return home / NAME


@contextmanager
def reachable(home: Path) -> Iterator[str]:
    """A name for the socket that is short enough, for as long as it is needed to bind or connect."""
    path = path_in(home)
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    try:
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Refused(f"{home} cannot be opened: {error.strerror}.") from error
    try:
        short = Path(f"/proc/self/fd/{folder}")
        if not short.exists():
            raise Refused(
                f"The path of {path} is too long for a socket.", "Choose a shorter GWT_HOME."
            )
        yield str(short / NAME)
    finally:
        os.close(folder)


def bound(home: Path) -> socket.socket:
    """Listening, for its owner alone. Whoever holds the home's lock may do this: what stands there is a left-over."""
    path_in(home).unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with reachable(home) as name:
            # the home is closed to others; a umask would hold for all that the bot makes meanwhile
            listening.bind(name)
            Path(name).chmod(0o600)
        listening.listen(16)
        listening.setblocking(False)
    except BaseException:
        listening.close()
        raise
    return listening


def connected(home: Path) -> socket.socket | None:
    """To the bot that is at work there; None: there is none."""
    calling = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    calling.settimeout(5)
    try:
        with reachable(home) as name:
            calling.connect(name)
    except (OSError, Refused):
        calling.close()
        return None
    calling.setblocking(False)
    return calling
