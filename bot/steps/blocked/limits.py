"""Limits of tasks and of agents' accounts, and replacing an agent that cannot go on. Work is never discarded."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from bot.core.actions import Deed, Show
from bot.core.approval import sha256
from bot.core.cards import CardDecision, NeedsYouCard
from bot.core.choices import Choice, Style, Verb
from bot.core.events import (
    CheckRan,
    Commanded,
    EventBase,
    FromPerson,
    OrderFailed,
    Pressed,
    RunEnded,
    Ticked,
    TimeCame,
)
from bot.core.evidence import LimitViolation
from bot.core.git import Work
from bot.core.runs import Limit, Why
from bot.core.session import Session
from bot.core.states import Outcome, Phase, Status, TaskState
from bot.core.task import Hold, Task
from bot.core.text import date_time, sentences
from bot.steps import messages, plan
from bot.steps.blocked import rules as blocked
from bot.steps.blocked import troubles
from bot.steps.execute import next_step

DEFAULT_RETRY_AFTER = timedelta(hours=1)
"""Wait if the agent does not say when its account's limit is reset."""
ROUNDED, EXACT = timedelta(seconds=90), timedelta(seconds=3)
"""Safety margins: clocks differ, and a time without seconds was rounded down."""


def check_files(session: Session, task: Task, event: EventBase, work: Work) -> Iterator[Deed]:
    changed = len({*work.changed_files, *work.created_files, *work.deleted_files})
    yield from _check_limit(session, task, event, "max_files", changed, "files changed")


def check_test_runs(session: Session, task: Task, event: CheckRan) -> Iterator[Deed]:
    yield from _check_limit(session, task, event, "max_tests", len(task.checks), "test runs")


def check_work_time(session: Session, event: Ticked) -> Iterator[Deed]:
    """Check how long agents have worked on each task, in all its runs together."""
    for task in session.in_state(TaskState.RUNNING):
        if not task.taken_by:
            spent = seconds_worked(task, event.at)
            yield from _check_limit(session, task, event, "max_seconds", spent, "seconds of work")


def note_silence(session: Session, event: Ticked) -> None:
    """Record for how long each pane has not changed. Only reported: an agent that thinks for long is not stuck."""
    for task in session.in_state(TaskState.RUNNING):
        run = task.run
        if run is None or run.id not in event.tails:
            continue
        screen = sha256(event.tails[run.id])
        if screen != run.screen or run.silent_since is None:
            task.update_run(run.model_copy(update={"screen": screen, "silent_since": event.at}))


def seconds_worked(task: Task, at: datetime) -> int:
    """Return the seconds agents have worked, without the time a run waited for a person."""
    spans = (
        ((run.ended_at or at) - run.started_at).total_seconds() - run.waited for run in task.runs
    )
    return int(sum(max(span, 0.0) for span in spans))


def _limit(session: Session, task: Task, name: str) -> int | None:
    own: int | None = getattr(task.limits, name)
    general: int | None = getattr(session.agents.limits, name)
    return own if own is not None else general


def _check_limit(
    session: Session, task: Task, event: EventBase, name: str, actual: int, what: str
) -> Iterator[Deed]:
    """Block the task at its limit, once per limit. A limit that a person has waived is not checked again."""
    allowed = _limit(session, task, name)
    if allowed is None or actual <= allowed or name in task.accepted:
        return
    violation = LimitViolation(
        limit_type=name, limit_value=allowed, actual_value=actual, timestamp=event.at
    )
    task.violations = (*task.violations, violation)
    late = name == "max_seconds"
    yield from troubles.end_run(task, event.at, Outcome.TIMED_OUT if late else Outcome.KILLED)
    reason = f"it has gone beyond its limit: {actual} {what}, {allowed} were allowed"
    yield from blocked.block(session, task, reason, event, Hold.LIMIT)


