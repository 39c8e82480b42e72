"""Tasks created while work goes on: smaller ones in place of one that was too large, and one that resolves conflicts
between finished branches.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.core import naming
from bot.core.actions import Deed
from bot.core.events import EventBase, MergedLocally, OrderFailed, TaskReplanned
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import TaskState
from bot.core.task import Acceptance, Counters, SmallerTask, Task
from bot.steps import messages, plan
from bot.steps.blocked import rules as blocked
from bot.steps.blocked import troubles
from bot.steps.ship import rules as ship

# A task that was too large: smaller ones replace it, serve the same requirements, and become the dependencies of what
# depended on it.


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
    yield from troubles.end_run(task, event.at)
    added = _replace(session, task, smaller, event)
    yield messages.news(
        f"replaced:{task.key}",
        f"{task.key} is cut into {len(added)} smaller tasks",
        *(f"{new.key}: {new.name}" for new in added),
        task.replan_reason,
    )


def _replace(
    session: Session,
    task: Task,
    smaller: tuple[SmallerTask, ...],
    event: TaskReplanned | OrderFailed,
) -> list[Task]:
    ids = [naming.derived_id(session.id, task.id, "smaller", str(n)) for n in range(len(smaller))]
    added = [_part(session, task, ids, n, one, event) for n, one in enumerate(smaller)]
    task.become(TaskState.REPLACED)
    task.replaced_by = tuple(ids)
    ship.release_branch_of(session, task)
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
    session: Session, task: Task, ids: list[str], n: int, one: SmallerTask, event: EventBase
) -> Task:
    """Return one part. It serves the whole task's requirements and inherits its count of splits, which is limited."""
    return Task(
        id=ids[n],
        key=_key(_highest_number(session) + n + 1),
        number=max(other.number for other in session.tasks) + n + 1,
        name=one.name,
        description=_part_description(task, one),
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
    """Return the key after the highest one."""
    return _key(_highest_number(session) + 1)


def _key(number: int) -> str:
    return f"T{number:03d}"


def _highest_number(session: Session) -> int:
    # Includes the tasks of a pending change: users see them under these keys.
    planned = session.change.drafts if session.change else ()
    return max((_number(one.key) for one in (*session.tasks, *planned)), default=0)


def _number(key: str) -> int:
    digits = "".join(letter for letter in key if letter.isdigit())
    return int(digits) if digits else 0


def _part_description(task: Task, one: SmallerTask) -> str:
    # Points the agent to the earlier attempt, so that nothing of it is lost unseen.
    branch = task.workspace.branch if task.workspace and task.commits else ""
    seen = (
        f"\n\nThis is a part of {task.key} “{task.name}”, which was tried as a whole on the branch {branch}: look there for what "
        "can be used, but do not merge it."
        if branch
        else ""
    )
    return f"{one.description}{seen}"


# Finished branches conflict, and no agent is left that could resolve it: a new task does.


def may_add_integration(session: Session) -> bool:
    """Whether such a task may be created: only once. If branches still conflict, a person has to look."""
    return not any(task.type is TaskType.INTEGRATION for task in session.tasks)


def add_integration_task(session: Session, event: MergedLocally) -> Iterator[Deed]:
    """Add a task that depends on all finished ones, so that their branches are merged into its own and its agent
    resolves the conflicts.
    """
    done = [t for t in session.in_state(TaskState.COMPLETED) if plan.is_last_on_branch(session, t)]
    id = naming.derived_id(session.id, "conflict-resolution", str(len(session.tasks)))
    task = Task(
        id=id,
        key=next_key(session),
        number=max((other.number for other in session.tasks), default=0) + 1,
        name=f"task-{session.short}-conflict-resolution-{naming.short(id)}",
        description=(
            f"The finished branches of this plan collide in {', '.join(event.conflicts)}. Bring them together so that every "
            "one of them keeps its meaning; change nothing else."
        ),
        type=TaskType.INTEGRATION,
        dependencies=tuple(other.id for other in done),
        requirements=tuple(dict.fromkeys(r for other in done for r in other.requirements)),
        acceptance=(
            Acceptance(id="C1", text="All branches are merged, and each keeps its meaning."),
            Acceptance(id="C2", text="All tests pass."),
        ),
        files=event.conflicts,
        tests_first=False,
        created_at=event.at,
    )
    session.tasks.append(task)
    yield messages.news(
        f"integrate:{task.key}",
        "The finished branches collide with each other",
        f"In {', '.join(event.conflicts[:8])}. {task.key} brings them together; then you are asked again.",
    )
