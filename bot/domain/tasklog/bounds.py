"""How large logs may become. What is too large is cut and says so; the oldest goes first, and never the request itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta

from pydantic import BaseModel, JsonValue

from bot.domain.facts import Fact
from bot.domain.tasklog.form import LogEntry, Visibility

TRUNCATED = "[TRUNCATED]"
OPENING = "input"
"""The id of the entry every log begins with."""
_MARK = len(TRUNCATED) + 13
"""Bytes set aside with every value, so that the word that it was cut still fits."""


class Bounds(Fact):
    """In bytes, as they are written."""

    entry: int = 1_000_000
    task: int = 10_000_000
    session: int = 100_000_000
    all: int = 1_000_000_000
    age: timedelta = timedelta(days=30)


def size(value: JsonValue | BaseModel) -> int:
    """Its bytes as JSON."""
    if isinstance(value, BaseModel):
        return len(value.model_dump_json().encode("utf-8", "replace"))
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def truncated(entry: LogEntry, limit: int) -> LogEntry:
    """The entry itself if it fits, else with its texts cut and its lists shortened until it does."""
    if size(entry) <= limit:
        return entry
    frame = size(entry.model_copy(update={"content": {}}))
    room = _Room(limit - frame - _MARK)
    return entry.model_copy(update={"content": room.mapping(entry.content)})


def within(entries: Iterable[LogEntry], limit: int) -> tuple[tuple[LogEntry, ...], int]:
    """What there is room for, and how many had to go: details before the summary, the oldest first."""
    kept = list(entries)
    sizes = {entry.id: size(entry) + 1 for entry in kept}
    excess, gone = sum(sizes.values()) - limit, set[str]()
    oldest_details_first = sorted(
        kept, key=lambda entry: entry.visibility_level is not Visibility.FULL
    )
    for entry in oldest_details_first:
        if excess > 0 and entry.id != OPENING:
            gone.add(entry.id)
            excess -= sizes[entry.id]
    return tuple(entry for entry in kept if entry.id not in gone), len(gone)


class _Room:
    """What is left of an entry's bytes, while its content is copied."""

    def __init__(self, left: int) -> None:
        self._left = left

    def mapping(self, values: dict[str, JsonValue]) -> dict[str, JsonValue]:
        shown: dict[str, JsonValue] = {}
        for key, value in values.items():
            if not self._take(size(key) + _MARK):
                shown[TRUNCATED] = True
                break
            shown[key] = self._shown(value)
        return shown

    def _shown(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return self.mapping(value)
        if isinstance(value, list):
            return self._sequence(value)
        return value if self._take(size(value)) else TRUNCATED

    def _sequence(self, values: list[JsonValue]) -> list[JsonValue]:
        shown: list[JsonValue] = []
        for value in values:
            if not self._take(_MARK):
                shown.append(TRUNCATED)
                break
            shown.append(self._shown(value))
        return shown

    def _text(self, text: str) -> str:
        if self._take(size(text)):
            return text
        cut = text[: max(0, self._left)]
        while cut and size(cut) + len(TRUNCATED) > self._left:
            cut = cut[: len(cut) * self._left // (size(cut) + len(TRUNCATED) + 1)]
        self._left -= size(cut)
        return cut + TRUNCATED

    def _take(self, much: int) -> bool:
        if much > self._left:
            return False
        self._left -= much
        return True
