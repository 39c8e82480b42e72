"""What a save costs, and what it leaves when the disk does not do as it is told."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from adapters.files import Disk
from adapters.store import JournalStore
from adapters.store.journal import SLACK_BYTES
from bot.core.errors import Unavailable
from bot.core.projections.records import Record
from bot.core.session import Speaker
from bot.core.states import TaskState
from tests.adapters.store.disks import (
    BROKEN,
    FULL,
    CountingDisk,
    FailingDisk,
    SluggishDisk,
    files_no_larger_than,
)
from tests.adapters.store.samples import NOON, busy, copied, record, said, show

NEVER = 3600.0


def a_store(home: Path, disk: Disk | None = None) -> JournalStore:
    """Without exports, so that nothing else moves."""
    return JournalStore(home, disk=disk, export_delay=NEVER)


def journal(home: Path) -> Path:
    return home / "sessions" / "unfinished" / "one.journal"


@pytest.mark.covers("G-RULE-STORE-1", "G-SC-004")
def test_a_save_is_one_sync_and_one_line(tmp_path: Path) -> None:
    disk = CountingDisk()
    store = a_store(tmp_path, disk)
    saved = busy()
    store.save(saved)
    for number in range(20):
        before = (disk.syncs, disk.directory_syncs, journal(tmp_path).read_bytes().count(b"\n"))
        saved = copied(saved)
        saved.session.say(Speaker.USER, f"more {number}", NOON)
        saved.session.tasks[0].blocked = f"for the {number}th time"
        saved.inbox = [*saved.inbox[1:], said(f"e-{number}")]
        saved.outbox.append(show(str(number)))
        saved.heard = [*saved.heard, f"e-{number}"][-5:]
        store.save(saved)
        after = (disk.syncs, disk.directory_syncs, journal(tmp_path).read_bytes().count(b"\n"))
        assert after == (before[0] + 1, before[1], before[2] + 1)
    assert a_store(tmp_path).load() == [saved]


def test_the_first_save_also_makes_the_name_durable(tmp_path: Path) -> None:
    disk = CountingDisk()
    a_store(tmp_path, disk).save(record())
    assert (disk.syncs, disk.directory_syncs) == (1, 1)


def test_a_save_of_nothing_new_writes_nothing(tmp_path: Path) -> None:
    disk = CountingDisk()
    store = a_store(tmp_path, disk)
    store.save(busy())
    before = (disk.syncs, disk.written)
    store.save(copied(busy()))
    assert (disk.syncs, disk.written) == before


def a_change(living: Record) -> Record:
    changed = copied(living)
    changed.session.tasks[0].become(TaskState.VERIFYING)
    changed.session.say(Speaker.USER, "hello", NOON)
    changed.outbox = [*changed.outbox[1:], show("d")]
    return changed


@pytest.mark.covers("G-SC-004")
@pytest.mark.parametrize("messages", [3, 2500])
def test_a_change_costs_the_same_however_long_the_history(tmp_path: Path, messages: int) -> None:
    disk = CountingDisk()
    store = a_store(tmp_path, disk)
    long = busy()
    for number in range(messages):
        long.session.say(Speaker.ASSISTANT, f"{number} ".ljust(4000, "."), NOON)
    store.save(long)
    before = disk.written
    store.save(a_change(long))
    assert 0 < disk.written - before < 800


def test_a_message_heard_costs_itself_alone(tmp_path: Path) -> None:
    disk = CountingDisk()
    store = a_store(tmp_path, disk)
    living = busy()
    living.heard = [f"e-{number}" for number in range(500)]
    living.inbox = [said(f"e-{number}", "x" * 1000) for number in range(50)]
    store.save(living)
    before = disk.written
    living.inbox = [*living.inbox[1:], said("e-new")]
    living.heard = [*living.heard[1:], "e-new"]
    store.save(living)
    assert disk.written - before < 500


def test_a_journal_does_not_grow_for_ever(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    living = busy()
    for number in range(30):
        living.session.change_request = str(number).ljust(100_000, ".")
        store.save(living)
        assert journal(tmp_path).stat().st_size < SLACK_BYTES + 250_000
    assert a_store(tmp_path).load() == [living]


def test_a_disk_that_takes_a_few_bytes_at_a_time_is_waited_for(tmp_path: Path) -> None:
    store = a_store(tmp_path, SluggishDisk())
    store.save(busy())
    store.save(a_change(busy()))
    assert a_store(tmp_path).load() == [a_change(busy())]


def saved_until_it_fails(store: JournalStore, states: list[Record]) -> int:
    for number, state in enumerate(states):
        try:
            store.save(state)
        except Unavailable:
            return number
    raise AssertionError("the disk should have failed")


@pytest.mark.parametrize("code", [FULL, BROKEN])
@pytest.mark.parametrize("after", range(6))
def test_a_save_that_fails_anywhere_loses_nothing(tmp_path: Path, code: int, after: int) -> None:
    """One save is a write and a sync (and the directory's, the first time)."""
    disk = FailingDisk(code, after)
    store = a_store(tmp_path, disk)
    states = [busy(), a_change(busy()), busy(), a_change(busy())]
    acknowledged = saved_until_it_fails(store, states)
    found = a_store(tmp_path).load()
    assert found in ([*states[:acknowledged]][-1:], [states[acknowledged]])
    disk.mended = True
    for state in states:
        store.save(state)
        assert a_store(tmp_path).load() == [state]


def test_a_failed_save_is_not_half_there(tmp_path: Path) -> None:
    disk = FailingDisk(FULL, 3)  # the first save is three calls, so this is the second one's write
    store = a_store(tmp_path, disk)
    store.save(busy())
    before = journal(tmp_path).read_bytes()
    with pytest.raises(Unavailable):
        store.save(a_change(busy()))
    assert journal(tmp_path).read_bytes() == before


def test_what_was_written_although_its_save_failed_is_waited_for_by_the_next(
    tmp_path: Path,
) -> None:
    """The new file stood there already when its name could not be made durable: there is nothing left to write."""
    disk = _OutOfHandles()
    store = a_store(tmp_path, disk)
    with pytest.raises(Unavailable):
        store.save(busy())
    syncs, named = disk.syncs, disk.directory_syncs
    store.save(busy())
    assert disk.syncs > syncs
    assert disk.directory_syncs > named


class _OutOfHandles(CountingDisk):
    """Once it cannot open the folder of journals."""

    failed = False

    def sync_directory(self, path: Path) -> None:
        if path.name == "unfinished" and not self.failed:
            self.failed = True
            raise OSError(errno.EMFILE, "Too many open files")
        super().sync_directory(path)


def test_a_full_disk_is_told_with_a_remedy_and_loses_nothing(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    store.save(busy())
    larger = busy()
    larger.session.change_request = "x" * 5000
    with (
        files_no_larger_than(journal(tmp_path).stat().st_size + 100),
        pytest.raises(Unavailable) as caught,
    ):
        store.save(larger)
    assert "the disk is full" in caught.value.reason
    assert str(tmp_path) in caught.value.remedy
    assert caught.value.__cause__ is not None
    assert a_store(tmp_path).load() == [busy()]
    store.save(larger)
    assert a_store(tmp_path).load() == [larger]


def test_a_session_that_could_not_begin_leaves_nothing_behind(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    with files_no_larger_than(100), pytest.raises(Unavailable):
        store.save(busy())
    assert list(journal(tmp_path).parent.iterdir()) == []
    assert a_store(tmp_path).load() == []
    store.save(busy())
    assert a_store(tmp_path).load() == [busy()]


def test_a_full_disk_does_not_hinder_a_journal_from_growing_on(tmp_path: Path) -> None:
    """It is due to be written anew, and there is no room for that: the change itself must still be kept."""
    store = a_store(tmp_path)
    living = record()
    living.session.change_request = "x" * 400_000
    store.save(living)
    temporary = journal(tmp_path).with_name("one.journal.tmp")
    temporary.mkdir()  # nothing can be written here
    for number in range(6):
        living.session.change_request = str(number).ljust(400_000, ".")
        store.save(living)
    assert journal(tmp_path).stat().st_size > 2 * SLACK_BYTES
    temporary.rmdir()
    living.session.change_request = "short"
    for _ in range(4):
        living.session.change_request += "x" * 400_000
        store.save(living)
    assert journal(tmp_path).stat().st_size < 3 * SLACK_BYTES
    assert a_store(tmp_path).load() == [living]


@pytest.mark.parametrize("harm", ["removed", "cut"])
def test_a_journal_that_somebody_takes_away_is_written_anew(tmp_path: Path, harm: str) -> None:
    store = a_store(tmp_path)
    store.save(busy())
    if harm == "removed":
        journal(tmp_path).unlink()
    else:
        journal(tmp_path).write_bytes(journal(tmp_path).read_bytes()[:100])
    store.save(a_change(busy()))
    assert a_store(tmp_path).load() == [a_change(busy())]
