"""Which rooms were replaced by which, and where each thread goes on, on disk."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from adapters.posting import lines
from bot.domain.facts import Fact
from bot.domain.people import Thread


class Move(Fact):
    """A room goes on as another one."""

    old: str
    new: str
    by: str = ""
    """Who has brought the bot there; empty: nobody yet."""


class Went(Fact):
    """A thread goes on as another one."""

    was: Thread
    now: Thread


_LINE: TypeAdapter[Move | Went] = TypeAdapter(Move | Went)


class Moves:
    """One line a change; the last one counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._moves: dict[str, Move] = {}
        self._now: dict[str, Thread] = {}
        self._was: dict[str, Thread] = {}
        for line in lines.read(path):
            try:
                self._hold(_LINE.validate_json(line))
            except ValidationError:
                # torn by a crash: it was not acted upon yet
                continue

    def keep(self, what: Move | Went) -> None:
        """On disk when this returns."""
        lines.append(self._path, what.model_dump_json())
        self._hold(what)

    def from_room(self, old: str) -> Move | None:
        return self._moves.get(old)

    def into(self, new: str) -> tuple[Move, ...]:
        return tuple(move for move in self._moves.values() if move.new == new)

    def now(self, thread: Thread) -> Thread | None:
        return self._now.get(thread.key)

    def was(self, thread: Thread) -> Thread | None:
        return self._was.get(thread.key)

    def _hold(self, what: Move | Went) -> None:
        if isinstance(what, Move):
            self._moves[what.old] = what
        else:
            self._now[what.was.key], self._was[what.now.key] = what.now, what.was
