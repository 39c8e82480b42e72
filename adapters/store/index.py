"""The list of all sessions: a cache, so that nobody has to open ten thousand files to know what there is."""

from __future__ import annotations

import platform

from pydantic import AwareDatetime, BaseModel, TypeAdapter, ValidationError

from adapters.store.disk import Disk
from adapters.store.folder import Folder, file_name
from bot.domain.people import Thread
from bot.domain.session import Session
from bot.domain.states import Status


class Line(BaseModel):
    """What the list says of a session."""

    id: str
    thread: Thread
    title: str
    status: str
    phase: str
    repository: str
    host: str
    """The machine on which the bot last knew of it: a home may be moved, or be on a disk that several see."""
    updated_at: AwareDatetime

    @classmethod
    def of(cls, session: Session) -> Line:
        return cls(
            id=session.id,
            thread=session.thread,
            title=session.title,
            status=session.status.value,
            phase=session.phase.value,
            repository=session.repository,
            host=platform.node(),
            updated_at=session.updated_at,
        )

    @property
    def over(self) -> bool:
        return self.status in (Status.COMPLETED, Status.FAILED, Status.DISCARDED)

    def differs(self, other: Line | None) -> bool:
        """Whether it says anything else than the other but for the time."""
        return other is None or self.model_copy(update={"updated_at": other.updated_at}) != other


_LINES = TypeAdapter(list[Line])


class Index:
    def __init__(self, folder: Folder, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk
        self._lines: dict[str, Line] = {}
        self._changed = False
        self._read()

    def lines(self) -> list[Line]:
        """Newest first."""
        return sorted(self._lines.values(), key=lambda line: line.updated_at, reverse=True)

    def note(self, session: Session) -> None:
        line = Line.of(session)
        self._changed |= line.differs(self._lines.get(line.id))
        self._lines[line.id] = line

    def missing(self) -> set[str]:
        """Names of journals it knows nothing true about. What has no journal any more is forgotten."""
        unfinished, finished = self._folder.journals()
        known = {file_name(session_id): line for session_id, line in self._lines.items()}
        for name in known.keys() - unfinished - finished:
            del self._lines[known.pop(name).id]
            self._changed = True
        true = {
            name for name, line in known.items() if name in (finished if line.over else unfinished)
        }
        return (unfinished | finished) - true

    def news(self) -> bytes | None:
        """The file anew, if it would say anything new. Times alone are not worth it."""
        if not self._changed:
            return None
        self._changed = False
        return _LINES.dump_json(list(self._lines.values()))

    def write(self, content: bytes) -> None:
        try:
            self._disk.replace(self._folder.index, content)
        except OSError:
            self._changed = True
            raise

    def _read(self) -> None:
        try:
            lines = _LINES.validate_json(self._disk.read(self._folder.index))
        except (FileNotFoundError, ValidationError):
            self._changed = True  # a cache: it is made again
            return
        self._lines = {line.id: line for line in lines}
