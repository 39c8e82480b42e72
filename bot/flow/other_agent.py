"""Another agent for a task: after its account's limit, after two failures, or because somebody who may approve says so."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.choices import Choice, Verb
from bot.domain.events import Commanded, FromPerson, Pressed
from bot.domain.session import Session
from bot.domain.states import Phase, Status, TaskState
from bot.domain.tasks import Task, Why
from bot.flow import blocked, limits, mishaps, place, steps, telling

FAILURES = 2
"""Runs or tests that failed, until another agent is offered."""
OTHERS_WORK = "Another agent worked on this before you. Look at what is there already (git status, git log) and go on from it."
_OPEN = place.HOLDABLE | {TaskState.BLOCKED, TaskState.FAILED}


def choices(session: Session, task: Task) -> tuple[Choice, ...]:
    """A button for each, with the flags it would run with: who presses lets it work here."""
    return tuple(
        Choice(
            label=f"Use {agent} instead ({flags})" if flags else f"Use {agent} instead",
            verb=Verb.USE_AGENT,
            about=f"{task.id}:{len(task.runs)}:{agent}",
        )
        for agent, flags in session.other_agents.items()
        if agent != (task.agent or session.agent)
    )


def offered(session: Session, task: Task) -> Iterator[Deed]:
    """Its own agent goes on meanwhile."""
    counted = task.counters
    failures = max(counted.failed_runs, counted.failed_checks)
    others = choices(session, task)
    if failures != FAILURES or not others or task.state not in place.MOVING:
        return
    agent = task.agent or session.agent
    yield telling.trouble(
        f"other-agent:{task.key}:{len(task.runs)}",
        f"{task.key} has failed twice with {agent}",
        f"{agent} tries again. Another agent can take over on the same branch, if you let it.",
        "",
        *others,
    )


def pressed(session: Session, task: Task, runs: str, agent: str, event: Pressed) -> Iterator[Deed]:
    """On the card of a task that is blocked or has failed, or on an offer: until the task has gone on to something else."""
    runs_now = len(task.runs)
    # the offer is shown before its own agent tries again
    current = runs.isdecimal() and runs_now - 1 <= int(runs) <= runs_now
    if not current or agent not in session.other_agents or _why_not(session, task, agent):
        yield telling.stale(session, event)
        return
    yield from take_over(session, task, agent, event)


def asked(session: Session, event: Commanded) -> Iterator[Deed]:
    """`use codex for T002`."""
    agent, wanted = event.command.text.lower(), event.command.argument.lower()
    task = _meant(session, wanted)
    if session.status is not Status.ACTIVE and session.status is not Status.QUEUED:
        why = f"This session is {session.status.lower()}."
    elif session.phase is not Phase.EXECUTING:
        why = "No task is under way here."
    elif not agent:
        known = ", ".join((session.agent, *session.other_agents))
        why = f"Which agent? use codex for T001. I know: {known}."
    elif task is None:
        keys = ", ".join(one.key for one in session.tasks if one.state in _OPEN) or "none"
        why = f"For which task? use {agent} for T001. It can be: {keys}."
    else:
        why = _why_not(session, task, agent)
    if why or task is None:
        yield telling.privately(event, why)
        return
    yield from take_over(session, task, agent, event)
    # a command is no step of the phase, which would go on by itself
    blocked.free(session)
    steps.advance(session, event)
    flags = session.other_agents.get(agent, "") if agent != session.agent else session.agent_flags
    yield telling.answer(
        event, f"{task.key} goes to {agent}{f' ({flags})' if flags else ''}, as {event.by} asked"
    )


def _meant(session: Session, wanted: str) -> Task | None:
    fits = [
        task
        for task in session.tasks
        if task.state in _OPEN
        and wanted in ("", task.key.lower(), f"task-{session.short}-{task.number}")
    ]
    return fits[0] if len(fits) == 1 else None


def _why_not(session: Session, task: Task, agent: str) -> str:
    if agent != session.agent and agent not in session.other_agents:
        known = ", ".join((session.agent, *session.other_agents))
        return (
            f"I may not use {agent} here: I know {known}. GWT_OTHER_AGENTS names those that may be offered; "
            "a session knows those that were named when it began."
        )
    if agent == (task.agent or session.agent):
        return f"{task.key} is with {agent} already."
    if task.taken_by:
        return f"{task.taken_by} works in the pane of {task.key}. handback {task.key} comes first."
    if task.state not in _OPEN or task.state is TaskState.INTEGRATING:
        return f"{task.key} is {task.state}: no agent works on it."
    return ""


def take_over(session: Session, task: Task, agent: str, event: FromPerson) -> Iterator[Deed]:
    """What was done stays; its next run is the other agent's, in a conversation of its own."""
    decided = telling.decided(f"{agent} takes over", event)
    yield from limits.over(session, task, decided)
    yield from blocked.settled(session, task, decided)
    if agent != session.agent:
        session.let_agents = tuple(dict.fromkeys((*session.let_agents, agent)))
    yield from mishaps.end_run(task, event.at)
    task.agent, task.not_before = agent, None
    if task.state in (TaskState.BLOCKED, TaskState.FAILED):
        blocked.retry(session, task)
    if not task.runs:
        return
    if task.state is not TaskState.NEEDS_CONTINUATION:
        task.become(TaskState.NEEDS_CONTINUATION)
    unmet = task.next_feedback
    task.go_on(OTHERS_WORK)
    if unmet and unmet not in task.next_feedback:
        task.next_feedback = f"{task.next_feedback}\n\n{unmet}"
    task.next_why = Why.RETRY
    task.look_again()
