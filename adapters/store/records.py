"""Splits a session into rows for its journal, so that a save writes only what has changed.

A mutable object is a row of its fields, a list one row per item, a fact one value. Facts are replaced, never changed,
so an identical object needs no comparison, and a save finds changes without reading old data.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from adapters.files import Disk
from adapters.store.journal import JournalDatabase, JournalRow, RowChanges
from bot.core.errors import BrokenStateError
from bot.core.facts import MutableModel
from bot.core.projections.records import Record
from bot.core.session import Session

# The rows of a session.

PLAIN_FIELD = ""
"""The field of a row that is not a model. No model has a field of this name."""


class RecordParts:
    """A record as it was last saved."""

    def __init__(self) -> None:
        self._root = _MutablePart(Record)

    @classmethod
    def from_rows(cls, rows: Mapping[str, JournalRow]) -> tuple[RecordParts, Record]:
        """Build the parts and the record from the rows of a journal."""
        tree, keys = _assembled(rows)
        try:
            record = Record.model_validate(tree)
        except ValidationError as error:
            raise broken_record_error(error) from error
        parts = cls()
        parts._root.mark_saved(record, "", rows.keys(), keys)
        return parts, record

    def changes_to(self, record: Record) -> RowChanges:
        """Return the changes since the last call, as row changes; empty if there are none."""
        change = RowChanges()
        self._root.take(record, "", change)
        return change

    def session(self) -> Session:
        """Return a copy of the session with its own lists; the facts in them are shared."""
        return cast(Record, self._root.built()).session


class _MutablePart:
    """A mutable object: its values, and the parts that have rows of their own."""

    def __init__(self, kind: type[MutableModel]) -> None:
        self._kind = kind
        self._values: dict[str, object] = {}
        self._parts: dict[str, _MutablePart | _ListPart] = {}
        self._new = True

    def mark_saved(
        self, living: MutableModel, path: str, rows: Container[str], keys: Mapping[str, list[int]]
    ) -> None:
        """Mark this part as saved. A part without a row is written as a whole by the next save."""
        if path not in rows:
            return
        self._new = False
        for name, value in vars(living).items():
            inner = f"{path}/{name}"
            if isinstance(value, MutableModel):
                part = self._parts[name] = _MutablePart(type(value))
                part.mark_saved(value, inner, rows, keys)
            elif isinstance(value, list):
                items = self._parts[name] = _ListPart()
                items.mark_saved(cast(list[object], value), inner, rows, keys)
            else:
                self._values[name] = value

    def take(self, living: MutableModel, path: str, change: RowChanges) -> None:
        fields: dict[str, object] = {}
        if self._new:  # its own row comes first, because the rows of its parts are put into it
            change.put[path] = fields
        values = self._values
        for name, value in vars(living).items():
            if value is values.get(name, self):  # the usual case, so it is checked first
                continue
            if isinstance(value, (MutableModel, list)):
                part = self._parts.get(name)
                if type(part) is _ListPart and part.items == value:
                    continue
                self._take_part(
                    name, cast(MutableModel | list[object], value), path, fields, change
                )
            else:
                self._take_value(name, value, path, fields, change)
        if fields and not self._new:
            change.set[path] = fields
        self._new = False

    def drop(self, path: str, change: RowChanges) -> None:
        change.drop.append(path)
        for name, part in self._parts.items():
            part.drop(f"{path}/{name}", change)

    def built(self) -> MutableModel:
        parts = {name: part.built() for name, part in self._parts.items()}
        return self._kind.model_construct(None, **self._values, **parts)

    def _take_part(
        self,
        name: str,
        value: MutableModel | list[object],
        path: str,
        fields: dict[str, object],
        change: RowChanges,
    ) -> None:
        part = self._parts.get(name)
        if isinstance(value, MutableModel):
            if not isinstance(part, _MutablePart):
                part = self._parts[name] = _MutablePart(type(value))
                self._values.pop(name, None)
            part.take(value, f"{path}/{name}", change)
            return
        if not isinstance(part, _ListPart):
            part = self._parts[name] = _ListPart()
            fields[name] = []
        part.take(value, f"{path}/{name}", change)

    def _take_value(
        self, name: str, value: object, path: str, fields: dict[str, object], change: RowChanges
    ) -> None:
        if name in self._parts:
            self._parts.pop(name).drop(f"{path}/{name}", change)
        elif name in self._values and self._values[name] == value:
            return
        self._values[name] = fields[name] = value


class _ListPart:
    """A list. Every item keeps its key while it exists; the order of items is that of the rows."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._keys: list[int] = []
        self._next = 0

    def mark_saved(
        self,
        items: list[object],
        path: str,
        rows: Container[str],
        keys: Mapping[str, list[int]],
    ) -> None:
        self._keys = keys.get(path, [])
        self._next = max(self._keys, default=-1) + 1
        for key, item in zip(self._keys, items, strict=True):
            if isinstance(item, MutableModel):
                saved = _MutablePart(type(item))
                saved.mark_saved(item, f"{path}/{key}", rows, keys)
                self.items.append(saved)
            else:
                self.items.append(item)

    def take(self, items: list[object], path: str, change: RowChanges) -> None:
        count = len(self.items)
        if any(isinstance(item, MutableModel) for item in items[:1]):
            self._take_living(items, path, change)
        elif len(items) >= count and items[:count] == self.items:
            self._add(items[count:], path, change)
        else:
            self._take_rearranged(items, path, change)

    def drop(self, path: str, change: RowChanges) -> None:
        self._remove(range(len(self.items)), path, change)

    def built(self) -> list[object]:
        return [item.built() if isinstance(item, _MutablePart) else item for item in self.items]

    def _take_living(self, items: list[object], path: str, change: RowChanges) -> None:
        for key, saved, item in zip(self._keys, self.items, items, strict=False):
            saved.take(
                cast(MutableModel, item), f"{path}/{key}", change
            )  # a list holds only one kind of item
        self._remove(range(len(items), len(self.items)), path, change)
        self._add(items[len(self.items) :], path, change)

    def _take_rearranged(self, items: list[object], path: str, change: RowChanges) -> None:
        """Handle removed, added or replaced items, and keep the rows of those that can stay."""
        stay = self._unchanged_positions(items)
        differing = [
            index
            for index, item in enumerate(items[: len(self.items)])
            if item != self.items[index]
        ]
        if len(items) == len(self.items) and len(differing) <= len(items) - len(stay):
            for index in differing:
                self.items[index] = items[index]
                change.put[f"{path}/{self._keys[index]}"] = _row(items[index])
            return
        self._remove(sorted(set(range(len(self.items))) - set(stay)), path, change)
        self._add(items[len(stay) :], path, change)

    def _unchanged_positions(self, items: list[object]) -> list[int]:
        """Return the positions at which the first of `items` already are, in the same order."""
        found: list[int] = []
        for item in items:
            try:
                found.append(self.items.index(item, found[-1] + 1 if found else 0))
            except ValueError:
                break
        return found

    def _add(self, items: Iterable[object], path: str, change: RowChanges) -> None:
        for item in items:
            place = f"{path}/{self._next}"
            self._keys.append(self._next)
            self._next += 1
            if isinstance(item, MutableModel):
                saved = _MutablePart(type(item))
                saved.take(item, place, change)
                self.items.append(saved)
            else:
                change.put[place] = _row(item)
                self.items.append(item)

    def _remove(self, indexes: Iterable[int], path: str, change: RowChanges) -> None:
        for index in sorted(indexes, reverse=True):
            place = f"{path}/{self._keys.pop(index)}"
            item = self.items.pop(index)
            if isinstance(item, _MutablePart):
                item.drop(place, change)
            else:
                change.drop.append(place)


