"""A broken file is kept, told, and hurts nobody else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import pytest

from adapters.store import JournalStore
from bot.core.errors import Refused
from bot.core.session import SCHEMA
from bot.core.states import Status
from tests.adapters.store.samples import busy, record

HALF_PAST = datetime(2026, 2, 7, 12, 30, tzinfo=UTC)


def a_store(home: Path) -> JournalStore:
    return JournalStore(home, now=lambda: HALF_PAST, export_delay=3600)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    store = a_store(tmp_path)
    store.save(record("healthy"))
    store.save(busy("sick"))
    store.close()
    return tmp_path


def sick(home: Path) -> Path:
    return home / "sessions" / "unfinished" / "sick.journal"


def line(text: bytes) -> bytes:
    return b"%08x %b\n" % (crc32(text), text)


HEAD = line(b'{"schema":%d}' % SCHEMA)
HARM = {
    "empty": b"",
    "garbage": b"\x00\x01garbage\xff" * 50,
    "json of somebody else": b'{"id": "sick"}',
    "deeply nested": HEAD + line(b'{"record":{"put":{"":' + b"[" * 200_000),
    "wrong types": HEAD
    + line(b'{"record":{"put":{"":{"session":5,"inbox":{},"outbox":[],"heard":[]}}}}'),
    "nothing in it": HEAD,
    "an unknown field": HEAD + line(b'{"record":{"put":{"":{"inbox":[]},"/session":{"magic":1}}}}'),
}


@pytest.mark.covers("G-RULE-STORE-5")
@pytest.mark.parametrize("content", HARM.values(), ids=HARM.keys())
def test_a_broken_file_is_kept_and_told_and_the_others_live(home: Path, content: bytes) -> None:
    sick(home).write_bytes(content)
    store = a_store(home)
    assert store.load() == [record("healthy")]
    aside = sick(home).with_name("sick.journal.broken-20260207T123000Z")
    assert aside.read_bytes() == content
    assert not sick(home).exists()
    (sentence,) = store.broken
    assert "sick.journal is broken" in sentence
    assert aside.name in sentence


def test_garbage_in_the_middle_is_broken_though_the_end_is_whole(home: Path) -> None:
    content = bytearray(sick(home).read_bytes())
    content[len(content) // 2] ^= 4
    sick(home).write_bytes(content)
    store = a_store(home)
    assert store.load() == [record("healthy")]
    assert len(store.broken) == 1


@pytest.mark.covers("G-RULE-STORE-5")
def test_a_file_put_aside_is_never_overwritten(home: Path) -> None:
    for content in (b"first", b"second", b"third"):
        sick(home).write_bytes(content)
        a_store(home).load()
    kept = sorted(home.rglob("sick.journal.broken-*"))
    assert sorted(path.read_bytes() for path in kept) == [b"first", b"second", b"third"]


def test_the_export_of_a_broken_session_does_not_bring_it_back(home: Path) -> None:
    sick(home).write_bytes(b"broken")
    assert a_store(home).load() == [record("healthy")]
    again = a_store(home)
    assert again.load() == [record("healthy")]
    assert again.broken == ()
    assert [line.id for line in again.sessions()] == ["healthy"]
    assert list(home.rglob("sick.json.broken-*"))


def test_a_broken_session_is_not_listed(home: Path) -> None:
    store = a_store(home)
    assert len(store.sessions()) == 2
    sick(home).write_bytes(b"broken")
    assert store.find("sick") is None
    fresh = a_store(home)
    fresh.load()
    assert [line.id for line in fresh.sessions()] == ["healthy"]


def test_a_session_may_begin_again_where_a_broken_one_was(home: Path) -> None:
    sick(home).write_bytes(b"broken")
    store = a_store(home)
    store.load()
    store.save(record("sick"))
    assert a_store(home).load() == [record("healthy"), record("sick")]


def test_a_file_that_breaks_while_the_bot_lives_is_written_anew_from_memory(home: Path) -> None:
    store = a_store(home)
    sick(home).write_bytes(b"broken")
    store.save(busy("sick"))  # not loaded, so the store looks at the file first
    assert "sick.journal is broken" in store.broken[0]
    assert a_store(home).find("sick") == busy("sick")


def test_a_newer_file_is_left_as_it_is_and_told(home: Path) -> None:
    content = line(b'{"schema":%d}' % (SCHEMA + 1)) + b"who knows\n"
    sick(home).write_bytes(content)
    exported = (home / "sessions" / "sick.json").read_bytes()
    store = a_store(home)
    assert store.load() == [record("healthy")]
    assert sick(home).read_bytes() == content
    assert (home / "sessions" / "sick.json").read_bytes() == exported
    assert "newer version" in store.broken[0]
    assert store.find("sick") is None
    with pytest.raises(Refused, match="newer version"):
        store.save(record("sick"))
    assert sick(home).read_bytes() == content


def test_what_cannot_be_read_is_left_as_it_is_and_told(home: Path) -> None:
    sick(home).unlink()
    sick(home).mkdir()
    store = a_store(home)
    assert store.load() == [record("healthy")]
    assert sick(home).is_dir()
    assert "left alone" in store.broken[0]


def test_a_broken_finished_session_is_put_aside_when_somebody_asks_for_it(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    store.save(record("old", status=Status.COMPLETED))
    store.close()
    (tmp_path / "sessions" / "finished" / "old.journal").write_bytes(b"broken")
    store = a_store(tmp_path)
    assert store.load() == []
    assert store.broken == ()
    assert store.find("old") is None
    assert len(store.broken) == 1
    assert list(tmp_path.rglob("old.journal.broken-*"))


@pytest.mark.covers("G-RULE-STORE-2")
def test_what_a_crash_left_of_a_write_is_removed(home: Path) -> None:
    left = [
        home / "index.json.tmp",
        home / "sessions" / "a.json.tmp",
        sick(home).with_name("a.journal.tmp"),
    ]
    for path in left:
        path.write_text("half")
    a_store(home).load()
    assert not [path for path in left if path.exists()]
