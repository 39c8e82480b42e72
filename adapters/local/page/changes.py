"""What a session has changed, file by file, and where a comment on a line of it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from adapters.local.chat import PLATFORM
from adapters.local.page.data import Changed, ChangedPart
from adapters.local.page.diff import DiffFile, files_of
from adapters.local.page.frame import Context, PageParts
from bot.core.cards import NeedsYouCard
from bot.core.choices import Choice, Verb
from bot.core.layout import lay_out
from bot.core.session import Session
from bot.core.states import Phase, Status, TaskState

MAX_LINES = 1_200
"""Lines on the screen; the files after that are folded. Drawing takes about 30 ms for each thousand."""
LONG_FILE = 400
"""Lines of a file from which on it is folded."""
MAX_LINES_OF_FILE = 5_000
"""Lines of a long file that was opened."""
MAX_FILES = 300
PATIENCE_SECONDS = 0.3
"""How long a screen waits for git. What takes longer is shown when it is there."""
FRESH_FOR = timedelta(seconds=1)
"""How long what git said is not asked for again."""
MAX_READINGS = 20
"""Sessions and tasks whose changes are remembered."""
_JUDGED = (Phase.SPECIFYING, Phase.EXECUTING, Phase.FINISHING)
"""Phases in which words in the thread are judged, and can become a change."""


@dataclass
class _Reading:
    asking: asyncio.Task[tuple[ChangedPart, ...]]
    parts: tuple[ChangedPart, ...] | None
    at: datetime
    late: bool = False
    """A screen was drawn without it."""


class Changes:
    """The screen of the changes. It asks git in the background: `changed` is called when an answer comes late."""

    def __init__(self, parts: PageParts, changed: Changed) -> None:
        self._parts = parts
        self._changed = changed
        self._readings: dict[tuple[str, str], _Reading] = {}

    async def screen(self, session: Session, query: Mapping[str, str]) -> Context:
        keys = [task.key for task in session.tasks if task.workspace]
        task = query.get("task", "")
        task = task if task in keys else ""
        address = f"#/s/{session.id}/changes"
        parts = await self._read(session, task)
        files, left_out = _shown_files(parts or (), query.get("open", ""))
        routes = _routes(self._parts, session)
        return {
            "reading": parts is None,
            "parts": parts or (),
            "files": files,
            "left_out": left_out,
            "tree": [
                (folder, list(group)) for folder, group in groupby(files, lambda one: one.folder)
            ],
            "added": sum(one.file.added for one in files),
            "removed": sum(one.file.removed for one in files),
            "tasks": [(f"{address}?task={key}", key, key == task) for key in keys],
            "all_address": address,
            "task": task,
            "open_address": f"{address}?task={task}&open=" if task else f"{address}?open=",
            "routes": routes,
        }

    async def size(self, session: Session) -> tuple[int, int] | None:
        """Return how many lines were added and removed, or `None` while git is asked."""
        parts = await self._read(session, "") if any(t.workspace for t in session.tasks) else ()
        if parts is None:
            return None
        files = [file for part in parts for file in files_of(part.patch, "")]
        return sum(file.added for file in files), sum(file.removed for file in files)

    async def _read(self, session: Session, task: str) -> tuple[ChangedPart, ...] | None:
        key = (session.id, task)
        now = self._parts.data.now()
        reading = self._readings.pop(key, None)
        if reading is None or (reading.asking.done() and abs(now - reading.at) > FRESH_FOR):
            asking = asyncio.create_task(self._parts.data.changes(session, task))
            reading = _Reading(asking, reading.parts if reading else None, now)
            asking.add_done_callback(lambda _, one=reading: self._came(session.id, one))
        self._readings[key] = reading
        while len(self._readings) > MAX_READINGS:
            self._readings.pop(next(iter(self._readings))).asking.cancel()
        await asyncio.wait({reading.asking}, timeout=PATIENCE_SECONDS)
        if reading.asking.done():
            reading.parts = reading.asking.result()
        else:
            reading.late = True
        return reading.parts

    def _came(self, session_id: str, reading: _Reading) -> None:
        reading.at = self._parts.data.now()
        if reading.late and not reading.asking.cancelled():
            self._changed(session_id)

    async def close(self) -> None:
        for reading in self._readings.values():
            reading.asking.cancel()
        await asyncio.gather(
            *(one.asking for one in self._readings.values()), return_exceptions=True
        )


@dataclass(frozen=True)
class ShownFile:
    file: DiffFile
    tasks: tuple[str, ...]
    shown: int
    """How many of its lines are shown; 0: it is folded."""

    @property
    def folder(self) -> str:
        return self.file.folder

    @property
    def left_out(self) -> int:
        return len(self.file.rows) - self.shown


def _shown_files(parts: Sequence[ChangedPart], opened: str) -> tuple[list[ShownFile], int]:
    """Return the files with how much of each is shown, and how many are not even listed."""
    every = [(part, file) for part in parts for file in files_of(part.patch, ",".join(part.tasks))]
    every.sort(key=lambda one: (one[1].folder, one[1].name))
    room = MAX_LINES
    shown: list[ShownFile] = []
    for part, file in every[:MAX_FILES]:
        lines = len(file.rows)
        if file.id == opened:
            lines = min(lines, MAX_LINES_OF_FILE)
        elif lines > min(LONG_FILE, room):
            lines = 0
        else:
            room -= lines
        shown.append(ShownFile(file, part.tasks, lines))
    return shown, len(every) - len(shown)


# Where a comment goes.


def _routes(parts: PageParts, session: Session) -> dict[str, Context]:
    """Return by task how a comment reaches its agent; empty if nothing can be said from here.

    An agent whose task waits for a person gets it at once; everything else said in the thread may become a change.
    """
    here = session.thread.platform == PLATFORM
    if not here or session.status is not Status.ACTIVE or session.phase not in _JUDGED:
        return {}
    words: Context = {"name": "", "to": "words"}
    found = {"": words, **{task.key: words for task in session.tasks}}
    for card in parts.data.waiting(session):
        if isinstance(card, NeedsYouCard) and (choice := _hint(card)):
            task = session.task(choice.about.partition(":")[0])
            if task and task.state in (TaskState.BLOCKED, TaskState.FAILED):
                button = parts.button(session.thread, card.key, choice, session.id)
                found[task.key] = {"name": button["name"], "to": str(choice.verb)}
    return found


def _hint(card: NeedsYouCard) -> Choice | None:
    """Return the button of the card that takes words for the agent."""
    choices = {choice.verb: choice for choice in lay_out(card).choices}
    return choices.get(Verb.SEND_BACK) or choices.get(Verb.HINT)
