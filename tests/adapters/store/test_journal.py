"""The journal by itself: torn, damaged and through TinyDB's own methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from tinydb import where
from tinydb.table import Document

from adapters.files import Disk
from adapters.store.journal import JournalDatabase, RowChanges
from adapters.store.records import SavedRecord
from bot.core.errors import BrokenStateError
from bot.core.session import SCHEMA
from bot.core.snapshot import NewerSchemaError
from tests.adapters.store.samples import busy, copied, show


def database(path: Path) -> JournalDatabase:
    return JournalDatabase(path, Disk())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "any.journal"
    rows = database(path).rows("fruit")
    rows.apply(
        RowChanges(put={"a": {"name": "apple", "price": 3}, "b": {"name": "pear", "price": 4}})
    )
    rows.apply(RowChanges(set={"a": {"price": 5}}))
    rows.apply(RowChanges(drop=["b"], put={"c": {"name": "plum", "price": 1}}))
    return path


def fruit(path: Path) -> dict[str, object]:
    return dict(database(path).storage.read() or {}).get("fruit", {})


def test_what_was_written_is_read(path: Path) -> None:
    assert fruit(path) == {"a": {"name": "apple", "price": 5}, "c": {"name": "plum", "price": 1}}


def test_a_line_cut_off_anywhere_never_happened(path: Path) -> None:
    whole = path.read_bytes()
    last = whole[:-1].rindex(b"\n") + 1
    for length in range(last, len(whole)):
        path.write_bytes(whole[:length])
        assert fruit(path) == {
            "a": {"name": "apple", "price": 5},
            "b": {"name": "pear", "price": 4},
        }
        database(path).rows("fruit").apply(
            RowChanges(drop=["b"], put={"c": {"name": "plum", "price": 1}})
        )
        assert path.read_bytes() == whole


def test_a_short_change_after_a_long_one_that_was_cut_off_leaves_nothing_of_it(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole + b"00000000 " + b"x" * 5000)
    database(path).rows("fruit").apply(RowChanges(drop=["a"]))
    assert fruit(path) == {"c": {"name": "plum", "price": 1}}
    assert path.stat().st_size < len(whole) + 100


def test_blocks_of_the_last_line_that_never_arrived_are_cut_off(path: Path) -> None:
    whole = path.read_bytes()
    last = whole[:-1].rindex(b"\n") + 1
    for end in (b"", b"\n"):
        path.write_bytes(whole[: last + 20] + bytes(30) + whole[last + 50 : -1] + end)
        assert "c" not in fruit(path)


def test_every_changed_byte_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(BrokenStateError):
            fruit(path)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 200_000,
        b'{"fruit": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"fruit": 5}',
        b'{"fruit": {"set": {"nobody": {"price": 1}}}}',
        b'{"fruit": {"put": ["a"]}}',
        b'{"fruit": {"set": {"a": 5}}}',
        b"\xff",
        b"",
    ],
)
def test_a_line_that_makes_no_sense_is_broken_whatever_its_checksum(
    path: Path, text: bytes
) -> None:
    path.write_bytes(path.read_bytes() + b"%08x %b\n" % (crc32(text), text))
    with pytest.raises(BrokenStateError):
        fruit(path)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"hello\n", b"{}\n", b"\0" * 500, b'00000000 {"schema":1}\n']
)
def test_what_does_not_begin_like_a_journal_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.journal"
    path.write_bytes(content)
    with pytest.raises(BrokenStateError):
        fruit(path)


def test_a_newer_journal_is_not_read(path: Path) -> None:
    text = b'{"schema":%d,"and":"more"}' % (SCHEMA + 1)
    path.write_bytes(b"%08x %b\nwho knows\n" % (crc32(text), text))
    with pytest.raises(NewerSchemaError):
        fruit(path)


def test_tinydbs_own_methods_work_and_last(path: Path) -> None:
    rows: Any = database(path).rows("fruit")  # TinyDB leaves its types open
    name: Any = "d"
    rows.insert(Document({"name": "fig", "price": 9}, name))  # our rows have names
    rows.update({"price": 2}, where("name") == "plum")
    rows.remove(where("name") == "apple")
    assert fruit(path) == {"c": {"name": "plum", "price": 2}, "d": {"name": "fig", "price": 9}}
    assert [row["name"] for row in database(path).rows("fruit").search(where("price") > 5)] == [
        "fig"
    ]


def test_a_search_after_a_change_sees_it(path: Path) -> None:
    rows = database(path).rows("fruit")
    assert len(rows.search(where("price") > 3)) == 1
    rows.apply(RowChanges(set={"c": {"price": 8}}))
    assert len(rows.search(where("price") > 3)) == 2


def test_an_update_writes_only_the_rows_it_changes(path: Path) -> None:
    before = path.stat().st_size
    rows: Any = database(path).rows("fruit")
    rows.update({"price": 2}, where("name") == "plum")
    written = path.read_bytes()[before:]
    assert b"plum" in written
    assert b"apple" not in written


def test_dropped_tables_are_gone(path: Path) -> None:
    database(path).drop_tables()
    assert fruit(path) == {}


def test_a_record_cut_off_anywhere_is_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "one.journal"
    kept = SavedRecord.fresh(path, Disk())
    kept.save(busy())
    first = path.stat().st_size
    changed = copied(busy())
    changed.outbox.append(show("c"))
    changed.session.failure = "oh"
    kept.save(changed)
    whole = path.read_bytes()
    for length in range(first, len(whole)):
        path.write_bytes(whole[:length])
        assert SavedRecord.read(path, Disk())[1] == busy()
    path.write_bytes(whole)
    assert SavedRecord.read(path, Disk())[1] == changed
