"""A task is done: its branch and its pull request go to the forge, where there is one. What cannot be made waits, and says why."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show
from bot.domain.cards import NeedsYouCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.events import FromPerson, Happening, OrderFailed, Pressed, PullOpened
from bot.domain.hosting import Pull
from bot.domain.session import Session
from bot.domain.sheets import Tone
from bot.domain.states import TaskState
from bot.domain.tasks import PullRequest, Task, TaskResult, TaskType
from bot.flow import shared, telling


def begin(session: Session, task: Task, event: Happening) -> Iterator[Deed]:
    """It passed everything. Without a forge its branch is all there is to make."""
    task.become(TaskState.INTEGRATING)
    task.problem = ""
    if not wants_pull(session, task):
        yield from complete(session, task, event)


def wants_pull(session: Session, task: Task) -> bool:
    """An investigation has nothing to merge; of a shared branch the last task makes the pull request."""
    if session.hosted is None or not task.commits:
        return False
    return task.type is not TaskType.INVESTIGATION and shared.is_last(session, task)


def complete(session: Session, task: Task, event: Happening) -> Iterator[Deed]:
    task.become(TaskState.COMPLETED)
    task.completed_at = event.at
    summary = _summary(session, task)
    task.result = TaskResult(success=True, summary=summary)
    yield telling.news(
        f"completed:{task.key}:{len(task.runs)}",
        f"{task.key} is done: {task.name}",
        summary,
        tone=Tone.SUCCESS,
    )


def _summary(session: Session, task: Task) -> str:
    parts: list[str] = []
    if task.workspace and task.commits:
        commits = len(task.commits)
        parts.append(f"{commits} commit{'s' if commits != 1 else ''} on {task.workspace.branch}")
    check = task.check
    if check and check.passed and task.commits:
        parts.append(f"`{check.command}` passed in {check.seconds:.0f} s")
    elif not session.test_command and task.commits:
        parts.append("no test command is known, so nothing was tested")
    if task.type is TaskType.INVESTIGATION:
        parts.append(task.report)
    return "; ".join(parts)


def opened(session: Session, event: PullOpened) -> Iterator[Deed]:
    task = session.task(event.task_id)
    if task is None or task.state is not TaskState.INTEGRATING:
        return
    former = task.pull_request
    task.pull_request = _pull_request(former, event.pull, event.commit)
    task.problem = ""
    task.note_evidence(event.evidence)
    pull = event.pull
    if former is None:
        yield telling.news(
            f"pull:{task.key}",
            f"{task.key}: pull request #{pull.number} is open{' as a draft' if pull.draft else ''}",
            task.pull_text.title if task.pull_text else task.name,
            *([pull.url] if pull.url else []),
            tone=Tone.SUCCESS,
        )
    yield from complete(session, task, event)


def _pull_request(former: PullRequest | None, pull: Pull, commit: str) -> PullRequest:
    """What was delivered already stays delivered; who wanted the former commit merged has not seen this one."""
    known = former if former and former.number == pull.number else None
    return PullRequest(
        number=pull.number,
        url=pull.url,
        merged=pull.merged,
        seen=pull,
        head=commit,
        delivered=known.delivered if known else (),
        taken_in=known.taken_in if known else (),
    )


def not_opened(session: Session, event: OrderFailed) -> Iterator[Deed]:
    """It stays where it is; what is done stays done, and a button tries again."""
    task = session.task(event.task_id)
    if task is None or task.state is not TaskState.INTEGRATING:
        return
    task.problem = f"{event.reason} {event.remedy}".strip()
    task.holds += 1
    yield card(task)


def card(task: Task) -> Show:
    about = f"{task.id}:{task.asking}"
    return Show(
        card=NeedsYouCard(
            key=f"not-shipped:{task.key}:{task.asking}",
            title=f"{task.key} is done, but its pull request cannot be made",
            reason=task.problem,
            choices=(
                Choice(label="Try again", verb=Verb.SHIP_AGAIN, about=about, style=Style.PRIMARY),
                Choice(label="Leave it on its branch", verb=Verb.KEEP, about=about),
            ),
        )
    )


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    task_id, _, asking = event.about.partition(":")
    task = session.task(task_id)
    if task is None or not task.problem or asking != task.asking:
        yield telling.stale(session, event)
        return
    if task.state is not TaskState.INTEGRATING:
        yield telling.stale(session, event)
        return
    reason, task.problem = task.problem, ""
    if event.verb is Verb.SHIP_AGAIN:
        task.tries += 1
        yield _decided(task, reason, "Tried again", event, asking)
    else:
        yield _decided(task, reason, "Left on its branch", event, asking)
        yield from complete(session, task, event)


def _decided(task: Task, reason: str, what: str, event: FromPerson, asking: str) -> Show:
    return Show(
        card=NeedsYouCard(
            key=f"not-shipped:{task.key}:{asking}",
            title=f"{task.key} {task.name}",
            reason=reason,
            decided=telling.decided(what, event),
        )
    )


def waiting(session: Session) -> Iterator[Deed]:
    for task in session.in_state(TaskState.INTEGRATING):
        if task.problem:
            yield card(task)


def depends_on(session: Session, task: Task) -> tuple[int, ...]:
    """The open pull requests whose work is in its branch: it stays a draft until they are merged."""
    found: dict[int, None] = {}
    seen: set[str] = set()
    todo = [*task.dependencies]
    while todo:
        other = session.task(todo.pop(0))
        if other is None or other.id in seen:
            continue
        seen.add(other.id)
        todo += other.dependencies
        pull = shared.pull_of(session, other)
        if pull and pull.open and not pull.unneeded and pull is not shared.pull_of(session, task):
            found[pull.number] = None
    return tuple(sorted(found))
