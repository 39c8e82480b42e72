"""What an earlier version has saved is read and goes on; a later version's is left alone. `forms/` holds what was really written."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from adapters.files import LARGEST_FILE
from adapters.store import JournalStore, session_archive
from bot.core.session import SCHEMA
from bot.core.snapshot import MIGRATIONS, Migration, SavedRow, migrate_file, migrate_rows, restore
from tests.adapters.store.samples import busy

FORMS = Path(__file__).with_name("forms")
OLDER = range(1, SCHEMA)


def home_with(folder: Path, form: int) -> Path:
    journal = folder / "sessions/unfinished/older.journal"
    journal.parent.mkdir(parents=True)
    shutil.copy(FORMS / f"{form}.journal", journal)
    return journal


def test_every_form_there_ever_was_has_its_step_and_its_sample() -> None:
    assert [*MIGRATIONS] == [number + 1 for number in OLDER]
    assert {path.stem for path in FORMS.iterdir()} == {str(number) for number in OLDER}


@pytest.mark.parametrize("form", OLDER)
def test_a_journal_of_an_older_form_is_read_and_saved_in_todays(tmp_path: Path, form: int) -> None:
    journal = home_with(tmp_path, form)
    written = journal.read_bytes()
    store = JournalStore(tmp_path, export_delay=3600)
    (record,) = store.load()
    wanted = busy("older")
    wanted.session.conversation = record.session.conversation
    assert record == wanted
    assert len(record.session.conversation) == 4
    assert journal.read_bytes() == written, "reading changes nothing"
    record.session.dry_run = True
    store.save(record)
    record.session.asked = True
    store.save(record)
    assert f'"schema":{SCHEMA}'.encode() in journal.read_bytes().splitlines()[0]
    assert JournalStore(tmp_path, export_delay=3600).load() == [record]


@pytest.mark.parametrize("form", OLDER)
def test_a_session_file_of_an_older_form_is_read(form: int) -> None:
    session = restore((FORMS / f"{form}.json").read_bytes())
    assert session.schema_version == SCHEMA
    assert session.tasks == busy("older").session.tasks


@pytest.mark.parametrize("form", OLDER)
def test_what_an_older_journal_has_gone_through_can_be_told(tmp_path: Path, form: int) -> None:
    told, session = session_archive.read_history(home_with(tmp_path, form))
    assert told.start.session.schema_version == session.schema_version == SCHEMA


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
    file = migrate_file({"put": True, "tasks": [{"holds": 1}]}, 1, steps)
    assert file == {"asked": True, "tasks": [{"holds": SCHEMA}], "schema_version": SCHEMA}


@pytest.mark.parametrize("ending", ["unfinished/huge.journal", "huge.json"])
@pytest.mark.parametrize("kind", ["huge", "pipe", "device"])
def test_what_would_fill_the_memory_or_never_end_is_left_alone_and_hurts_no_other(
    tmp_path: Path, ending: str, kind: str
) -> None:
    store = JournalStore(tmp_path, export_delay=3600)
    store.save(busy("whole"))
    store.close()
    path = tmp_path / "sessions" / ending
    if kind == "huge":
        path.touch()
        os.truncate(path, LARGEST_FILE + 1)  # it takes no room
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    again = JournalStore(tmp_path, export_delay=3600)
    assert [record.session.id for record in again.load()] == ["whole"]
    assert [str(path) in told and "left alone" in told for told in again.broken] == [True]
    assert path.exists()
    again.close()


@pytest.mark.slow
@pytest.mark.faults
def test_a_session_of_a_hundred_thousand_messages_is_read_like_any_other(tmp_path: Path) -> None:
    store = JournalStore(tmp_path, export_delay=3600)
    record = busy("large")
    for message in json.loads(json.dumps(["x" * 500] * 100_000)):
        record.session.say(record.session.conversation[0].role, message, record.session.created_at)
    store.save(record)
    store.save(busy("small"))
    store.close()
    assert (tmp_path / "sessions/unfinished/large.journal").stat().st_size > 50_000_000
    again = JournalStore(tmp_path, export_delay=3600)
    assert {found.session.id: len(found.session.conversation) for found in again.load()} == {
        "large": 100_003,
        "small": 3,
    }
    again.close()
