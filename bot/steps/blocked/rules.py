"""A task failed or cannot go on: a person decides. Tasks that depend on it never hang."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import Deed, Show
from bot.core.cards import CardDecision, NeedsYouCard
from bot.core.choices import Choice, Style, Verb
from bot.core.events import EventBase, FromPerson, OrderFailed, Pressed, SettingsChanged
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.states import Outcome, RunState, TaskState
from bot.core.task import Counters, Hold, Task, TaskResult
from bot.core.text import sentences
from bot.steps import messages, plan
from bot.steps.blocked import troubles
from bot.steps.ship import rules as ship
from bot.steps.verify import test_command

WAITS_FOR_PREFIX = "waits for"
"""Prefix of the reason of a task that is held up by another one."""
SHOWN_OUTPUT = 1500
FRESH_START_NOTE = "The branch of an earlier try is lost. Begin anew: nothing of it is here."
ASKED_IN_SCRIPT = (
    "In a new folder, as the copy is that a script works on, an agent may ask whether it is trusted: --project-mode fixed works in the "
    "project itself, where that was answered before. claude-print (GWT_AGENT) asks nothing; in the console you can answer."
)
"""The remedy if nobody was there to answer an agent."""
MAX_HINT_CHARS = 3000
"""Characters of a hint for an agent, as every retry may add another one."""


def fail(session: Session, task: Task, reason: str, event: EventBase) -> Iterator[Deed]:
    task.become(TaskState.FAILED, reason)
    task.times_asked += 1
    task.result = TaskResult(success=False, error=reason)
    task.completed_at = event.at
    yield from _ask_person(session, task)


def block(
    session: Session, task: Task, reason: str, event: EventBase, held: Hold | None = None
) -> Iterator[Deed]:
    """Block the task and ask a person. `held`: the kind of reason, if a person may let it pass."""
    task.become(TaskState.BLOCKED, reason)
    task.hold, task.times_asked = held, task.times_asked + 1
    yield from _ask_person(session, task)


def block_refused(session: Session, event: OrderFailed) -> Iterator[Deed]:
    """Block the task whose order was refused for good."""
    task = session.task(event.task_id)
    if task is None:
        yield from troubles.fail_on_refusal(session, event)
        return
    if task.state not in (TaskState.RUNNING, TaskState.VERIFYING) and not task.base_to_merge:
        return
    # even if it was only starting: its pane may exist already
    stopped = tuple(troubles.end_run(task, event.at, Outcome.FAILED))
    if stopped and task.run:
        task.update_run(task.run.model_copy(update={"message": event.reason}))
    yield from stopped
    reason = sentences(event.reason, event.remedy)
    yield from block(session, task, reason, event, Hold.LOST if event.lost else None)


def block_for_changed_settings(session: Session, event: SettingsChanged) -> Iterator[Deed]:
    """Block the task because the settings that its agent obeys have changed since the approval."""
    task = session.task_of_run(event.run_id)
    if task is None or task.run is None or task.run.state is not RunState.STARTING:
        return
    what = ", ".join(event.files[:8])
    reason = (
        f"What its agent obeys was changed since you approved: {what}. It can have commands run."
    )
    task.update_run(task.run.end(Outcome.FAILED, event.at, message=reason))
    task.settings_mark = event.mark
    yield from block(session, task, reason, event, Hold.SETTINGS)


def waiting_task_cards(session: Session, decided: CardDecision | None = None) -> Iterator[Deed]:
    """Show the cards of all tasks that wait for a person, again or with the decision."""
    for task in filter(_waits_for_person, session.tasks):
        yield task_card(session, task, decided)


def close_card(session: Session, task: Task, decided: CardDecision) -> Iterator[Deed]:
    """Close the task's card, if a person was asked about it."""
    if _waits_for_person(task):
        yield task_card(session, task, decided)


