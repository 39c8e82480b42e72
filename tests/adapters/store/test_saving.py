"""A save of a session: all of it or nothing, whatever the disk does, and never at the cost of what was saved before."""

from __future__ import annotations

import errno
import random
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.files import Disk
from adapters.store import JournalStore
from adapters.store.journal import REWRITE_MARGIN_BYTES
from bot.core.errors import Refused, Unavailable
from bot.core.projections.records import Record
from bot.core.session import SCHEMA, Speaker
from bot.core.states import Status, TaskState
from tests.adapters.store.anything import THOROUGH, any_of
from tests.adapters.store.disks import (
    BROKEN,
    FULL,
    CountingDisk,
    FailingDisk,
    HastyDisk,
    SluggishDisk,
    files_no_larger_than,
)
from tests.adapters.store.samples import NOON, busy, copied, everything, record, said, show

T = TypeVar("T")
HALF_PAST = datetime(2026, 2, 7, 12, 30, tzinfo=UTC)


def a_store(home: Path, disk: Disk | None = None) -> JournalStore:
    """Without exports, so that nothing else moves."""
    return JournalStore(home, now=lambda: HALF_PAST, disk=disk, export_delay=3600)


def journal(home: Path, name: str = "one") -> Path:
    return home / "sessions" / "unfinished" / f"{name}.journal"


def a_change(living: Record) -> Record:
    changed = copied(living)
    changed.session.tasks[0].become(TaskState.VERIFYING)
    changed.session.say(Speaker.USER, "hello", NOON)
    changed.outbox = [*changed.outbox[1:], show("d")]
    return changed


# --- what a save costs ---


@pytest.mark.covers("G-RULE-STORE-1", "G-SC-004")
def test_a_save_is_one_sync_and_one_line_and_of_nothing_new_none(tmp_path: Path) -> None:
    disk = CountingDisk()
    store = a_store(tmp_path, disk)
    saved = busy()
    store.save(saved)
    assert (disk.syncs, disk.directory_syncs) == (1, 1), "the first makes its name durable, too"
    for number in range(20):
        before = (disk.syncs, disk.directory_syncs, journal(tmp_path).read_bytes().count(b"\n"))
        saved = a_change(copied(saved)) if number == 0 else copied(saved)
        saved.session.tasks[0].blocked = f"for the {number}th time"
        saved.inbox = [*saved.inbox[1:], said(f"e-{number}")]
        saved.heard = [*saved.heard, f"e-{number}"][-5:]
        store.save(saved)
        after = (disk.syncs, disk.directory_syncs, journal(tmp_path).read_bytes().count(b"\n"))
        assert after == (before[0] + 1, before[1], before[2] + 1)
    at_last = (disk.syncs, disk.written)
    store.save(copied(saved))
    assert (disk.syncs, disk.written) == at_last
    assert a_store(tmp_path).load() == [saved]


@pytest.mark.covers("G-SC-004")
@pytest.mark.parametrize("messages", [3, 2500])
def test_a_change_costs_the_same_however_long_the_history(tmp_path: Path, messages: int) -> None:
    disk = CountingDisk()
    store = a_store(tmp_path, disk)
    long = busy()
    for number in range(messages):
        long.session.say(Speaker.ASSISTANT, f"{number} ".ljust(4000, "."), NOON)
    long.heard = [f"e-{number}" for number in range(500)]
    long.inbox = [said(f"e-{number}", "x" * 1000) for number in range(50)]
    store.save(long)
    for change, most in ((a_change(long), 800), (copied(a_change(long)), 500)):
        before = disk.written
        if most == 500:
            change.inbox = [*change.inbox[1:], said("e-new")]
            change.heard = [*change.heard[1:], "e-new"]
        store.save(change)
        assert 0 < disk.written - before < most


