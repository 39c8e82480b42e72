"""What stands in the console's threads, kept over restarts: whoever comes later is shown it. The oldest goes first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from adapters.posting import lines
from bot.domain.cards import Card
from bot.domain.facts import Fact
from bot.domain.people import Thread
from bot.errors import Unavailable

LARGEST = 4_000_000
"""Bytes. A larger file is written anew, with the newest half of it."""
MOST = 400
"""Cards."""


class Standing(Fact):
    thread: Thread
    card: Card


class Board:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._cards: dict[tuple[str, str], Standing] = {}
        for old in _read(path):
            self._remember(old)

    def __iter__(self) -> Iterator[Standing]:
        """The newest last."""
        return iter(tuple(self._cards.values()))

    def put(self, new: Standing) -> None:
        """Not where it stands already. A full disk costs only what a later start could have shown."""
        if self._cards.get((new.thread.key, new.card.key)) == new:
            return
        self._remember(new)
        try:
            lines.append(self._path, new.model_dump_json(), wait=False)
            if lines.size(self._path) > LARGEST:
                all_of_them = [old.model_dump_json() for old in self._cards.values()]
                lines.write_anew(self._path, lines.newest(all_of_them, LARGEST // 2))
        except Unavailable:
            return

    def _remember(self, new: Standing) -> None:
        place = (new.thread.key, new.card.key)
        self._cards.pop(place, None)
        self._cards[place] = new
        while len(self._cards) > MOST:
            del self._cards[next(iter(self._cards))]


def _read(path: Path) -> Iterator[Standing]:
    """Every line that is whole, and of a kind of card there still is."""
    try:
        found = lines.read(path)
    except Unavailable:
        return
    for line in found:
        try:
            yield Standing.model_validate_json(line)
        except ValidationError:
            continue
