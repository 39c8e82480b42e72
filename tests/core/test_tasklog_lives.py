"""Whatever happens to a session: every task that should have a log has one, and each says how its task stands."""

from __future__ import annotations

import pytest

from bot.core.events import Event
from bot.core.projections import task_log_entries, task_log_views, task_logs
from bot.core.projections.task_logs import LogEntry, TaskLog, TaskLogStatus
from bot.core.session import Session
from tests.steps.test_anything_goes import Life

LIVES = range(40)
MOST_LIVES = 400
"""Among so many there is one in which a task ends in an error, which is rare."""
ENDS = ("TASK_COMPLETED", "TASK_INCOMPLETE", "TASK_ERROR")
OVER = (TaskLogStatus.COMPLETE, TaskLogStatus.INCOMPLETE, TaskLogStatus.ERROR)


class Logged(Life):
    """A life of which logs are kept, as they are on disk."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.logs: dict[str, TaskLog] = {}

    def decided(self, event: Event) -> None:
        before = self.session.copied()
        super().decided(event)
        after = self.session.copied()
        for task_id, new in task_log_entries.log_entries(before, event, after).items():
            self.note(after, task_id, new)

    def note(self, session: Session, task_id: str, new: list[LogEntry]) -> None:
        task = session.task(task_id)
        assert task
        old = self.logs.get(task_id)
        fresh = task_log_entries.missing_entries(session, task, old, new)
        events = task_log_entries.in_order([*(old.events if old else ()), *fresh])
        self.logs[task_id] = task_log_views.with_events(
            task_log_views.task_log(session, task), task, events
        )

    def check(self) -> None:
        logged = [one for one in self.session.tasks if task_logs.is_logged(self.session, one)]
        assert task_log_views.tasks_without_log(self.session, self.logs.values()) == ()
        for task in logged:
            log = self.logs[task.id]
            assert log.status is task_logs.status_of_log(self.session, task), self.told(task.key)
            ids = [one.id for one in log.events]
            assert len(ids) == len(set(ids))
            assert log.events[0].event_type == "USER_INPUT"
            assert bool(log.error_reason) == (log.status in OVER[1:])
            if log.status in OVER:
                assert any(one.event_type in ENDS for one in log.events), self.told(task.key)


@pytest.mark.covers("R-ENTITY-TaskLog", "R-LOG-TASK-1", "R-PROPERTY-26")
@pytest.mark.parametrize("seed", LIVES)
def test_no_task_goes_unlogged(seed: int) -> None:
    life = Logged(seed)
    life.live()


def test_lives_are_long_enough_to_mean_anything() -> None:
    missing = set(TaskLogStatus)
    seeds = iter(range(MOST_LIVES))
    while missing:
        seed = next(seeds, None)
        assert seed is not None, missing
        life = Logged(seed)
        life.live()
        missing -= {log.status for log in life.logs.values()}