def _waits_for_person(task: Task) -> bool:
    """Whether a person has to decide about it. Not if it is only held up by something else."""
    held = task.state in (TaskState.FAILED, TaskState.BLOCKED)
    return held and not task.blocked.startswith(WAITS_FOR_PREFIX)


def _ask_person(session: Session, task: Task) -> Iterator[Deed]:
    for dependent in dependents(session, task):
        if dependent.state in (TaskState.PENDING, TaskState.READY):
            dependent.become(TaskState.BLOCKED, f"{WAITS_FOR_PREFIX} {task.key}")
    yield task_card(session, task)


def task_card(session: Session, task: Task, decided: CardDecision | None = None) -> Show:
    """Return the task's card. It depends on nothing but the task, so that a lost card can be shown again."""
    failed = task.state is TaskState.FAILED
    title = f"{task.key} failed: {task.blocked}" if failed else f"{task.key} is blocked"
    if task.hold is Hold.TESTS:
        title = f"How shall {task.key} be tested?"
    return Show(
        card=NeedsYouCard(
            key=f"needs-you:{task.key}:{task.asking}",
            title=title,
            reason=_reason(session, task, title),
            output=_output(task) if failed else "",
            affected=tuple(f"{d.key} {d.name}" for d in dependents(session, task)),
            choices=() if decided else _choices(session, task),
            decided=decided,
        )
    )


def _reason(session: Session, task: Task, title: str) -> str:
    """Return what the title does not already say."""
    if _asked_in_script(session, task):
        return sentences(task.blocked, ASKED_IN_SCRIPT)
    return "" if task.blocked in title else task.blocked


def _asked_in_script(session: Session, task: Task) -> bool:
    """Whether its agent asked a question in a script, where nobody can answer."""
    asked = task.run is not None and task.run.outcome is Outcome.BLOCKED
    return session.request.unattended and asked and task.state is TaskState.BLOCKED


def _output(task: Task) -> str:
    """Return the output of the last failure."""
    if task.run and task.run.outcome is not Outcome.FINISHED:
        return task.run.message
    check = task.checks[-1] if task.checks else None
    return check.output[-SHOWN_OUTPUT:] if check and not check.passed else ""


def _choices(session: Session, task: Task) -> tuple[Choice, ...]:
    about = f"{task.id}:{task.asking}"
    passing = tuple(_acceptance_choices(session, task, about))
    style = Style.NORMAL if passing else Style.PRIMARY
    return (
        *passing,
        Choice(label=_retrying(task), verb=Verb.RETRY, about=about, style=style),
        *_reassign_choice(session, task, about),
        *_agent_choices(task, about),
        *(other_agent_choices(session, task) if task.runs else ()),
        Choice(label="Go on without it", verb=Verb.SKIP, about=about),
        Choice(
            label="Give it up, and what depends on it",
            verb=Verb.GIVE_UP,
            about=about,
            style=Style.DANGER,
            confirm="Give this task up, and all that depends on it?",
        ),
    )


def _retrying(task: Task) -> str:
    return "Make it again" if task.hold is Hold.LOST else "Retry"


def _reassign_choice(session: Session, task: Task, about: str) -> Iterator[Choice]:
    """Offer a fresh start on another branch, if nobody has seen or builds on the lost work."""
    if _may_be_reassigned(session, task):
        yield Choice(label="Begin anew on another branch", verb=Verb.REASSIGN, about=about)


def _may_be_reassigned(session: Session, task: Task) -> bool:
    alone = all(
        other.id == task.id or not other.runs for other in plan.tasks_on_branch(session, task)
    )
    return task.hold is Hold.LOST and alone and not task.pull_request


def _agent_choices(task: Task, about: str) -> Iterator[Choice]:
    # Only if an agent has worked: then there is a log to read, and a hint may help.
    if task.runs:
        asks = "What should its agent know?"
        yield Choice(label="Retry with a hint…", verb=Verb.HINT, about=about, asks=asks)
        yield Choice(label="Show the log", verb=Verb.LOG, about=task.key)