def test_a_journal_does_not_grow_for_ever(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    living = busy()
    for number in range(30):
        living.session.plan.change_request = str(number).ljust(100_000, ".")
        store.save(living)
        assert journal(tmp_path).stat().st_size < REWRITE_MARGIN_BYTES + 250_000
    assert a_store(tmp_path).load() == [living]


# --- whatever becomes of a record, its journal says the same ---


def kept(home: Path, *records: Record) -> None:
    """Each is saved in place of the one before, half of them by a store that has just been started."""
    store = a_store(home, HastyDisk())
    for number, one in enumerate(records):
        store.save(one)
        assert a_store(home).find(one.session.id) == one
        store = store if number % 2 else a_store(home, HastyDisk())


@settings(THOROUGH, max_examples=5)
@given(st.lists(any_of(Record), min_size=2, max_size=2))
def test_any_record_may_become_any_other(records: list[Record]) -> None:
    for one in records:
        one.session.id, one.session.schema_version = "one", SCHEMA
    with tempfile.TemporaryDirectory() as home:
        kept(Path(home), *records)


def test_every_field_may_come_and_go(tmp_path: Path) -> None:
    kept(tmp_path, busy(), everything(), busy())


@pytest.mark.parametrize("seed", range(10))
def test_lists_may_be_rearranged_in_any_way(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    store, living = a_store(tmp_path, HastyDisk()), busy()
    for step in range(40):
        living.inbox = rearranged(chance, living.inbox, [said(f"e-{step}-{n}") for n in range(3)])
        heard = [str(chance.randrange(5)) for _ in range(3)]
        living.heard = rearranged(chance, living.heard, heard)
        living.session.tasks = rearranged(chance, living.session.tasks, busy().session.tasks)
        for task in living.session.tasks:
            task.runs = rearranged(chance, task.runs, [])
        store.save(living)
        assert a_store(tmp_path).find("one") == living
        if chance.random() < 0.2:
            store = a_store(tmp_path, HastyDisk())


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


# --- a disk that does not do as it is told ---


def test_a_disk_that_takes_a_few_bytes_at_a_time_is_waited_for(tmp_path: Path) -> None:
    store = a_store(tmp_path, SluggishDisk())
    store.save(busy())
    store.save(a_change(busy()))
    assert a_store(tmp_path).load() == [a_change(busy())]


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


def saved_until_it_fails(store: JournalStore, states: list[Record]) -> int:
    for number, state in enumerate(states):
        try:
            store.save(state)
        except Unavailable:
            return number
    raise AssertionError("the disk should have failed")


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
    assert (disk.syncs > syncs, disk.directory_syncs > named) == (True, True)


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
    with files_no_larger_than(100), pytest.raises(Unavailable):
        store.save(busy())
    assert list(journal(tmp_path).parent.iterdir()) == [], "what could not begin leaves nothing"
    store.save(busy())
    larger = busy()
    larger.session.plan.change_request = "x" * 5000
    before = journal(tmp_path).read_bytes()
    with files_no_larger_than(len(before) + 100), pytest.raises(Unavailable) as caught:
        store.save(larger)
    assert journal(tmp_path).read_bytes() == before, "it is not half there"
    assert "the disk is full" in caught.value.reason
    assert str(tmp_path) in caught.value.remedy
    assert caught.value.__cause__ is not None
    assert a_store(tmp_path).load() == [busy()]
    store.save(larger)
    assert a_store(tmp_path).load() == [larger]


def test_a_full_disk_does_not_hinder_a_journal_from_growing_on(tmp_path: Path) -> None:
    """It is due to be written anew, and there is no room for that: the change itself must still be kept."""
    store = a_store(tmp_path)
    living = record()
    store.save(living)
    temporary = journal(tmp_path).with_name("one.journal.tmp")
    temporary.mkdir()  # nothing can be written here
    for number in range(7):
        living.session.plan.change_request = str(number).ljust(400_000, ".")
        store.save(living)
    assert journal(tmp_path).stat().st_size > 2 * REWRITE_MARGIN_BYTES
    temporary.rmdir()
    living.session.plan.change_request = "short"
    for _ in range(4):
        living.session.plan.change_request += "x" * 400_000
        store.save(living)
    assert journal(tmp_path).stat().st_size < 3 * REWRITE_MARGIN_BYTES
    assert a_store(tmp_path).load() == [living]


@pytest.mark.parametrize("harm", ["removed", "cut", "broken"])
def test_a_journal_that_is_spoilt_while_the_bot_lives_is_written_anew(
    tmp_path: Path, harm: str
) -> None:
    store = a_store(tmp_path)
    store.save(busy())
    if harm == "removed":
        journal(tmp_path).unlink()
    elif harm == "cut":
        journal(tmp_path).write_bytes(journal(tmp_path).read_bytes()[:100])
    else:
        journal(tmp_path).write_bytes(b"broken")
        store = a_store(tmp_path)
    store.save(a_change(busy()))
    assert a_store(tmp_path).load() == [a_change(busy())]
    assert bool(store.broken) is (harm == "broken")


# --- what a crash or somebody else has made of a journal ---


@pytest.fixture
def home(tmp_path: Path) -> Path:
    store = a_store(tmp_path)
    store.save(record("healthy"))
    store.save(busy("sick"))
    store.close()
    return tmp_path


def cuts(whole: bytes, first: int) -> dict[str, list[bytes]]:
    """What a power cut may leave of the last line: a part of it, or zeros for blocks that never arrived."""
    torn = [whole[:length] for length in range(first, len(whole), 3)]
    zeros = [whole[: first + 20] + bytes(30) + whole[first + 50 : -1] + end for end in (b"", b"\n")]
    return {"torn": torn, "zeros": zeros}


@pytest.mark.parametrize("kind", ["torn", "zeros"])
def test_a_line_that_a_power_cut_spoilt_never_happened(tmp_path: Path, kind: str) -> None:
    store = a_store(tmp_path)
    store.save(busy())
    first = journal(tmp_path).stat().st_size
    store.save(a_change(busy()))
    whole = journal(tmp_path).read_bytes()
    for left in cuts(whole, first)[kind]:
        journal(tmp_path).write_bytes(left)
        assert a_store(tmp_path).load() == [busy()]
    a_store(tmp_path, HastyDisk()).save(a_change(busy()))
    assert journal(tmp_path).read_bytes() == whole, "the next save takes its place"


def test_a_short_change_after_a_long_one_that_was_cut_off_leaves_nothing_of_it(home: Path) -> None:
    whole = journal(home, "sick").read_bytes()
    journal(home, "sick").write_bytes(whole + b"00000000 " + b"z" * 5000)
    store = a_store(home)
    store.load()
    store.save(a_change(busy("sick")))
    assert b"zzz" not in journal(home, "sick").read_bytes()


def line(text: bytes) -> bytes:
    return b"%08x %b\n" % (crc32(text), text)


HEAD = line(b'{"schema":%d}' % SCHEMA)
ROW = b'{"record":{"put":{"":{"session":5,"inbox":{},"outbox":[],"heard":[]}}}}'
HARM: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "an empty line": lambda _: b"\n",
    "no journal": lambda _: b"hello\n",
    "zeros": lambda _: b"\0" * 500,
    "another checksum": lambda _: b'00000000 {"schema":1}\n',
    "garbage": lambda _: b"\x00\x01garbage\xff" * 50,
    "json of somebody else": lambda _: b'{"id": "sick"}',
    "nothing in it": lambda _: HEAD,
    "deeply nested": lambda _: HEAD + line(b'{"record":{"put":{"":' + b"[" * 200_000),
    "wrong types": lambda _: HEAD + line(ROW),
    "an unknown field": lambda _: HEAD + line(b'{"record":{"put":{"":{"inbox":[]},"/session":{"magic":1}}}}'),
    "a deep well behind it": lambda whole: whole + line(b"[" * 200_000),
    "a number behind it": lambda whole: whole + line(b'{"record": 5}'),
    "a change of nobody": lambda whole: whole + line(b'{"record": {"set": {"nobody": {"price": 1}}}}'),
    "a list of rows": lambda whole: whole + line(b'{"record": {"put": ["a"]}}'),
    "a field that is no field": lambda whole: whole + line(b'{"record": {"set": {"": 5}}}'),
    "no text": lambda whole: whole + line(b"\xff"),
    "a bit in the middle": lambda whole: whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 4]) + whole[len(whole) // 2 + 1 :],
}  # fmt: skip


