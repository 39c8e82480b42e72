"""Asking a program for its version: that it answers is the proof that it can be started here.

It is asked before anybody has approved anything, so it runs in an empty folder: shims of version managers read settings
of the folder they are called in, and a wrapper that does something else than answer does not do it in a repository.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from tempfile import TemporaryDirectory, gettempdir

_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


class NoVersion(Exception):  # noqa: N818 - what was found, rather than an error
    """The program does not tell one. `reason` goes on after its name."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


async def version_told(command: tuple[str, ...], env: Mapping[str, str], seconds: float) -> str:
    """Empty: it runs, and says nothing that looks like a version."""
    try:
        with TemporaryDirectory(prefix="gwt-version-", ignore_cleanup_errors=True) as folder:
            return await _told(command, env, seconds, folder)
    except OSError as error:
        where = error.filename or gettempdir()
        raise NoVersion(
            f"cannot be asked for its version: {where}: {error.strerror}.",
            "Make room for temporary files, or say by TMPDIR where they go.",
        ) from error


async def _told(
    command: tuple[str, ...], env: Mapping[str, str], seconds: float, folder: str
) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise NoVersion(
            f"cannot be started: {error.strerror}.",
            "Install it again, or name another agent: GWT_AGENT.",
        ) from error
    output = await _answer(process, seconds)
    if output is None:
        raise NoVersion(f"did not tell its version within {seconds:g} seconds.")
    if process.returncode != 0:
        raise NoVersion(f"fails: {_last_line(output) or f'exit code {process.returncode}'}")
    found = _VERSION.search(output)
    return found.group() if found else ""


async def _answer(process: asyncio.subprocess.Process, seconds: float) -> str | None:
    """What it printed; None when it took too long, and was ended with all its children."""
    told = False
    try:
        output, _ = await asyncio.wait_for(process.communicate(), seconds)
        told = True
    except TimeoutError:
        return None
    else:
        return output.decode("utf-8", "replace")
    finally:
        if not told:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _last_line(output: str) -> str:
    return (output.strip().splitlines() or [""])[-1][:300]
