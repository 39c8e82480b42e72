"""Messages that cannot be opened yet, on disk: the place in the room moves on, and none of them is forgotten."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from adapters.chat.matrix.answers import Json
from adapters.chat.matrix.private import read_json, write_json

MOST, MOST_CHARACTERS = 500, 1_000_000
"""Of a flood only its own last are waited for; all of them are written anew with each."""
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
    def sender(self) -> str:
        return str(self.event.get("sender", ""))

    @property
    def session(self) -> str:
        return str(self.event.get("content", {}).get("session_id", ""))

    @cached_property
    def size(self) -> int:
        return len(json.dumps(self.event))


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
        self._codes, self._unkept = kept.withheld, False

    def all(self) -> tuple[Waiting, ...]:
        return tuple(self._all.values())

    def find(self, event_id: str) -> Waiting | None:
        return self._all.get(event_id)

    def put(self, one: Waiting) -> None:
        """On disk when this returns."""
        if self._all.get(one.id) == one:
            return
        self._all[one.id] = one
        while len(self._all) > MOST or self._size() > MOST_CHARACTERS:
            self._let_go_of_one()
        self._write()

    def told(self, one: Waiting) -> None:
        if one.id in self._all:
            self.put(replace(one, told=True))

    def gone(self, event_id: str) -> None:
        if self._all.pop(event_id, None):
            self._write()

    def withhold(self, sender: str, room: str, session: str, code: str) -> None:
        """Kept with `keep`: anybody may send any number of them at once."""
        name = f"{sender} {room} {session}"
        self._unkept |= self._codes.get(name) != code
        self._codes[name] = code
        while len(self._codes) > _REASONS:
            del self._codes[next(iter(self._codes))]

    def keep(self) -> None:
        if self._unkept:
            self._write()

    def code(self, one: Waiting) -> str:
        """Why its sender has not given the key. Empty: they have not said that they do not."""
        return self._codes.get(f"{one.sender} {one.room} {one.session}", "")

    def _size(self) -> int:
        return sum(one.size for one in self._all.values())

    def _let_go_of_one(self) -> None:
        """The oldest of whoever takes the most room: nobody's flood pushes out what others have said."""
        taken: Counter[str] = Counter()
        for one in self._all.values():
            taken[one.sender] += one.size
        most = max(taken, key=taken.__getitem__)
        del self._all[next(one.id for one in self._all.values() if one.sender == most)]

    def _write(self) -> None:
        events = [
            {"room": one.room, "event": one.event, "since": one.since, "told": one.told}
            for one in self._all.values()
        ]
        write_json(self._path, {"events": events, "withheld": self._codes})
        self._unkept = False
