"""Beside each journal stands the session as a file for others, and a list of all; older forms are read, and a start is quick."""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from adapters.files import MAX_FILE_BYTES, Disk
from adapters.store import JournalStore, session_archive
from bot.core.migrations import MIGRATIONS, Migration, SavedRow, migrate_rows, migrate_session
from bot.core.session import SCHEMA, Session
from bot.core.snapshot import restore
from bot.core.states import Status
from tests.adapters.store.disks import CountingDisk, HastyDisk, files_no_larger_than
from tests.adapters.store.samples import busy, everything, record, show
from tests.core.test_snapshot import EXAMPLE, differences, example

EXAMPLE_ID = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"
STORED, ACTIVE = 2000, 20
FORMS = Path(__file__).with_name("forms")
OLDER = range(1, SCHEMA)
WHOLE = "4-everything"
"""The last form in which a session was flat, with something in every field."""


def later(home: Path, disk: Disk | None = None) -> JournalStore:
    """It exports when it is closed."""
    return JournalStore(home, disk=disk, export_delay=3600)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JournalStore]:
    store = JournalStore(tmp_path, export_delay=0.05)
    yield store
    store.close()


def eventually(so: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.005)


def exported(home: Path, name: str = "one") -> Path:
    return home / "sessions" / f"{name}.json"


def says(path: Path, session: Session) -> bool:
    return path.exists() and restore(path.read_bytes()) == session


def names(paths: list[Path]) -> list[str]:
    return sorted(path.name for path in paths)


# --- the export ---


@pytest.mark.covers("G-US7.1", "G-RULE-STORE-2", "G-FR-010", "G-FILE-1", "B-STORE-1", "G-SC-004")
@pytest.mark.parametrize("delay", [0.05, None])
def test_the_export_follows_every_save_within_a_second(tmp_path: Path, delay: float | None) -> None:
    store = JournalStore(tmp_path) if delay is None else JournalStore(tmp_path, export_delay=delay)
    for number in range(3 if delay else 1):
        saved = busy()
        saved.session.ending.rounds = number
        store.save(saved)
        eventually(partial(says, exported(tmp_path), saved.session))
    store.close()


def test_no_field_is_lost_and_a_session_is_whole_again_from_its_export_alone(
    tmp_path: Path,
) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    store = later(here)
    store.save(everything())
    store.close()
    assert later(here).load() == [everything()]
    other = later(elsewhere)
    exported(elsewhere).write_bytes(exported(here).read_bytes())
    assert [loaded.session for loaded in other.load()] == [everything().session]


def test_many_saves_are_one_export(tmp_path: Path) -> None:
    class Exports(Disk):
        def replace(self, path: Path, data: bytes, **how: Any) -> None:
            exports.append(path)
            super().replace(path, data, **how)

    exports: list[Path] = []
    store, saved = later(tmp_path, Exports()), busy()
    for number in range(50):
        saved.session.ending.rounds = number
        store.save(saved)
    store.close()
    assert exports.count(exported(tmp_path)) == 1


def test_a_session_saved_while_it_is_exported_is_exported_again_before_it_is_let_go(
    tmp_path: Path,
) -> None:
    class Interrupting(Disk):
        def replace(self, path: Path, data: bytes, **how: Any) -> None:
            super().replace(path, data, **how)
            if path == exported(tmp_path) and more:
                store.save(more.pop())

    over = record(status=Status.COMPLETED)
    over.session.ending.rounds = 1
    more = [over]
    store = later(tmp_path, Interrupting())
    store.save(record(status=Status.COMPLETED))
    store.close()
    assert more == []
    assert restore(exported(tmp_path).read_bytes()) == over.session
    assert later(tmp_path).find("one") == over


