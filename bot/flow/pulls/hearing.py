"""What came from the forge about pull requests: what happened to them, what their checks and readers say, what the base brought."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.collided import told_of_base
from bot.domain.events import BaseTakenIn, Happening, PullsSeen
from bot.domain.hosting import CiState, MergeState, Pull
from bot.domain.session import Session, Speaker
from bot.domain.sheets import Tone
from bot.domain.states import TaskState
from bot.domain.tasks import PullRequest, Task, Why
from bot.flow import blocked, ship, telling
from bot.flow.pulls.standing import base_missing, with_pull

MAX_ROUNDS = 3
"""Of failed checks or review notes, and of collisions: then a person is asked."""
TOLD = 12_000
"""Characters of outputs and notes that an agent is told in one round."""


def seen(session: Session, event: PullsSeen, pull: Pull) -> Iterator[Deed]:
    task = next(
        (t for t in with_pull(session) if t.pull_request and t.pull_request.number == pull.number),
        None,
    )
    if task is None or task.pull_request is None:
        return
    former = task.pull_request
    task.pull_request = former.model_copy(update={"seen": pull, "merged": pull.merged})
    if pull.merged and not former.merged:
        yield from merged(session, task, event, former.number)
    elif not pull.open and former.open:
        yield telling.news(
            f"closed:{task.key}:{pull.number}",
            f"{task.key}: pull request #{pull.number} was closed without a merge",
            "I take it that it is not wanted any more. Its branch is kept.",
        )


def merged(session: Session, task: Task, event: Happening, number: int) -> Iterator[Deed]:
    """By people, perhaps while something about it was still to be done."""
    if task.state in (TaskState.NEEDS_CONTINUATION, TaskState.BLOCKED, TaskState.FAILED):
        task.become(TaskState.INTEGRATING)
        yield from ship.complete(session, task, event)
    session.say(Speaker.SYSTEM, f"Pull request #{number} of {task.key} was merged", event.at)
    yield telling.news(
        f"pull-merged:{task.key}:{number}", f"{task.key}: #{number} is merged", tone=Tone.SUCCESS
    )


def attend(session: Session, event: Happening) -> Iterator[Deed]:
    """What is to be done about them now that nobody works on them."""
    for task in session.in_state(TaskState.COMPLETED):
        pull = task.pull_request
        if pull is None or not pull.open or pull.unneeded or pull.seen is None:
            continue
        if news := _news(pull, pull.seen):
            yield from _rework(session, task, event, pull, news)
        elif missing := base_missing(session, task, pull):
            take_in_first(task, missing)
        elif pull.seen.merge_state is MergeState.CONFLICT and _is_next(session, task):
            take_in_first(task, (f"conflict:{pull.seen.head}",))


def _news(pull: PullRequest, seen: Pull) -> dict[str, str]:
    """What its agent has not been told: failed checks once all have ended, and the words of people who may write there."""
    if seen.head != pull.head:
        return {}  # a look at an earlier commit
    news = {}
    if seen.ci is CiState.FAILED:
        news = {
            failure.key: f"## The check “{failure.name}” failed\n{failure.output or '(it says nothing)'}"
            for failure in seen.failures
        }
    for note in seen.notes:
        if note.trusted and note.text.strip():
            place = f" on {note.path}" + (f":{note.line}" if note.line else "") if note.path else ""
            news[note.key] = f"## {note.author} says{place}\n{note.text}"
    return {key: text for key, text in news.items() if key not in pull.delivered}


def _rework(
    session: Session, task: Task, event: Happening, pull: PullRequest, news: dict[str, str]
) -> Iterator[Deed]:
    task.pull_request = pull.model_copy(
        update={"delivered": (*pull.delivered, *news), "wanted_by": None}
    )
    rounds = task.count("review_rounds")
    failed = any(text.startswith("## The check") for text in news.values())
    what = "checks failed" if failed else "somebody asks for changes"
    task.become(TaskState.NEEDS_CONTINUATION)
    if rounds > MAX_ROUNDS:
        reason = f"#{pull.number}: {what}, after {MAX_ROUNDS} rounds of mending"
        yield from blocked.block(session, task, reason, event)
        return
    task.next_why = Why.CI_FAILED if failed else Why.REVIEW
    task.next_feedback = (
        f"Your work is in pull request #{pull.number}. This came back about it; mend it on the same branch and commit.\n\n"
        + "\n\n".join(news.values())[:TOLD]
    )
    yield telling.news(
        f"rework:{task.key}:{rounds}",
        f"{task.key}: {what} on #{pull.number} (round {rounds} of {MAX_ROUNDS})",
        *(text.partition("\n")[0].removeprefix("## ") for text in news.values()),
        "It goes back to its agent.",
        tone=Tone.FAILURE if failed else Tone.PROGRESS,
    )


def _is_next(session: Session, task: Task) -> bool:
    return not ship.depends_on(session, task)


def take_in_first(task: Task, missing: tuple[str, ...]) -> None:
    task.become(TaskState.NEEDS_CONTINUATION)
    task.taking_in = missing


def taken_in(session: Session, event: BaseTakenIn) -> Iterator[Deed]:
    task = session.task(event.task_id)
    if task is None or not task.taking_in or task.pull_request is None:
        return
    pull = task.pull_request
    task.pull_request = pull.model_copy(
        update={"taken_in": (*pull.taken_in, *task.taking_in), "wanted_by": pull.wanted_by}
    )
    task.taking_in = ()
    if task.workspace:
        # what is compared from now on is its own work, not what others have merged
        task.workspace = task.workspace.model_copy(update={"start": event.base})
    if not event.conflicts:
        # the tests have not seen this yet
        task.become(TaskState.VERIFYING)
        task.work_of = task.checked_of = ""
        return
    rounds = task.count("conflict_rounds")
    if rounds > MAX_ROUNDS:
        reason = (
            f"#{pull.number} collides with {session.base_branch} in {', '.join(event.conflicts)}"
        )
        yield from blocked.block(session, task, reason, event)
        return
    task.next_why = Why.CONFLICT
    task.next_feedback = told_of_base(task, event.base, event.conflicts)
    yield telling.news(
        f"collides:{task.key}:{rounds}",
        f"{task.key}: #{pull.number} collides with what was merged",
        f"In {', '.join(event.conflicts[:8])}. Its agent settles it.",
    )
