"""All pull requests of a session on one card, which is edited where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show
from bot.domain.cards import Decided, NeedsYouCard, PullLine, PullsCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.hosting import CiState
from bot.domain.session import Session
from bot.domain.sheets import Tone
from bot.domain.states import TaskState
from bot.domain.tasks import PullRequest, Task
from bot.flow import place, shared, ship, telling
from bot.flow.pulls.standing import still_open, with_pull


def card(session: Session, decided: Decided | None = None) -> Iterator[Deed]:
    """All of them, in one card that is edited where it stands."""
    tasks = with_pull(session)
    if not tasks:
        return
    yield Show(
        card=PullsCard(
            # a live change leads to a new plan, and to no other pull requests
            key=f"pulls:{session.continues + 1}" if session.continues else "pulls",
            base=session.base_branch,
            repository=session.hosted.slug if session.hosted else "",
            pulls=tuple(line for task in tasks for line in _line(session, task)),
            choices=() if decided else tuple(_choices(session)),
            decided=decided,
        )
    )


def waiting(session: Session) -> Iterator[Deed]:
    """Nothing goes on before people merge: that is a message of its own, as an edited card notifies nobody."""
    numbers = [
        task.pull_request.number
        for task in still_open(session)
        if task.pull_request and task.pull_request.wanted_by is None
    ]
    if not numbers:
        return
    rounds = sum(len(task.runs) for task in session.tasks)
    listed = ", ".join(f"#{number}" for number in sorted(numbers))
    yield telling.news(
        f"to-merge:{session.continues}:{rounds}",
        f"Everything is built: {listed} {'wait' if len(numbers) > 1 else 'waits'} for you",
        "Merge with the buttons on the card of the pull requests, or on GitHub.",
        tone=Tone.NEEDS_YOU,
    )


def trouble(session: Session, decided: Decided | None = None) -> Show:
    """It does not go round and round with what only a person can mend."""
    about = about_trouble(session)
    again = Choice(label="Look again", verb=Verb.WATCH_AGAIN, about=about, style=Style.PRIMARY)
    return Show(
        card=NeedsYouCard(
            key=f"pulls-problem:{about}",
            title="I cannot look at the pull requests any more",
            reason=session.pulls_problem,
            choices=() if decided else (again,),
            decided=decided,
        )
    )


def about_trouble(session: Session) -> str:
    """Which time it is that nobody looks at them."""
    return str(session.pulls_problems)


def about_one(task: Task) -> str:
    """A press is about what was shown: who has seen another commit has not seen this one."""
    return f"{task.id}:{task.pull_request.head[:12]}" if task.pull_request else ""


def about_all(session: Session) -> str:
    numbers = (task.pull_request.number for task in still_open(session) if task.pull_request)
    return ",".join(str(number) for number in sorted(numbers))


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
    if pull.unneeded or task.state in shared.GONE:
        return "left open"
    if task.state in (TaskState.BLOCKED, TaskState.FAILED):
        return "waits for you"
    if task.state is not TaskState.COMPLETED:
        return "being worked on"
    if after := ship.depends_on(session, task):
        return f"draft, depends on {', '.join(f'#{number}' for number in after)}"
    if pull.seen and pull.seen.head != pull.head:
        return "somebody has pushed to it: merge it there"
    if pull.seen and pull.seen.draft:
        return "draft"
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
    if len(waiting) > 1:
        yield Choice(
            label="Merge all, in order",
            verb=Verb.MERGE_PULLS,
            about=about_all(session),
            style=Style.PRIMARY,
            confirm=f"Merge {len(waiting)} pull requests into {session.base_branch}, each when its checks have passed?",
        )
    ready = [task for task in waiting if _can_be_merged(session, task)]
    for task in ready[:8]:
        if pull := task.pull_request:
            label = f"Merge #{pull.number}"
            yield Choice(label=label, verb=Verb.MERGE_PULL, about=about_one(task))
    if still_open(session) and place.all_settled(session):
        yield Choice(
            label="Do not wait for them",
            verb=Verb.UNNEEDED,
            about=about_all(session),
            confirm="End this session and leave the open pull requests to people?",
        )


def _can_be_merged(session: Session, task: Task) -> bool:
    """As far as is known: no button where nothing would come of it."""
    if task.state is not TaskState.COMPLETED or ship.depends_on(session, task):
        return False
    seen = task.pull_request.seen if task.pull_request else None
    if seen is None or task.pull_request is None:
        return True
    return not seen.draft and seen.ci is not CiState.FAILED and seen.head == task.pull_request.head
