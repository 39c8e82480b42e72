"""What stands in the console's threads, kept over restarts: whoever comes later is shown it. The oldest goes first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from bot.domain.cards import Card
from bot.domain.facts import Fact
from bot.domain.people import Thread

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
            self._append(new)
        except OSError:
            return

    def _remember(self, new: Standing) -> None:
        place = (new.thread.key, new.card.key)
        self._cards.pop(place, None)
        self._cards[place] = new
        while len(self._cards) > MOST:
            del self._cards[next(iter(self._cards))]

    def _append(self, new: Standing) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        with open(os.open(self._path, flags, 0o600), "r+b") as file:  # noqa: PTH123 - a descriptor
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            torn = size > 0 and file.read(1) != b"\n"
            file.write((b"\n" if torn else b"") + new.model_dump_json().encode() + b"\n")
        if size > LARGEST:
            self._write_anew()

    def _write_anew(self) -> None:
        lines: list[bytes] = []
        room = LARGEST // 2
        for old in reversed(self._cards.values()):
            line = old.model_dump_json().encode() + b"\n"
            room -= len(line)
            if room < 0:
                break
            lines.append(line)
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        beside.touch(mode=0o600)
        beside.write_bytes(b"".join(reversed(lines)))
        beside.replace(self._path)


def _read(path: Path) -> Iterator[Standing]:
    """Every line that is whole, and of a kind of card there still is."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield Standing.model_validate_json(line)
        except ValidationError:
            continue
