"""TinyDB over a journal: a change is one appended line, so its cost depends only on its size.

A line is the CRC-32 of its text and one JSON value. An incomplete last line, without a line end, is cut off; a complete
but invalid line means that the file was damaged. When the journal has outgrown its contents it is rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from zlib import crc32

from pydantic import TypeAdapter, ValidationError
from tinydb import TinyDB
from tinydb.storages import Storage
from tinydb.table import Table

from adapters.files import Disk
from bot.core.errors import BrokenStateError
from bot.core.migrations import migrate_rows
from bot.core.session import SCHEMA
from bot.core.snapshot import NewerSchemaError

JournalRow = dict[str, Any]
Tables = dict[str, dict[str, JournalRow]]

REWRITE_MARGIN_BYTES = 1_000_000
"""A journal may grow by this much, or to twice its size, before it is rewritten."""


@dataclass(frozen=True, slots=True)
class RowChanges:
    """Changes to the rows of a table, applied in order: `drop` rows, `put` whole rows, `set` fields of rows."""

    drop: list[str] = field(default_factory=list[str])
    put: dict[str, Any] = field(default_factory=dict[str, Any])
    set: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def __bool__(self) -> bool:
        return bool(self.drop or self.put or self.set)


@dataclass(frozen=True, slots=True)
class _Header:
    schema: int


_ANY: TypeAdapter[Any] = TypeAdapter(Any)
# parsed with pydantic, whose JSON parser limits the depth; the standard library's raises RecursionError
_HEADER = TypeAdapter(_Header)
_CHANGES = TypeAdapter(dict[str, RowChanges])


class JournalStorage(Storage):
    """The tables of one file.

    After an OSError it must not be used again, because only the disk knows what was written.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        self._tables: Tables = {}
        self._length = 0
        self._older = False
        """Whether the file has an older format; the next change rewrites it in the current one."""
        if path.exists():
            self._tables, self._length, form = _read(disk.read(path))
            self._older = form < SCHEMA
        self._limit = self._length + max(REWRITE_MARGIN_BYTES, self._length)

    def read(self) -> Tables:
        return self._tables

    def write(self, data: Mapping[str, Mapping[str, Any]]) -> None:
        """Rewrite the whole file. TinyDB calls this when tables are dropped."""
        self._tables = {name: dict(rows) for name, rows in data.items()}
        self._rewrite()

    def commit(self, changes: Mapping[str, RowChanges]) -> None:
        """Append the changes; on disk when it returns, with one fdatasync."""
        plain = {name: _to_json_values(change) for name, change in changes.items()}
        if self._older:
            _apply(self._tables, plain)
            self._rewrite()
            return
        line = _line(plain)
        appended = self._disk.append(self._path, self._length, line)
        _apply(self._tables, plain)
        if not appended:
            self._rewrite()
            return
        self._length += len(line)
        if self._length > self._limit:
            self._shrink()

    def _shrink(self) -> None:
        self._limit = (
            self._length + REWRITE_MARGIN_BYTES
        )  # set first, so that a failure below is retried only later
        with suppress(
            OSError
        ):  # the change itself is already on disk, so a failure here loses nothing
            self._rewrite()

    def _rewrite(self) -> None:
        lines = _line({"schema": SCHEMA})
        lines += _line({name: RowChanges(put=dict(rows)) for name, rows in self._tables.items()})
        self._disk.replace(self._path, lines)
        self._length, self._older = len(lines), False
        self._limit = self._length + max(REWRITE_MARGIN_BYTES, self._length)


class JournalTable(Table):
    """A table whose changes are appended. Rows are named, so new ones are inserted as Documents."""

    document_id_class: Any = str

    def apply(self, change: RowChanges) -> None:
        """Apply several changes atomically."""
        self._commit(change)

    def _update_table(self, updater: Callable[[Any], None]) -> None:
        view = _RecordingView(cast(Mapping[str, Any], self._read_table()))
        updater(view)
        self._commit(view.change)

    def _commit(self, change: RowChanges) -> None:
        cast(JournalStorage, self.storage).commit({self.name: change})
        self.clear_cache()


class JournalDatabase(TinyDB):
    table_class = JournalTable
    default_storage_class = JournalStorage

    def rows(self, name: str) -> JournalTable:
        return cast(JournalTable, self.table(name))


