"""Messages that cannot be opened yet, on disk: the place in the room moves on, and none of them is forgotten."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from adapters.chat.matrix.answers import Json
from adapters.chat.matrix.private import read_json, write_json

MOST = 500
"""Of a flood only the last are waited for."""
_REASONS = 500


@dataclass(frozen=True)
class Waiting:
    room: str
    event: Json
    since: float
    """Seconds since 1970, when it was seen first."""
    told: bool = False
    """Somebody was told what is the matter."""

    @property
    def id(self) -> str:
        return str(self.event.get("event_id", ""))

    @property
    def session(self) -> str:
        return str(self.event.get("content", {}).get("session_id", ""))


@dataclass(frozen=True)
class _Kept:
    events: tuple[Waiting, ...] = ()
    withheld: dict[str, str] = field(default_factory=dict[str, str])


class WaitingRoom:
    """And why keys were not given, as far as their owners have said."""

    def __init__(self, path: Path) -> None:
        self._path = path
        kept = read_json(path, _Kept) or _Kept()
        self._all = {one.id: one for one in kept.events}
        self._codes = kept.withheld

    def all(self) -> tuple[Waiting, ...]:
        return tuple(self._all.values())

    def find(self, event_id: str) -> Waiting | None:
        return self._all.get(event_id)

    def put(self, one: Waiting) -> None:
        """On disk when this returns."""
        if self._all.get(one.id) == one:
            return
        self._all[one.id] = one
        while len(self._all) > MOST:
            del self._all[next(iter(self._all))]
        self._write()

    def told(self, one: Waiting) -> None:
        if one.id in self._all:
            self.put(replace(one, told=True))

    def gone(self, event_id: str) -> None:
        if self._all.pop(event_id, None):
            self._write()

    def withhold(self, room: str, session: str, code: str) -> None:
        self._codes[f"{room} {session}"] = code
        while len(self._codes) > _REASONS:
            del self._codes[next(iter(self._codes))]
        self._write()

    def code(self, room: str, session: str) -> str:
        """Why the key of a session was not given. Empty: nobody said that it was not."""
        return self._codes.get(f"{room} {session}", "")

    def _write(self) -> None:
        events = [vars(one) for one in self._all.values()]
        write_json(self._path, {"events": events, "withheld": self._codes})
