"""What became of reactions, on disk: who was asked for words or to be sure after one, and which have counted.

So words that follow are known for what they are after a restart, too, and whoever takes a reaction back is told right.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from pydantic import AwareDatetime, ValidationError

from adapters.posting import lines
from bot.domain.choices import Choice, Verb
from bot.domain.facts import Fact
from bot.domain.people import Person, Thread

KEPT = 2_000
"""Clicks. What became of older ones nobody asks any more."""
ASKED_FOR = timedelta(minutes=30)
"""So long the next words of a person who was asked for some count as those."""


class State(StrEnum):
    ASKED = "asked"
    """Something is wanted before it counts."""
    COUNTED = "counted"
    WITHDRAWN = "withdrawn"


class Click(Fact):
    """A reaction that meant something."""

    reaction: str
    """The id of its event."""
    thread: Thread
    by: Person
    at: AwareDatetime
    choice: Choice
    state: State

    @property
    def wants_words(self) -> bool:
        """Not for a change: what is said in a thread that waits for one is one, whoever says it."""
        wants = bool(self.choice.asks) and not self.choice.confirm
        return self.state is State.ASKED and wants and self.choice.verb is not Verb.CHANGE


class Clicks:
    """One line a change; the last one of a reaction counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._clicks: dict[str, Click] = {}
        found = lines.read(path)
        for click in _clicks(found):
            self._hold(click)
        if len(found) > len(self._clicks):
            lines.write_anew(path, (click.model_dump_json() for click in self._clicks.values()))

    def of(self, reaction: str) -> Click | None:
        return self._clicks.get(reaction)

    def keep(self, click: Click) -> None:
        """On disk when this returns."""
        if self._clicks.get(click.reaction) == click:
            return
        lines.append(self._path, click.model_dump_json())
        self._hold(click)

    def become(self, click: Click, state: State) -> None:
        self.keep(click.model_copy(update={"state": state}))

    def asked(self, thread: Thread, person: str, at: datetime) -> Click | None:
        """What the words of a person in a thread are the answer to. The last question counts, and not for ever."""
        for click in reversed(self._clicks.values()):
            if click.thread.key == thread.key and click.by.id == person and click.wants_words:
                return click if at - click.at <= ASKED_FOR else None
        return None

    def _hold(self, click: Click) -> None:
        self._clicks.pop(click.reaction, None)  # what changed last stands last
        self._clicks[click.reaction] = click
        while len(self._clicks) > KEPT:
            del self._clicks[next(iter(self._clicks))]


def _clicks(found: list[bytes]) -> list[Click]:
    """A line that was torn by a crash was not acted upon yet; it is passed over."""
    clicks: list[Click] = []
    for line in found:
        try:
            clicks.append(Click.model_validate_json(line))
        except ValidationError:
            continue
    return clicks
