"""What the bot keeps on disk for Matrix: the sync token, who started threads, moved rooms, and reactions that counted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from pydantic import AwareDatetime, TypeAdapter

from adapters.state_files import JsonFile, JsonLines
from bot.core.choices import Choice, Verb
from bot.core.facts import Fact
from bot.core.people import Person, Thread

# How far the bot has read: the homeserver's sync token. It advances only when everything before it was accepted.
# Another user starts anew; another device of the same user continues where the last one was, because the token is valid
# for the account.

_BOOKMARK_FILE = "sync.json"


@dataclass(frozen=True)
class _SavedBookmark:
    user_id: str
    device_id: str
    since: str


class SyncBookmark:
    """The sync token in a file, replaced atomically."""

    def __init__(self, folder: Path, user_id: str, device_id: str) -> None:
        self._file = JsonFile(folder / _BOOKMARK_FILE, _SavedBookmark)
        self.path = self._file.path
        self._user_id, self._device_id = user_id, device_id
        saved = self._file.read()
        self._since = saved.since if saved and saved.user_id == user_id else None

    @property
    def since(self) -> str | None:
        """Return the token, or None if this account was never read."""
        return self._since

    def advance(self, token: str) -> None:
        # After a crash the previous token may be left; then some events are read again and recognised by their ids.
        if token != self._since:
            self._file.write(_SavedBookmark(self._user_id, self._device_id, token))
            self._since = token


# Who started each thread; they are mentioned when a person is needed there.

MAX_OWNERS = 5_000
"""Number of threads. In older ones nobody is mentioned."""


class ThreadOwners:
    """Owners of threads, one line each. Incomplete lines are skipped."""

    def __init__(self, path: Path) -> None:
        self._file = JsonLines(path, tuple[str, str])
        found = dict(self._file.read())
        self._owners = dict(list(found.items())[-MAX_OWNERS:])
        if len(found) > MAX_OWNERS:
            self._file.rewrite(self._owners.items())

    def remember(self, thread: Thread, owner: str) -> None:
        """Record the owner, unless one is recorded already."""
        if thread.key in self._owners:
            return
        self._file.append((thread.key, owner), wait=False)
        self._owners[thread.key] = owner

    def owner(self, thread: Thread) -> str:
        """Return the owner; empty if unknown."""
        return self._owners.get(thread.key, "")


# Which rooms were replaced by which, and where each thread continues.


class RoomMove(Fact):
    """A room was replaced by another."""

    old: str
    new: str
    by: str = ""
    """Who invited the bot there; empty as long as nobody has."""


class ThreadMove(Fact):
    """A thread continues in another."""

    was: Thread
    now: Thread


_LINE: TypeAdapter[RoomMove | ThreadMove] = TypeAdapter(RoomMove | ThreadMove)


class RoomMoves:
    """Moves of rooms and threads, one line per change; the last one counts."""

    def __init__(self, path: Path) -> None:
        self._file = JsonLines(path, _LINE)
        self._moves: dict[str, RoomMove] = {}
        self._now: dict[str, Thread] = {}
        self._was: dict[str, Thread] = {}
        for move in self._file.read():
            self._hold(move)

    def record(self, what: RoomMove | ThreadMove) -> None:
        """Record it; on disk when this returns."""
        self._file.append(what)
        self._hold(what)

    def from_room(self, old: str) -> RoomMove | None:
        return self._moves.get(old)

    def moves_into(self, new: str) -> tuple[RoomMove, ...]:
        return tuple(move for move in self._moves.values() if move.new == new)

    def moved_to(self, thread: Thread) -> Thread | None:
        return self._now.get(thread.key)

    def moved_from(self, thread: Thread) -> Thread | None:
        return self._was.get(thread.key)

    def _hold(self, what: RoomMove | ThreadMove) -> None:
        if isinstance(what, RoomMove):
            self._moves[what.old] = what
        else:
            self._now[what.was.key], self._was[what.now.key] = what.now, what.was


# What became of reactions: who was asked for a text or confirmation, and which have counted. So an answer is understood
# after a restart, and whoever removes a reaction gets the right reply.

MAX_CLICKS = 2_000
"""Number of reactions. Nobody asks about older ones."""
ANSWER_PERIOD = timedelta(minutes=30)
"""How long the next message of a person who was asked for a text counts as the answer."""


class ClickState(StrEnum):
    ASKED = "asked"
    """Something is needed before it counts."""
    COUNTED = "counted"
    WITHDRAWN = "withdrawn"


class Click(Fact):
    """A reaction that chose something."""

    reaction: str
    """Event id of the reaction."""
    thread: Thread
    by: Person
    at: AwareDatetime
    choice: Choice
    state: ClickState

    @property
    def is_awaiting_text(self) -> bool:
        """Whether a text is awaited.

        Not for a change: anything said by anybody in a thread that waits for a change is one.
        """
        wants = bool(self.choice.asks) and not self.choice.confirm
        return self.state is ClickState.ASKED and wants and self.choice.verb is not Verb.CHANGE


class Clicks:
    """Reactions and their state, one line per change; the last one per reaction counts."""

    def __init__(self, path: Path) -> None:
        self._file = JsonLines(path, Click)
        self._clicks: dict[str, Click] = {}
        found = self._file.read()
        for click in found:
            self._hold(click)
        if len(found) > len(self._clicks):
            self._file.rewrite(self._clicks.values())

    def find(self, reaction: str) -> Click | None:
        return self._clicks.get(reaction)

    def record(self, click: Click) -> None:
        """Record it; on disk when this returns."""
        if self._clicks.get(click.reaction) == click:
            return
        self._file.append(click)
        self._hold(click)

    def set_state(self, click: Click, state: ClickState) -> None:
        self.record(click.model_copy(update={"state": state}))

    def awaiting_answer(self, thread: Thread, person: str, at: datetime) -> Click | None:
        """Return the reaction that a person's message answers, or None.

        Only the last question counts, for a limited time.
        """
        for click in reversed(self._clicks.values()):
            if click.thread.key == thread.key and click.by.id == person and click.is_awaiting_text:
                return click if at - click.at <= ANSWER_PERIOD else None
        return None

    def _hold(self, click: Click) -> None:
        self._clicks.pop(click.reaction, None)  # the most recently changed entry comes last
        self._clicks[click.reaction] = click
        while len(self._clicks) > MAX_CLICKS:
            del self._clicks[next(iter(self._clicks))]
