"""However many sessions there were, a start reads those that are not over; the list of all is a cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapters.store import JournalStore
from bot.core.states import Status
from tests.adapters.store.disks import CountingDisk, HastyDisk
from tests.adapters.store.samples import record, show

STORED = 2000
ACTIVE = 20


def names(paths: list[Path]) -> list[str]:
    return sorted(path.name for path in paths)


@pytest.fixture(scope="module")
def old_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two thousand sessions, twenty of them active. Read only."""
    home = tmp_path_factory.mktemp("old")
    store = JournalStore(home, disk=HastyDisk(), export_delay=3600)
    store.sessions()
    for number in range(STORED):
        status = Status.PAUSED if number % (STORED // ACTIVE) == 0 else Status.COMPLETED
        store.save(record(f"s-{number:04}", status=status, messages=2))
    store.close()
    return home


def test_a_start_opens_the_active_ones_only(old_home: Path) -> None:
    disk = CountingDisk()
    loaded = JournalStore(old_home, disk=disk, export_delay=3600).load()
    assert len(loaded) == ACTIVE
    assert names(disk.read_files) == [
        f"s-{number:04}.journal" for number in range(0, STORED, STORED // ACTIVE)
    ]


def test_the_list_of_all_opens_the_index_only(old_home: Path) -> None:
    disk = CountingDisk()
    lines = JournalStore(old_home, disk=disk, export_delay=3600).sessions()
    assert len(lines) == STORED
    assert names(disk.read_files) == ["index.json"]


def test_a_beginning_of_an_id_opens_the_index_and_that_one(old_home: Path) -> None:
    disk = CountingDisk()
    found = JournalStore(old_home, disk=disk, export_delay=3600).find("s-1999")
    assert found
    assert names(disk.read_files) == ["s-1999.journal"]


def a_home(home: Path) -> Path:
    store = JournalStore(home, export_delay=3600)
    store.sessions()
    store.save(record("active"))
    store.save(record("over", status=Status.COMPLETED))
    store.close()
    return home


@pytest.mark.parametrize("content", [None, b"", b"garbage", b"[" * 200_000, b'[{"id": 5}]', b"[]"])
def test_an_index_that_is_missing_or_broken_is_made_again(
    tmp_path: Path, content: bytes | None
) -> None:
    index = a_home(tmp_path) / "index.json"
    whole = index.read_bytes()
    index.unlink()
    if content is not None:
        index.write_bytes(content)
    store = JournalStore(tmp_path, export_delay=3600)
    store.load()
    assert {(line.id, line.status) for line in store.sessions()} == {
        ("active", "Active"),
        ("over", "Completed"),
    }
    store.close()
    assert len(index.read_bytes()) == len(whole)
    assert store.broken == ()


def test_the_index_says_which_machine_knew_of_a_session_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home is moved: what is over stays where it was, and is there all the same."""
    monkeypatch.setattr("platform.node", lambda: "first")
    index = a_home(tmp_path) / "index.json"
    monkeypatch.setattr("platform.node", lambda: "second")
    store = JournalStore(tmp_path, export_delay=3600)
    store.load()
    store.sessions()
    store.close()
    lines = json.loads(index.read_bytes())
    assert {line["id"]: line["host"] for line in lines} == {"active": "second", "over": "first"}


def test_an_index_older_than_the_journals_is_put_right(tmp_path: Path) -> None:
    index = a_home(tmp_path) / "index.json"
    old = index.read_bytes()
    store = JournalStore(tmp_path, export_delay=3600)
    store.save(record("active", status=Status.FAILED))
    store.save(record("over", status=Status.ACTIVE))
    store.save(record("new"))
    store.close()
    index.write_bytes(old)
    lines = JournalStore(tmp_path, export_delay=3600).sessions()
    assert {(line.id, line.status) for line in lines} == {
        ("active", "Failed"),
        ("over", "Active"),
        ("new", "Active"),
    }


def test_a_session_whose_journal_was_removed_is_not_listed(tmp_path: Path) -> None:
    a_home(tmp_path)
    (tmp_path / "sessions/finished/over.journal").unlink()
    assert [line.id for line in JournalStore(tmp_path, export_delay=3600).sessions()] == ["active"]


def test_what_is_over_leaves_memory_and_the_folder_that_is_read_at_start(tmp_path: Path) -> None:
    a_home(tmp_path)
    assert names([*(tmp_path / "sessions/unfinished").iterdir()]) == ["active.journal"]
    assert names([*(tmp_path / "sessions/finished").iterdir()]) == ["over.journal"]


def test_a_session_opened_again_is_loaded_though_the_bot_was_killed_at_once(tmp_path: Path) -> None:
    a_home(tmp_path)
    JournalStore(tmp_path, export_delay=3600).save(record("over", status=Status.ACTIVE))
    loaded = JournalStore(tmp_path, export_delay=3600).load()
    assert sorted(one.session.id for one in loaded) == ["active", "over"]


def test_a_late_word_about_what_is_over_is_kept_where_it_lies(tmp_path: Path) -> None:
    a_home(tmp_path)
    late = record("over", status=Status.COMPLETED)
    late.session.continues = 1
    store = JournalStore(tmp_path, export_delay=3600)
    store.save(late)
    assert store.find("over") == late
    reopened = record("over", status=Status.ACTIVE)
    store.save(reopened)  # still in memory, and now to be worked on again
    assert reopened in JournalStore(tmp_path, export_delay=3600).load()


def test_what_is_over_stays_where_it_is_found_until_its_last_card_is_shown(tmp_path: Path) -> None:
    store = JournalStore(tmp_path, export_delay=3600)
    over = record("over", status=Status.COMPLETED)
    over.outbox = [show("result")]
    store.save(over)
    store.close()
    again = JournalStore(tmp_path, export_delay=3600)
    assert again.load() == [over]
    over.outbox = []
    again.save(over)
    again.close()
    assert JournalStore(tmp_path, export_delay=3600).load() == []
    assert (tmp_path / "sessions/finished/over.journal").exists()