def wait_for_account(session: Session, task: Task, event: RunEnded, limit: Limit) -> Iterator[Deed]:
    """Have the task wait until the account's limit is reset. This does not count as a failed run."""
    resets = limit.resets_at
    until = resets if resets and resets > event.at else event.at + DEFAULT_RETRY_AFTER
    task.next_run.not_before = until + (EXACT if until.second else ROUNDED)
    task.go_on("Your account's limit was reached. It has been renewed: go on where you stopped.")
    task.next_run.why = Why.LIMITED
    task.become(TaskState.NEEDS_CONTINUATION)
    yield _account_card(session, task, limit.says)


def _account_card(
    session: Session, task: Task, says: str, decided: CardDecision | None = None
) -> Show:
    agent = task.agent or session.agents.default
    until = date_time(task.next_run.not_before) if task.next_run.not_before else "later"
    return Show(
        card=NeedsYouCard(
            key=f"limit:{task.key}:{len(task.runs)}",
            title=f"{task.key} waits: {agent} has reached the limit of its account",
            reason=sentences(says, f"It goes on by itself at {until}."),
            choices=() if decided else _account_choices(session, task),
            decided=decided,
        )
    )


def _account_choices(session: Session, task: Task) -> tuple[Choice, ...]:
    about = f"{task.id}:{len(task.runs)}"
    others = blocked.other_agent_choices(session, task)
    now = Choice(label="Try now", verb=Verb.CHECK_AGAIN, about=about, style=Style.PRIMARY)
    return (now, *others)


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    """Decide on a press on a limit's card.

    An approver's press lets another agent work, with the flags on the button.
    """
    task_id, _, rest = event.about.partition(":")
    runs, _, agent = rest.partition(":")
    task = session.task(task_id)
    if event.verb is Verb.USE_AGENT and task and not plan.waits_for_account(task):
        yield from use_agent_pressed(session, task, runs, agent, event)
    elif task is None or not plan.waits_for_account(task) or runs != str(len(task.runs)):
        yield messages.stale_press(session, event)
    elif event.verb is Verb.CHECK_AGAIN:
        yield from _try_now(session, task, messages.decided("Tried again", event))
    elif agent in session.agents.others:
        yield from switch_agent(session, task, agent, event)
    else:
        yield messages.stale_press(session, event)


def _try_now(session: Session, task: Task, decided: CardDecision) -> Iterator[Deed]:
    """Retry now every task that waits for the same agent's account."""
    agent = task.agent or session.agents.default
    for other in session.tasks:
        if plan.waits_for_account(other) and (other.agent or session.agents.default) == agent:
            yield _account_card(session, other, "", decided)
            other.next_run.not_before = None


def time_came(session: Session, event: TimeCame | OrderFailed) -> Iterator[Deed]:
    task = session.task(event.task_id)
    if task is None or task.next_run.not_before is None:
        return
    yield _account_card(
        session, task, "", CardDecision(what="Goes on", by="the clock", at=event.at)
    )
    task.next_run.not_before = None


def account_cards(session: Session, decided: CardDecision | None = None) -> Iterator[Deed]:
    """Show the cards of all tasks that wait for an account, again or with the decision."""
    for task in filter(plan.waits_for_account, session.tasks):
        yield _account_card(session, task, "", decided)


def close_limit_card(session: Session, task: Task, decided: CardDecision) -> Iterator[Deed]:
    """Close the card of a task that no longer waits for an account."""
    if task.next_run.not_before is not None:
        yield _account_card(session, task, "", decided)
        task.next_run.not_before = None


# Another agent for a task: after its account's limit, after two failures, or because an approver says so.

TAKEOVER_NOTE = "Another agent worked on this before you. Look at what is there already (git status, git log) and go on from it."
_MAY_CHANGE_AGENT = plan.HOLDABLE | {TaskState.BLOCKED, TaskState.FAILED}


