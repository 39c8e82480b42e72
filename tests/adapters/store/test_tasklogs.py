"""Logs of tasks on disk: the promised layout, complete, private, masked, bounded, and never broken."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.files import TEMPORARY_SUFFIX
from adapters.store.evidence import OutputLimits
from adapters.store.task_logs import TaskLogFiles
from bot.core.errors import Unavailable
from bot.core.evidence import LimitViolation
from bot.core.llm import Usage
from bot.core.masking import Masker
from bot.core.projections import task_log_views, task_logs
from bot.core.projections.task_logs import (
    LogBounds,
    LogEntry,
    LogEventType,
    LoggedRunner,
    SessionLog,
    SessionPhase,
    TaskLog,
    TaskLogIndex,
    Visibility,
)
from bot.core.session import Session
from bot.core.states import OverallStatus, TaskState
from bot.core.task import Task
from tests.adapters.store.disks import files_no_larger_than
from tests.steps.scenes import T0, check, executing, task, verifying

CANARY = "canary-7f3a9c51e0"
MAIL = "ann.example@shop.example.org"
SESSION = "7682b3a8-0000-4000-8000-000000000000"
KILLS = 24


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    old = os.umask(0)
    yield
    os.umask(old)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def files(home: Path) -> TaskLogFiles:
    return files_in(home)


def files_in(
    home: Path, bounds: LogBounds | None = None, ahead: timedelta = timedelta()
) -> TaskLogFiles:
    return TaskLogFiles(
        home, Masker({"CANARY": CANARY}), now=lambda: datetime.now(UTC) + ahead, bounds=bounds
    )


def session(*tasks: Task, id: str = SESSION) -> Session:
    return executing(*(tasks or (verifying("T001", checks=[check(1, 0)]),)), id=id)


def entry(id: str, text: str, *, at: int = 0, full: bool = True) -> LogEntry:
    return LogEntry(
        id=id,
        event_type=LogEventType.EXECUTOR_OUTPUT,
        timestamp=T0 + timedelta(seconds=at),
        visibility_level=Visibility.FULL if full else Visibility.SUMMARY,
        content={"output_summary": text},
    )


def all_of(session: Session) -> dict[str, list[LogEntry]]:
    return {one.id: [] for one in session.tasks}


def directory(home: Path, id: str = SESSION) -> Path:
    return home / "logs" / "sessions" / id


def texts(home: Path) -> list[str]:
    return [path.read_text() for path in home.rglob("*") if path.is_file()]


def names_in(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def modes_in(home: Path) -> set[tuple[bool, str]]:
    return {(path.is_dir(), oct(path.stat().st_mode & 0o7777)) for path in [home, *home.rglob("*")]}


def bytes_in(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


@pytest.mark.covers(
    "R-ENTITY-TaskLogIndex",
    "R-ENTITY-SessionMetadata",
    "R-LOG-INDEX-1",
    "R-FILE-index",
    "R-FILE-session",
    "R-FILE-session-index",
    "R-FILE-task-log",
)
async def test_files_lie_where_other_programs_look_for_them(
    files: TaskLogFiles, home: Path
) -> None:
    now = session()
    await files.note(now, all_of(now))
    left = directory(home) / "tasks" / "id-T001.json.tmp"  # what a crash left half written is swept
    left.write_text("{")
    await files.tidy()
    assert modes_in(home) == {(True, "0o700"), (False, "0o600")}
    assert names_in(home / "logs") == {
        "index.json",
        f"sessions/{SESSION}/session.json",
        f"sessions/{SESSION}/index.json",
        f"sessions/{SESSION}/tasks/id-T001.json",
    }
    SessionLog.model_validate_json((directory(home) / "session.json").read_bytes())
    index = TaskLogIndex.model_validate_json((directory(home) / "index.json").read_bytes())
    [line] = index.entries
    assert (line.task_id, line.external_task_id, line.tests_run_count) == ("task-001", "id-T001", 1)
    assert line.log_file == "tasks/id-T001.json"


@pytest.mark.covers("R-FILE-index")
async def test_the_index_of_all_sessions_is_up_to_date_whenever_a_task_stands_otherwise(
    files: TaskLogFiles, home: Path
) -> None:
    def listed() -> dict[str, list[str]]:
        told = json.loads((home / "logs" / "index.json").read_text())
        return {one["session_id"]: [line["status"] for line in one["entries"]] for one in told}

    other = session(task("T009"), id="0" * 8 + SESSION[8:])
    await files.note(other, all_of(other))
    first = session(task("T001", TaskState.READY))
    await files.note(first, all_of(first))
    assert listed() == {other.id: ["queued"], SESSION: ["queued"]}
    later_on = session()
    await files.note(later_on, all_of(later_on))
    assert listed() == {other.id: ["queued"], SESSION: ["running"]}
    (home / "logs" / "index.json").write_text("broken")
    ended = session(task("T001", TaskState.CANCELLED))
    await files.note(ended, all_of(ended))
    assert listed() == {other.id: ["queued"], SESSION: ["incomplete"]}


async def test_what_the_index_of_all_says_of_others_is_passed_on_unread(home: Path) -> None:
    """There may be thousands, and it is written whenever a task stands otherwise."""
    files, index, now = files_in(home, SMALL), home / "logs" / "index.json", session()
    await files.note(now, all_of(now))
    told = json.loads(index.read_text())
    other = '{"session_id":"other","later":"form"}'
    index.write_text(index.read_text().replace("[\n", f"[\n{other},\n"))
    ended = session(task("T001", TaskState.CANCELLED))
    await files.note(ended, all_of(ended))
    first, mine = json.loads(index.read_text())
    assert first == json.loads(other)
    assert (mine["session_id"], mine["entries"] == told[0]["entries"]) == (SESSION, False)
    age(directory(home), hours=24 * 365)
    await files.tidy()
    assert json.loads(index.read_text()) == []
    await files.note(now, all_of(now))  # after all have gone the next one is listed
    assert [one["session_id"] for one in json.loads(index.read_text())] == [SESSION]


async def test_a_bot_that_is_never_started_anew_tidies_up_now_and_then(
    files: TaskLogFiles, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two looks whether there is room a bounded amount is written; and what is noted is noted also without."""

    async def much_noted() -> None:
        for number in range(40):
            many = [entry(f"{number}.{n}", "x" * 9_000, at=number) for n in range(20)]
            await files.note(session(), {"id-T001": many})

    transcript = home / "runs" / "old.log"
    transcript.parent.mkdir(parents=True)
    transcript.write_text("what an agent has shown")
    age(transcript, hours=24 * 31)
    await files.note(session(), all_of(session()))
    assert transcript.exists()
    await much_noted()
    assert not transcript.exists()

    def tidy(_: OutputLimits) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(OutputLimits, "tidy", tidy)
    await much_noted()
    [log] = await files.read(SESSION)
    assert log.events


