"""A program in a pane asks a person: its own options become buttons, and what is chosen is typed there.

Nothing is typed twice: after a restart the pane is read anew, and a new card shown if it still asks.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show, StopRun
from bot.domain.cards import Decided
from bot.domain.choices import Verb
from bot.domain.dialogs import Dialog, DialogKind, DialogOption, StandingAnswer
from bot.domain.events import (
    DialogAnswered,
    DialogClosed,
    DialogOpened,
    FromPerson,
    OrderFailed,
    Pressed,
)
from bot.domain.session import Session
from bot.domain.states import Outcome, RunState
from bot.domain.tasklog import BlockedReason
from bot.domain.tasks import Run, Task
from bot.flow import blocked, telling
from bot.flow.dialog_card import card

MOST_IGNORED = 60
"""Questions of one run that go away by themselves: each was a card, and a program that draws new ones all day has no end."""
_GONE = ("any more", "Something else is asked")
"""How a refusal to type says that the dialog does not stand there."""


def decide(
    session: Session, event: DialogOpened | DialogClosed | DialogAnswered | OrderFailed
) -> Iterator[Deed]:
    match event:
        case DialogOpened(run_id=run_id):
            task = session.task_of_run(run_id)
            if task and task.run and task.run.alive:
                yield from _opened(session, task, task.run, event)
        case DialogClosed(run_id=run_id):
            task = session.task_of_run(run_id)
            if task and task.run and task.run.dialog and not task.run.reply:
                yield from _closed(task, task.run, event)
        case DialogAnswered(run_id=run_id):
            task = session.task_of_run(run_id)
            if task and task.run and task.run.dialog:
                yield from _answered(task, task.run, event)
        case OrderFailed(task_id=task_id, reason=reason):
            task = session.task(task_id)
            if task and task.run and task.run.dialog:
                yield from _refused(task, task.run, reason)


def _opened(session: Session, task: Task, run: Run, event: DialogOpened) -> Iterator[Deed]:
    if run.dialog and run.dialog.id == event.dialog.id and run.state is RunState.WAITING_INPUT:
        return
    if run.dialog:
        yield from ended(
            task, run, Decided(what="Something else is asked", by="the agent", at=event.at)
        )
        run = run.model_copy(update={"reply": "", "ignored": _ignored(task, run)})
    asked: dict[str, object] = {"dialog": event.dialog, "dialogs": run.dialogs + 1}
    if run.state is RunState.WAITING_INPUT:
        run = run.model_copy(update=asked)
    else:
        run = run.become(RunState.WAITING_INPUT, **asked)
    if session.unattended:
        words = event.dialog.kind is DialogKind.WORDS
        kind = BlockedReason.STDIN_REQUIRED if words else BlockedReason.INTERACTIVE_PROMPT
        reason = f"{kind}: its agent asked “{event.dialog.title}”, and nobody is there to answer"
        yield from _given_up(session, task, run, event, reason)
        return
    if run.ignored >= MOST_IGNORED and not task.taken_by:
        reason = (
            f"its agent has asked {run.ignored} things and went on without an answer, and asks on"
        )
        yield from _given_up(session, task, run, event, reason)
        return
    standing = _standing(session, run, event.dialog)
    if standing and not task.taken_by:
        task.update_run(run.model_copy(update={"reply": standing.id}))
        return
    task.update_run(run)
    if not task.taken_by:
        yield card(task, run)


def _ignored(task: Task, run: Run) -> int:
    """Whoever has taken the pane over answers there."""
    return run.ignored if run.reply or task.taken_by else run.ignored + 1


def _given_up(
    session: Session, task: Task, run: Run, event: DialogOpened, reason: str
) -> Iterator[Deed]:
    """It would go on for ever: the run ends, its work is kept, and whoever reads this later decides."""
    yield StopRun(run_id=run.id)
    task.update_run(run.end(Outcome.BLOCKED, event.at, message=event.dialog.title))
    yield from blocked.block(session, task, reason, event)


def _standing(session: Session, run: Run, dialog: Dialog) -> DialogOption | None:
    """What somebody has said shall always be answered to it. The label must be the very same: a menu may differ."""
    for answer in session.standing_answers:
        if (answer.agent, answer.topic) == (run.agent, dialog.topic) and dialog.topic:
            return next((one for one in dialog.options if one.label == answer.label), None)
    return None


def _closed(task: Task, run: Run, event: DialogClosed) -> Iterator[Deed]:
    """Somebody answered it in the pane, or it went away by itself."""
    gone = Decided(what="It is not asked any more", by="the pane", at=event.at)
    if not task.taken_by:
        yield card(task, run, gone)
    ignored = _ignored(task, run)
    task.update_run(run.become(RunState.RUNNING, dialog=None, reply="", ignored=ignored))


def _refused(task: Task, run: Run, reason: str) -> Iterator[Deed]:
    """Where it does not stand there any more, what stands there now is told as something new. Else it is asked once more."""
    why = f"It was not typed: {reason.rstrip('.')}."
    if not any(words in reason for words in _GONE):
        yield from _not_typed(task, run, f"{why} Try again")
        return
    yield _not_arrived(task, run, f"{why} If it is still asked, I ask you again")
    task.update_run(run.become(RunState.RUNNING, dialog=None, reply=""))


def _answered(task: Task, run: Run, event: DialogAnswered) -> Iterator[Deed]:
    if not event.moved:
        yield from _not_typed(
            task, run, "I typed it, but the screen did not change. Please try again"
        )
        return
    task.update_run(run.become(RunState.RUNNING, dialog=None, reply=""))


def _not_typed(task: Task, run: Run, why: str) -> Iterator[Deed]:
    """Asked once more, on a new card: the old one says that it was answered."""
    again = run.model_copy(update={"reply": "", "dialogs": run.dialogs + 1})
    task.update_run(again)
    yield _not_arrived(task, run, why)
    yield card(task, again)


def _not_arrived(task: Task, run: Run, why: str) -> Show:
    return telling.news(
        f"not-typed:{run.id}:{run.dialogs}",
        f"{task.key}: the answer did not arrive",
        f"{why}, or look yourself: {run.attach}",
    )


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    """About: run, dialog count, option."""
    run_id, _, rest = event.about.partition(":")
    number, _, option_id = rest.partition(":")
    task = session.task_of_run(run_id)
    run = task.run if task else None
    if task is None or run is None or not _is_asked(task, run, number):
        yield telling.stale(session, event)
        return
    dialog = run.dialog
    chosen = event.text.strip() if dialog and dialog.kind is DialogKind.WORDS else option_id
    option = dialog.option(chosen) if dialog else None
    if (
        dialog is None
        or dialog.is_secret
        or not chosen
        or (option is None and dialog.kind is not DialogKind.WORDS)
    ):
        yield telling.stale(session, event)
        return
    label = option.label if option else chosen
    if event.verb is Verb.ALWAYS and dialog.topic:
        _remember(session, run, dialog, label, event)
    task.update_run(run.model_copy(update={"reply": chosen}))
    yield card(task, run, telling.decided(_said(event.verb, label), event))


def _is_asked(task: Task, run: Run, number: str) -> bool:
    waits = run.state is RunState.WAITING_INPUT and run.dialog is not None and not run.reply
    return waits and not task.taken_by and number == str(run.dialogs)


def _said(verb: Verb, label: str) -> str:
    return f"Always answered with “{label}”" if verb is Verb.ALWAYS else f"Answered with “{label}”"


def _remember(session: Session, run: Run, dialog: Dialog, label: str, event: FromPerson) -> None:
    others = tuple(
        one
        for one in session.standing_answers
        if (one.agent, one.topic) != (run.agent, dialog.topic)
    )
    new = StandingAnswer(agent=run.agent, topic=dialog.topic, label=label, by=str(event.by))
    session.standing_answers = (*others, new)


def waiting(session: Session, decided: Decided | None = None) -> Iterator[Deed]:
    """The cards of all dialogs that wait: the same ones again, or with what became of them."""
    for task in session.tasks:
        run = task.run
        asks = run is not None and run.dialog is not None and not run.reply
        if run and asks and run.state is RunState.WAITING_INPUT and not task.taken_by:
            yield card(task, run, decided)


def after_restart(session: Session) -> None:
    """What was being typed may have been typed, or not: the pane is asked, nobody types it again."""
    for task in session.tasks:
        run = task.run
        if run and run.state is RunState.WAITING_INPUT and run.reply:
            # whatever stands there now is told as something new
            task.update_run(run.become(RunState.RUNNING, dialog=None, reply=""))


def ended(task: Task, run: Run, decided: Decided) -> Iterator[Deed]:
    """Its buttons go with the run."""
    if run.dialog and not run.reply:
        yield card(task, run, decided)
