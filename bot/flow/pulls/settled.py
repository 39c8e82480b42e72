"""What people have made of a pull request: it is merged, or closed. Work that was still going on about it ends with that."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.cards import Decided
from bot.domain.events import Happening
from bot.domain.session import Session, Speaker
from bot.domain.sheets import Tone
from bot.domain.states import TaskState
from bot.domain.tasks import Task, Why
from bot.flow import blocked, limits, mishaps, ship, telling

_MENDING = frozenset({Why.CI_FAILED, Why.REVIEW, Why.CONFLICT})
_CAUSES = _MENDING | {Why.FIRST, Why.CHANGED}
"""What work is begun for; all other reasons only go on with it."""


def merged(session: Session, task: Task, event: Happening, number: int) -> Iterator[Deed]:
    """By people, perhaps while something about it was still to be done."""
    asked = task.state in (TaskState.BLOCKED, TaskState.FAILED) and not _wants_more(task)
    if asked or _is_about_it(task):
        yield from _ended(session, task, event, f"#{number} was merged")
    session.say(Speaker.SYSTEM, f"Pull request #{number} of {task.key} was merged", event.at)
    yield telling.news(
        f"pull-merged:{task.key}:{number}", f"{task.key}: #{number} is merged", tone=Tone.SUCCESS
    )


def closed(session: Session, task: Task, event: Happening, number: int) -> Iterator[Deed]:
    """What has failed is not done over that; what was only to be mended need not be mended."""
    if _is_about_it(task):
        yield from _ended(session, task, event, f"#{number} was closed")
    yield telling.news(
        f"closed:{task.key}:{number}",
        f"{task.key}: pull request #{number} was closed without a merge",
        "I take it that it is not wanted any more. Its branch is kept.",
    )


def _is_about_it(task: Task) -> bool:
    """Whether what goes on is nothing but that pull request: not where something else is wanted of the task since."""
    match task.state:
        case TaskState.NEEDS_CONTINUATION:
            return not _wants_more(task)
        case TaskState.RUNNING:
            return _cause(task) in _MENDING and not task.taken_by
        case TaskState.VERIFYING | TaskState.INTEGRATING:
            # no agent has worked on it since
            return task.completed_at is not None
        case _:
            return False


def _wants_more(task: Task) -> bool:
    return task.completed_at is None and _cause(task) is Why.CHANGED


def _cause(task: Task) -> Why:
    """Behind all tries."""
    whys = [run.why for run in task.runs]
    if task.state is TaskState.NEEDS_CONTINUATION:
        whys.append(task.next_why)
    return next((why for why in reversed(whys) if why in _CAUSES), Why.FIRST)


def _ended(session: Session, task: Task, event: Happening, what: str) -> Iterator[Deed]:
    """Whoever was asked, or waited for, is not any more."""
    decided = Decided(what=what, by="people there", at=event.at)
    yield from blocked.settled(session, task, decided)
    yield from limits.over(session, task, decided)
    if task.state is TaskState.INTEGRATING and task.problem:
        yield ship.card(task, decided)
    yield from mishaps.end_run(task, event.at)
    task.taking_in, task.problem = (), ""
    if task.state is TaskState.RUNNING:
        task.become(TaskState.NEEDS_CONTINUATION)
    if task.state is not TaskState.INTEGRATING:
        task.become(TaskState.INTEGRATING)
    yield from ship.complete(session, task, event)