@pytest.mark.covers("R-ENTITY-Session")
async def test_the_metadata_tells_who_runs_it_how_it_is_set_and_how_far_it_is(home: Path) -> None:
    runner = LoggedRunner(version="1.2.3", configuration={"gwt_agent": "claude", "note": CANARY})
    files = TaskLogFiles(home, Masker({"CANARY": CANARY}), runner=runner)
    over = LimitViolation(limit_type="max_files", limit_value=8, actual_value=12, timestamp=T0)
    now = session(verifying("T001", violations=(over,)))
    now.usage += Usage(provider="openai", model="some-model")
    await files.note(now, all_of(now))
    told = SessionLog.model_validate_json((directory(home) / "session.json").read_bytes())
    assert (told.runner_version, told.configuration["gwt_agent"]) == ("1.2.3", "claude")
    assert CANARY not in str(told.configuration)
    assert told.target_project == now.repository.path
    assert (told.current_phase, told.status) == (SessionPhase.QA, OverallStatus.INCOMPLETE)
    assert told.continuation_approved is (now.approval.granted is not None)
    assert told.limit_violations == (over,)
    assert (told.selected_provider, told.selected_model) == ("openai", "some-model")


@pytest.mark.covers("R-LOG-TASK-5")
async def test_a_log_that_was_never_written_comes_whole_with_the_first_note(
    files: TaskLogFiles,
) -> None:
    now = session()
    await files.note(now, {"id-T001": [entry("new", "hello", at=3600)]})
    [log] = await files.read(SESSION)
    assert [one.event_type for one in log.events] == [
        LogEventType.USER_INPUT,
        LogEventType.TASK_STARTED,
        LogEventType.EXECUTOR_DISPATCH,
        LogEventType.EXECUTOR_OUTPUT,
        LogEventType.TEST_EXECUTION,
        LogEventType.EXECUTOR_OUTPUT,
    ]
    assert log.events[-1].content == {"output_summary": "hello"}


