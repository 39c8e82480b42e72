"""Events about pull requests: checks, reviews, merges, and a base that has moved."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import Deed
from bot.core.cards import CardDecision
from bot.core.events import BaseTakenIn, EventBase, PullsSeen
from bot.core.forge import CiState, MergeState, Pull
from bot.core.pull_text import base_conflict_instructions
from bot.core.runs import Why
from bot.core.session import Session, Speaker
from bot.core.sheets import Tone
from bot.core.states import TaskState
from bot.core.task import PullRequest, Task
from bot.core.text import shortened
from bot.steps import messages
from bot.steps.blocked import limits, troubles
from bot.steps.blocked import rules as blocked
from bot.steps.pull_requests.cards import close_checks_card, missing_base_merges, tasks_with_pull
from bot.steps.ship import rules as ship

# What the forge reports: what happened to pull requests, their checks and comments, and new commits of the base.

MAX_ROUNDS = 3
"""Rounds of failed checks or review comments, and of conflicts, before a person is asked."""
MAX_BASE_MERGES = 20
"""Limit of merges of the base into a branch: a busy base is not followed for ever."""
MOST_CHECKS = 200
"""Names of checks that are remembered for a pull request."""
LONGEST_FEEDBACK = 12_000
"""Characters of outputs and comments that an agent is told in one round."""


def pull_seen(session: Session, event: PullsSeen, pull: Pull) -> Iterator[Deed]:
    task = next(
        (
            t
            for t in tasks_with_pull(session)
            if t.pull_request and t.pull_request.number == pull.number
        ),
        None,
    )
    if task is None or task.pull_request is None:
        return
    former = task.pull_request
    if former.merged and not pull.merged:
        return  # an outdated observation from before the merge
    if former.unchecked and _is_checks_question_settled(former, pull):
        what = "Merged" if pull.merged else "There is something new"
        decided = CardDecision(what=what, by="GitHub", at=event.at)
        yield from close_checks_card(task, former, decided)
        former = task.pull_request.model_copy(update={"checks_since": event.at})
    checks = tuple(dict.fromkeys((*former.checks, *pull.checks)))[-MOST_CHECKS:]
    same = former.seen is not None and former.seen.ci is pull.ci
    problem = former.problem if same else ""
    seen = {"seen": pull, "merged": pull.merged, "checks": checks, "problem": problem}
    task.pull_request = former.model_copy(update=seen)
    if pull.merged and not former.merged:
        yield from pull_merged(session, task, event, former.number)
    elif not pull.open and former.open:
        yield from pull_closed(session, task, event, former.number)


def _is_checks_question_settled(asked: PullRequest, pull: Pull) -> bool:
    """Whether a person need no longer decide about missing checks."""
    appeared = asked.seen is not None and set(pull.checks) - set(asked.seen.checks)
    return bool(appeared) or not pull.open or pull.head != asked.unchecked


def handle_feedback(session: Session, event: EventBase) -> Iterator[Deed]:
    """Decide what to do about open pull requests of tasks that nobody works on."""
    for task in session.in_state(TaskState.COMPLETED):
        pull = task.pull_request
        if pull is None or not pull.open or pull.unneeded or pull.seen is None:
            continue
        if news := _new_feedback(pull, pull.seen):
            yield from _rework(session, task, event, pull, news)
        elif missing := missing_base_merges(session, task, pull):
            take_in_base_first(task, missing)
        elif pull.seen.merge_state is MergeState.CONFLICT and _is_next(session, task):
            take_in_base_once(task, pull)
        elif pull.seen.draft and pull.seen.head == pull.head and _is_next(session, task):
            _make_ready(task, pull)


def _new_feedback(pull: PullRequest, seen: Pull) -> dict[str, str]:
    """Return what the agent has not been told: failed checks once all have finished, and comments of people with write
    access.
    """
    if seen.head != pull.head:
        return {}  # an observation of an earlier commit
    news = {}
    if seen.ci is CiState.FAILED:
        news = {
            failure.key: f"## The check “{failure.name}” failed\n{failure.output or '(it printed nothing)'}"
            for failure in seen.failures
        }
    for note in seen.notes:
        if note.trusted and note.text.strip():
            place = f" on {note.path}" + (f":{note.line}" if note.line else "") if note.path else ""
            news[note.key] = f"## {note.author} says{place}\n{note.text}"
    return {key: text for key, text in news.items() if key not in pull.delivered}


def _rework(
    session: Session, task: Task, event: EventBase, pull: PullRequest, news: dict[str, str]
) -> Iterator[Deed]:
    task.pull_request = pull.model_copy(
        update={"delivered": (*pull.delivered, *news), "wanted_by": None}
    )
    rounds = task.count("review_rounds")
    failed = pull.seen is not None and any(one.key in news for one in pull.seen.failures)
    what = "checks failed" if failed else "somebody asks for changes"
    task.become(TaskState.NEEDS_CONTINUATION)
    feedback = (
        f"Your work is in pull request #{pull.number}. This came back about it; mend it on the same branch and commit.\n\n"
        + "\n\n".join(_fit_texts([*news.values()]))
    )
    if rounds > MAX_ROUNDS:
        task.next_run.instructions = feedback  # in case a person has it retried
        reason = f"#{pull.number}: {what}, after {MAX_ROUNDS} rounds of mending"
        yield from blocked.block(session, task, reason, event)
        return
    task.next_run.why = Why.CI_FAILED if failed else Why.REVIEW
    task.next_run.feedback = feedback
    yield messages.news(
        f"rework:{task.key}:{rounds}",
        f"{task.key}: {what} on #{pull.number} (round {rounds} of {MAX_ROUNDS})",
        *(_quoted(text) for text in news.values()),
        "I have sent it to its agent.",
        tone=Tone.FAILURE if failed else Tone.PROGRESS,
    )


def _quoted(text: str) -> str:
    """Return who wrote it, or which check failed, and the beginning of the text."""
    head, _, said = text.partition("\n")
    return f"{head.removeprefix('## ')}: {shortened(said.strip(), messages.MAX_QUOTED_CHARS)}"


def _fit_texts(texts: list[str]) -> list[str]:
    # Each text gets a share of the room, so that one endless output does not hide the others.
    shares, left = dict[int, str](), LONGEST_FEEDBACK
    for number in sorted(range(len(texts)), key=lambda one: len(texts[one])):
        shares[number] = texts[number][: left // (len(texts) - len(shares))]
        left -= len(shares[number])
    return [shares[number] for number in range(len(texts))]


def _is_next(session: Session, task: Task) -> bool:
    return not ship.open_dependency_pulls(session, task)


def take_in_base_once(task: Task, pull: PullRequest) -> bool:
    """Take in the base because of a conflict, at most once per commit: repeating it would not resolve what still
    conflicts.
    """
    mark = f"conflict:{pull.head}"
    times = sum(one.startswith("conflict:") for one in pull.taken_in)
    if mark in pull.taken_in or times >= MAX_BASE_MERGES:
        return False
    take_in_base_first(task, (mark,))
    return True


def _make_ready(task: Task, pull: PullRequest) -> None:
    """Have a draft made ready whose dependencies are merged.

    Tried once per commit, as a person may want it to stay a draft.
    """
    mark = f"ready:{pull.head}"
    if mark not in pull.taken_in:
        task.pull_request = pull.model_copy(update={"taken_in": (*pull.taken_in, mark)})
        task.pull_tries += 1
        task.become(TaskState.NEEDS_CONTINUATION)
        task.become(TaskState.INTEGRATING)


def take_in_base_first(task: Task, missing: tuple[str, ...]) -> None:
    task.become(TaskState.NEEDS_CONTINUATION)
    task.base_to_merge = missing


def base_taken_in(session: Session, event: BaseTakenIn) -> Iterator[Deed]:
    task = session.task(event.task_id)
    if task is None or not task.base_to_merge or task.pull_request is None:
        return
    pull = task.pull_request
    # it is still to be merged: taking in the base and resolving conflicts is part of that
    task.pull_request = pull.model_copy(update={"taken_in": (*pull.taken_in, *task.base_to_merge)})
    task.base_to_merge = ()
    if task.workspace:
        # from now on its diff starts at the base, so that it shows only its own work
        task.workspace = task.workspace.model_copy(update={"start": event.base})
    if event.head and task.work:
        # this commit is the bot's own: it needs no verdict
        task.work = task.work.model_copy(update={"head": event.head})
    changed = task.next_run.why is Why.CHANGED
    # the current base includes everything of an earlier attempt
    task.next_run.to_merge = ""
    if not event.conflicts and changed:
        return  # more is wanted of the task: its agent goes on
    if not event.conflicts:
        # the tests have not run on this yet
        task.become(TaskState.VERIFYING)
        task.work_run = task.checked_run = ""
        return
    yield from _conflicts(session, task, event, pull)


def _conflicts(
    session: Session, task: Task, event: BaseTakenIn, pull: PullRequest
) -> Iterator[Deed]:
    rounds = task.count("conflict_rounds")
    changed = task.next_run.why is Why.CHANGED
    besides = f"\n\n{task.next_run.feedback}" if changed else ""
    task.require_merge(base_conflict_instructions(task, event.base, event.conflicts))
    feedback = f"{task.next_run.to_merge}{besides}"
    if rounds > MAX_ROUNDS:
        task.next_run.instructions = feedback  # in case a person has it retried
        reason = f"#{pull.number} collides with {session.repository.base_branch} in {', '.join(event.conflicts)}"
        yield from blocked.block(session, task, reason, event)
        return
    task.next_run.why = Why.CHANGED if changed else Why.CONFLICT
    task.next_run.feedback = feedback
    yield messages.news(
        f"collides:{task.key}:{rounds}",
        f"{task.key}: #{pull.number} collides with what was merged",
        f"In {', '.join(event.conflicts[:8])}. Its agent resolves the conflict.",
    )


# A pull request was merged or closed. Work that only concerned it ends.

_MENDING = frozenset({Why.CI_FAILED, Why.REVIEW, Why.CONFLICT})
_CAUSES = _MENDING | {Why.FIRST, Why.CHANGED}
"""Reasons that start new work; all other reasons only continue it."""


def pull_merged(session: Session, task: Task, event: EventBase, number: int) -> Iterator[Deed]:
    """Record a merge by people, and end work that only concerned this pull request."""
    asked = task.state in (TaskState.BLOCKED, TaskState.FAILED) and not _wants_more(task)
    if asked or _is_only_about_pull(task):
        yield from _end_work(session, task, event, f"#{number} was merged")
    session.say(Speaker.SYSTEM, f"Pull request #{number} of {task.key} was merged", event.at)
    yield messages.news(
        f"pull-merged:{task.key}:{number}", f"{task.key}: #{number} is merged", tone=Tone.SUCCESS
    )


def pull_closed(session: Session, task: Task, event: EventBase, number: int) -> Iterator[Deed]:
    """Record a closed pull request. Fixes for it end; a task that had failed stays failed."""
    if _is_only_about_pull(task):
        yield from _end_work(session, task, event, f"#{number} was closed")
    yield messages.news(
        f"closed:{task.key}:{number}",
        f"{task.key}: pull request #{number} was closed without a merge",
        "I take it that it is not wanted any more. Its branch is kept.",
    )


def _is_only_about_pull(task: Task) -> bool:
    """Whether the current work only concerns that pull request, and nothing else is wanted of the task."""
    match task.state:
        case TaskState.NEEDS_CONTINUATION:
            return not _wants_more(task)
        case TaskState.RUNNING:
            return _original_cause(task) in _MENDING and not task.taken_by
        case TaskState.VERIFYING | TaskState.INTEGRATING:
            # no agent has worked on it since
            return task.completed_at is not None
        case _:
            return False


def _wants_more(task: Task) -> bool:
    return task.completed_at is None and _original_cause(task) is Why.CHANGED


def _original_cause(task: Task) -> Why:
    # The reason behind all retries.
    whys = [run.why for run in task.runs]
    if task.state is TaskState.NEEDS_CONTINUATION:
        whys.append(task.next_run.why)
    return next((why for why in reversed(whys) if why in _CAUSES), Why.FIRST)


def _end_work(session: Session, task: Task, event: EventBase, what: str) -> Iterator[Deed]:
    """Complete the task: end its agent and close its open cards."""
    decided = CardDecision(what=what, by="people there", at=event.at)
    yield from blocked.close_card(session, task, decided)
    yield from limits.close_limit_card(session, task, decided)
    if task.state is TaskState.INTEGRATING and task.pull_problem:
        yield ship.not_shipped_card(task, decided)
    yield from troubles.end_run(task, event.at)
    task.base_to_merge, task.pull_problem = (), ""
    if task.state is TaskState.RUNNING:
        task.become(TaskState.NEEDS_CONTINUATION)
    if task.state is not TaskState.INTEGRATING:
        task.become(TaskState.INTEGRATING)
    yield from ship.complete(session, task, event)
