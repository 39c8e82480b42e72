"""Limits: what a task may use up before a person is asked, and what an agent's account has left. Work is always kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from bot.domain.actions import Deed, Show
from bot.domain.approval import sha256
from bot.domain.cards import Decided, NeedsYouCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.events import (
    CheckRan,
    Happening,
    OrderFailed,
    Pressed,
    RunEnded,
    Ticked,
    TimeCame,
)
from bot.domain.evidence import LimitViolation
from bot.domain.sentences import sentences
from bot.domain.session import Session
from bot.domain.states import Outcome, RunState, Status, TaskState
from bot.domain.tasks import Hold, Task, Why
from bot.domain.world import Limit, Work
from bot.flow import blocked, mishaps, other_agent, place, telling

AGAIN_AFTER = timedelta(hours=1)
"""Where the agent does not say when its account has something left again."""
ROUNDED, EXACT = timedelta(seconds=90), timedelta(seconds=3)
"""What is waited besides: clocks differ, and who tells only the minute has rounded it down."""


def files(session: Session, task: Task, event: Happening, work: Work) -> Iterator[Deed]:
    changed = len({*work.changed_files, *work.created_files, *work.deleted_files})
    yield from _held_against(session, task, event, "max_files", changed, "files changed")


def tests(session: Session, task: Task, event: CheckRan) -> Iterator[Deed]:
    yield from _held_against(session, task, event, "max_tests", len(task.checks), "test runs")


def seconds(session: Session, event: Ticked) -> Iterator[Deed]:
    """How long agents have worked on a task, all its runs together."""
    for task in session.in_state(TaskState.RUNNING):
        if not task.taken_by:
            spent = worked(task, event.at)
            yield from _held_against(session, task, event, "max_seconds", spent, "seconds of work")


def silence(session: Session, event: Ticked) -> None:
    """How long panes have shown the same. It is only told: an agent that thinks long is none that hangs."""
    for task in session.in_state(TaskState.RUNNING):
        run = task.run
        if run is None or run.id not in event.tails:
            continue
        screen = sha256(event.tails[run.id])
        if screen != run.screen or run.silent_since is None:
            task.update_run(run.model_copy(update={"screen": screen, "silent_since": event.at}))


def worked(task: Task, at: datetime) -> int:
    """Seconds of agents' work: without the time in which one waited for a person."""
    spans = (
        ((run.ended_at or at) - run.started_at).total_seconds() - run.waited for run in task.runs
    )
    return int(sum(max(span, 0.0) for span in spans))


def count_waiting(session: Session, at: datetime) -> None:
    """After each event: the clock of a task stands still while nobody works on it."""
    for task in session.tasks:
        if task.started_at is None:
            continue
        run, since, busy = task.run, task.waits_since, _is_worked_on(session, task)
        at_its_pane = bool(
            since and run and run.started_at <= since and (run.alive or run.ended_at == at)
        )
        if since and (busy or at_its_pane):
            span = max(0.0, (at - since).total_seconds())
            task.waited, task.waits_since = task.waited + span, None
            if at_its_pane and run:
                task.update_run(run.model_copy(update={"waited": run.waited + span}))
        if not busy:
            task.waits_since = task.waits_since or task.completed_at or at


def _is_worked_on(session: Session, task: Task) -> bool:
    """By its agent, or by the bot that tests, judges and ships it."""
    if session.status is not Status.ACTIVE:
        return False
    if task.state is TaskState.RUNNING:
        return not task.taken_by and not (
            task.run and task.run.state is RunState.WAITING_INPUT and not task.run.reply
        )
    if task.state is TaskState.INTEGRATING:
        return not task.problem
    return task.state is TaskState.VERIFYING


def _limit(session: Session, task: Task, name: str) -> int | None:
    own: int | None = getattr(task.limits, name)
    general: int | None = getattr(session.limits, name)
    return own if own is not None else general


