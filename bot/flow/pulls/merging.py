"""Pull requests are merged when somebody wants it and nothing that must come first is missing."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.choices import Verb
from bot.domain.events import FromPerson, Pressed, PullMergeTried
from bot.domain.hosting import CiState, Obstacle
from bot.domain.session import Session, Speaker
from bot.domain.states import TaskState
from bot.domain.tasks import PullRequest, Task
from bot.flow import ship, telling
from bot.flow.pulls.hearing import take_in_once
from bot.flow.pulls.settled import merged
from bot.flow.pulls.showing import about_all, about_one, about_trouble, trouble
from bot.flow.pulls.standing import base_missing, still_open


def ready_to_merge(session: Session, task: Task) -> bool:
    """Somebody wants it merged, and nothing that must come first is missing."""
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
    if pull.seen.ci in (CiState.PENDING, CiState.FAILED) or ship.depends_on(session, task):
        return False
    return not base_missing(session, task, pull)


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
        yield from merged(session, task, event, pull.number)
    elif tried.obstacle is not Obstacle.CONFLICT or not take_in_once(task, pull):
        not_merged(task, pull, tried.reason)


def not_merged(task: Task, pull: PullRequest, reason: str) -> None:
    task.pull_request = pull.model_copy(update={"wanted_by": None, "problem": reason})


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    match event.verb:
        case Verb.MERGE_PULL:
            wanted = [task for task in still_open(session) if about_one(task) == event.about]
            yield from _want(session, event, wanted)
        case Verb.MERGE_PULLS if event.about == about_all(session):
            yield from _want(session, event, still_open(session))
        case Verb.UNNEEDED if event.about == about_all(session):
            for task in still_open(session):
                if task.pull_request:
                    task.pull_request = task.pull_request.model_copy(update={"unneeded": True})
            session.say(Speaker.USER, "The open pull requests need not be waited for", event.at)
            if session.pulls_problem:
                yield trouble(session, telling.decided("Not waited for", event))
                session.pulls_problem = ""
        case Verb.WATCH_AGAIN if session.pulls_problem and event.about == about_trouble(session):
            yield trouble(session, telling.decided("Tried again", event))
            session.pulls_problem = ""
        case _:
            yield telling.stale(session, event)


def _want(session: Session, event: FromPerson, tasks: list[Task]) -> Iterator[Deed]:
    if not tasks:
        yield telling.privately(
            event, "That pull request is not open any more, or has changed since; look again."
        )
    for task in tasks:
        if task.pull_request:
            wanted = {"wanted_by": event.by, "problem": ""}
            task.pull_request = task.pull_request.model_copy(update=wanted)
