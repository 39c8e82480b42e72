"""Who began each thread, on disk: the one who is named when a person is needed there."""

from __future__ import annotations

import json
from pathlib import Path

from adapters.posting import lines
from bot.domain.people import Thread

KEPT = 5_000
"""Threads. Older ones are forgotten: nobody is named there any more."""


class Roots:
    """One line a thread. A line that was torn is passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        found = _read(path)
        self._owners = dict(list(found.items())[-KEPT:])
        if len(found) > KEPT:
            lines.write_anew(path, map(json.dumps, self._owners.items()))

    def remember(self, thread: Thread, owner: str) -> None:
        """The first one who is named stays."""
        if thread.key in self._owners:
            return
        lines.append(self._path, json.dumps((thread.key, owner)), wait=False)
        self._owners[thread.key] = owner

    def owner(self, thread: Thread) -> str:
        """Empty: nobody is known."""
        return self._owners.get(thread.key, "")


def _read(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines.read(path):
        try:
            key, owner = json.loads(line)
        except (ValueError, TypeError):
            continue
        found[str(key)] = str(owner)
    return found
