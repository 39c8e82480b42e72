"""All pull requests of a session on one card, which is edited where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show
from bot.domain.cards import Decided, NeedsYouCard, PullLine, PullsCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.hosting import CiState
from bot.domain.session import Session
from bot.domain.states import TaskState
from bot.domain.tasks import PullRequest, Task
from bot.flow import place, ship, telling
from bot.flow.pulls.standing import still_open, with_pull


def card(session: Session, decided: Decided | None = None) -> Iterator[Deed]:
    """All of them, in one card that is edited where it stands."""
    tasks = with_pull(session)
    if not tasks:
        return
    yield Show(
        card=PullsCard(
            key=telling.key_of_plan(session, "pulls"),
            base=session.base_branch,
            repository=session.hosted.slug if session.hosted else "",
            pulls=tuple(line for task in tasks for line in _line(session, task)),
            choices=() if decided else tuple(_choices(session)),
            decided=decided,
        )
    )


def trouble(session: Session, decided: Decided | None = None) -> Show:
    """It does not go round and round with what only a person can mend."""
    again = Choice(label="Look again", verb=Verb.WATCH_AGAIN, style=Style.PRIMARY)
    return Show(
        card=NeedsYouCard(
            key="pulls-problem",
            title="I cannot look at the pull requests any more",
            reason=session.pulls_problem,
            choices=() if decided else (again,),
            decided=decided,
        )
    )


def _line(session: Session, task: Task) -> Iterator[PullLine]:
    if pull := task.pull_request:
        yield PullLine(
            task=task.key,
            number=pull.number,
            url=pull.url,
            title=task.pull_text.title if task.pull_text else task.name,
            state=_standing(session, task, pull),
            problem=pull.problem,
        )


def _standing(session: Session, task: Task, pull: PullRequest) -> str:
    """In a few words, the most important first."""
    if pull.merged:
        return "merged"
    if not pull.open:
        return "closed"
    if pull.unneeded:
        return "left open"
    if task.state is not TaskState.COMPLETED:
        return "being worked on"
    if after := ship.depends_on(session, task):
        return f"draft, depends on {', '.join(f'#{number}' for number in after)}"
    ci = {
        CiState.PENDING: "checks are running",
        CiState.FAILED: "checks failed",
        CiState.PASSED: "checks passed",
    }
    said = ci.get(pull.seen.ci, "open") if pull.seen else "open"
    return f"{said}; to be merged for {pull.wanted_by}" if pull.wanted_by else said


def _choices(session: Session) -> Iterator[Choice]:
    waiting = [
        t for t in still_open(session) if t.pull_request and t.pull_request.wanted_by is None
    ]
    ready = [
        t for t in waiting if t.state is TaskState.COMPLETED and not ship.depends_on(session, t)
    ]
    for task in ready[:8]:
        if pull := task.pull_request:
            failed = pull.seen is not None and pull.seen.ci is CiState.FAILED
            if not failed:
                yield Choice(label=f"Merge #{pull.number}", verb=Verb.MERGE_PULL, about=task.id)
    if len(waiting) > 1:
        yield Choice(
            label="Merge all, in order",
            verb=Verb.MERGE_PULLS,
            style=Style.PRIMARY,
            confirm=f"Merge {len(waiting)} pull requests into {session.base_branch}, each when its checks have passed?",
        )
    if still_open(session) and place.all_settled(session):
        yield Choice(
            label="Do not wait for them",
            verb=Verb.UNNEEDED,
            confirm="End this session and leave the open pull requests to people?",
        )
