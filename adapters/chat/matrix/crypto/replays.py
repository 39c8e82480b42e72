"""Which place of which key belongs to which event, on disk: a message that comes twice under two ids came from nobody.

The homeserver cannot write encrypted words, but it has kept all that were ever written. Said again they are refused.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from adapters.chat.matrix.private import create, make_folder
from bot.errors import Unavailable

KEPT = 200_000
"""Messages. A key is used for a week at most; none of these is that young when it is forgotten."""
_TABLE = "CREATE TABLE IF NOT EXISTS opened (session TEXT, place INTEGER, event TEXT, PRIMARY KEY (session, place))"


class Replays:
    def __init__(self, path: Path, kept: int = KEPT) -> None:
        self._path = path
        make_folder(path.parent)
        with suppress(FileExistsError):
            # before SQLite does, which would let others read it
            os.close(create(path))
        try:
            self._base = sqlite3.connect(path, isolation_level=None)
            # a power cut may forget the last ones
            self._base.execute("PRAGMA synchronous = OFF")
            self._base.execute(_TABLE)
            oldest = "SELECT max(rowid) FROM opened"
            self._base.execute(f"DELETE FROM opened WHERE rowid <= ({oldest}) - ?", (kept,))  # noqa: S608
        except sqlite3.Error as error:
            raise self._trouble(error) from error

    def is_first(self, session: str, place: int, event_id: str) -> bool:
        """Whether this is the event that was encrypted at that place; the first that asks is."""
        try:
            self._base.execute(
                "INSERT OR IGNORE INTO opened VALUES (?, ?, ?)", (session, place, event_id)
            )
            wanted = "SELECT event FROM opened WHERE session = ? AND place = ?"
            found = self._base.execute(wanted, (session, place)).fetchone()
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        return found == (event_id,)

    def close(self) -> None:
        self._base.close()

    def _trouble(self, error: sqlite3.Error) -> Unavailable:
        return Unavailable(f"{self._path} cannot be used: {error}.", "Is the disk full?")