def broken_record_error(error: ValidationError) -> BrokenStateError:
    """Return an error with the first problem, without quoting the file, which may contain secrets."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the whole"
    return BrokenStateError(f"{place}: {first['msg']}")


def _row(item: object) -> object:
    return item if isinstance(item, BaseModel) else {PLAIN_FIELD: item}


def _assembled(rows: Mapping[str, JournalRow]) -> tuple[JournalRow, dict[str, list[int]]]:
    """Reassemble the nested rows, and return them with the keys of every list's items in order."""
    built: dict[str, JournalRow] = {}
    keys: dict[str, list[int]] = {}
    try:
        for path, row in rows.items():
            # an empty list receives its items later; it is copied, because the rows belong to the journal
            built[path] = {name: [] if value == [] else value for name, value in row.items()}
            owner, _, name = path.rpartition("/")
            if name.isdecimal():
                keys.setdefault(owner, []).append(int(name))
                owner, _, name = owner.rpartition("/")
                built[owner][name].append(row.get(PLAIN_FIELD, built[path]))
            elif path:
                built[owner][name] = built[path]
        return built[""], keys
    except (KeyError, TypeError, AttributeError) as error:
        raise BrokenStateError("its parts do not fit together") from error


# A session in memory together with the journal that holds it, always in step.

TABLE = "record"


@dataclass
class SavedRecord:
    path: Path
    database: JournalDatabase
    parts: RecordParts
    done: bool = False
    """Whether the session is over, with nothing left to receive or do."""
    saves: int = 0

    @classmethod
    def new(cls, path: Path, disk: Disk) -> SavedRecord:
        """Return one for a record that was never saved."""
        return cls(path, JournalDatabase(path, disk), RecordParts())

    @classmethod
    def read(cls, path: Path, disk: Disk) -> tuple[SavedRecord, Record]:
        """Read the journal and return it with the record. Raises OSError, BrokenStateError, NewerSchemaError."""
        database = JournalDatabase(path, disk)
        rows = database.storage.read() or {}
        parts, record = RecordParts.from_rows(rows.get(TABLE, {}))
        return cls(path, database, parts, is_done(record)), record

    def save(self, record: Record) -> None:
        """Save the changes. After an error neither journal nor parts in memory are valid: read them again."""
        change = self.parts.changes_to(record)
        if change:
            self.database.rows(TABLE).apply(change)
        self.done = is_done(record)
        self.saves += 1


def is_done(record: Record) -> bool:
    return record.session.over and not record.inbox and not record.outbox