@pytest.mark.covers("G-RULE-STORE-5")
@pytest.mark.parametrize("harm", HARM)
def test_a_broken_journal_is_kept_and_told_and_the_others_live(home: Path, harm: str) -> None:
    sick = journal(home, "sick")
    content = HARM[harm](sick.read_bytes())
    sick.write_bytes(content)
    store = a_store(home)
    assert store.load() == [record("healthy")]
    aside = sick.with_name("sick.journal.broken-20260207T123000Z")
    assert (aside.read_bytes(), sick.exists()) == (content, False)
    (sentence,) = store.broken
    assert "sick.journal is broken" in sentence
    assert aside.name in sentence
    # its export does not bring it back, and it is not listed
    again = a_store(home)
    assert (again.load(), again.broken) == ([record("healthy")], ())
    assert [one.id for one in again.sessions()] == ["healthy"]
    assert list(home.rglob("sick.json.broken-*"))
    again.save(record("sick"))
    assert a_store(home).load() == [record("healthy"), record("sick")], "it may begin again"


def test_every_changed_byte_is_noticed(home: Path) -> None:
    whole = journal(home, "sick").read_bytes()
    for place in range(0, len(whole) - 1, 53):
        harmed = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        journal(home, "sick").write_bytes(harmed)
        store = a_store(home)
        assert store.load() == [record("healthy")], place
        assert "broken" in store.broken[0]


