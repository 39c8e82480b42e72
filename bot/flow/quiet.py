"""Agents that do not come to an end: a lost hook, a background process left over, a loop. Nothing is ended unasked.

An agent whose screen stands still is asked once whether it is done; git is looked at; then a person decides. The same
card comes for one that has worked for very long, however busy its screen looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from bot.domain.actions import Deed, Show, StopRun
from bot.domain.cards import Decided, NeedsYouCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.events import Happening, LookedIn, OrderFailed, Pressed, RunStopped, Ticked
from bot.domain.session import Session
from bot.domain.states import Outcome, RunState, TaskState
from bot.domain.tasks import LookFor, Quiet, Run, Task
from bot.domain.world import CompletionSource
from bot.flow import blocked, telling

QUESTION = (
    "You have shown nothing new for a while. If your task is done and committed, end now as you were told to; first stop the "
    "background processes that you started and that nobody needs any more. If something keeps you from going on, say what "
    "it is. Otherwise go on."
)


def looked(session: Session, event: Ticked) -> Iterator[Deed]:
    """Once the screens of this tick are known."""
    for task in session.in_state(TaskState.RUNNING):
        run = task.run
        if run is None or run.state is not RunState.RUNNING or task.taken_by:
            continue
        if run.quiet.shown:
            if run.silent_since == event.at and not run.quiet.about_time:
                yield from over(task, Decided(what="It goes on", by="the agent", at=event.at))
        elif not run.quiet.look:
            _notice(session, task, run, event.at)


def _notice(session: Session, task: Task, run: Run, at: datetime) -> None:
    limits, quiet = session.limits, run.quiet
    silent = at - run.silent_since if run.silent_since else timedelta()
    if limits.quiet_seconds and silent >= timedelta(seconds=limits.quiet_seconds):
        _look(task, LookFor.DECIDE if quiet.asked else LookFor.ASK)
    elif limits.long_seconds:
        # twice as long until a person is asked again
        due = timedelta(seconds=limits.long_seconds) * 2**quiet.times_long
        if at - run.started_at - timedelta(seconds=run.waited) >= due:
            _look(task, LookFor.LONG)


def _look(task: Task, what: LookFor) -> None:
    if run := task.run:
        _remember(task, run.quiet, look=what, looks=run.quiet.looks + 1)


def _remember(task: Task, quiet: Quiet, **changes: object) -> None:
    if run := task.run:
        task.update_run(run.model_copy(update={"quiet": quiet.model_copy(update=changes)}))


def looked_in(session: Session, event: LookedIn | OrderFailed) -> Iterator[Deed]:
    """It was asked, and git was looked at; or neither was possible."""
    task = (
        session.task_of_run(event.run_id)
        if isinstance(event, LookedIn)
        else session.task(event.task_id)
    )
    run = task.run if task else None
    if task is None or run is None or run.state is not RunState.RUNNING or not run.quiet.look:
        return
    what, quiet = run.quiet.look, run.quiet.model_copy(update={"look": None})
    if isinstance(event, LookedIn):
        there = {"commits": event.commits, "uncommitted": event.uncommitted}
        quiet = quiet.model_copy(update=there)
    if what in (LookFor.ASK, LookFor.NUDGE):
        if isinstance(event, LookedIn) and event.asked:
            # what was typed is something new on its screen: the agent gets its time to answer
            quiet = quiet.model_copy(update={"asked": True, "unasked": ""})
            task.update_run(run.model_copy(update={"quiet": quiet, "silent_since": event.at}))
            return
        why = event.why if isinstance(event, LookedIn) else event.reason
        quiet = quiet.model_copy(update={"asked": True, "unasked": why})
    is_long = what is LookFor.LONG
    _remember(
        task,
        quiet,
        shown=event.at,
        cards=quiet.cards + 1,
        about_time=is_long,
        times_long=quiet.times_long + is_long,
    )
    if task.run:
        yield _card(task, task.run)


def _card(task: Task, run: Run, decided: Decided | None = None) -> Show:
    quiet = run.quiet
    return Show(
        card=NeedsYouCard(
            key=f"quiet:{task.key}:{run.number}.{quiet.cards}",
            title=_title(task, run),
            reason=_reason(run),
            choices=() if decided else _choices(run),
            decided=decided,
        )
    )


def _title(task: Task, run: Run) -> str:
    if run.quiet.about_time and run.quiet.shown:
        hours = (run.quiet.shown - run.started_at).total_seconds() / 3600
        return f"{task.key}: {run.agent} has been at work for {hours:.1f} hours"
    return f"{task.key}: nothing new from {run.agent}"


def _reason(run: Run) -> str:
    quiet = run.quiet
    asked = ""
    if not quiet.about_time:
        asked = (
            f"I could not ask it whether it is done: {quiet.unasked.rstrip('.')}. "
            if quiet.unasked
            else "I asked it whether it is done, and nothing came. "
        )
    commits = f"{quiet.commits} commit{'' if quiet.commits == 1 else 's'}"
    files = f"{quiet.uncommitted} changed file{'' if quiet.uncommitted == 1 else 's'} not committed"
    there = f"Its branch has {commits}, and {files if quiet.uncommitted else 'everything is committed'}."
    look = f" To look yourself: {run.attach}" if run.attach else ""
    return f"{asked}{there} It goes on until you decide.{look}"


def _choices(run: Run) -> tuple[Choice, ...]:
    about = f"{run.id}:{run.quiet.cards}"
    done = bool(run.quiet.commits) and not run.quiet.uncommitted
    return (
        Choice(
            label="Take it as done",
            verb=Verb.TAKE_AS_DONE,
            about=about,
            style=Style.PRIMARY if done else Style.NORMAL,
        ),
        Choice(label="Ask it again", verb=Verb.NUDGE, about=about),
        Choice(
            label="Stop it",
            verb=Verb.STOP_TASK,
            about=about,
            style=Style.DANGER,
            confirm="End this agent? What it has done stays.",
        ),
    )


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    run_id, _, number = event.about.partition(":")
    task = session.task_of_run(run_id)
    run = task.run if task else None
    if task is None or run is None or not _is_asked(task, run, number):
        yield telling.stale(session, event)
        return
    match event.verb:
        case Verb.TAKE_AS_DONE:
            yield from over(task, telling.decided("Taken as done; I look at what is there", event))
            yield from _taken_as_done(task, event)
        case Verb.NUDGE:
            yield from over(task, telling.decided("Asked again", event))
            _look(task, LookFor.NUDGE)
        case _:
            yield from over(task, telling.decided("Stopped", event))
            yield StopRun(run_id=run.id)
            stopped = task.run or run
            ended = {"ended_by": CompletionSource.STOPPED}
            task.update_run(stopped.end(Outcome.KILLED, event.at, **ended))
            reason = f"{event.by} stopped its agent, which did not come to an end"
            yield from blocked.block(session, task, reason, event)


def _is_asked(task: Task, run: Run, number: str) -> bool:
    asked = run.alive and run.quiet.shown is not None and number == str(run.quiet.cards)
    return asked and task.state is TaskState.RUNNING and not task.taken_by


def _taken_as_done(task: Task, event: Happening) -> Iterator[Deed]:
    """As if it had ended by itself. Its work is looked at when nothing of it is alive any more."""
    if run := task.run:
        yield StopRun(run_id=run.id)
        _remember(task, run.quiet, stopping=True)
        ended = {"ended_by": CompletionSource.STOPPED}
        task.update_run((task.run or run).end(Outcome.FINISHED, event.at, **ended))
        task.become(TaskState.VERIFYING)


def stopped(session: Session, event: RunStopped) -> None:
    task = session.task_of_run(event.run_id)
    if task and task.run and task.run.quiet.stopping:
        _remember(task, task.run.quiet, stopping=False)


def over(task: Task, decided: Decided) -> Iterator[Deed]:
    """Nobody has to decide about it any more, for whatever reason."""
    run = task.run
    if run and run.quiet.shown:
        yield _card(task, run, decided)
        _remember(task, run.quiet, shown=None, about_time=False)


def waiting(session: Session, decided: Decided | None = None) -> Iterator[Deed]:
    """The cards that wait: the same ones again, or with what became of them."""
    for task in session.in_state(TaskState.RUNNING):
        if task.run and task.run.alive and task.run.quiet.shown:
            yield _card(task, task.run, decided)
