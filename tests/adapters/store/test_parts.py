"""Whatever becomes of a record, its rows say the same."""

from __future__ import annotations

import random
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from adapters.store.journal import RowChanges
from adapters.store.records import RecordParts
from bot.core.errors import BrokenStateError
from bot.core.projections.records import Record
from tests.adapters.store.anything import THOROUGH, any_of
from tests.adapters.store.samples import busy, everything, said

T = TypeVar("T")

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


class Rows:
    """The rows of a journal, without the journal."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}

    def apply(self, change: RowChanges) -> None:
        put, fields = _ANY.validate_json(_ANY.dump_json((change.put, change.set)))
        for key in change.drop:
            del self.rows[key]
        self.rows.update(put)
        for key, values in fields.items():
            self.rows[key] = {**self.rows[key], **values}

    def record(self) -> Record:
        return RecordParts.restored(self.rows)[1]


@settings(THOROUGH, max_examples=15)
@given(st.lists(any_of(Record), min_size=2, max_size=3))
def test_any_record_may_become_any_other(records: list[Record]) -> None:
    parts, rows = RecordParts(), Rows()
    for record in records:
        rows.apply(parts.take(record))
        assert rows.record() == record
        assert parts.session() == record.session
        parts, _ = RecordParts.restored(rows.rows)  # as after a restart


def test_every_field_may_come_and_go() -> None:
    parts, rows = RecordParts(), Rows()
    for record in (busy(), everything(), busy()):
        rows.apply(parts.take(record))
        assert rows.record() == record
        assert parts.session() == record.session


@pytest.mark.parametrize("seed", range(30))
def test_lists_may_be_rearranged_in_any_way(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    parts, rows, living = RecordParts(), Rows(), busy()
    for step in range(40):
        living.inbox = rearranged(chance, living.inbox, [said(f"e-{step}-{n}") for n in range(3)])
        living.heard = rearranged(
            chance, living.heard, [str(chance.randrange(5)) for _ in range(3)]
        )
        living.session.tasks = rearranged(chance, living.session.tasks, busy().session.tasks)
        for task in living.session.tasks:
            task.runs = rearranged(chance, task.runs, [])
        rows.apply(parts.take(living))
        assert rows.record() == living
        if chance.random() < 0.2:
            parts, living = RecordParts.restored(rows.rows)


def rearranged(chance: random.Random, items: list[T], more: list[T]) -> list[T]:
    items = [*items]
    for _ in range(chance.randrange(3)):
        match chance.randrange(5):
            case 0 if items:
                items.pop(0)
            case 1 if items:
                items.pop(chance.randrange(len(items)))
            case 2 if items and more:
                items[chance.randrange(len(items))] = chance.choice(more)
            case 3 if more:
                items.insert(chance.randrange(len(items) + 1), chance.choice(more))
            case _:
                items += more[:1]
    return items[-8:]


@pytest.mark.parametrize(
    "harm",
    [
        {},
        {"": {}},
        {"": {"session": {}}},
        {"/session/tasks/0": {}},
        {"": {"inbox": 5, "outbox": [], "heard": []}, "/inbox/0": {"": 1}},
        {"": {"inbox": [], "outbox": [], "heard": []}, "/session": {"id": 7}},
    ],
)
def test_rows_that_make_no_record_are_broken(harm: dict[str, dict[str, Any]]) -> None:
    with pytest.raises(BrokenStateError):
        RecordParts.restored(harm)


def test_what_is_wrong_is_said_without_showing_what_the_file_says() -> None:
    parts, rows = RecordParts(), Rows()
    rows.apply(parts.take(busy()))
    rows.rows["/session"]["status"] = "xoxb-secret"
    with pytest.raises(BrokenStateError) as caught:
        rows.record()
    assert "session.status" in str(caught.value)
    assert "secret" not in str(caught.value)
