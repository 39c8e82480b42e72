"""Who began each thread, on disk: the one who is named when a person is needed there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from bot.domain.people import Thread
from bot.errors import Unavailable

KEPT = 5_000
"""Threads. Older ones are forgotten: nobody is named there any more."""


class Roots:
    """One line a thread. A line that was torn is passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        found = _read(path)
        self._owners = dict(list(found.items())[-KEPT:])
        if len(found) > KEPT:
            self._write_anew()

    def remember(self, thread: Thread, owner: str) -> None:
        """The first one who is named stays."""
        if thread.key in self._owners:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _append(self._path, [(thread.key, owner)])
        except OSError as error:
            raise _unwritten(self._path, error) from error
        self._owners[thread.key] = owner

    def owner(self, thread: Thread) -> str:
        """Empty: nobody is known."""
        return self._owners.get(thread.key, "")

    def _write_anew(self) -> None:
        beside = self._path.with_name(f".{self._path.name}.new")
        try:
            beside.unlink(missing_ok=True)
            _append(beside, self._owners.items())
            beside.replace(self._path)
        except OSError as error:
            raise _unwritten(self._path, error) from error


def _unwritten(path: Path, error: OSError) -> Unavailable:
    return Unavailable(f"{path} cannot be written: {error.strerror}.", "Is the disk full?")


def _read(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _lines(path):
        try:
            key, owner = json.loads(line)
        except (ValueError, TypeError):
            continue
        found[str(key)] = str(owner)
    return found


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        reason = f"{path} cannot be read: {error.strerror}."
        raise Unavailable(reason, "Let the bot read it.") from error


def _append(path: Path, owners: Iterable[tuple[str, str]]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, "".join(f"\n{json.dumps(one)}\n" for one in owners).encode())
    finally:
        os.close(handle)
