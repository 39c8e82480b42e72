"""The archive of one session, for passing it on, with the history of its events."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from adapters.files import Disk
from adapters.store.journal import JournalRow, replayed_changes
from adapters.store.records import TABLE, RecordParts, broken_record_error
from bot.core.actions import Order
from bot.core.errors import BrokenStateError, Refused
from bot.core.events import Event, Result
from bot.core.migrations import migrate_session
from bot.core.projections.records import (
    EXPORT_FORMAT,
    DecidedEvent,
    EventHistory,
    FileMark,
    Manifest,
    Record,
    states_of,
)
from bot.core.session import SCHEMA, Session

# A tar.gz whose manifest lists every file with its hash. It is read in memory and never unpacked: an archive from
# somebody else must neither fill the disk nor choose where files go.

MANIFEST, HISTORY = "manifest.json", "history.jsonl"
MAX_ARCHIVE_BYTES = 500_000_000
"""Total bytes, unpacked."""
MAX_FILES = 10_000
_BROKEN = (
    *(tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile),
    # raised by tarfile for malicious headers
    *(ValueError, RecursionError),
)
_RECORD: TypeAdapter[dict[str, dict[str, Any]]] = TypeAdapter(dict[str, Any])
_MEND = "Export the session again; an archive must not be changed."


def pack_archive(program: str, session_id: str, title: str, files: Mapping[str, bytes]) -> bytes:
    """Return the archive; the same files always give the same bytes."""
    marks = tuple(
        FileMark(name=name, bytes=len(content), sha256=sha256(content).hexdigest())
        for name, content in sorted(files.items())
    )
    manifest = Manifest(program=program, session=session_id, title=title, files=marks)
    out = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        _add(tar, MANIFEST, manifest.model_dump_json(indent=1).encode())
        for name, content in sorted(files.items()):
            _add(tar, name, content)
    return out.getvalue()


def history_lines(history: EventHistory) -> bytes:
    """Return the start of the history, then one step per line."""
    texts = [history.start.model_dump_json(), *(step.model_dump_json() for step in history.steps)]
    return "".join(f"{text}\n" for text in texts).encode("utf-8", "replace")


def open_archive(path: Path, largest: int = MAX_ARCHIVE_BYTES) -> tuple[Manifest, EventHistory]:
    """Read an archive and verify it; raise Refused if it is none, incomplete, too large, or was changed."""
    files = _files(path, largest)
    manifest = _manifest(path, files)
    for mark in manifest.files:
        content = files.get(mark.name)
        if content is None:
            raise Refused(f"{path} lacks {mark.name}.", _MEND)
        if sha256(content).hexdigest() != mark.sha256:
            raise Refused(f"{mark.name} in {path} is not what was exported.", _MEND)
    if strangers := files.keys() - {mark.name for mark in manifest.files} - {MANIFEST}:
        raise Refused(f"{path} holds {min(strangers)}, which its manifest does not name.", _MEND)
    return manifest, _history(path, files.get(HISTORY, b""))


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    about = tarfile.TarInfo(name)
    about.size, about.mode = len(content), 0o600
    tar.addfile(about, io.BytesIO(content))


class _LimitedUnpacker(io.BufferedIOBase):
    """Limits what is unpacked from the archive, including headers, which tarfile reads completely."""

    def __init__(self, file: gzip.GzipFile, path: Path, room: int) -> None:
        self._file, self._path, self._room = file, path, room

    def read(self, size: int | None = -1, /) -> bytes:
        data = self._file.read(size)
        self._room -= len(data)
        if self._room < 0:
            raise _too_large(self._path)
        return data


def _too_large(path: Path) -> Refused:
    return Refused(f"{path} is too large for an archive of a session.")


def _files(path: Path, largest: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    try:
        with (
            gzip.open(path) as zipped,
            tarfile.open(fileobj=_LimitedUnpacker(zipped, path, largest), mode="r|") as tar,
        ):
            for about in tar:
                if about.size > largest or len(found) >= MAX_FILES:
                    raise _too_large(path)
                # a sparse file claims any number of zeros that are not in the archive
                plain = about.isreg() and not about.issparse()
                file = tar.extractfile(about) if plain else None
                if file is None:
                    raise Refused(f"{path} holds {about.name}, which is no file.", _MEND)
                found[about.name] = file.read()
    except FileNotFoundError as error:
        raise Refused(f"There is no file {path}.") from error
    except _BROKEN as error:
        raise Refused(f"{path} is no whole archive of a session (tar.gz).", _MEND) from error
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror or error}.") from error
    return found


def _manifest(path: Path, files: Mapping[str, bytes]) -> Manifest:
    try:
        manifest = Manifest.model_validate_json(files.get(MANIFEST, b""))
    except ValidationError as error:
        raise Refused(f"{path} has no manifest that I understand.", _MEND) from error
    if manifest.format > EXPORT_FORMAT:
        raise Refused(f"{path} was made by a newer gwt-bot.", "Update gwt-bot to replay it.")
    return manifest


def _history(path: Path, content: bytes) -> EventHistory:
    first, *rest = content.splitlines() or [b""]
    try:
        return EventHistory(start=_read_start(first), steps=tuple(_read_steps(rest)))
    except ValidationError as error:
        raise Refused(
            f"I do not understand the history in {path}.",
            "Replay it with the gwt-bot that its manifest names.",
        ) from error


def _read_start(row: bytes) -> Record:
    saved = _RECORD.validate_json(row)
    session = saved.get("session", {})
    form = session.get("schema_version", SCHEMA)
    if isinstance(form, int) and 1 <= form < SCHEMA:
        saved["session"] = migrate_session(session, form)
    return Record.model_validate(saved)


def _read_steps(rows: Iterable[bytes]) -> Iterable[DecidedEvent]:
    return (DecidedEvent.model_validate_json(row) for row in rows)


# The events of a session, read from its journal: each decided event, and what it led to.

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)
_INBOX = "/inbox/"


def read_history(journal: Path, disk: Disk | None = None) -> tuple[EventHistory, Session]:
    """Return the history and the current session. Raises FileNotFoundError, BrokenStateError, NewerSchemaError."""
    start = last = None
    steps: list[DecidedEvent] = []
    for gone, tables in replayed_changes((disk or Disk()).read(journal)):
        events = [row for key, row in gone.get(TABLE, {}).items() if key.startswith(_INBOX)]
        if start is None or events:
            record = RecordParts.from_rows(tables.get(TABLE, {}))[1]
            start, last = start or record, record
            steps += _steps(events, record)
    if start is None or last is None:
        raise BrokenStateError(f"{journal} says nothing of a session")
    return EventHistory(start=start, steps=tuple(steps)), last.session


def _steps(events: list[JournalRow], after: Record) -> Iterator[DecidedEvent]:
    for row in events:
        yield DecidedEvent(
            event=_event(row),
            stand=states_of(after.session),
            orders=tuple(sorted(a.key for a in after.outbox if isinstance(a, Order))),
            answered=tuple(e.answers for e in after.inbox if isinstance(e, Result)),
        )


def _event(row: Mapping[str, object]) -> Event:
    try:
        return _EVENT.validate_python(row)
    except ValidationError as error:
        raise broken_record_error(error) from error
