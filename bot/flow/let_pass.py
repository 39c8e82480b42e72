"""A person has looked at what a task was held for: it passes as it is, or goes back to its agent with their words."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.cards import Decided
from bot.domain.choices import Verb
from bot.domain.events import Pressed
from bot.domain.session import Session
from bot.domain.states import TaskState
from bot.domain.tasks import Counters, Hold, Task, Why
from bot.flow import blocked, ship, telling, testing, verify


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    task_id, _, asking = event.about.partition(":")
    task = session.task(task_id)
    if task is None or task.state is not TaskState.BLOCKED or asking != task.asking:
        yield telling.stale(session, event)
        return
    title, reason = f"{task.key} {task.name}", task.blocked
    if event.verb is Verb.ACCEPT and task.held in (
        Hold.FLAGS,
        Hold.LIMIT,
        Hold.SETTINGS,
        Hold.VERDICT,
    ):
        what = "Let go on" if task.held in (Hold.LIMIT, Hold.SETTINGS) else "Accepted as it is"
        yield from _accepted(session, task, event)
    elif event.verb is Verb.SEND_BACK and event.text.strip():
        what = "Sent back to its agent"
        _sent_back(task, event)
    elif task.held is Hold.TESTS and (what := _command_decided(session, task, event)):
        yield from check_again(session, telling.decided(what, event), but=task.id)
    else:
        yield telling.stale(session, event)
        return
    yield blocked.decided(task, title, reason, what, event, asking)


def _command_decided(session: Session, task: Task, event: Pressed) -> str:
    """What was decided about the command that runs the tests, in a few words; empty: nothing."""
    found = testing.proposed(session, task)
    match event.verb:
        case Verb.ACCEPT if found:
            testing.accept(session, found)
            return f"Tested with `{found}`"
        case Verb.TESTS if event.text.strip():
            testing.set_by_person(session, event.text)
            return f"Tested with `{session.test_command}`" if session.test_command else "Not tested"
        case Verb.UNTESTED if found:
            return testing.refuse(session, found)
        case _:
            return ""


def check_again(session: Session, decided: Decided, but: str = "") -> Iterator[Deed]:
    """Who waited for the command goes on with what was decided. `but`: the id of a task whose card is told otherwise."""
    for task in session.in_state(TaskState.VERIFYING):
        task.checked_of = ""
    for task in session.in_state(TaskState.BLOCKED):
        if task.held is not Hold.TESTS or testing.proposed(session, task):
            continue
        if task.id != but:
            yield from blocked.settled(session, task, decided)
        task.become(TaskState.VERIFYING)
        task.checked_of = ""


def _accepted(session: Session, task: Task, event: Pressed) -> Iterator[Deed]:
    match task.held:
        case Hold.FLAGS:
            head = task.work.head if task.work else ""
            passed = dict.fromkeys((head, *(verify.acceptance(task, one) for one in task.flags)))
            task.accepted = (*task.accepted, *passed)
            task.become(TaskState.VERIFYING)
            if task.check and task.check.restored:
                task.checked_of = (
                    ""  # what decides how tests are run is accepted: now they run with it
                )
            yield from verify.go_on(session, task, event)
        case Hold.LIMIT:
            task.accepted = (*task.accepted, task.violations[-1].limit_type)
            _go_on(task)
            yield from verify.go_on(session, task, event)
        case Hold.SETTINGS:
            task.accepted = (*task.accepted, task.settings_mark)
            _go_on(task)
        case _:
            yield from ship.begin(session, task, event)


def _go_on(task: Task) -> None:
    if task.blocked_from is TaskState.VERIFYING:
        task.become(TaskState.VERIFYING)
        return
    task.become(TaskState.NEEDS_CONTINUATION)
    task.go_on("You were interrupted. Look at what is there already and go on from it.")


def _sent_back(task: Task, event: Pressed) -> None:
    flags = "".join(f"\n- {flag.path}: {flag.says}" for flag in task.flags)
    seen = f"\n\nWhat was noticed:{flags}" if task.held is Hold.FLAGS else ""
    task.become(TaskState.NEEDS_CONTINUATION)
    task.counters, task.past = Counters(), ()
    task.next_why = Why.FLAGGED if seen else Why.FEEDBACK
    task.next_feedback = f"Whoever looked at your work wants this: {event.text.strip()}{seen}"
