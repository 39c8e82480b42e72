"""Open pull requests are merged when somebody wants it and everything that must come first is done."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import Deed, MergePull, Order, WatchPulls
from bot.core.choices import Verb
from bot.core.events import BaseTakenIn, FromPerson, OrderFailed, Pressed, PullMergeTried, PullsSeen
from bot.core.forge import WAITS_FOR, CiState, Obstacle
from bot.core.session import Session, Speaker
from bot.core.states import TaskState
from bot.core.task import PullRequest, Task
from bot.core.text import sentences
from bot.steps import messages
from bot.steps.blocked import rules as blocked
from bot.steps.pull_requests import cards as pull_cards
from bot.steps.pull_requests.cards import (
    about_all,
    ask_about_checks,
    close_checks_card,
    missing_base_merges,
    pull_button_target,
    tasks_with_open_pull,
    watch_problem_card,
    watch_problem_id,
)
from bot.steps.pull_requests.feedback import (
    base_taken_in,
    pull_merged,
    pull_seen,
    take_in_base_once,
)
from bot.steps.ship import rules as ship

_BASE_MOVED = (Obstacle.CONFLICT, Obstacle.BEHIND)
"""Obstacles that taking in the base may remove."""


def ready_to_merge(session: Session, task: Task) -> bool:
    """Whether somebody wants it merged and everything that must come first is done."""
    pull = task.pull_request
    if (
        pull is None
        or pull.wanted_by is None
        or not pull.open
        or task.state is not TaskState.COMPLETED
    ):
        return False
    if pull.seen is None or pull.seen.head != pull.head or pull.seen.draft:
        return False
    if pull.unchecked == pull.head:
        return False  # a person is asked
    if pull.seen.ci in (CiState.PENDING, CiState.FAILED) or ship.open_dependency_pulls(
        session, task
    ):
        return False
    return not missing_base_merges(session, task, pull)


def merge_order(task: Task, pull: PullRequest) -> MergePull:
    anyway = pull.without_checks == pull.head
    return MergePull(task_id=task.id, number=pull.number, head=pull.head, anyway=anyway)


def merge_tried(session: Session, event: PullMergeTried) -> Iterator[Deed]:
    task = session.task(event.task_id)
    if task is None or task.pull_request is None:
        return
    pull, tried = task.pull_request, event.tried
    if tried.merged:
        seen = (
            pull.seen.model_copy(
                update={"merged": True, "open": False, "merge_commit": tried.commit}
            )
            if pull.seen
            else None
        )
        task.pull_request = pull.model_copy(update={"merged": True, "seen": seen, "problem": ""})
        yield from pull_merged(session, task, event, pull.number)
    elif event.answers != merge_order(task, pull).key:
        return  # about another commit, or from before somebody decided
    elif event.overdue:
        yield from ask_about_checks(task, pull, tried.reason)
    elif tried.obstacle in WAITS_FOR:
        task.pull_request = pull.model_copy(update={"problem": tried.reason})
    elif tried.obstacle not in _BASE_MOVED or not take_in_base_once(task, pull):
        not_merged(task, pull, tried.reason)


def not_merged(task: Task, pull: PullRequest, reason: str) -> None:
    task.pull_request = pull.model_copy(update={"wanted_by": None, "problem": reason})


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    match event.verb:
        case Verb.MERGE_PULL:
            wanted = [
                task
                for task in tasks_with_open_pull(session)
                if pull_button_target(task) == event.about
            ]
            yield from _want_merged(session, event, wanted)
        case Verb.MERGE_PULLS if event.about == about_all(session):
            yield from _want_merged(session, event, tasks_with_open_pull(session))
        case Verb.MERGE_UNCHECKED | Verb.WAIT_LONGER:
            yield from _about_missing_checks(session, event)
        case Verb.UNNEEDED if event.about == about_all(session):
            for task in tasks_with_open_pull(session):
                if task.pull_request:
                    task.pull_request = task.pull_request.model_copy(update={"unneeded": True})
            session.say(Speaker.USER, "The open pull requests need not be waited for", event.at)
            if session.pulls.problem:
                yield watch_problem_card(session, messages.decided("Not waited for", event))
                session.pulls.problem = ""
        case Verb.WATCH_AGAIN if session.pulls.problem and event.about == watch_problem_id(session):
            yield watch_problem_card(session, messages.decided("Tried again", event))
            session.pulls.problem = ""
        case _:
            yield messages.stale_press(session, event)


def _about_missing_checks(session: Session, event: Pressed) -> Iterator[Deed]:
    asked = [
        task for task in tasks_with_open_pull(session) if pull_button_target(task) == event.about
    ]
    pulls = [(task, task.pull_request) for task in asked]
    found = next(((t, pull) for t, pull in pulls if pull and pull.unchecked == pull.head), None)
    if found is None:
        yield messages.stale_press(session, event)
        return
    task, pull = found
    if event.verb is Verb.MERGE_UNCHECKED:
        session.say(Speaker.USER, f"Merge #{pull.number} without checks", event.at)
        yield from close_checks_card(task, pull, messages.decided("Merge without checks", event))
        changes = {"without_checks": pull.head, "wanted_by": event.by, "problem": ""}
    else:
        yield from close_checks_card(task, pull, messages.decided("Wait longer", event))
        changes = {"checks_since": event.at}
    task.pull_request = task.pull_request.model_copy(update=changes) if task.pull_request else None


def _want_merged(session: Session, event: FromPerson, tasks: list[Task]) -> Iterator[Deed]:
    if not tasks:
        yield messages.private_reply(
            event, "That pull request is not open any more, or has changed since; look again."
        )
    for task in tasks:
        if task.pull_request:
            wanted = {"wanted_by": event.by, "problem": ""}
            task.pull_request = task.pull_request.model_copy(update=wanted)


VERBS = frozenset(
    {
        Verb.MERGE_PULL,
        Verb.MERGE_PULLS,
        Verb.MERGE_UNCHECKED,
        Verb.WAIT_LONGER,
        Verb.UNNEEDED,
        Verb.WATCH_AGAIN,
    }
)
"""The buttons about pull requests."""


def decide(
    session: Session, event: PullsSeen | PullMergeTried | BaseTakenIn | OrderFailed
) -> Iterator[Deed]:
    match event:
        case PullsSeen(pulls=found):
            for pull in found:
                yield from pull_seen(session, event, pull)
        case PullMergeTried():
            yield from merge_tried(session, event)
        case BaseTakenIn():
            yield from base_taken_in(session, event)
        case OrderFailed(task_id=task_id, what="merge_pull", reason=reason, remedy=remedy):
            task = session.task(task_id)
            if task and task.pull_request:
                not_merged(task, task.pull_request, sentences(reason, remedy))
        case OrderFailed(what="watch_pulls", reason=reason, remedy=remedy):
            session.pulls.problem = sentences(reason, remedy)
            session.pulls.problems += 1
            yield watch_problem_card(session)
        case OrderFailed():
            yield from blocked.block_refused(session, event)


# Orders for open pull requests.


def due(session: Session) -> Iterator[Order]:
    """Yield the orders that watch open pull requests and merge those that somebody wants merged."""
    if session.pulls.host is None:
        return
    waited_for = pull_cards.tasks_with_open_pull(session)
    numbers = tuple(sorted(t.pull_request.number for t in waited_for if t.pull_request))
    if numbers and not session.pulls.problem:
        yield WatchPulls(numbers=numbers)
    for task in waited_for:
        if task.pull_request and ready_to_merge(session, task):
            yield merge_order(task, task.pull_request)
