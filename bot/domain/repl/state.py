"""What stands in repl.json, and how it follows the tasks of the console's sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import AwareDatetime, Field

from bot.domain.facts import Fact
from bot.domain.session import Session
from bot.domain.states import Status
from bot.domain.tasklog import TaskLogStatus, status_of_log
from bot.domain.tasks import Task

E105 = "E105"
"""The code of a repl.json that cannot be read."""


class ReplState(Fact):
    """All that stands in repl.json: these five keys and no other."""

    selected_provider: Literal["claude-code", "openai", "anthropic"] | None
    selected_model: str | None = Field(min_length=1)
    updated_at: AwareDatetime | None
    current_task_id: str | None = Field(min_length=1)
    last_task_id: str | None = Field(min_length=1)

    @classmethod
    def first(cls) -> ReplState:
        return cls(
            selected_provider=None,
            selected_model=None,
            updated_at=None,
            current_task_id=None,
            last_task_id=None,
        )


_ENDED = (TaskLogStatus.COMPLETE, TaskLogStatus.INCOMPLETE, TaskLogStatus.ERROR)


def followed(state: ReplState, before: Session, after: Session) -> ReplState:
    """What a decision has made of the tasks. Whatever went wrong with it: what does not run is not current."""
    current, last = state.current_task_id, state.last_task_id
    for task in after.tasks:
        was = before.task(task.id)
        before_it = status_of_log(before, was) if was else TaskLogStatus.QUEUED
        now = status_of_log(after, task)
        if now in _ENDED and before_it not in _ENDED:
            last = task.id
        if _runs(after, task):
            if not (was and _runs(before, was)):
                current = task.id
            last = None if last == task.id else last
        elif current == task.id:
            current = None
    if current is None:
        current = next((task.id for task in after.tasks if _runs(after, task)), None)
    return state.model_copy(update={"current_task_id": current, "last_task_id": last})


def recalled(state: ReplState, awake: Iterable[Session]) -> ReplState:
    """At a start: what was running may have ended in the meantime, or its session may be gone."""
    sessions = tuple(awake)
    running = [task.id for one in sessions for task in one.tasks if _runs(one, task)]
    current, last = state.current_task_id, state.last_task_id
    if current not in running:
        if current and any(_has_ended(one, current) for one in sessions):
            last = current
        current = running[-1] if running else None
    last = None if last in running else last
    return state.model_copy(update={"current_task_id": current, "last_task_id": last})


def _runs(session: Session, task: Task) -> bool:
    at_work = session.status is Status.ACTIVE
    return at_work and status_of_log(session, task) is TaskLogStatus.RUNNING


def _has_ended(session: Session, task_id: str) -> bool:
    task = session.task(task_id)
    return task is not None and status_of_log(session, task) in _ENDED
