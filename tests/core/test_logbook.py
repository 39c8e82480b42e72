"""The logbook writes beside the work: nobody waits for it, nothing fails over it, and what it missed is made good."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from adapters.store.task_logs import TaskLogFiles
from bot.core.errors import Unavailable
from bot.core.events import Event, Woken
from bot.core.masking import Masker
from bot.core.projections.task_log_views import tasks_without_log
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.core.projections.task_logs import LogEntry, LogEventType, TaskLog
from bot.core.session import Session
from bot.core.states import RunState, TaskState
from bot.ports import Logs
from tests.steps.scenes import executing, later, running, task

DEADLINE = 120.0


class FakeLogs:
    """Remembers what was noted. `full` makes the disk full, `broken` is a bug, `gate` holds a note up."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, dict[str, list[str]]]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.full = False
        self.broken = False
        self.tidied = 0
        self.open_logs: tuple[str, ...] = ()

    async def note(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        await self.gate.wait()
        if self.full:
            raise Unavailable("the disk is full")
        if self.broken:
            raise ValueError("a bug")
        told = {task_id: [one.event_type.value for one in new] for task_id, new in found.items()}
        self.noted.append((session.id, told))

    async def settle(self, session: Session, task_id: str) -> None:
        await self.note(session, {task_id: ()})

    async def read(self, session_id: str) -> tuple[TaskLog, ...]:
        return ()

    async def unsettled(self) -> tuple[str, ...]:
        return self.open_logs

    async def tidy(self) -> None:
        self.tidied += 1


def port(fake: FakeLogs) -> Logs:
    return fake


def happened() -> Event:
    return Woken(id="w", at=later())


def begun(id: str = "s-1") -> tuple[Session, Session]:
    """A session before and after its task began."""
    before = executing(task("T001", TaskState.READY), id=id)
    after = before.copied()
    after.tasks[0] = running("T001")
    return before, after


def note(book: TaskLogWriter, id: str = "s-1") -> None:
    before, after = begun(id)
    book.note(before, happened(), after)


async def test_what_was_decided_is_written_soon() -> None:
    fake = FakeLogs()
    book = TaskLogWriter(port(fake))
    note(book)
    async with asyncio.timeout(DEADLINE):
        await book.written()
    assert fake.noted == [("s-1", {"id-T001": ["TASK_STARTED", "EXECUTOR_DISPATCH"]})]


async def test_what_means_nothing_for_any_log_costs_nothing() -> None:
    fake = FakeLogs()
    book = TaskLogWriter(port(fake))
    _, session = begun()
    book.note(session, happened(), session.copied())
    await book.close()
    assert fake.noted == []


async def test_nobody_waits_for_a_slow_disk_and_what_came_meanwhile_is_written_together() -> None:
    fake = FakeLogs()
    fake.gate.clear()
    book = TaskLogWriter(port(fake))
    note(book, "s-0")
    await asyncio.sleep(0)
    note(book)
    note(book)
    assert fake.noted == []
    fake.gate.set()
    async with asyncio.timeout(DEADLINE):
        await book.close()
    assert [name for name, _ in fake.noted] == ["s-0", "s-1"]
    assert len(fake.noted[1][1]["id-T001"]) == 4


async def test_what_a_full_disk_refused_comes_with_the_next_note(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fake = FakeLogs()
    fake.full = True
    book = TaskLogWriter(port(fake))
    with caplog.at_level(logging.WARNING, "bot.logbook"):
        note(book)
        async with asyncio.timeout(DEADLINE):
            await book.written()
    told = [record.levelname for record in caplog.records if record.name == "bot.logbook"]
    assert told == ["WARNING"] * 3
    fake.full = False
    note(book, "s-2")
    async with asyncio.timeout(DEADLINE):
        await book.written()
    assert {name for name, _ in fake.noted} == {"s-1", "s-2"}


async def test_closing_tries_once_more(caplog: pytest.LogCaptureFixture) -> None:
    fake = FakeLogs()
    fake.full = True
    book = TaskLogWriter(port(fake))
    with caplog.at_level(logging.WARNING, "bot.logbook"):
        note(book)
        async with asyncio.timeout(DEADLINE):
            await book.written()
            fake.full = False
            await book.close()
    assert len(fake.noted) == 1


async def test_a_bug_is_told_and_the_work_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    fake = FakeLogs()
    fake.broken = True
    book = TaskLogWriter(port(fake))
    note(book)
    async with asyncio.timeout(DEADLINE):
        await book.written()
    assert caplog.records[0].levelname == "ERROR"
    fake.broken = False
    note(book)
    await book.close()
    assert len(fake.noted) == 1


async def test_a_bug_in_what_is_said_of_an_event_breaks_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fake = FakeLogs()
    book = TaskLogWriter(port(fake))
    before, after = begun()
    after.tasks[0].runs[0] = after.tasks[0].runs[0].model_copy(update={"why": "not a reason"})
    book.note(before, happened(), after)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    await book.close()
    assert fake.noted == []


async def test_what_no_disk_takes_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    fake = FakeLogs()
    fake.gate.clear()
    book = TaskLogWriter(port(fake), most=10)
    for _ in range(50):
        note(book)
    fake.gate.set()
    async with asyncio.timeout(DEADLINE):
        await book.close()
    assert all(len(found["id-T001"]) <= 12 for _, found in fake.noted)
    assert "dropped" in caplog.text


async def test_at_the_start_every_task_that_should_have_a_log_is_noted_and_old_logs_are_tidied() -> (
    None
):
    fake = FakeLogs()
    fake.open_logs = ("s-1", "s-over", "s-gone")
    book = TaskLogWriter(port(fake))
    _, running_one = begun("s-1")
    _, over = begun("s-over")
    async with asyncio.timeout(DEADLINE):
        await book.catch_up([running_one], {"s-over": over}.get)
        await book.close()
    assert fake.noted == [("s-1", {"id-T001": []}), ("s-over", {"id-T001": []})]
    assert fake.tidied == 1


@pytest.mark.covers("R-ENTITY-TaskLog")
async def test_a_task_that_ended_unlogged_has_its_log_after_the_next_start(tmp_path: Path) -> None:
    """Its session is all there is: the bot was killed before anything was written."""
    _, session = begun()
    session.tasks[0].update_run(
        session.tasks[0].runs[0].model_copy(update={"state": RunState.ENDED})
    )
    session.tasks.append(task("T002", TaskState.FAILED, blocked="the tests failed 3 times"))
    book = TaskLogWriter(TaskLogFiles(tmp_path, Masker({})))
    async with asyncio.timeout(DEADLINE):
        await book.catch_up([session])
        logs = await book.read(session.id)
    await book.close()
    assert tasks_without_log(session, logs) == ()
    assert logs[1].events[-1].event_type is LogEventType.TASK_ERROR
    assert logs[1].error_reason == "the tests failed 3 times"


async def test_reading_shows_what_was_noted_just_now(tmp_path: Path) -> None:
    book = TaskLogWriter(TaskLogFiles(tmp_path, Masker({})))
    note(book)
    async with asyncio.timeout(DEADLINE):
        [log] = await book.read("s-1")
    assert [one.event_type.value for one in log.events] == [
        "USER_INPUT",
        "TASK_STARTED",
        "EXECUTOR_DISPATCH",
    ]


async def test_at_the_end_tasks_without_a_log_are_named() -> None:
    logs = FakeLogs()
    book = TaskLogWriter(logs)
    over = executing(task("T001", TaskState.COMPLETED), task("T002", TaskState.BLOCKED))
    assert await book.settle(over) == {}
    logs.full = True
    lost = await book.settle(over)
    assert [(id, why.reason) for id, why in lost.items()] == [("id-T001", "the disk is full")]