def _held_against(
    session: Session, task: Task, event: Happening, name: str, actual: int, what: str
) -> Iterator[Deed]:
    """Told once for each limit; who let it pass is not asked again."""
    allowed = _limit(session, task, name)
    if allowed is None or actual <= allowed or name in task.accepted:
        return
    violation = LimitViolation(
        limit_type=name, limit_value=allowed, actual_value=actual, timestamp=event.at
    )
    task.violations = (*task.violations, violation)
    late = name == "max_seconds"
    yield from mishaps.end_run(task, event.at, Outcome.TIMED_OUT if late else Outcome.KILLED)
    reason = f"it has gone beyond its limit: {actual} {what}, {allowed} were allowed"
    yield from blocked.block(session, task, reason, event, Hold.LIMIT)


def account_empty(session: Session, task: Task, event: RunEnded, limit: Limit) -> Iterator[Deed]:
    """Nobody's fault, and no failed run: it goes on by itself when there is something left again."""
    resets = limit.resets_at
    until = resets if resets and resets > event.at else event.at + AGAIN_AFTER
    task.not_before = until + (EXACT if until.second else ROUNDED)
    task.go_on("Your account's limit was reached. It has been renewed: go on where you stopped.")
    task.next_why = Why.LIMITED
    task.become(TaskState.NEEDS_CONTINUATION)
    yield _card(session, task, limit.says)


def _card(session: Session, task: Task, says: str, decided: Decided | None = None) -> Show:
    agent = task.agent or session.agent
    until = f"{task.not_before:%Y-%m-%d %H:%M} UTC" if task.not_before else "later"
    return Show(
        card=NeedsYouCard(
            key=f"limit:{task.key}:{len(task.runs)}",
            title=f"{task.key} waits: {agent} has reached the limit of its account",
            reason=sentences(says, f"It goes on by itself at {until}."),
            choices=() if decided else _choices(session, task),
            decided=decided,
        )
    )


def _choices(session: Session, task: Task) -> tuple[Choice, ...]:
    about = f"{task.id}:{len(task.runs)}"
    others = other_agent.choices(session, task)
    now = Choice(label="Try now", verb=Verb.CHECK_AGAIN, about=about, style=Style.PRIMARY)
    return (now, *others)


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    """Who may approve lets another agent work, with the flags that stand on the button."""
    task_id, _, rest = event.about.partition(":")
    runs, _, agent = rest.partition(":")
    task = session.task(task_id)
    if event.verb is Verb.USE_AGENT and task and not place.waits_for_account(task):
        yield from other_agent.pressed(session, task, runs, agent, event)
    elif task is None or not place.waits_for_account(task) or runs != str(len(task.runs)):
        yield telling.stale(session, event)
    elif event.verb is Verb.CHECK_AGAIN:
        yield from _tried_now(session, task, telling.decided("Tried again", event))
    elif agent in session.other_agents:
        yield from other_agent.take_over(session, task, agent, event)
    else:
        yield telling.stale(session, event)


def _tried_now(session: Session, task: Task, decided: Decided) -> Iterator[Deed]:
    """It is one account: with it all are tried that wait for the same one."""
    agent = task.agent or session.agent
    for other in session.tasks:
        if place.waits_for_account(other) and (other.agent or session.agent) == agent:
            yield _card(session, other, "", decided)
            other.not_before = None


def time_came(session: Session, event: TimeCame | OrderFailed) -> Iterator[Deed]:
    task = session.task(event.task_id)
    if task is None or task.not_before is None:
        return
    yield _card(session, task, "", Decided(what="Goes on", by="the clock", at=event.at))
    task.not_before = None


def waiting(session: Session, decided: Decided | None = None) -> Iterator[Deed]:
    """The cards of all that wait for an account: the same ones again, or with what became of them."""
    for task in filter(place.waits_for_account, session.tasks):
        yield _card(session, task, "", decided)


def over(session: Session, task: Task, decided: Decided) -> Iterator[Deed]:
    """It waits no longer, for whatever reason."""
    if task.not_before is not None:
        yield _card(session, task, "", decided)
        task.not_before = None
