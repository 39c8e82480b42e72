"""The pull requests of a session, and the cards that show them."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import Deed, Show
from bot.core.cards import CardDecision, NeedsYouCard, PullLine, PullsCard
from bot.core.choices import Choice, Style, Verb
from bot.core.forge import CiState
from bot.core.session import Session
from bot.core.sheets import Tone
from bot.core.states import TaskState
from bot.core.task import PullRequest, Task
from bot.steps import messages, plan
from bot.steps.ship import rules as ship

# All pull requests of a session are on one card, which is edited in place.


def pulls_card(session: Session, decided: CardDecision | None = None) -> Iterator[Deed]:
    """Show all pull requests on one card, which is edited in place."""
    tasks = tasks_with_pull(session)
    if not tasks:
        return
    yield Show(
        card=PullsCard(
            # only a further round has new pull requests, a change while tasks run does not
            key=f"pulls:{session.ending.rounds + 1}" if session.ending.rounds else "pulls",
            base=session.repository.base_branch,
            repository=session.pulls.host.slug if session.pulls.host else "",
            pulls=tuple(line for task in tasks for line in _line(session, task)),
            choices=() if decided else tuple(_choices(session)),
            decided=decided,
        )
    )


def merge_reminder(session: Session) -> Iterator[Deed]:
    # A separate message, because an edited card notifies nobody, and nothing goes on until people merge.
    numbers = [
        task.pull_request.number
        for task in tasks_with_open_pull(session)
        if task.pull_request and task.pull_request.wanted_by is None
    ]
    if not numbers:
        return
    rounds = sum(len(task.runs) for task in session.tasks)
    listed = ", ".join(f"#{number}" for number in sorted(numbers))
    yield messages.news(
        f"to-merge:{session.ending.rounds}:{rounds}",
        f"Everything is built: {listed} {'wait' if len(numbers) > 1 else 'waits'} for you",
        "Merge with the buttons on the card of the pull requests, or on GitHub.",
        tone=Tone.NEEDS_YOU,
    )


def watch_problem_card(session: Session, decided: CardDecision | None = None) -> Show:
    """Return the card that asks a person to fix what prevents watching; the bot does not retry by itself."""
    about = watch_problem_id(session)
    again = Choice(label="Look again", verb=Verb.WATCH_AGAIN, about=about, style=Style.PRIMARY)
    return Show(
        card=NeedsYouCard(
            key=f"pulls-problem:{about}",
            title="I cannot look at the pull requests any more",
            reason=session.pulls.problem,
            choices=() if decided else (again,),
            decided=decided,
        )
    )


def watch_problem_id(session: Session) -> str:
    """Return which occurrence of the problem this is, for its button."""
    return str(session.pulls.problems)


def pull_button_target(task: Task) -> str:
    """Return what a button refers to: the pull request at the head that was shown."""
    return f"{task.id}:{task.pull_request.head[:12]}" if task.pull_request else ""


def about_all(session: Session) -> str:
    numbers = (
        task.pull_request.number for task in tasks_with_open_pull(session) if task.pull_request
    )
    return ",".join(str(number) for number in sorted(numbers))


def _line(session: Session, task: Task) -> Iterator[PullLine]:
    if pull := task.pull_request:
        yield PullLine(
            task=task.key,
            number=pull.number,
            url=pull.url,
            title=task.pull_text.title if task.pull_text else task.name,
            state=_state_in_words(session, task, pull),
            problem=pull.problem,
        )


def _state_in_words(session: Session, task: Task, pull: PullRequest) -> str:
    """Return the state in a few words, the most important first."""
    if pull.merged:
        return "merged"
    if not pull.open:
        return "closed"
    if pull.unneeded or task.state in plan.GONE:
        return "left open"
    if task.state in (TaskState.BLOCKED, TaskState.FAILED):
        return "waits for you"
    if task.state is not TaskState.COMPLETED:
        return "being worked on"
    if after := ship.open_dependency_pulls(session, task):
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
        t
        for t in tasks_with_open_pull(session)
        if t.pull_request and t.pull_request.wanted_by is None
    ]
    if len(waiting) > 1:
        yield Choice(
            label="Merge all, in order",
            verb=Verb.MERGE_PULLS,
            about=about_all(session),
            style=Style.PRIMARY,
            confirm=f"Merge {len(waiting)} pull requests into {session.repository.base_branch}, each when its checks have passed?",
        )
    ready = [task for task in waiting if _can_be_merged(session, task)]
    for task in ready[:8]:
        if pull := task.pull_request:
            label = f"Merge #{pull.number}"
            yield Choice(label=label, verb=Verb.MERGE_PULL, about=pull_button_target(task))
    if tasks_with_open_pull(session) and plan.all_settled(session):
        yield Choice(
            label="Do not wait for them",
            verb=Verb.UNNEEDED,
            about=about_all(session),
            confirm="End this session and leave the open pull requests to people?",
        )


def _can_be_merged(session: Session, task: Task) -> bool:
    # No button if merging would be refused, as far as is known.
    if task.state is not TaskState.COMPLETED or ship.open_dependency_pulls(session, task):
        return False
    seen = task.pull_request.seen if task.pull_request else None
    if seen is None or task.pull_request is None:
        return True
    return not seen.draft and seen.ci is not CiState.FAILED and seen.head == task.pull_request.head


# Checks of a pull request that somebody wants merged have not appeared: after a while a person is
# asked.


def ask_about_checks(task: Task, pull: PullRequest, reason: str) -> Iterator[Deed]:
    asking = {"unchecked": pull.head, "times_asked": pull.times_asked + 1, "problem": reason}
    asked = pull.model_copy(update=asking)
    task.pull_request = asked
    yield _checks_card(task, asked)


def close_checks_card(task: Task, pull: PullRequest, decided: CardDecision) -> Iterator[Deed]:
    """Close the card, because it was answered or no longer matters."""
    if pull.unchecked:
        yield _checks_card(task, pull, decided)
        task.pull_request = pull.model_copy(update={"unchecked": "", "problem": ""})


def _checks_card(task: Task, pull: PullRequest, decided: CardDecision | None = None) -> Show:
    about = pull_button_target(task)
    choices = (
        Choice(label="Wait longer", verb=Verb.WAIT_LONGER, about=about, style=Style.PRIMARY),
        Choice(
            label="Merge without them",
            verb=Verb.MERGE_UNCHECKED,
            about=about,
            confirm=f"Merge #{pull.number} though its checks have not appeared?",
        ),
    )
    return Show(
        card=NeedsYouCard(
            # asking again needs a new card: an edited one notifies nobody
            key=f"unchecked:{task.key}:{pull.number}:{pull.times_asked}",
            title=f"{task.key}: checks of #{pull.number} have not appeared",
            reason=pull.problem,
            choices=() if decided else choices,
            decided=decided,
        )
    )


# Which pull requests a session has, and what a branch must contain before it is merged.


def tasks_with_pull(session: Session) -> list[Task]:
    return [task for task in session.tasks if task.pull_request]


def tasks_with_open_pull(session: Session) -> list[Task]:
    """Return the tasks whose pull request the session waits for."""
    return [
        task
        for task in tasks_with_pull(session)
        if task.state not in plan.GONE
        and task.pull_request
        and task.pull_request.open
        and not task.pull_request.unneeded
    ]


def missing_base_merges(session: Session, task: Task, pull: PullRequest) -> tuple[str, ...]:
    """Return merge commits of its dependencies that its branch lacks, once all dependencies are merged.

    If they were squashed, git cannot see that the branch contains their work.
    """
    if ship.open_dependency_pulls(session, task):
        return ()
    own = {other.id for other in plan.tasks_on_branch(session, task)}
    before = {
        id for other in plan.tasks_on_branch(session, task) for id in other.dependencies
    } - own
    merges = [_merge_commit(session, session.task(id)) for id in sorted(before)]
    return tuple(one for one in merges if one and one not in pull.taken_in)


def merged_dependency_pulls(session: Session, task: Task) -> list[PullRequest]:
    """Return the merged pull requests whose work is in its branch, through any number of dependencies."""
    own = plan.pull_request_of(session, task)
    todo = [id for other in plan.tasks_on_branch(session, task) for id in other.dependencies]
    seen: set[str] = set()
    found: dict[int, PullRequest] = {}
    while todo:
        other = session.task(todo.pop(0))
        if other is None or other.id in seen:
            continue
        seen.add(other.id)
        todo += other.dependencies
        pull = plan.pull_request_of(session, other)
        if pull and pull.merged and (own is None or pull.number != own.number):
            found[pull.number] = pull
    return list(found.values())


def _merge_commit(session: Session, task: Task | None) -> str:
    pull = plan.pull_request_of(session, task) if task else None
    return pull.seen.merge_commit if pull and pull.merged and pull.seen else ""
