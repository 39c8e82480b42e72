"""What the bot keeps on disk for Matrix: the sync token, who began threads, moved rooms, and reactions that counted."""

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

# How far the bot has heard: the homeserver's token. It moves only when everything before it was
# taken. Another user begins anew; another device of the same user goes on where the last one
# stood, because the token counts for the account.

_BOOKMARK_FILE = "sync.json"


@dataclass(frozen=True)
class _SavedBookmark:
    user_id: str
    device_id: str
    since: str


class SyncBookmark:
    """A file in a folder. After a crash it holds the token of before or of after, and nothing else."""

    def __init__(self, folder: Path, user_id: str, device_id: str) -> None:
        self._file = JsonFile(folder / _BOOKMARK_FILE, _SavedBookmark)
        self.path = self._file.path
        self._user_id, self._device_id = user_id, device_id
        saved = self._file.read()
        self._since = saved.since if saved and saved.user_id == user_id else None

    @property
    def since(self) -> str | None:
        """None: this account was never listened to."""
        return self._since

    def move(self, token: str) -> None:
        """A crash may leave the place before: then some is heard again, and known by its id."""
        if token != self._since:
            self._file.write(_SavedBookmark(self._user_id, self._device_id, token))
            self._since = token


# Who began each thread: the one who is named when a person is needed there.

OWNERS_KEPT = 5_000
"""Threads. Older ones are forgotten: nobody is named there any more."""


class ThreadOwners:
    """One line a thread. A line that was torn is passed over."""

    def __init__(self, path: Path) -> None:
        self._file = JsonLines(path, tuple[str, str])
        found = dict(self._file.read())
        self._owners = dict(list(found.items())[-OWNERS_KEPT:])
        if len(found) > OWNERS_KEPT:
            self._file.rewrite(self._owners.items())

    def remember(self, thread: Thread, owner: str) -> None:
        """The first one who is named stays."""
        if thread.key in self._owners:
            return
        self._file.append((thread.key, owner), wait=False)
        self._owners[thread.key] = owner

    def owner(self, thread: Thread) -> str:
        """Empty: nobody is known."""
        return self._owners.get(thread.key, "")


# Which rooms were replaced by which, and where each thread goes on.


class RoomMove(Fact):
    """A room goes on as another one."""

    old: str
    new: str
    by: str = ""
    """Who has brought the bot there; empty: nobody yet."""


class ThreadMove(Fact):
    """A thread goes on as another one."""

    was: Thread
    now: Thread


_LINE: TypeAdapter[RoomMove | ThreadMove] = TypeAdapter(RoomMove | ThreadMove)


class RoomMoves:
    """One line a change; the last one counts."""

    def __init__(self, path: Path) -> None:
        self._file = JsonLines(path, _LINE)
        self._moves: dict[str, RoomMove] = {}
        self._now: dict[str, Thread] = {}
        self._was: dict[str, Thread] = {}
        for move in self._file.read():
            self._hold(move)

    def keep(self, what: RoomMove | ThreadMove) -> None:
        """On disk when this returns."""
        self._file.append(what)
        self._hold(what)

    def from_room(self, old: str) -> RoomMove | None:
        return self._moves.get(old)

    def into(self, new: str) -> tuple[RoomMove, ...]:
        return tuple(move for move in self._moves.values() if move.new == new)

    def now(self, thread: Thread) -> Thread | None:
        return self._now.get(thread.key)

    def was(self, thread: Thread) -> Thread | None:
        return self._was.get(thread.key)

    def _hold(self, what: RoomMove | ThreadMove) -> None:
        if isinstance(what, RoomMove):
            self._moves[what.old] = what
        else:
            self._now[what.was.key], self._was[what.now.key] = what.now, what.was


# What became of reactions: who was asked for words or to be sure after one, and which have
# counted. So words that follow are understood after a restart, too, and whoever takes a reaction
# back is told right.

CLICKS_KEPT = 2_000
"""Clicks. What became of older ones nobody asks any more."""
ASKED_FOR = timedelta(minutes=30)
"""So long the next words of a person who was asked for some count as those."""


class ClickState(StrEnum):
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
    state: ClickState

    @property
    def wants_words(self) -> bool:
        """Not for a change: what is said in a thread that waits for one is one, whoever says it."""
        wants = bool(self.choice.asks) and not self.choice.confirm
        return self.state is ClickState.ASKED and wants and self.choice.verb is not Verb.CHANGE


class Clicks:
    """One line a change; the last one of a reaction counts."""

    def __init__(self, path: Path) -> None:
        self._file = JsonLines(path, Click)
        self._clicks: dict[str, Click] = {}
        found = self._file.read()
        for click in found:
            self._hold(click)
        if len(found) > len(self._clicks):
            self._file.rewrite(self._clicks.values())

    def of(self, reaction: str) -> Click | None:
        return self._clicks.get(reaction)

    def keep(self, click: Click) -> None:
        """On disk when this returns."""
        if self._clicks.get(click.reaction) == click:
            return
        self._file.append(click)
        self._hold(click)

    def become(self, click: Click, state: ClickState) -> None:
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
        while len(self._clicks) > CLICKS_KEPT:
            del self._clicks[next(iter(self._clicks))]
