"""Beside each journal stands the session as a file for others; a file of others is taken in."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.files import Disk
from adapters.store import JournalStore
from bot.core.session import SCHEMA, Session
from bot.core.snapshot import restore
from bot.core.states import Status
from tests.adapters.store.disks import CountingDisk, files_no_larger_than
from tests.adapters.store.samples import busy, everything, record
from tests.domain.test_snapshot import EXAMPLE, differences, example

EXAMPLE_ID = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JournalStore]:
    store = JournalStore(tmp_path, export_delay=0.05)
    yield store
    store.close()


def eventually(so: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.005)


def exported(home: Path, name: str = "one") -> Path:
    return home / "sessions" / f"{name}.json"


@pytest.mark.covers("G-US7.1", "G-RULE-STORE-2", "G-FR-010", "G-FILE-1", "B-STORE-1")
def test_a_saved_session_is_exported_soon(store: JournalStore, tmp_path: Path) -> None:
    store.save(busy())
    eventually(exported(tmp_path).exists)
    assert restore(exported(tmp_path).read_bytes()) == busy().session


def test_no_field_is_lost_in_the_journal_or_in_the_export(tmp_path: Path) -> None:
    store = JournalStore(tmp_path, export_delay=3600)
    store.save(everything())
    store.close()
    assert JournalStore(tmp_path, export_delay=3600).load() == [everything()]
    assert restore(exported(tmp_path).read_bytes()) == everything().session


def test_a_session_is_whole_again_from_its_export_alone(tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    store = JournalStore(here, export_delay=3600)
    store.save(everything())
    store.close()
    other = JournalStore(elsewhere, export_delay=3600)
    exported(elsewhere).write_bytes(exported(here).read_bytes())
    assert [loaded.session for loaded in other.load()] == [everything().session]


def test_the_export_follows_every_save(store: JournalStore, tmp_path: Path) -> None:
    for number in range(3):
        saved = busy()
        saved.session.continues = number
        store.save(saved)
        eventually(partial(says, exported(tmp_path), saved.session))


def says(path: Path, session: Session) -> bool:
    return path.exists() and restore(path.read_bytes()) == session


def test_many_saves_are_one_export(tmp_path: Path) -> None:
    class Exports(CountingDisk):
        def replace(self, path: Path, data: bytes, **how: Any) -> None:
            exports.append(path)
            super().replace(path, data, **how)

    exports: list[Path] = []
    store = JournalStore(tmp_path, disk=Exports(), export_delay=3600)
    saved = busy()
    for number in range(50):
        saved.session.continues = number
        store.save(saved)
    store.close()
    assert exports.count(exported(tmp_path)) == 1


def test_a_session_saved_while_it_is_exported_is_exported_again_before_it_is_let_go(
    tmp_path: Path,
) -> None:
    class Interrupting(Disk):
        def replace(self, path: Path, data: bytes, **how: Any) -> None:
            super().replace(path, data, **how)
            if path == exported(tmp_path) and later:
                store.save(later.pop())

    over = record(status=Status.COMPLETED)
    over.session.continues = 1
    later = [over]
    store = JournalStore(tmp_path, disk=Interrupting(), export_delay=3600)
    store.save(record(status=Status.COMPLETED))
    store.close()
    assert later == []
    assert restore(exported(tmp_path).read_bytes()) == over.session
    assert JournalStore(tmp_path, export_delay=3600).find("one") == over


@pytest.mark.covers("G-SC-004")
def test_the_default_delay_keeps_an_export_younger_than_a_second(tmp_path: Path) -> None:
    store = JournalStore(tmp_path)
    store.save(busy())
    eventually(exported(tmp_path).exists, seconds=20)
    age = (
        exported(tmp_path).stat().st_mtime
        - (tmp_path / "sessions/unfinished/one.journal").stat().st_mtime
    )
    assert age > 0
    store.close()


def test_an_export_that_is_late_because_of_a_full_disk_comes_when_there_is_room(
    store: JournalStore, tmp_path: Path
) -> None:
    exported(tmp_path).mkdir()  # a file cannot take its place
    store.save(busy())
    store.save(record("two"))
    eventually(exported(tmp_path, "two").exists)
    exported(tmp_path).rmdir()
    eventually(exported(tmp_path).exists)


def test_an_export_that_a_crash_kept_back_is_made_at_the_next_start(tmp_path: Path) -> None:
    JournalStore(tmp_path, export_delay=3600).save(busy())
    JournalStore(tmp_path, export_delay=3600).save(record("over", status=Status.FAILED))
    assert not exported(tmp_path).exists()
    store = JournalStore(tmp_path, export_delay=3600)
    store.load()
    store.close()
    assert exported(tmp_path).exists()
    assert exported(tmp_path, "over").exists()
    assert (tmp_path / "sessions/finished/over.journal").exists()


@pytest.mark.covers("G-FILE-1", "G-FILE-2")
def test_gwts_session_file_is_taken_in(store: JournalStore, tmp_path: Path) -> None:
    exported(tmp_path, EXAMPLE_ID).write_text(EXAMPLE)
    (loaded,) = store.load()
    assert loaded.session == restore(EXAMPLE.encode())
    assert JournalStore(tmp_path, export_delay=3600).load() == [loaded]
    eventually(lambda: "state" in json.loads(exported(tmp_path, EXAMPLE_ID).read_text()))
    assert (
        differences(json.loads(EXAMPLE), json.loads(exported(tmp_path, EXAMPLE_ID).read_text()))
        == []
    )


def test_a_finished_file_is_taken_in_and_found(store: JournalStore, tmp_path: Path) -> None:
    exported(tmp_path, EXAMPLE_ID).write_bytes(example(status="Completed"))
    assert store.load() == []
    found = store.find("a1b2")
    assert found
    assert found.session.status is Status.COMPLETED
    assert [line.title for line in store.sessions()] == ["Add authentication feature"]


def test_where_there_is_a_journal_the_file_counts_for_nothing(
    store: JournalStore, tmp_path: Path
) -> None:
    store.save(busy())
    eventually(exported(tmp_path).exists)
    store.close()
    exported(tmp_path).write_text("edited by hand")
    again = JournalStore(tmp_path, export_delay=3600)
    assert again.load() == [busy()]
    assert again.broken == ()
    again.close()
    assert restore(exported(tmp_path).read_bytes()) == busy().session


@pytest.mark.parametrize(
    "content", [b"", b"[" * 200_000, b'{"id": "x"}', example(status="Sleeping")]
)
def test_a_broken_file_is_put_aside(store: JournalStore, tmp_path: Path, content: bytes) -> None:
    exported(tmp_path, EXAMPLE_ID).write_bytes(content)
    assert store.load() == []
    (aside,) = (tmp_path / "sessions").glob("*.json.broken-*")
    assert aside.read_bytes() == content
    assert aside.name in store.broken[0]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (EXAMPLE_ID, example(schema_version=SCHEMA + 1), "newer version"),
        ("copy of it", EXAMPLE.encode(), EXAMPLE_ID),
    ],
)
def test_a_file_that_is_not_for_us_is_left_as_it_is_and_told(
    store: JournalStore, tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    exported(tmp_path, name).write_bytes(content)
    assert store.load() == []
    assert exported(tmp_path, name).read_bytes() == content
    assert told in store.broken[0]


def test_a_file_is_not_taken_in_on_a_full_disk(store: JournalStore, tmp_path: Path) -> None:
    exported(tmp_path, EXAMPLE_ID).write_text(EXAMPLE)
    with files_no_larger_than(50):
        assert store.load() == []
    assert "the disk is full" in store.broken[0]
    assert exported(tmp_path, EXAMPLE_ID).read_text() == EXAMPLE
    assert len(JournalStore(tmp_path, export_delay=3600).load()) == 1
