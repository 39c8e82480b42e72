"""What comes back about pull requests: checks, reviews, merges, and a base that has moved on."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import Deed
from bot.core.cards import Decided
from bot.core.events import BaseTakenIn, Happening, PullsSeen
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
from bot.steps.pull_requests.cards import base_missing, close_checks_card, with_pull
from bot.steps.ship import rules as ship

# What came from the forge: what happened to pull requests, what their checks and readers say,
# what the base brought.

MAX_ROUNDS = 3
"""Of failed checks or review notes, and of collisions: then a person is asked."""
MOST_TIMES_TAKEN_IN = 20
"""A base that others merge into all the time is not run after for ever."""
MOST_CHECKS = 200
"""Names of checks that are remembered of a pull request."""
LONGEST_FEEDBACK = 12_000
"""Characters of outputs and notes that an agent is told in one round."""


def pull_seen(session: Session, event: PullsSeen, pull: Pull) -> Iterator[Deed]:
    task = next(
        (t for t in with_pull(session) if t.pull_request and t.pull_request.number == pull.number),
        None,
    )
    if task is None or task.pull_request is None:
        return
    former = task.pull_request
    if former.merged and not pull.merged:
        return  # a look from before the merge
    if former.unchecked and _is_settled(former, pull):
        what = "Merged" if pull.merged else "There is something new"
        decided = Decided(what=what, by="GitHub", at=event.at)
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


def _is_settled(asked: PullRequest, pull: Pull) -> bool:
    """Nobody need say any more what to do without its checks."""
    appeared = asked.seen is not None and set(pull.checks) - set(asked.seen.checks)
    return bool(appeared) or not pull.open or pull.head != asked.unchecked


def attend(session: Session, event: Happening) -> Iterator[Deed]:
    """What is to be done about them now that nobody works on them."""
    for task in session.in_state(TaskState.COMPLETED):
        pull = task.pull_request
        if pull is None or not pull.open or pull.unneeded or pull.seen is None:
            continue
        if news := _untold(pull, pull.seen):
            yield from _rework(session, task, event, pull, news)
        elif missing := base_missing(session, task, pull):
            take_in_first(task, missing)
        elif pull.seen.merge_state is MergeState.CONFLICT and _is_next(session, task):
            take_in_once(task, pull)
        elif pull.seen.draft and pull.seen.head == pull.head and _is_next(session, task):
            _make_ready(task, pull)


def _untold(pull: PullRequest, seen: Pull) -> dict[str, str]:
    """What its agent has not been told: failed checks once all have ended, and the words of people who may write there."""
    if seen.head != pull.head:
        return {}  # a look at an earlier commit
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
    session: Session, task: Task, event: Happening, pull: PullRequest, news: dict[str, str]
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
        + "\n\n".join(_fitting([*news.values()]))
    )
    if rounds > MAX_ROUNDS:
        task.next_run.instructions = feedback  # should a person let it be tried again
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
    """Who says it, or which check failed, and the beginning of what they say."""
    head, _, said = text.partition("\n")
    return f"{head.removeprefix('## ')}: {shortened(said.strip(), messages.MOST_QUOTED)}"


def _fitting(texts: list[str]) -> list[str]:
    """Each has its share of the room: one endless output leaves no other word untold."""
    shares, left = dict[int, str](), LONGEST_FEEDBACK
    for number in sorted(range(len(texts)), key=lambda one: len(texts[one])):
        shares[number] = texts[number][: left // (len(texts) - len(shares))]
        left -= len(shares[number])
    return [shares[number] for number in range(len(texts))]


def _is_next(session: Session, task: Task) -> bool:
    return not ship.depends_on(session, task)


def take_in_once(task: Task, pull: PullRequest) -> bool:
    """For each commit at most: what still collides then is not settled by doing it again."""
    mark = f"conflict:{pull.head}"
    times = sum(one.startswith("conflict:") for one in pull.taken_in)
    if mark in pull.taken_in or times >= MOST_TIMES_TAKEN_IN:
        return False
    take_in_first(task, (mark,))
    return True


def _make_ready(task: Task, pull: PullRequest) -> None:
    """It was a draft for something that it does not wait for any more. Tried once for each commit: a person may want a draft."""
    mark = f"ready:{pull.head}"
    if mark not in pull.taken_in:
        task.pull_request = pull.model_copy(update={"taken_in": (*pull.taken_in, mark)})
        task.pull_tries += 1
        task.become(TaskState.NEEDS_CONTINUATION)
        task.become(TaskState.INTEGRATING)


def take_in_first(task: Task, missing: tuple[str, ...]) -> None:
    task.become(TaskState.NEEDS_CONTINUATION)
    task.base_to_merge = missing


def base_taken_in(session: Session, event: BaseTakenIn) -> Iterator[Deed]:
    task = session.task(event.task_id)
    if task is None or not task.base_to_merge or task.pull_request is None:
        return
    pull = task.pull_request
    # it stays wanted: taking in the base, and settling what collides, is part of merging it
    task.pull_request = pull.model_copy(update={"taken_in": (*pull.taken_in, *task.base_to_merge)})
    task.base_to_merge = ()
    if task.workspace:
        # what is compared from now on is its own work, not what others have merged
        task.workspace = task.workspace.model_copy(update={"start": event.base})
    if event.head and task.work:
        # this commit is the bot's own: nobody has to judge it
        task.work = task.work.model_copy(update={"head": event.head})
    changed = task.next_run.why is Why.CHANGED
    # the base as it is now holds all that an earlier try was about
    task.next_run.to_merge = ""
    if not event.conflicts and changed:
        return  # something else is wanted of it besides: its agent goes on
    if not event.conflicts:
        # the tests have not seen this yet
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
    task.must_merge(base_conflict_instructions(task, event.base, event.conflicts))
    feedback = f"{task.next_run.to_merge}{besides}"
    if rounds > MAX_ROUNDS:
        task.next_run.instructions = feedback  # should a person let it be tried again
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


# A pull request was merged or closed. Work that was still going on about it ends with that.

_MENDING = frozenset({Why.CI_FAILED, Why.REVIEW, Why.CONFLICT})
_CAUSES = _MENDING | {Why.FIRST, Why.CHANGED}
"""What work is begun for; all other reasons only go on with it."""


def pull_merged(session: Session, task: Task, event: Happening, number: int) -> Iterator[Deed]:
    """By people, perhaps while something about it was still to be done."""
    asked = task.state in (TaskState.BLOCKED, TaskState.FAILED) and not _wants_more(task)
    if asked or _is_about_it(task):
        yield from _end_work(session, task, event, f"#{number} was merged")
    session.say(Speaker.SYSTEM, f"Pull request #{number} of {task.key} was merged", event.at)
    yield messages.news(
        f"pull-merged:{task.key}:{number}", f"{task.key}: #{number} is merged", tone=Tone.SUCCESS
    )


def pull_closed(session: Session, task: Task, event: Happening, number: int) -> Iterator[Deed]:
    """What has failed is not done over that; what was only to be mended need not be mended."""
    if _is_about_it(task):
        yield from _end_work(session, task, event, f"#{number} was closed")
    yield messages.news(
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
        whys.append(task.next_run.why)
    return next((why for why in reversed(whys) if why in _CAUSES), Why.FIRST)


def _end_work(session: Session, task: Task, event: Happening, what: str) -> Iterator[Deed]:
    """Whoever was asked, or waited for, is not any more."""
    decided = Decided(what=what, by="people there", at=event.at)
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