def use_agent_pressed(
    session: Session, task: Task, runs: str, agent: str, event: Pressed
) -> Iterator[Deed]:
    """Replace the agent by the button of a blocked or failed task or of an offer.

    The press is stale once the task has moved on.
    """
    runs_now = len(task.runs)
    # the offer is shown before the task's own agent tries again
    current = runs.isdecimal() and runs_now - 1 <= int(runs) <= runs_now
    if not current or agent not in session.agents.others or _why_not(session, task, agent):
        yield messages.stale_press(session, event)
        return
    yield from switch_agent(session, task, agent, event)


def use_agent(session: Session, event: Commanded) -> Iterator[Deed]:
    """Decide on `use codex for T002`."""
    agent, wanted = event.command.text.lower(), event.command.argument.lower()
    task = _task_named(session, wanted)
    if session.status is not Status.ACTIVE and session.status is not Status.QUEUED:
        why = f"This session is {session.status.lower()}."
    elif session.phase is not Phase.EXECUTING:
        why = "No task is under way here."
    elif not agent:
        known = ", ".join((session.agents.default, *session.agents.others))
        why = f"Which agent? use codex for T001. I know: {known}."
    elif task is None:
        keys = (
            ", ".join(one.key for one in session.tasks if one.state in _MAY_CHANGE_AGENT) or "none"
        )
        why = f"For which task? use {agent} for T001. It can be: {keys}."
    else:
        why = _why_not(session, task, agent)
    if why or task is None:
        yield messages.private_reply(event, why)
        return
    yield from switch_agent(session, task, agent, event)
    # needed here, because a command is no step of the phase, which would do it
    blocked.free_dependents(session)
    next_step.start_tasks(session, event)
    flags = (
        session.agents.others.get(agent, "")
        if agent != session.agents.default
        else session.agents.flags
    )
    yield messages.answer(
        event, f"{task.key} goes to {agent}{f' ({flags})' if flags else ''}, as {event.by} asked"
    )


def _task_named(session: Session, wanted: str) -> Task | None:
    fits = [
        task
        for task in session.tasks
        if task.state in _MAY_CHANGE_AGENT
        and wanted in ("", task.key.lower(), f"task-{session.short}-{task.number}")
    ]
    return fits[0] if len(fits) == 1 else None


def _why_not(session: Session, task: Task, agent: str) -> str:
    if agent != session.agents.default and agent not in session.agents.others:
        known = ", ".join((session.agents.default, *session.agents.others))
        return (
            f"I may not use {agent} here: I know {known}. GWT_OTHER_AGENTS names those that may be offered; "
            "a session knows those that were named when it began."
        )
    if agent == (task.agent or session.agents.default):
        return f"{task.key} is with {agent} already."
    if task.taken_by:
        return f"{task.taken_by} works in the pane of {task.key}. handback {task.key} comes first."
    if task.state not in _MAY_CHANGE_AGENT or task.state is TaskState.INTEGRATING:
        return f"{task.key} is {task.state}: no agent works on it."
    return ""


def switch_agent(session: Session, task: Task, agent: str, event: FromPerson) -> Iterator[Deed]:
    """Let another agent continue the task. The work is kept; the agent's next run starts a new conversation."""
    decided = messages.decided(f"{agent} takes over", event)
    yield from close_limit_card(session, task, decided)
    yield from blocked.close_card(session, task, decided)
    if agent != session.agents.default:
        session.agents.allowed = tuple(dict.fromkeys((*session.agents.allowed, agent)))
    yield from troubles.end_run(task, event.at)
    task.agent, task.next_run.not_before = agent, None
    if task.state in (TaskState.BLOCKED, TaskState.FAILED):
        blocked.retry(session, task)
    if not task.runs:
        return
    if task.state is not TaskState.NEEDS_CONTINUATION:
        task.become(TaskState.NEEDS_CONTINUATION)
    unmet = task.next_run.feedback
    task.go_on(TAKEOVER_NOTE)
    if unmet and unmet not in task.next_run.feedback:
        task.next_run.feedback = f"{task.next_run.feedback}\n\n{unmet}"
    task.next_run.why = Why.RETRY
    task.invalidate_verification()
