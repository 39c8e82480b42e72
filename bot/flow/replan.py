"""A task that was cut too large: smaller ones take its place, serve the same requirements, and whoever waited for it waits for them."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import naming
from bot.domain.actions import Deed
from bot.domain.events import Happening, OrderFailed, TaskReplanned
from bot.domain.replanned import Smaller
from bot.domain.session import Session
from bot.domain.states import TaskState
from bot.domain.tasks import Counters, Task
from bot.flow import blocked, mishaps, ship, telling


def decide(session: Session, event: TaskReplanned | OrderFailed) -> Iterator[Deed]:
    task = session.task(event.task_id)
    if task is None or not task.replan_reason or task.state is TaskState.REPLACED:
        return
    smaller = event.smaller if isinstance(event, TaskReplanned) else ()
    if len(smaller) < 2:
        why, task.replan_reason = task.replan_reason, ""
        reason = f"{why} It could not be cut into smaller tasks."
        yield from blocked.block(session, task, reason, event)
        return
    yield from mishaps.end_run(task, event.at)
    added = _replace(session, task, smaller, event)
    yield telling.news(
        f"replaced:{task.key}",
        f"{task.key} is cut into {len(added)} smaller tasks",
        *(f"{new.key}: {new.name}" for new in added),
        task.replan_reason,
    )


def _replace(
    session: Session, task: Task, smaller: tuple[Smaller, ...], event: TaskReplanned | OrderFailed
) -> list[Task]:
    ids = [naming.derived_id(session.id, task.id, "smaller", str(n)) for n in range(len(smaller))]
    added = [_part(session, task, ids, n, one, event) for n, one in enumerate(smaller)]
    task.become(TaskState.REPLACED)
    task.replaced_by = tuple(ids)
    ship.gone(session, task)
    place = session.tasks.index(task)
    session.tasks[place + 1 : place + 1] = added
    for other in session.tasks:
        if task.id in other.dependencies and other.id not in ids:
            kept = tuple(id for id in other.dependencies if id != task.id)
            other.dependencies = (*kept, *ids)
            if other.state is TaskState.READY:
                other.become(TaskState.PENDING)
    return added


def _part(
    session: Session, task: Task, ids: list[str], n: int, one: Smaller, event: Happening
) -> Task:
    """It serves what the whole served, and may be cut as often less."""
    return Task(
        id=ids[n],
        key=_key(_highest(session) + n + 1),
        number=max(other.number for other in session.tasks) + n + 1,
        name=one.name,
        description=_described(task, one),
        story=task.story,
        type=one.type,
        dependencies=(*task.dependencies, *(ids[k] for k in one.after if 0 <= k < n)),
        requirements=task.requirements,
        acceptance=one.acceptance,
        files=one.files,
        tests_first=task.tests_first,
        agent=task.agent,
        limits=task.limits,
        counters=Counters(replans=task.counters.replans + 1),
        parent=task.id,
        original=task.original or task.id,
        created_at=event.at,
    )


def next_key(session: Session) -> str:
    """After the highest there is."""
    return _key(_highest(session) + 1)


def _key(number: int) -> str:
    return f"T{number:03d}"


def _highest(session: Session) -> int:
    """Also of what a change would add: people are shown it under that key."""
    planned = session.change.drafts if session.change else ()
    return max((_number(one.key) for one in (*session.tasks, *planned)), default=0)


def _number(key: str) -> int:
    digits = "".join(letter for letter in key if letter.isdigit())
    return int(digits) if digits else 0


def _described(task: Task, one: Smaller) -> str:
    """What was tried before is not thrown away unseen."""
    branch = task.workspace.branch if task.workspace and task.commits else ""
    seen = (
        f"\n\nThis is a part of {task.key} “{task.name}”, which was tried as a whole on the branch {branch}: look there for what "
        "can be used, but do not merge it."
        if branch
        else ""
    )
    return f"{one.description}{seen}"
