"""Finished branches collide, and no task is left whose agent could settle it: a task of its own does."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import naming
from bot.domain.actions import Deed
from bot.domain.events import MergedLocally
from bot.domain.session import Session
from bot.domain.states import TaskState
from bot.domain.tasks import Acceptance, Task, TaskType
from bot.flow import replan, shared, telling


def may_be_settled(session: Session) -> bool:
    """Once. If they collide all the same, a person looks."""
    return not any(task.type is TaskType.INTEGRATION for task in session.tasks)


def begin(session: Session, event: MergedLocally) -> Iterator[Deed]:
    """It depends on all that is done, so their branches are merged into its own, and what collides is its agent's to settle."""
    done = [t for t in session.in_state(TaskState.COMPLETED) if shared.is_last(session, t)]
    id = naming.derived_id(session.id, "conflict-resolution", str(len(session.tasks)))
    task = Task(
        id=id,
        key=replan.next_key(session),
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
    yield telling.news(
        f"integrate:{task.key}",
        "The finished branches collide with each other",
        f"In {', '.join(event.conflicts[:8])}. {task.key} brings them together; then you are asked again.",
    )
