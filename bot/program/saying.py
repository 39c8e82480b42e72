"""What the program says on its terminal, which is often somebody's journal: in plain lines, and masked like everything else."""

from __future__ import annotations

import asyncio
import logging
import os
import select
import signal
import stat
import sys
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import TextIO, cast

from bot import settings
from bot.domain.masking import Masker
from bot.errors import SettingsError
from bot.program.secrets import secrets_in


def say(*lines: str) -> None:
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


async def while_read(work: Coroutine[None, None, int | None]) -> int | None:
    """A pipe that nobody reads any more ends it as a terminal does that is closed: agents work on, everything is on disk."""
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
    known = secrets_in(os.environ)
    try:
        return {**known, **settings.load().secrets}
    except SettingsError:
        return known
