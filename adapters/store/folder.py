"""Where the files of sessions lie, and what their names mean.

    sessions/<id>.json                  the export, for people and other programs
    sessions/unfinished/<id>.journal    the truth; everything here is read at start
    sessions/finished/<id>.journal      the truth of what is over; read when somebody asks for it

A session is moved to `finished` only after its export is written, and back before anything else is: so what is not
over is always among the unfinished, whatever moment the bot was killed at.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from adapters.store.disk import TEMPORARY, Disk, make_private

JOURNAL = ".journal"
EXPORT = ".json"
LONGEST = 150


class Folder:
    def __init__(self, home: Path, disk: Disk, now: Callable[[], datetime]) -> None:
        self._disk = disk
        self._now = now
        make_private(home)
        self.exports = make_private(home / "sessions")
        self.unfinished = make_private(self.exports / "unfinished")
        self.finished = make_private(self.exports / "finished")
        self.evidence = make_private(home / "evidence")
        self.index = home / "index.json"

    def journal(self, session_id: str) -> Path:
        """Where its journal is, or would be."""
        name = file_name(session_id) + JOURNAL
        over = self.finished / name
        return over if over.exists() else self.unfinished / name

    def export(self, session_id: str) -> Path:
        return self.exports / (file_name(session_id) + EXPORT)

    def journals(self) -> tuple[set[str], set[str]]:
        """The names of all unfinished, and of all finished."""
        return _names(self.unfinished, JOURNAL), _names(self.finished, JOURNAL)

    def strangers(self) -> set[str]:
        """Names of exports without a journal: somebody put them there."""
        return _names(self.exports, EXPORT).difference(*self.journals())

    def finish(self, journal: Path) -> None:
        """No sync: if the move is lost, the journal is among the unfinished and is moved again."""
        journal.replace(self.finished / journal.name)

    def reopen(self, journal: Path) -> Path:
        """Durable before anything else is written."""
        back = self.unfinished / journal.name
        if journal != back:
            journal.replace(back)
            self._disk.sync_directory(self.unfinished)
            self._disk.sync_directory(self.finished)
        return back

    def put_aside(self, path: Path) -> Path:
        """Keep a broken file under another name; nothing that was put aside before is overwritten."""
        stamp = self._now().strftime("%Y%m%dT%H%M%SZ")
        aside = path.with_name(f"{path.name}.broken-{stamp}")
        number = 1
        while aside.exists():
            number += 1
            aside = path.with_name(f"{path.name}.broken-{stamp}-{number}")
        return path.rename(aside)

    def sweep(self) -> None:
        """Remove what a crash left of writes that were never finished."""
        home = self.index.parent
        for directory in (home, self.exports, self.unfinished, self.finished, self.evidence):
            for name in _names(directory, TEMPORARY):
                (directory / (name + TEMPORARY)).unlink()


def file_name(session_id: str) -> str:
    """An id as a name of a file, whatever it contains."""
    name = quote(session_id, safe="")
    if len(name) <= LONGEST and not name.startswith("."):
        return name
    return f"{name.lstrip('.')[:40]}~{sha256(session_id.encode()).hexdigest()[:32]}"


def _names(directory: Path, ending: str) -> set[str]:
    """Bare strings: there may be ten thousand of them."""
    with os.scandir(directory) as entries:
        return {entry.name.removesuffix(ending) for entry in entries if entry.name.endswith(ending)}
