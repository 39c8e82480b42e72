"""How things stand: the live status of a session, from the session alone."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import AwareDatetime

from bot.domain.actions import Show
from bot.domain.cards import StatusCard, TaskLine
from bot.domain.choices import Choice, Style, Verb
from bot.domain.session import Session
from bot.domain.states import Phase, RunState, Status, TaskState
from bot.domain.tasks import Task
from bot.domain.world import AgentUsage

SILENT_FROM = 10
"""Minutes without anything new on its screen, until it is told."""
STOP = Choice(label="Stop", verb=Verb.STOP, style=Style.DANGER)
LOG = Choice(label="Show the log", verb=Verb.LOG)


def status(
    session: Session,
    at: AwareDatetime,
    tails: Mapping[str, str] | None = None,
    *,
    anew: bool = False,
) -> Show:
    card = status_card(session, at, tails or {})
    return Show(card=card.model_copy(update={"anew": True}) if anew else card)


def status_card(
    session: Session, at: AwareDatetime, tails: Mapping[str, str], key: str = "status"
) -> StatusCard:
    return StatusCard(
        key=key,
        title=session.title,
        session=session.short,
        status=session.status,
        phase=session.phase,
        queue_position=session.queue_position or None,
        waiting=session.queue_waiting,
        tasks=tuple(task_line(task, at, tails) for task in session.tasks),
        usage=session.usage,
        agent_usage=agents_usage(session),
        trouble=session.trouble,
        at=at,
        choices=(STOP, LOG) if key == "status" and stoppable(session) else (),
    )


def agents_usage(session: Session) -> AgentUsage:
    """Of all its agents together, as far as they say."""
    return sum((task.usage for task in session.tasks), AgentUsage())


def stoppable(session: Session) -> bool:
    return session.phase is Phase.EXECUTING and session.status in (Status.ACTIVE, Status.QUEUED)


def task_line(task: Task, at: AwareDatetime, tails: Mapping[str, str]) -> TaskLine:
    run = task.run
    tail = tails.get(run.id, "") if run and run.alive else ""
    return TaskLine(
        key=task.key,
        name=task.name,
        state=task.state,
        note=_note(task, at),
        seconds=seconds_of(task, at),
        tail=tail,
    )


def _note(task: Task, at: AwareDatetime) -> str:
    if task.blocked:
        return task.blocked
    if task.problem:
        return f"no pull request: {task.problem}"
    if waits := _waits(task):
        return waits
    if quiet := _silent_for(task, at):
        return f"silent for {quiet} min"
    if (
        task.state in (TaskState.RUNNING, TaskState.NEEDS_CONTINUATION)
        and task.counters.failed_checks
    ):
        return f"tests failed {task.counters.failed_checks}×, being mended"
    if task.pull_request:
        return f"#{task.pull_request.number}{' merged' if task.pull_request.merged else ''}"
    if task.state is TaskState.COMPLETED and task.workspace:
        return task.workspace.branch
    return ""


def _silent_for(task: Task, at: AwareDatetime) -> int:
    """Minutes, once they are worth telling."""
    run = task.run
    if run is None or not run.alive or run.silent_since is None:
        return 0
    minutes = int((at - run.silent_since).total_seconds() // 60)
    return minutes if minutes >= SILENT_FROM else 0


def _waits(task: Task) -> str:
    """For a person at its pane, for an answer, for time to pass."""
    if task.taken_by:
        return f"{task.taken_by} works in its pane"
    if task.run and task.run.state is RunState.WAITING_INPUT and task.run.dialog:
        return f"asks: {task.run.dialog.title}"
    if task.not_before:
        return f"its account's limit is reached; goes on at {task.not_before:%H:%M} UTC"
    return ""


def seconds_of(task: Task, at: AwareDatetime) -> int | None:
    """Seconds of work on it, by its agents and by the bot: its clock stands still while it waits."""
    if task.started_at is None:
        return None
    now = task.waits_since or task.completed_at or at
    return max(0, int((now - task.started_at).total_seconds() - task.waited))