def _acceptance_choices(session: Session, task: Task, about: str) -> Iterator[Choice]:
    """Offer to let the task pass as it is."""
    if task.hold is Hold.TESTS:
        yield from _test_choices(session, task, about)
    if task.hold is Hold.SETTINGS:
        confirm = "Start its agent with these settings?"
        yield Choice(label="Go on with them", verb=Verb.ACCEPT, about=about, confirm=confirm)
    if task.hold is Hold.LIMIT:
        yield Choice(label="Go on beyond the limit", verb=Verb.ACCEPT, about=about)
    if task.hold in (Hold.FLAGS, Hold.VERDICT):
        confirm = "Take this work as it is?"
        yield Choice(label="Accept as it is", verb=Verb.ACCEPT, about=about, confirm=confirm)
        asks = "What shall its agent do?"
        yield Choice(label="Send back…", verb=Verb.SEND_BACK, about=about, asks=asks)


def _test_choices(session: Session, task: Task, about: str) -> Iterator[Choice]:
    found = test_command.proposed_command(session, task)
    if found:
        yield Choice(label="Use it", verb=Verb.ACCEPT, about=about, style=Style.PRIMARY)
    asks = "Which command runs the tests?"
    yield Choice(label="Use another command…", verb=Verb.TESTS, about=about, asks=asks)
    if found:
        base = test_command.for_task(session, task)
        label = "Test it as the base is" if base else "Do not run tests"
        yield Choice(label=label, verb=Verb.UNTESTED, about=about)


def dependents(session: Session, task: Task) -> list[Task]:
    """Return all tasks that depend on it, directly or indirectly, in the order of the plan."""
    affected = {task.id}
    grown = True
    while grown:
        more = {t.id for t in session.tasks if affected & set(t.dependencies)} - affected
        affected |= more
        grown = bool(more)
    return [t for t in session.tasks if t.id in affected - {task.id}]


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    task_id, _, asking = event.about.partition(":")
    task = session.task(task_id)
    if task is None or not _waits_for_person(task) or asking != task.asking:
        yield messages.stale_press(session, event)
        return
    title, what = f"{task.key} {task.name}", ""
    reason = task.blocked
    match event.verb:
        case Verb.RETRY:
            what = "To be tried again"
            retry(session, task)
        case Verb.HINT if hint := event.text.strip()[:MAX_HINT_CHARS]:
            what = f"To be tried again with the hint “{hint}”"
            retry(session, task, hint)
        case Verb.REASSIGN if _may_be_reassigned(session, task):
            what = "To be begun anew on another branch"
            reassign(session, task)
        case Verb.SKIP:
            what = "Left out"
            yield from skip(session, task, event)
        case Verb.GIVE_UP:
            what = "Given up"
            yield from give_up(session, task, event)
        case _:
            yield messages.stale_press(session, event)
            return
    yield decided_card(task, title, reason, what, event, asking)


def decided_card(
    task: Task, title: str, reason: str, what: str, event: FromPerson, asking: str
) -> Show:
    card = NeedsYouCard(
        key=f"needs-you:{task.key}:{asking}",
        title=title,
        reason=reason,
        decided=messages.decided(what, event),
    )
    return Show(card=card)