async def test_a_log_that_was_lost_is_made_again_when_it_is_settled(
    files: TaskLogFiles, home: Path
) -> None:
    await files.note(session(), {"id-T001": [entry("new", "hello")]})
    path = directory(home) / "tasks" / "id-T001.json"
    path.unlink()
    await files.settle(session(), "id-T001")
    assert path.exists()
    shutil.rmtree(directory(home))
    directory(home).write_text("in the way")
    with pytest.raises(Unavailable):
        await files.settle(session(), "id-T001")


async def test_noting_twice_writes_nothing_twice(files: TaskLogFiles, home: Path) -> None:
    now = session()
    noted = {"id-T001": [entry("new", "hello")]}
    await files.note(now, noted)
    path = directory(home) / "tasks" / "id-T001.json"
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    await files.note(now, noted)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.covers("R-ENTITY-TaskLogEntry")
async def test_there_are_as_many_logs_as_tasks_in_their_order(files: TaskLogFiles) -> None:
    now = session(*(task(f"T{n:03d}", TaskState.READY) for n in range(1, 8)))
    for one in now.tasks:
        await files.note(now, {one.id: []})
    logs = await files.read(SESSION)
    assert [log.key for log in logs] == [one.key for one in now.tasks]
    assert task_log_views.tasks_without_log(now, logs) == ()


@pytest.mark.covers("R-LOG-TASK-4", "R-EVENT-USER_INPUT")
async def test_no_secret_and_nobodys_address_reaches_a_file(
    files: TaskLogFiles, home: Path
) -> None:
    said = f"key {CANARY} of {MAIL}"
    one = verifying("T001", name=said, checks=[check(1, 1, said)])
    now = session(one, task("T002", TaskState.BLOCKED, blocked=said))
    # where the summary of the request is cut the secret has only begun
    now.intent = now.intent.model_copy(update={"body": f"{'x' * 88} {CANARY} {MAIL}"})
    await files.note(now, {"id-T001": [entry("e", said)], "id-T002": []})
    await files.tidy()
    assert len(texts(home)) == 5
    for text in texts(home):
        assert CANARY[:8] not in text
        assert MAIL[:8] not in text
        assert "example.org" not in text
    assert any("[MASKED:EMAIL]" in text for text in texts(home))


@pytest.mark.covers("R-LOG-TASK-4")
async def test_half_a_secret_is_not_left_where_a_long_text_is_cut(home: Path) -> None:
    files = files_in(home, LogBounds(entry=20_000, task=200_000))
    for shift in range(len(MAIL)):
        text = "x" * shift + f" {MAIL}" * 2_000
        await files.note(session(), {"id-T001": [entry("e", text)]})
        assert "ann.e" not in "".join(texts(home))
        shutil.rmtree(home)