class _RecordingView(MutableMapping[str, JournalRow]):
    """The rows as a mapping for TinyDB's own methods; changes are only recorded."""

    def __init__(self, rows: Mapping[str, Any]) -> None:
        self._rows = rows
        self._noted: dict[str, JournalRow | None] = {}

    @property
    def change(self) -> RowChanges:
        drop = [key for key, row in self._noted.items() if row is None]
        put = {
            key: row for key, row in self._noted.items() if row not in (None, self._rows.get(key))
        }
        return RowChanges(drop=drop, put=put)

    def __getitem__(self, key: str) -> JournalRow:
        if key not in self._noted:
            self._noted[key] = deepcopy(dict(self._rows[key]))
        row = self._noted[key]
        if row is None:
            raise KeyError(key)
        return row

    def __setitem__(self, key: str, row: JournalRow) -> None:
        self._noted[key] = row

    def __delitem__(self, key: str) -> None:
        self._noted[key] = None

    def __iter__(self) -> Iterator[str]:
        kept = (key for key in self._rows if self._noted.get(key, key) is not None)
        added = (
            key for key, row in self._noted.items() if row is not None and key not in self._rows
        )
        yield from [*kept, *added]

    def __len__(self) -> int:
        return sum(1 for _ in self)


def replayed_changes(data: bytes) -> Iterator[tuple[dict[str, dict[str, JournalRow]], Tables]]:
    """Replay the journal: yield the rows each change dropped, and the tables after it, which are the same objects every
    time.
    """
    header, *lines = data.split(b"\n")[:-1] or [b""]
    form = _form(header)
    tables: Tables = {}
    for number, line in enumerate(lines, 2):
        text = _checked_text(line)
        if text is None:
            if _is_incomplete_write(lines[number - 2 :]):
                return
            raise BrokenStateError(f"line {number} is damaged")
        before = {name: dict(rows) for name, rows in tables.items()}
        _replay(tables, text, number)
        gone = {
            name: {key: row for key, row in rows.items() if key not in tables[name]}
            for name, rows in before.items()
        }
        yield gone, _of_today(tables, form)


def _read(data: bytes) -> tuple[Tables, int, int]:
    """Return the tables, the valid length of the file, and its format."""
    header, *lines = data.split(b"\n")[:-1] or [
        b""
    ]  # what follows the last line end was never acknowledged
    form = _form(header)
    tables: Tables = {}
    length = len(header) + 1
    for number, line in enumerate(lines):
        text = _checked_text(line)
        if text is None:
            if _is_incomplete_write(lines[number:]):
                break
            raise BrokenStateError(f"line {number + 2} is damaged")
        _replay(tables, text, number + 2)
        length += len(line) + 1
    return _of_today(tables, form), length, form


def _of_today(tables: Tables, form: int) -> Tables:
    if form == SCHEMA:
        return tables
    return {name: migrate_rows(rows, form) for name, rows in tables.items()}


def _form(header: bytes) -> int:
    text = _checked_text(header)
    if text is None:
        raise BrokenStateError("it does not begin like a journal")
    try:
        schema = _HEADER.validate_json(text).schema
    except ValidationError as error:
        raise BrokenStateError("its first line is not understood") from error
    if schema > SCHEMA:
        raise NewerSchemaError(schema)
    if schema < 1:
        raise BrokenStateError("its first line is not understood")
    return schema


def _replay(tables: Tables, text: bytes, number: int) -> None:
    try:
        _apply(tables, _CHANGES.validate_json(text))
    except (ValidationError, KeyError, TypeError) as error:
        raise BrokenStateError(f"line {number} is not understood") from error


def _apply(tables: Tables, changes: Mapping[str, RowChanges]) -> None:
    for name, change in changes.items():
        rows = tables.setdefault(name, {})
        for key in change.drop:
            rows.pop(key, None)
        rows.update(change.put)
        for key, fields in change.set.items():
            rows[key] = {**rows[key], **fields}


def _to_json_values(change: RowChanges) -> RowChanges:
    """Return the changes with JSON values only."""
    put, fields = _ANY.dump_python((change.put, change.set), mode="json")
    return RowChanges(change.drop, put, fields)


def _line(value: object) -> bytes:
    text = _ANY.dump_json(value)
    return b"%08x %b\n" % (crc32(text), text)


def _checked_text(line: bytes) -> bytes | None:
    """Return the text of a line, or None if its checksum is wrong."""
    text = line[9:]
    return text if line[:9] == b"%08x " % crc32(text) else None


def _is_incomplete_write(lines: list[bytes]) -> bool:
    # A power cut explains it if blocks of the last line never reached the disk and are read as zeros.
    return b"\0" in lines[0] and all(_checked_text(line) is None for line in lines[1:])