def retry(session: Session, task: Task, hint: str = "") -> None:
    """Retry the task where it stopped, with reset counters.

    A missing worktree is created again from its branch. With a hint, its agent always starts again; without one, work
    that was being verified is only verified again.
    """
    held_from, held = task.blocked_from, task.hold
    lost = held is Hold.LOST
    task.counters, task.past_choices = Counters(), ()
    if hint:
        told = (task.next_run.instructions, f"A person says about this: {hint}")
        task.next_run.instructions = "\n\n".join(part for part in told if part)
    elif task.state is TaskState.BLOCKED and held_from is TaskState.VERIFYING:
        task.become(TaskState.VERIFYING)
        task.invalidate_verification()
        if lost or held is Hold.TESTS:
            # repeat what is run in a new worktree
            _recreate_worktree(task)
        return
    if task.runs:
        task.become(TaskState.NEEDS_CONTINUATION)
        task.next_run.why = Why.RETRY
        conflicts = [run.feedback for run in task.runs if run.why is Why.CONFLICT]
        told = "An earlier try was not successful. Look at what is there and do better."
        task.next_run.feedback = "\n\n".join([told, *conflicts[-1:]])
    else:
        task.become(TaskState.READY if plan.dependencies_done(session, task) else TaskState.PENDING)
    _recreate_worktree(task)


def _recreate_worktree(task: Task) -> None:
    # The worktree is created again, if it is gone, before anything else is done in it.
    if task.workspace:
        task.workspace = task.workspace.model_copy(update={"ready": False})


def reassign(session: Session, task: Task) -> None:
    """Give the task a new branch and a fresh agent. The lost workspace stays as it is, with whatever is left in it."""
    plan.detach_shared_branches(session, task)
    retry(session, task)
    if task.state is TaskState.VERIFYING:
        task.become(TaskState.NEEDS_CONTINUATION)
    if task.runs:
        task.next_run.why, task.next_run.feedback = Why.RETRY, FRESH_START_NOTE
    if task.workspace:
        task.former_workspaces = (*task.former_workspaces, task.workspace)
    task.workspace = task.work = task.pull_text = None
    task.invalidate_verification()


def skip(session: Session, task: Task, event: EventBase) -> Iterator[Deed]:
    """Leave the task out; its dependents go on without it."""
    yield from _cancel(session, task, event)
    for other in session.tasks:
        if task.id in other.dependencies:
            other.dependencies = tuple(id for id in other.dependencies if id != task.id)


def give_up(session: Session, task: Task, event: FromPerson) -> Iterator[Deed]:
    for dependent in dependents(session, task):
        if dependent.state not in plan.SETTLED:
            given_up = messages.decided(f"Given up with {task.key}", event)
            yield from close_card(session, dependent, given_up)
            if dependent.pull_problem:
                yield ship.not_shipped_card(dependent, given_up)
            yield from _cancel(session, dependent, event)
    yield from _cancel(session, task, event)


def _cancel(session: Session, task: Task, event: EventBase) -> Iterator[Deed]:
    # it may be at work: its dependency was completed once and is being redone
    yield from troubles.end_run(task, event.at)
    task.become(TaskState.CANCELLED)
    task.result = TaskResult(success=False, error="left out by a person")
    ship.release_branch_of(session, task)


def free_dependents(session: Session) -> None:
    """Set tasks that are no longer held up by another one back to pending."""
    reasons = {task.blocked for task in session.in_state(TaskState.BLOCKED)}
    for task in session.tasks:
        reason = f"{WAITS_FOR_PREFIX} {task.key}"
        if reason not in reasons:
            continue
        stands = task.state in (TaskState.FAILED, TaskState.BLOCKED)
        still = {dependent.id for dependent in dependents(session, task)} if stands else set[str]()
        for other in session.tasks:
            if other.blocked == reason and other.id not in still:
                other.become(TaskState.PENDING)


# Buttons for other agents.


def other_agent_choices(session: Session, task: Task) -> tuple[Choice, ...]:
    """Return a button for each other agent, with the flags it would run with.

    Pressing it allows the agent for this session.
    """
    return tuple(
        Choice(
            label=f"Use {agent} instead ({flags})" if flags else f"Use {agent} instead",
            verb=Verb.USE_AGENT,
            about=f"{task.id}:{len(task.runs)}:{agent}",
        )
        for agent, flags in session.agents.others.items()
        if agent != (task.agent or session.agents.default)
    )