@pytest.mark.covers("R-LOG-TASK-4")
async def test_what_is_learnt_to_be_secret_is_masked_when_it_is_shown(home: Path) -> None:
    now = session()
    await TaskLogFiles(home, Masker({})).note(now, {"id-T001": [entry("e", f"key {CANARY}")]})
    [log] = await files_in(home).read(SESSION)
    assert CANARY not in log.model_dump_json()


async def test_what_cannot_be_masked_is_hidden_and_the_rest_is_written(home: Path) -> None:
    class Fails(Masker):
        def mask(self, text: str) -> str:
            if "poison" in text:
                raise ValueError("no")
            return super().mask(text)

    files = TaskLogFiles(home, Fails({}))
    await files.note(session(), {"id-T001": [entry("a", "poison"), entry("b", "fine", at=1)]})
    assert "poison" not in "".join(texts(home))
    [log] = await files.read(SESSION)
    assert {"hidden": "it could not be masked"} in [one.content for one in log.events]
    assert {"output_summary": "fine"} in [one.content for one in log.events]


@pytest.mark.parametrize("broken", ["tasks/id-T001.json", "index.json", "session.json"])
async def test_what_is_broken_is_made_again_from_the_session(
    files: TaskLogFiles, home: Path, broken: str
) -> None:
    now = session(verifying("T001", checks=[check(1, 0)]), verifying("T002"))
    await files.note(now, all_of(now))
    logs = await files.read(SESSION)
    (directory(home) / broken).write_text('{"task_id": "id')
    await files.note(now, {"id-T001": []})
    assert await files.read(SESSION) == logs
    SessionLog.model_validate_json((directory(home) / "session.json").read_bytes())


async def test_a_session_is_unsettled_until_every_log_tells_of_the_end(files: TaskLogFiles) -> None:
    assert (await files.read("nobody"), await files.unsettled()) == ((), ())
    await files.tidy()
    now = session(task("T001", TaskState.CANCELLED), verifying("T002"))
    await files.note(now, all_of(now))
    assert await files.unsettled() == (SESSION,)
    now = session(task("T001", TaskState.CANCELLED), task("T002", TaskState.CANCELLED))
    await files.note(now, {"id-T002": []})
    assert await files.unsettled() == ()


# Bounds

SMALL = LogBounds(entry=3_000, task=60_000, session=120_000, all=300_000)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9_000)), max_size=40))
def test_no_log_outgrows_its_bounds_whatever_is_noted(shapes: list[tuple[bool, int]]) -> None:
    noted = [
        entry(f"e{at}", "日x" * length, at=at, full=full)
        for at, (full, length) in enumerate(shapes)
    ]
    with tempfile.TemporaryDirectory() as home:
        files = files_in(Path(home), SMALL)
        for part in (noted[::2], noted[1::2], noted):
            asyncio.run(files.note(session(), {"id-T001": part}))
        path = directory(Path(home)) / "tasks" / "id-T001.json"
        log = TaskLog.model_validate_json(path.read_bytes())
    assert path.suffix == ".json"
    assert all(task_logs.entry_size(one) <= SMALL.entry for one in log.events)
    assert task_logs.entry_size(log) <= SMALL.task
    assert log.events[0].event_type is LogEventType.USER_INPUT
    assert log.summary.total_events >= len(log.events)


async def test_a_log_whose_head_alone_is_too_large_still_tells_of_the_end(home: Path) -> None:
    files = files_in(home, SMALL)
    many = tuple(f"folder/{'x' * 60}/{n}.py" for n in range(900))
    now = session(task("T001", TaskState.CANCELLED, files=many))
    await files.note(now, all_of(now))
    [log] = await files.read(SESSION)
    assert [one.event_type for one in log.events] == [
        LogEventType.USER_INPUT,
        LogEventType.TASK_INCOMPLETE,
    ]
    assert (directory(home) / "tasks" / "id-T001.json").stat().st_size <= SMALL.task


