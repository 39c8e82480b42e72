"""Tasks that would change the same files are not run at the same time; branches that collide all the same are told of early."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from bot.domain.actions import Deed
from bot.domain.events import CollisionsSeen
from bot.domain.session import Session
from bot.domain.sheets import Tone
from bot.domain.states import TaskState
from bot.domain.tasks import Task
from bot.domain.world import Collision
from bot.flow import telling


def apart(session: Session, waiting: Iterable[Task]) -> Iterator[Task]:
    """Those that may start beside what runs already, and beside each other. One that has run before need not fear others'
    files, its changes are there; but two never work in one worktree."""
    busy = session.in_state(TaskState.RUNNING, TaskState.VERIFYING)
    merging = [task for task in session.tasks if task.taking_in]
    for task in waiting:
        together = any(_share(task, other) for other in (*busy, *merging))
        if not together and (task.runs or not any(overlaps(task, other) for other in busy)):
            busy.append(task)
            yield task


def _share(task: Task, other: Task) -> bool:
    one, two = task.workspace, other.workspace
    return one is not None and two is not None and one.path == two.path


def overlaps(task: Task, other: Task) -> bool:
    """Whether they have declared the same file, by name or by pattern. Who declares nothing is in nobody's way."""
    return any(_same(one, two) for one in task.files for two in other.files)


def _same(one: str, two: str) -> bool:
    one, two = one.strip("./ "), two.strip("./ ")
    if not one or not two:
        return False
    inside = two.startswith(f"{one.rstrip('/*')}/") or one.startswith(f"{two.rstrip('/*')}/")
    return one == two or inside or fnmatchcase(one, two) or fnmatchcase(two, one)


def seen(session: Session, event: CollisionsSeen) -> Iterator[Deed]:
    """Each pair once, however often it is looked at."""
    known = {_pair(collision) for collision in session.collisions}
    new = [collision for collision in event.collisions if _pair(collision) not in known]
    if not new:
        return
    session.collisions = (*session.collisions, *new)
    keys = {t.workspace.branch: t.key for t in session.tasks if t.workspace}
    lines = tuple(
        f"{keys.get(c.one, c.one)} and {keys.get(c.other, c.other)}: {', '.join(c.files[:6])}"
        for c in new
    )
    yield telling.news(
        f"collisions:{len(session.collisions)}",
        "Work in progress would conflict when it is merged",
        *lines,
        "The agent that finishes later will be told to resolve it. Say so in the thread if you want it done differently.",
        tone=Tone.PROGRESS,
    )


def _pair(collision: Collision) -> frozenset[str]:
    return frozenset((collision.one, collision.other))