def test_an_export_that_has_no_room_is_tried_ever_more_seldom_and_hinders_no_other(
    store: JournalStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exported(tmp_path).mkdir()  # a file cannot take its place
    begun = time.monotonic()
    store.save(busy())
    store.save(record("two"))
    eventually(exported(tmp_path, "two").exists)
    with caplog.at_level(logging.WARNING):
        eventually(lambda: caplog.text.count("an export is late") >= 4)
    assert time.monotonic() - begun > 0.05 * (1 + 2 + 4 + 7), "each wait is twice the one before"
    exported(tmp_path).rmdir()
    store.close()  # its end tries once more and waits for nothing
    assert exported(tmp_path).is_file()


def test_an_export_that_a_crash_kept_back_is_made_at_the_next_start(tmp_path: Path) -> None:
    later(tmp_path).save(busy())
    later(tmp_path).save(record("over", status=Status.FAILED))
    assert not exported(tmp_path).exists()
    store = later(tmp_path)
    store.load()
    store.close()
    assert exported(tmp_path).exists()
    assert exported(tmp_path, "over").exists()
    assert (tmp_path / "sessions/finished/over.journal").exists()


def test_where_there_is_a_journal_the_file_counts_for_nothing(tmp_path: Path) -> None:
    store = later(tmp_path)
    store.save(busy())
    store.close()
    exported(tmp_path).write_text("edited by hand")
    again = later(tmp_path)
    assert (again.load(), again.broken) == ([busy()], ())
    again.close()
    assert restore(exported(tmp_path).read_bytes()) == busy().session


# --- a file that others have put there ---


@pytest.mark.covers("G-FILE-1", "G-FILE-2")
def test_gwts_session_file_is_taken_in(store: JournalStore, tmp_path: Path) -> None:
    exported(tmp_path, EXAMPLE_ID).write_text(EXAMPLE)
    (loaded,) = store.load()
    assert loaded.session == restore(EXAMPLE.encode())
    assert later(tmp_path).load() == [loaded]
    eventually(lambda: "state" in json.loads(exported(tmp_path, EXAMPLE_ID).read_text()))
    now = json.loads(exported(tmp_path, EXAMPLE_ID).read_text())
    assert differences(json.loads(EXAMPLE), now) == []


def test_a_finished_file_is_taken_in_and_found(store: JournalStore, tmp_path: Path) -> None:
    exported(tmp_path, EXAMPLE_ID).write_bytes(example(status="Completed"))
    assert store.load() == []
    found = store.find("a1b2")
    assert found
    assert found.session.status is Status.COMPLETED
    assert [line.title for line in store.sessions()] == ["Add authentication feature"]


@pytest.mark.parametrize("content", [b"", b"[" * 200_000, b'{"id": "x"}', example(status="Sleeping")])  # fmt: skip
def test_a_broken_file_is_put_aside(store: JournalStore, tmp_path: Path, content: bytes) -> None:
    exported(tmp_path, EXAMPLE_ID).write_bytes(content)
    assert store.load() == []
    (aside,) = (tmp_path / "sessions").glob("*.json.broken-*")
    assert aside.read_bytes() == content
    assert aside.name in store.broken[0]


@pytest.mark.parametrize(("name", "content", "told"), [
    (EXAMPLE_ID, example(schema_version=SCHEMA + 1), "newer version"),
    ("copy of it", EXAMPLE.encode(), EXAMPLE_ID),
])  # fmt: skip
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
    assert len(later(tmp_path).load()) == 1


# --- a start, and the list of all ---


@pytest.fixture(scope="module")
def old_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two thousand sessions, twenty of them active. Read only."""
    home = tmp_path_factory.mktemp("old")
    store = later(home, HastyDisk())
    store.sessions()
    for number in range(STORED):
        status = Status.PAUSED if number % (STORED // ACTIVE) == 0 else Status.COMPLETED
        store.save(record(f"s-{number:04}", status=status, messages=2))
    store.close()
    return home


def test_however_many_there_were_only_what_is_asked_for_is_opened(old_home: Path) -> None:
    def opened(call: Callable[[JournalStore], object]) -> list[str]:
        disk = CountingDisk()
        call(later(old_home, disk))
        return names(disk.read_files)

    active = [f"s-{number:04}.journal" for number in range(0, STORED, STORED // ACTIVE)]
    assert opened(lambda store: store.load()) == active
    assert opened(lambda store: store.sessions()) == ["index.json"]
    assert opened(lambda store: store.find("s-1999")) == ["s-1999.journal"]
    assert len(later(old_home).sessions()) == STORED


@pytest.fixture
def home(tmp_path: Path) -> Path:
    store = later(tmp_path)
    store.sessions()
    store.save(record("active"))
    store.save(record("over", status=Status.COMPLETED))
    store.close()
    assert names([*(tmp_path / "sessions/unfinished").iterdir()]) == ["active.journal"]
    assert names([*(tmp_path / "sessions/finished").iterdir()]) == ["over.journal"]
    return tmp_path


def listed(home: Path) -> dict[str, str]:
    return {line.id: line.status for line in later(home).sessions()}


@pytest.mark.parametrize("content", [None, b"", b"garbage", b"[" * 200_000, b'[{"id": 5}]', b"[]"])
def test_an_index_that_is_missing_or_broken_is_made_again(
    home: Path, content: bytes | None
) -> None:
    index = home / "index.json"
    whole = index.read_bytes()
    index.unlink()
    if content is not None:
        index.write_bytes(content)
    store = later(home)
    store.load()
    found = {line.id: line.status for line in store.sessions()}
    store.close()
    assert found == {"active": "Active", "over": "Completed"}
    assert (len(index.read_bytes()), store.broken) == (len(whole), ())


def test_the_index_says_which_machine_knew_of_a_session_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home is moved: what is over stays where it was, and is there all the same."""
    for machine in ("first", "second"):
        monkeypatch.setattr("platform.node", lambda machine=machine: machine)
        store = later(tmp_path)
        store.load()
        store.sessions()
        if machine == "first":
            store.save(record("active"))
            store.save(record("over", status=Status.COMPLETED))
        store.close()
    lines = json.loads((tmp_path / "index.json").read_bytes())
    assert {line["id"]: line["host"] for line in lines} == {"active": "second", "over": "first"}


def test_an_index_that_differs_from_the_journals_is_put_right(home: Path) -> None:
    old = (home / "index.json").read_bytes()
    store = later(home)
    store.save(record("active", status=Status.FAILED))
    store.save(record("over", status=Status.ACTIVE))
    store.save(record("new"))
    store.close()
    (home / "index.json").write_bytes(old)
    assert listed(home) == {"active": "Failed", "over": "Active", "new": "Active"}
    (home / "sessions/finished/active.journal").unlink()
    assert listed(home) == {"over": "Active", "new": "Active"}


def test_a_session_opened_again_is_loaded_though_the_bot_was_killed_at_once(home: Path) -> None:
    late = record("over", status=Status.COMPLETED)
    late.session.ending.rounds = 1
    store = later(home)
    store.save(late)
    assert store.find("over") == late, "a late word is kept where it lies"
    store.save(record("over", status=Status.ACTIVE))  # still in memory, and now to be worked on
    assert sorted(one.session.id for one in later(home).load()) == ["active", "over"]


def test_what_is_over_stays_where_it_is_found_until_its_last_card_is_shown(tmp_path: Path) -> None:
    over = record("over", status=Status.COMPLETED)
    over.outbox = [show("result")]
    for waits in (True, False):
        over.outbox = over.outbox if waits else []
        store = later(tmp_path)
        store.save(over)
        store.close()
        assert later(tmp_path).load() == ([over] if waits else [])
    assert (tmp_path / "sessions/finished/over.journal").exists()


# --- what an earlier version has saved; `forms/` holds what was really written ---


def test_every_form_there_ever_was_has_its_step_and_its_sample() -> None:
    assert [*MIGRATIONS] == [number + 1 for number in OLDER]
    assert {path.stem for path in FORMS.iterdir()} == {*map(str, OLDER), WHOLE}


@pytest.mark.parametrize("form", OLDER)
def test_a_journal_of_an_older_form_is_read_and_saved_in_todays(tmp_path: Path, form: int) -> None:
    journal = tmp_path / "sessions/unfinished/older.journal"
    journal.parent.mkdir(parents=True)
    shutil.copy(FORMS / f"{form}.journal", journal)
    written = journal.read_bytes()
    told, session = session_archive.read_history(journal)
    assert told.start.session.schema_version == session.schema_version == SCHEMA
    store = later(tmp_path)
    (found,) = store.load()
    wanted = busy("older")
    wanted.session.conversation = found.session.conversation
    assert (found, len(found.session.conversation)) == (wanted, 4)
    assert journal.read_bytes() == written, "reading changes nothing"
    for field in ("dry_run", "questions_asked"):
        setattr(found.session.request, field, True)
        store.save(found)
    assert f'"schema":{SCHEMA}'.encode() in journal.read_bytes().splitlines()[0]
    assert later(tmp_path).load() == [found]
    file = restore((FORMS / f"{form}.json").read_bytes())
    assert (file.schema_version, file.tasks) == (SCHEMA, busy("older").session.tasks)


def scalars(value: object) -> Counter[object]:
    """Every text, number and truth value somewhere inside, however deep it is."""
    match value:
        case dict():
            items = cast("dict[str, object]", value)
            return sum(map(scalars, items.values()), Counter[object]())
        case list():
            return sum(map(scalars, cast("list[object]", value)), Counter[object]())
        case _:
            return Counter([value])


def test_nothing_of_a_flat_session_is_lost_when_it_is_put_in_parts(tmp_path: Path) -> None:
    journal = tmp_path / "sessions/unfinished/older.journal"
    journal.parent.mkdir(parents=True)
    shutil.copy(FORMS / f"{WHOLE}.journal", journal)
    [line] = journal.read_bytes().splitlines()[1:]
    rows = json.loads(line[9:])["record"]["put"]
    flat = [row for path, row in rows.items() if path.startswith("/session")]
    [record] = later(tmp_path).load()
    exported = restore((FORMS / f"{WHOLE}.json").read_bytes())
    assert (exported, exported.schema_version) == (record.session, SCHEMA)
    exported.schema_version = 4
    saved = exported.model_dump(mode="json")
    # what came later than that form
    assert saved["repository"]["scan"].pop("context") is None
    assert saved["request"].pop("rounds_while_planning") == 0
    assert (saved["llm"].pop("fallback_told"), saved["llm"].pop("other_scales")) == (False, {})
    usages = [saved["usage"], *(one["usage"] for one in saved["talk"]["last_spoken"].values())]
    later_fields = ("stood_in", "shortened", "setting")
    assert [[usage.pop(name) for name in later_fields] for usage in usages] == [[0, [], ""]] * 2
    assert scalars(saved) == scalars(flat)


def test_steps_are_taken_one_after_the_other_on_sessions_and_on_tasks() -> None:
    def renamed(row: SavedRow) -> SavedRow:
        return {"asked" if name == "put" else name: value for name, value in row.items()}

    def counted(row: SavedRow) -> SavedRow:
        return {**row, "holds": row["holds"] + 1}

    steps = {number: Migration(session=renamed, task=counted) for number in MIGRATIONS}
    tasks = {"/session/tasks/0": {"holds": 1}, "/session/tasks/0/runs/0": {"holds": 1}}
    rows = migrate_rows({"": {}, "/session": {"put": True}, **tasks}, 1, steps)
    assert rows["/session"] == {"asked": True, "schema_version": SCHEMA}
    assert rows["/session/tasks/0"] == {"holds": SCHEMA}
    assert rows["/session/tasks/0/runs/0"] == {"holds": 1}
    file = migrate_session({"put": True, "tasks": [{"holds": 1}]}, 1, steps)
    assert file == {"asked": True, "tasks": [{"holds": SCHEMA}], "schema_version": SCHEMA}


@pytest.mark.parametrize("ending", ["unfinished/huge.journal", "huge.json"])
@pytest.mark.parametrize("kind", ["huge", "pipe", "device"])
def test_what_would_fill_the_memory_or_never_end_is_left_alone_and_hurts_no_other(
    home: Path, ending: str, kind: str
) -> None:
    path = home / "sessions" / ending
    if kind == "huge":
        path.touch()
        os.truncate(path, MAX_FILE_BYTES + 1)  # it takes no room
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    store = later(home)
    assert [one.session.id for one in store.load()] == ["active"]
    assert [str(path) in told and "left alone" in told for told in store.broken] == [True]
    assert path.exists()


@pytest.mark.slow
@pytest.mark.faults
def test_a_session_of_a_hundred_thousand_messages_is_read_like_any_other(tmp_path: Path) -> None:
    store, large = later(tmp_path), busy("large")
    for message in json.loads(json.dumps(["x" * 500] * 100_000)):
        large.session.say(large.session.conversation[0].role, message, large.session.created_at)
    store.save(large)
    store.save(busy("small"))
    store.close()
    assert (tmp_path / "sessions/unfinished/large.journal").stat().st_size > 50_000_000
    found = {one.session.id: len(one.session.conversation) for one in later(tmp_path).load()}
    assert found == {"large": 100_003, "small": 3}
