"""Cards for a person who looks around. What waits for somebody stands first."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.cards import HomeCard
from bot.domain.sheets import Bullets, Element, Entries, Entry, Fields, Sheet, Text, Tone


def home(card: HomeCard) -> Sheet:
    tone = Tone.NEEDS_YOU if card.waiting else Tone.PLAIN
    return Sheet(
        title="How everything stands",
        tone=tone,
        body=tuple(_home(card)),
        choices=card.choices,
        footer=f"As of {card.at:%Y-%m-%d %H:%M:%S} UTC",
    )


def _home(card: HomeCard) -> Iterator[Element]:
    yield from _entries("Waiting for you", card.waiting, "Nothing waits for you.")
    yield from _entries("At work", card.running, "Nothing is under way.")
    if card.recent:
        yield from _entries("Ended lately", card.recent, "")
    if card.branches:
        yield from (Text(text="Branches", strong=True), Bullets(items=card.branches))
    if card.health:
        yield from (Text(text="Health", strong=True), Fields(pairs=card.health))
    if card.settings:
        yield from (Text(text="Settings", strong=True), Fields(pairs=card.settings))


def _entries(title: str, entries: tuple[Entry, ...], none: str) -> Iterator[Element]:
    yield Text(text=title, strong=True)
    yield Entries(items=entries) if entries else Text(text=none)
