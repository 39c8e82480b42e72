"""What has been shown already, over restarts: shown twice, a card stands there once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from adapters.chat.console.open_cards import waits
from adapters.posting import lines
from bot.domain.cards import (
    ApprovalCard,
    Card,
    ReceivedCard,
    RootCard,
    StatusCard,
    StoppedCard,
)
from bot.domain.facts import Fact
from bot.domain.people import Thread
from bot.domain.world import Usage
from bot.errors import Unavailable

LARGEST = 1_000_000
"""Bytes. A larger file is written anew, with the newest half of it."""
_SOME_TIME = datetime.fromtimestamp(0, UTC)


class Showing(Fact):
    thread: Thread
    key: str
    digest: str
    undecided: str = ""
    """The digest of the card without what was decided on it."""
    open: Card | None = None
    """The card itself while it waits for the person, so that it still can be answered after a restart."""
    session: str = ""
    """What its thread is called, where the card tells."""


def showing(thread: Thread, card: Card) -> Showing:
    """How it is noted that this card was shown."""
    if isinstance(card, StatusCard) and not card.anew:
        card = _steady(card)
    kept = card if waits(card) and not isinstance(card, StatusCard) else None
    return Showing(
        thread=thread,
        key=card.key,
        digest=_digest(card),
        undecided=_digest(_undecided(card)),
        open=kept,
        session=_session_of(card),
    )


def _undecided(card: Card) -> Card:
    """The card without what its decision changes: who decided, and what was still wanted before."""
    if isinstance(card, ApprovalCard):
        return card.model_copy(update={"decided": None, "approved_by": (), "dry_run": False})
    return card.model_copy(update={"decided": None}) if hasattr(card, "decided") else card


def _session_of(card: Card) -> str:
    """The session whose thread the card stands in, where it names it."""
    match card:
        case ReceivedCard() | RootCard() | StatusCard() | StoppedCard():
            return card.session
        case _:
            return ""


def _steady(card: StatusCard) -> StatusCard:
    """The card without what changes at every tick."""
    tasks = tuple(
        t.model_copy(update={"seconds": None, "tail": "", "note": ""}) for t in card.tasks
    )
    return card.model_copy(
        update={"tasks": tasks, "usage": Usage(), "at": _SOME_TIME, "choices": ()}
    )


def _digest(card: Card) -> str:
    return hashlib.sha256(card.model_dump_json().encode()).hexdigest()


class Shown:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: dict[tuple[str, str], Showing] = {}
        for old in _read(path):
            self._remember(old)

    def last(self, thread: Thread, key: str) -> Showing | None:
        return self._last.get((thread.key, key))

    def __iter__(self) -> Iterator[Showing]:
        """The last showing of every card, the newest last."""
        return iter(tuple(self._last.values()))

    def note(self, new: Showing) -> None:
        self._remember(new)
        try:
            lines.append(self._path, new.model_dump_json(), wait=False)
            if lines.size(self._path) > LARGEST:
                all_of_them = [old.model_dump_json() for old in self._last.values()]
                lines.write_anew(self._path, lines.newest(all_of_them, LARGEST // 2))
        except Unavailable:
            # the card stands there: failing would only show it again. Until a restart it is known
            return

    def _remember(self, showing: Showing) -> None:
        place = (showing.thread.key, showing.key)
        self._last.pop(place, None)
        self._last[place] = showing


def _read(path: Path) -> Iterator[Showing]:
    """Every line that is whole. A torn one was of a card that is then shown once more."""
    try:
        found = lines.read(path)
    except Unavailable:
        return
    for line in found:
        try:
            yield Showing.model_validate_json(line)
        except ValidationError:
            continue