async def test_a_session_that_is_too_large_keeps_a_log_of_every_task(home: Path) -> None:
    now = session(*(verifying(f"T{n:03d}", checks=[check(n, 1)]) for n in range(1, 6)))
    files = files_in(home, SMALL)
    for one in now.tasks:
        noted = [entry(f"e{n}", "x" * 2_500, at=n) for n in range(18)]
        await files.note(now, {one.id: noted})
    assert bytes_in(directory(home)) > SMALL.session
    await files.tidy()
    assert bytes_in(directory(home)) <= SMALL.session
    logs = await files.read(SESSION)
    assert [log.dropped > 0 for log in logs] == [True, True, True, False, False]
    assert all(log.events[0].event_type is LogEventType.USER_INPUT for log in logs)


async def test_where_there_is_no_room_the_oldest_sessions_go(home: Path) -> None:
    files = files_in(home, SMALL)
    for number in range(10):
        now = session(id=f"s-{number}")
        noted = [entry(f"e{n}", "x" * 2_500, at=n) for n in range(18)]
        await files.note(now, {"id-T001": noted})
        age(directory(home, f"s-{number}"), hours=20 - number)
    await files.tidy()
    left = {path.name for path in (home / "logs" / "sessions").iterdir()}
    assert bytes_in(home / "logs" / "sessions") <= SMALL.all
    assert left == {f"s-{n}" for n in range(10 - len(left), 10)}
    assert len(left) >= 4
    index = json.loads((home / "logs" / "index.json").read_text())
    assert {one["session_id"] for one in index} == left


def age(directory: Path, hours: float) -> None:
    then = datetime.now(UTC).timestamp() - hours * 3600
    for path in [*directory.rglob("*"), directory]:
        os.utime(path, (then, then))


async def test_logs_go_after_thirty_days(home: Path) -> None:
    own = home / "logs" / "srv-shop" / "gwt.jsonl.2020-01-01"  # the program's own log is left alone
    own.parent.mkdir(parents=True)
    own.write_text("{}\n")
    for name in ("old", "new"):
        await files_in(home).note(session(id=name), {"id-T001": []})
    age(directory(home, "old"), hours=25)
    await files_in(home, ahead=timedelta(days=29)).tidy()
    assert {path.name for path in (home / "logs" / "sessions").iterdir()} == {"new"}
    assert own.exists()


async def test_a_full_disk_says_so_and_leaves_the_log_as_it_was(files: TaskLogFiles) -> None:
    await files.note(session(), {"id-T001": []})
    before = await files.read(SESSION)
    with files_no_larger_than(50), pytest.raises(Unavailable, match="disk is full"):
        await files.note(session(), {"id-T001": [entry("e", "x" * 500)]})
    assert await files.read(SESSION) == before


@pytest.mark.parametrize("name", ["../../up", "a/b", "x" * 400, "日本語", ".", "index"])
async def test_any_id_will_do(files: TaskLogFiles, tmp_path: Path, name: str) -> None:
    now = session(task("T001", TaskState.READY, id=name), id=name)
    await files.note(now, {name: []})
    assert [log.task_id for log in await files.read(name)] == [name]
    assert {name.partition("/")[0] for name in names_in(tmp_path)} == {"home"}


async def test_each_batch_of_entries_is_on_the_disk_when_it_is_noted(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = os.fdatasync

    def noted(fd: int) -> None:
        synced.append(Path(f"/proc/self/fd/{fd}").readlink().name)
        sync(fd)

    monkeypatch.setattr(os, "fdatasync", noted)
    files = TaskLogFiles(home, Masker({}))
    for number in (1, 2):
        session = executing(verifying("T001", checks=[check(n, 1) for n in range(1, number + 1)]))
        await files.note(session, {"id-T001": []})
        assert synced == [f"id-T001.json{TEMPORARY_SUFFIX}"] * number
