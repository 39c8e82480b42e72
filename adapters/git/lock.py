"""One lock per repository. Its rule: all that changes worktrees or branches happens one after the other, across processes.

Two `git worktree add` at once collide, and a lock file of git's may be called stale only by somebody who knows that no
git of the bot's is alive. The lock is a descriptor that every git inherits: it is free when the last of them is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from bot.errors import Refused, Unavailable
from bot.machine import of_the_machine

FILE = "gwt-bot.lock"
SECONDS = 600.0
PAUSE = 0.02


class Locks:
    """The locks of one process."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._mine: dict[Path, asyncio.Lock] = {}

    @contextlib.asynccontextmanager
    async def held(self, common: Path) -> AsyncGenerator[int]:
        """Hold the lock of the repository whose common directory this is; the descriptor to hand to git."""
        async with self._mine.setdefault(common, asyncio.Lock()):
            descriptor = _opened(common / FILE)
            try:
                await self._take(descriptor)
                yield descriptor
            finally:
                # closing does not release it while a git that outlived its call has it, too
                os.close(descriptor)

    async def _take(self, descriptor: int) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._seconds
        while not _taken(descriptor):
            if loop.time() > deadline:
                raise Unavailable(
                    "another gwt-bot works in this repository",
                    "Wait for it, or stop it: one bot per repository.",
                )
            await asyncio.sleep(PAUSE)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        if trouble := of_the_machine(error, path):
            raise trouble from error
        raise Refused(f"{path} cannot be written: {error.strerror}") from error


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
