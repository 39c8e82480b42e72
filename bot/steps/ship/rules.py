"""A finished task: its branch and pull request go to the forge, if there is one.

If that fails, the task waits and says why.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import Deed, DescribeWork, OpenPull, Order, Show
from bot.core.cards import CardDecision, DocumentCard, NeedsYouCard
from bot.core.choices import Choice, Style, Verb
from bot.core.events import EventBase, OrderFailed, Pressed, PullOpened, WorkDescribed
from bot.core.evidence import Judgement
from bot.core.session import Session
from bot.core.sheets import Tone
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import TaskState
from bot.core.task import PullRequest, PullText, Task, TaskResult
from bot.core.text import first_few, sentences, shortened
from bot.steps import messages, plan
from bot.steps.verify import test_command

MOST_CRITERIA_SHOWN = 8
MOST_SAID = 300
"""Characters of a report shown in addition to the report itself."""


def begin(session: Session, task: Task, event: EventBase) -> Iterator[Deed]:
    """Ship a task that has passed everything. Without a forge it is complete with its branch."""
    task.become(TaskState.INTEGRATING)
    task.pull_problem = ""
    if not makes_pull_request(session, task):
        yield from complete(session, task, event)


def makes_pull_request(session: Session, task: Task) -> bool:
    """Whether the task makes a pull request: not an investigation, and on a shared branch only the last task."""
    if session.pulls.host is None or not task.commits:
        return False
    return task.type is not TaskType.INVESTIGATION and plan.is_last_on_branch(session, task)


def complete(session: Session, task: Task, event: EventBase) -> Iterator[Deed]:
    _verify_later_work(session, task)
    task.become(TaskState.COMPLETED)
    task.completed_at = event.at
    summary = _summary(session, task)
    task.result = TaskResult(success=True, summary=summary)
    if task.type is TaskType.INVESTIGATION:
        yield _report(task)
    yield messages.news(
        f"completed:{task.key}:{len(task.runs)}",
        f"{task.key} is done: {task.name}",
        summary,
        *_met_by(task),
        *_suggested(task),
        tone=Tone.SUCCESS,
    )


def _met_by(task: Task) -> Iterator[str]:
    """Yield what each criterion is met by, according to the last verdict."""
    verdict = task.verdicts[-1] if task.verdicts else None
    if verdict and verdict.outcome is Judgement.DONE:
        yield from first_few([one.described for one in verdict.criteria], MOST_CRITERIA_SHOWN)


def _suggested(task: Task) -> Iterator[str]:
    """Yield what the verdict suggests as improvement; users may ask for it."""
    verdict = task.verdicts[-1] if task.verdicts else None
    if verdict and verdict.suggestions:
        yield sentences(f"Could be better, and is not required: {'; '.join(verdict.suggestions)}")


def _verify_later_work(session: Session, task: Task) -> None:
    # Later work on the same branch was never tested with this task's current state.
    for other in plan.later_on_branch(session, task):
        if other.state in (TaskState.COMPLETED, TaskState.INTEGRATING) and other.runs:
            _verify_again(other)


def release_branch_of(session: Session, task: Task) -> None:
    """Adjust the other tasks of its branch to a task that is no longer wanted: an earlier one makes the pull request
    instead.
    """
    plan.detach_shared_branches(session, task)
    before = task.workspace.task_ids if task.workspace else ()
    for other in plan.tasks_on_branch(session, task):
        done = other.state is TaskState.COMPLETED and other.pull_request is None
        if done and other.id in before and makes_pull_request(session, other):
            if task.runs:
                _verify_again(other)
            else:
                other.become(TaskState.NEEDS_CONTINUATION)
                other.become(TaskState.INTEGRATING)


def _verify_again(task: Task) -> None:
    # Its branch contains more than the task itself has done.
    task.become(TaskState.NEEDS_CONTINUATION)
    task.become(TaskState.VERIFYING)
    task.invalidate_verification()
    task.completed_at = None
    if task.pull_request:
        task.pull_request = task.pull_request.model_copy(update={"wanted_by": None})


def _summary(session: Session, task: Task) -> str:
    parts: list[str] = []
    if task.workspace and task.commits:
        commits = len(task.commits)
        parts.append(f"{commits} commit{'s' if commits != 1 else ''} on {task.workspace.branch}")
    check = task.check
    if check and check.passed and task.commits:
        parts.append(f"`{check.command}` {check.result} in {check.seconds:.0f} s")
    elif not test_command.for_task(session, task) and task.commits:
        parts.append("no test command is known, so nothing was tested")
    if task.type is TaskType.INVESTIGATION:
        parts.append(shortened(task.report.strip().partition("\n\n")[0], MOST_SAID))
    return "; ".join(parts)


def _report(task: Task) -> Show:
    """Return the report of an investigation, in full and as a file."""
    return Show(
        card=DocumentCard(
            key=f"report:{task.key}:{len(task.runs)}",
            title=f"{task.key}: what was found",
            name=f"report-{task.key}.md",
            text=task.report,
        )
    )


def pull_opened(session: Session, event: PullOpened) -> Iterator[Deed]:
    task = session.task(event.task_id)
    if task is None or task.state is not TaskState.INTEGRATING:
        return
    former = task.pull_request
    task.pull_request = _pull_request(former, event)
    task.pull_problem = ""
    task.note_evidence(event.evidence)
    pull = event.pull
    if former is None or former.number != pull.number:
        yield messages.news(
            f"pull:{task.key}" if former is None else f"pull:{task.key}:{pull.number}",
            f"{task.key}: pull request #{pull.number} is open{' as a draft' if pull.draft else ''}",
            task.pull_text.title if task.pull_text else task.name,
            *([pull.url] if pull.url else []),
            tone=Tone.SUCCESS,
        )
    yield from complete(session, task, event)


def _pull_request(former: PullRequest | None, event: PullOpened) -> PullRequest:
    # Delivered feedback and the wish to merge carry over; new feedback has already ended that wish.
    pull = event.pull
    known = former if former and former.number == pull.number else None
    return PullRequest(
        number=pull.number,
        url=pull.url,
        merged=pull.merged,
        seen=pull,
        head=event.commit,
        delivered=known.delivered if known else (),
        wanted_by=known.wanted_by if known else None,
        taken_in=known.taken_in if known else (),
        checks=known.checks if known else (),
        checks_since=known.checks_since if known and known.head == event.commit else event.at,
        unchecked=known.unchecked if known else "",
        times_asked=known.times_asked if known else 0,
        without_checks=known.without_checks if known else "",
    )


def pull_not_opened(session: Session, event: OrderFailed) -> Iterator[Deed]:
    """Show why the pull request could not be made. The task keeps its state, and a button retries."""
    task = session.task(event.task_id)
    if task is None or task.state is not TaskState.INTEGRATING:
        return
    task.pull_problem = sentences(event.reason, event.remedy)
    task.times_asked += 1
    yield not_shipped_card(task)


def not_shipped_card(task: Task, decided: CardDecision | None = None) -> Show:
    about = f"{task.id}:{task.asking}"
    choices = (
        Choice(label="Try again", verb=Verb.SHIP_AGAIN, about=about, style=Style.PRIMARY),
        Choice(label="Leave it on its branch", verb=Verb.KEEP, about=about),
    )
    return Show(
        card=NeedsYouCard(
            key=f"not-shipped:{task.key}:{task.asking}",
            title=f"{task.key} is done, but its pull request cannot be made",
            reason=task.pull_problem,
            choices=() if decided else choices,
            decided=decided,
        )
    )


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    task_id, _, asking = event.about.partition(":")
    task = session.task(task_id)
    if task is None or not task.pull_problem or asking != task.asking:
        yield messages.stale_press(session, event)
        return
    if task.state is not TaskState.INTEGRATING:
        yield messages.stale_press(session, event)
        return
    if event.verb is Verb.SHIP_AGAIN:
        yield not_shipped_card(task, messages.decided("Tried again", event))
        _ship_again(task)
    else:
        yield not_shipped_card(task, messages.decided("Left on its branch", event))
        task.pull_problem = ""
        yield from complete(session, task, event)


def _ship_again(task: Task) -> None:
    # Somebody may have fixed it by hand: the work is examined again, and tested again if the commit has changed.
    task.pull_tries += 1
    task.become(TaskState.NEEDS_CONTINUATION)
    task.become(TaskState.VERIFYING)
    task.work_run = ""


def not_shipped_cards(session: Session, decided: CardDecision | None = None) -> Iterator[Deed]:
    """Show the cards of all tasks that cannot be shipped, again or with the decision."""
    for task in session.in_state(TaskState.INTEGRATING):
        if task.pull_problem:
            yield not_shipped_card(task, decided)


def open_dependency_pulls(session: Session, task: Task) -> tuple[int, ...]:
    """Return the open pull requests whose work its branch contains; until they are merged it stays a draft."""
    found: dict[int, None] = {}
    seen: set[str] = set()
    todo = [*task.dependencies]
    while todo:
        other = session.task(todo.pop(0))
        if other is None or other.id in seen:
            continue
        seen.add(other.id)
        todo += other.dependencies
        pull = plan.pull_request_of(session, other)
        if (
            pull
            and pull.open
            and not pull.unneeded
            and pull is not plan.pull_request_of(session, task)
        ):
            found[pull.number] = None
    return tuple(sorted(found))


# The text of a pull request. Without it, a pull request is neither opened nor offered for merging.


def tasks_without_pull_text(session: Session) -> list[Task]:
    """Return the tasks whose pull request has no text yet."""
    done = session.in_state(TaskState.COMPLETED, TaskState.INTEGRATING)
    return [
        task
        for task in done
        if task.pull_text is None
        and task.run
        and task.commits
        and plan.is_last_on_branch(session, task)
    ]


def take_pull_text(session: Session, event: WorkDescribed | OrderFailed) -> None:
    """Take the text of its pull request, or the task's own if the model could not write one."""
    if task := session.task(event.task_id):
        plain = PullText(title=task.name, body=task.description)
        task.pull_text = event.text if isinstance(event, WorkDescribed) else plain


# Orders that ship a task.


def due(session: Session, task: Task) -> Iterator[Order]:
    """Yield the order for its pull request once it has a text; not while it waits for a person, or for a task before it
    on its branch.
    """
    if task.pull_problem or not task.work or plan.branch_is_busy(session, task):
        return
    if task.pull_text:
        yield OpenPull(task_id=task.id, commit=task.work.head, number=task.pull_tries)


def due_pull_texts(session: Session) -> Iterator[Order]:
    """Yield orders for missing texts."""
    for task in tasks_without_pull_text(session):
        if task.run:
            yield DescribeWork(task_id=task.id, run_id=task.run.id)