def test_what_is_wrong_is_said_without_showing_what_the_file_says(home: Path) -> None:
    whole = journal(home, "sick").read_bytes()
    secret = line(b'{"record": {"set": {"/session": {"status": "xoxb-secret"}}}}')
    journal(home, "sick").write_bytes(whole + secret)
    store = a_store(home)
    store.load()
    assert "session.status" in store.broken[0]
    assert "secret" not in store.broken[0]


@pytest.mark.covers("G-RULE-STORE-5")
def test_a_file_put_aside_is_never_overwritten(home: Path) -> None:
    for content in (b"first", b"second", b"third"):
        journal(home, "sick").write_bytes(content)
        a_store(home).load()
    aside = sorted(path.read_bytes() for path in home.rglob("sick.journal.broken-*"))
    assert aside == [b"first", b"second", b"third"]


def test_a_broken_session_is_noticed_when_somebody_asks_for_it(home: Path) -> None:
    store = a_store(home)
    store.save(record("old", status=Status.COMPLETED))
    store.close()
    for name, place in (("sick", "unfinished"), ("old", "finished")):
        store = a_store(home)
        (home / "sessions" / place / f"{name}.journal").write_bytes(b"broken")
        assert (store.find(name), len(store.broken)) == (None, 1)
        assert list(home.rglob(f"{name}.journal.broken-*"))


def test_a_newer_journal_is_left_as_it_is_and_told(home: Path) -> None:
    sick, exported = journal(home, "sick"), home / "sessions" / "sick.json"
    content = line(b'{"schema":%d,"and":"more"}' % (SCHEMA + 1)) + b"who knows\n"
    sick.write_bytes(content)
    before = exported.read_bytes()
    store = a_store(home)
    assert (store.load(), store.find("sick")) == ([record("healthy")], None)
    assert "newer version" in store.broken[0]
    with pytest.raises(Refused, match="newer version"):
        store.save(record("sick"))
    assert (sick.read_bytes(), exported.read_bytes()) == (content, before)


def test_what_cannot_be_read_is_left_as_it_is_and_told(home: Path) -> None:
    journal(home, "sick").unlink()
    journal(home, "sick").mkdir()
    store = a_store(home)
    assert store.load() == [record("healthy")]
    assert journal(home, "sick").is_dir()
    assert "left alone" in store.broken[0]


@pytest.mark.covers("G-RULE-STORE-2")
def test_what_a_crash_left_of_a_write_is_removed(home: Path) -> None:
    left = [home / "index.json.tmp", home / "sessions/a.json.tmp"]
    left.append(journal(home, "a.journal").with_suffix(".tmp"))
    for path in left:
        path.write_text("half")
    a_store(home).load()
    assert not [path for path in left if path.exists()]
