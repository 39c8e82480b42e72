"""What the bot keeps on disk for Matrix: the sync token, who began threads, moved rooms, and reactions that counted."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from adapters import posting
from adapters.files import Disk, append_lines, make_private, put_aside
from bot.core.choices import Choice, Verb
from bot.core.errors import Unavailable
from bot.core.facts import Fact
from bot.core.people import Person, Thread

# How far the bot has heard: the homeserver's token. It moves only when everything before it was
# taken. Another user begins anew; another device of the same user goes on where the last one
# stood, because the token counts for the account.

log = logging.getLogger(__name__)

_BOOKMARK_FILE = "sync.json"


class SyncBookmark:
    """A file in a folder. After a crash it holds the token of before or of after, and nothing else."""

    def __init__(self, folder: Path, user_id: str, device_id: str) -> None:
        self.path = folder / _BOOKMARK_FILE
        self._user_id, self._device_id = user_id, device_id
        self._since = self._read()

    @property
    def since(self) -> str | None:
        """None: this account was never listened to."""
        return self._since

    def move(self, token: str) -> None:
        """A crash may leave the place before: then some is heard again, and known by its id."""
        if token == self._since:
            return
        told = {"user_id": self._user_id, "device_id": self._device_id, "since": token}
        try:
            replace_file(self.path, json.dumps(told).encode())
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self._since = token

    def _read(self) -> str | None:
        try:
            told: Any = json.loads(self.path.read_bytes())
            user_id, since = str(told["user_id"]), str(told["since"])
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = f"{self.path} cannot be read: {error.strerror or error}."
            raise Unavailable(reason, "Let the bot read it.") from error
        except (ValueError, TypeError, KeyError):
            aside = put_aside(self.path)
            log.warning("the place in Matrix is lost", extra={"data": {"kept": str(aside)}})
            return None
        return since if user_id == self._user_id else None


# Who began each thread: the one who is named when a person is needed there.

OWNERS_KEPT = 5_000
"""Threads. Older ones are forgotten: nobody is named there any more."""


class ThreadOwners:
    """One line a thread. A line that was torn is passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        found = _read_owners(path)
        self._owners = dict(list(found.items())[-OWNERS_KEPT:])
        if len(found) > OWNERS_KEPT:
            posting.rewrite_lines(path, map(json.dumps, self._owners.items()))

    def remember(self, thread: Thread, owner: str) -> None:
        """The first one who is named stays."""
        if thread.key in self._owners:
            return
        posting.append_line(self._path, json.dumps((thread.key, owner)), wait=False)
        self._owners[thread.key] = owner

    def owner(self, thread: Thread) -> str:
        """Empty: nobody is known."""
        return self._owners.get(thread.key, "")


def _read_owners(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in posting.read_lines(path):
        try:
            key, owner = json.loads(line)
        except (ValueError, TypeError):
            continue
        found[str(key)] = str(owner)
    return found


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
        self._path = path
        self._moves: dict[str, RoomMove] = {}
        self._now: dict[str, Thread] = {}
        self._was: dict[str, Thread] = {}
        for line in posting.read_lines(path):
            try:
                self._hold(_LINE.validate_json(line))
            except ValidationError:
                # torn by a crash: it was not acted upon yet
                continue

    def keep(self, what: RoomMove | ThreadMove) -> None:
        """On disk when this returns."""
        posting.append_line(self._path, what.model_dump_json())
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
        self._path = path
        self._clicks: dict[str, Click] = {}
        found = posting.read_lines(path)
        for click in _read_clicks(found):
            self._hold(click)
        if len(found) > len(self._clicks):
            posting.rewrite_lines(
                path, (click.model_dump_json() for click in self._clicks.values())
            )

    def of(self, reaction: str) -> Click | None:
        return self._clicks.get(reaction)

    def keep(self, click: Click) -> None:
        """On disk when this returns."""
        if self._clicks.get(click.reaction) == click:
            return
        posting.append_line(self._path, click.model_dump_json())
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


def _read_clicks(found: list[bytes]) -> list[Click]:
    """A line that was torn by a crash was not acted upon yet; it is passed over."""
    clicks: list[Click] = []
    for line in found:
        try:
            clicks.append(Click.model_validate_json(line))
        except ValidationError:
            continue
    return clicks


# Files for the owner only: written whole or not at all, whatever the umask is.

T = TypeVar("T")


def replace_file(path: Path, content: bytes) -> None:
    """After a crash it holds what it held before, or this, and nothing else."""
    make_private(path.parent)
    Disk().replace(path, content)


def append_private_line(path: Path, line: str) -> None:
    """On disk when it returns; behind a line that was torn it is one of its own."""
    try:
        make_private(path.parent)
        append_lines(path, (line,))
    except OSError as error:
        raise cannot_write(path, error) from error


def read_json_lines(path: Path) -> Iterator[Any]:
    """The JSON of each line. One that was torn is passed over."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise _cannot_read(path, error) from error
    for line in lines:
        with suppress(ValueError):
            yield json.loads(line)


def read_json(path: Path, shape: type[T]) -> T | None:
    """None: it is not there, or is broken, or holds something else; such a one is put aside."""
    try:
        return TypeAdapter(shape).validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _cannot_read(path, error) from error
    except ValueError:
        put_aside(path)
        return None


def write_json(path: Path, value: Any) -> None:
    try:
        replace_file(path, json.dumps(value).encode())
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> Unavailable:
    reason = f"{path} cannot be written: {error.strerror or error}."
    return Unavailable(reason, "Free some disk space, or let the bot write there.")


def _cannot_read(path: Path, error: OSError) -> Unavailable:
    return Unavailable(f"{path} cannot be read: {error.strerror or error}.", "Let the bot read it.")
