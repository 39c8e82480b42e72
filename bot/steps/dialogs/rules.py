"""Agents that need a person while they run: they open a dialog, fall silent, or somebody takes over the pane.

Nothing is ever typed twice: after a restart the pane is read again, and a new card is shown if the dialog is still
open.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from bot.core.actions import Deed, Show, StopRun
from bot.core.cards import CardDecision
from bot.core.choices import Verb, Word
from bot.core.events import (
    Commanded,
    DialogAnswered,
    DialogClosed,
    DialogOpened,
    EventBase,
    FromPerson,
    LookedIn,
    OrderFailed,
    Pressed,
    RunStopped,
    Ticked,
)
from bot.core.projections.task_logs import BlockedReason
from bot.core.runs import (
    CompletionSource,
    Dialog,
    DialogKind,
    DialogOption,
    LookFor,
    Run,
    StandingAnswer,
)
from bot.core.session import Session
from bot.core.sheets import Text
from bot.core.states import Outcome, RunState, TaskState
from bot.core.task import Task
from bot.steps import messages
from bot.steps.blocked import rules as blocked
from bot.steps.dialogs import cards as dialog_cards
from bot.steps.dialogs.cards import (
    close_dialog,
    close_quiet_card,
    dialog_card,
    quiet_card,
    update_quiet,
)

# Dialogs: a program's own options become buttons, and the choice is typed into its pane.

MOST_IGNORED = 60
"""Dialogs of one run that may go away unanswered.

Each was a card, and a program that keeps opening new ones would never stop.
"""
_GONE = ("any more", "Something else is asked")
"""Phrases in a refusal to type which say that the dialog is gone."""


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
        yield from close_dialog(
            task, run, CardDecision(what="Something else is asked", by="the agent", at=event.at)
        )
        run = run.model_copy(update={"reply": "", "ignored": _ignored_count(task, run)})
    asked: dict[str, object] = {"dialog": event.dialog, "dialogs": run.dialogs + 1}
    if run.state is RunState.WAITING_INPUT:
        run = run.model_copy(update=asked)
    else:
        run = run.become(RunState.WAITING_INPUT, **asked)
    if session.request.unattended:
        words = event.dialog.kind is DialogKind.WORDS
        kind = BlockedReason.STDIN_REQUIRED if words else BlockedReason.INTERACTIVE_PROMPT
        reason = f"{kind}: its agent asked “{event.dialog.title}”, and nobody is there to answer"
        yield from _give_up(session, task, run, event, reason)
        return
    if run.ignored >= MOST_IGNORED and not task.taken_by:
        reason = (
            f"its agent has asked {run.ignored} things and went on without an answer, and asks on"
        )
        yield from _give_up(session, task, run, event, reason)
        return
    standing = _standing_answer(session, run, event.dialog)
    if standing and not task.taken_by:
        task.update_run(run.model_copy(update={"reply": standing.id}))
        return
    task.update_run(run)
    if not task.taken_by:
        yield dialog_card(task, run)


def _ignored_count(task: Task, run: Run) -> int:
    # Not counted while a person works in the pane: they answer it there.
    return run.ignored if run.reply or task.taken_by else run.ignored + 1


def _give_up(
    session: Session, task: Task, run: Run, event: DialogOpened, reason: str
) -> Iterator[Deed]:
    """End the run, keep its work, and leave the decision to a person: otherwise it would never end."""
    yield StopRun(run_id=run.id)
    task.update_run(run.end(Outcome.BLOCKED, event.at, message=event.dialog.title))
    yield from blocked.block(session, task, reason, event)


def _standing_answer(session: Session, run: Run, dialog: Dialog) -> DialogOption | None:
    """Return the option of a standing answer to this dialog. Its label must match exactly, as menus may differ."""
    for answer in session.agents.standing_answers:
        if (answer.agent, answer.topic) == (run.agent, dialog.topic) and dialog.topic:
            return next((one for one in dialog.options if one.label == answer.label), None)
    return None


def _closed(task: Task, run: Run, event: DialogClosed) -> Iterator[Deed]:
    # Answered in the pane, or gone by itself.
    gone = CardDecision(what="It is not asked any more", by="the pane", at=event.at)
    if not task.taken_by:
        yield dialog_card(task, run, gone)
    ignored = _ignored_count(task, run)
    task.update_run(run.become(RunState.RUNNING, dialog=None, reply="", ignored=ignored))


def _refused(task: Task, run: Run, reason: str) -> Iterator[Deed]:
    """Show the dialog again after a refusal to type.

    If it is gone, whatever is on the screen now is reported as a new dialog instead.
    """
    why = f"It was not typed: {reason.rstrip('.')}."
    if not any(words in reason for words in _GONE):
        yield from _ask_again(task, run, f"{why} Try again")
        return
    yield _not_typed_news(task, run, f"{why} If it is still asked, I ask you again")
    task.update_run(run.become(RunState.RUNNING, dialog=None, reply=""))


def _answered(task: Task, run: Run, event: DialogAnswered) -> Iterator[Deed]:
    if not event.moved:
        yield from _ask_again(
            task, run, "I typed it, but the screen did not change. Please try again"
        )
        return
    task.update_run(run.become(RunState.RUNNING, dialog=None, reply=""))


def _ask_again(task: Task, run: Run, why: str) -> Iterator[Deed]:
    # On a new card, because the old one says that it was answered.
    again = run.model_copy(update={"reply": "", "dialogs": run.dialogs + 1})
    task.update_run(again)
    yield _not_typed_news(task, run, why)
    yield dialog_card(task, again)


def _not_typed_news(task: Task, run: Run, why: str) -> Show:
    return messages.news(
        f"not-typed:{run.id}:{run.dialogs}",
        f"{task.key}: the answer did not arrive",
        f"{why}, or look yourself: {run.attach}",
    )


def pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    """Take a chosen option. `about` of the press is run:dialog count:option."""
    run_id, _, rest = event.about.partition(":")
    number, _, option_id = rest.partition(":")
    task = session.task_of_run(run_id)
    run = task.run if task else None
    if task is None or run is None or not _is_asked(task, run, number):
        yield messages.stale_press(session, event)
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
        yield messages.stale_press(session, event)
        return
    label = option.label if option else chosen
    if event.verb is Verb.ALWAYS and dialog.topic:
        _remember_answer(session, run, dialog, label, event)
    task.update_run(run.model_copy(update={"reply": chosen}))
    yield dialog_card(task, run, messages.decided(_answer_in_words(event.verb, label), event))


def _is_asked(task: Task, run: Run, number: str) -> bool:
    waits = run.state is RunState.WAITING_INPUT and run.dialog is not None and not run.reply
    return waits and not task.taken_by and number == str(run.dialogs)


def _answer_in_words(verb: Verb, label: str) -> str:
    return f"Always answered with “{label}”" if verb is Verb.ALWAYS else f"Answered with “{label}”"


def _remember_answer(
    session: Session, run: Run, dialog: Dialog, label: str, event: FromPerson
) -> None:
    others = tuple(
        one
        for one in session.agents.standing_answers
        if (one.agent, one.topic) != (run.agent, dialog.topic)
    )
    new = StandingAnswer(agent=run.agent, topic=dialog.topic, label=label, by=str(event.by))
    session.agents.standing_answers = (*others, new)


def after_restart(session: Session) -> None:
    """Reset answers that were being typed.

    They may have been typed or not: the pane is read again, and nothing is typed twice.
    """
    for task in session.tasks:
        run = task.run
        if run and run.state is RunState.WAITING_INPUT and run.reply:
            # a dialog that is still open is reported as a new one
            task.update_run(run.become(RunState.RUNNING, dialog=None, reply=""))


# Agents that do not end: a lost hook, a leftover background process, a loop. Nothing is ended without asking. An agent
# whose screen does not change is asked once whether it is done, and git is checked; then a person decides. The same
# card is shown for one that has worked for very long, however busy its screen looks.

QUESTION = (
    "You have shown nothing new for a while. If your task is done and committed, end now as you were told to; first stop the "
    "background processes that you started and that nobody needs any more. If something keeps you from going on, say what "
    "it is. Otherwise go on."
)


def check_silence(session: Session, event: Ticked) -> Iterator[Deed]:
    """Check for silent agents. Call it after this tick's screens are recorded."""
    for task in session.in_state(TaskState.RUNNING):
        run = task.run
        if run is None or run.state is not RunState.RUNNING or task.taken_by:
            continue
        if run.quiet.shown:
            if run.silent_since == event.at and not run.quiet.about_time:
                yield from close_quiet_card(
                    task, CardDecision(what="It goes on", by="the agent", at=event.at)
                )
        elif not run.quiet.look:
            _look_if_quiet(session, task, run, event.at)


def _look_if_quiet(session: Session, task: Task, run: Run, at: datetime) -> None:
    limits, quiet = session.agents.limits, run.quiet
    silent = at - run.silent_since if run.silent_since else timedelta()
    if limits.quiet_seconds and silent >= timedelta(seconds=limits.quiet_seconds):
        _request_look(task, LookFor.DECIDE if quiet.asked else LookFor.ASK)
    elif limits.long_seconds:
        # twice as long each time before a person is asked again
        due = timedelta(seconds=limits.long_seconds) * 2**quiet.times_long
        if at - run.started_at - timedelta(seconds=run.waited) >= due:
            _request_look(task, LookFor.LONG)


def _request_look(task: Task, what: LookFor) -> None:
    if run := task.run:
        update_quiet(task, run.quiet, look=what, looks=run.quiet.looks + 1)


def take_look_result(session: Session, event: LookedIn | OrderFailed) -> Iterator[Deed]:
    """Take the result of looking in: the agent was asked and git was checked, or neither was possible."""
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
            # the typed question changes the screen, so the agent gets its full time to answer
            quiet = quiet.model_copy(update={"asked": True, "unasked": ""})
            task.update_run(run.model_copy(update={"quiet": quiet, "silent_since": event.at}))
            return
        why = event.why if isinstance(event, LookedIn) else event.reason
        quiet = quiet.model_copy(update={"asked": True, "unasked": why})
    is_long = what is LookFor.LONG
    update_quiet(
        task,
        quiet,
        shown=event.at,
        cards=quiet.cards + 1,
        about_time=is_long,
        times_long=quiet.times_long + is_long,
    )
    if task.run:
        yield quiet_card(task, task.run)


def quiet_pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    run_id, _, number = event.about.partition(":")
    task = session.task_of_run(run_id)
    run = task.run if task else None
    if task is None or run is None or not _card_is_open(task, run, number):
        yield messages.stale_press(session, event)
        return
    match event.verb:
        case Verb.TAKE_AS_DONE:
            yield from close_quiet_card(
                task, messages.decided("Taken as done; I look at what is there", event)
            )
            yield from _end_as_finished(task, event)
        case Verb.NUDGE:
            yield from close_quiet_card(task, messages.decided("Asked again", event))
            _request_look(task, LookFor.NUDGE)
        case _:
            yield from close_quiet_card(task, messages.decided("Stopped", event))
            yield StopRun(run_id=run.id)
            stopped = task.run or run
            ended = {"ended_by": CompletionSource.STOPPED}
            task.update_run(stopped.end(Outcome.KILLED, event.at, **ended))
            reason = f"{event.by} stopped its agent, which did not come to an end"
            yield from blocked.block(session, task, reason, event)


def _card_is_open(task: Task, run: Run, number: str) -> bool:
    asked = run.alive and run.quiet.shown is not None and number == str(run.quiet.cards)
    return asked and task.state is TaskState.RUNNING and not task.taken_by


def _end_as_finished(task: Task, event: EventBase) -> Iterator[Deed]:
    """Treat the run as finished. Its work is examined once none of its processes is alive."""
    if run := task.run:
        yield StopRun(run_id=run.id)
        update_quiet(task, run.quiet, stopping=True)
        ended = {"ended_by": CompletionSource.STOPPED}
        task.update_run((task.run or run).end(Outcome.FINISHED, event.at, **ended))
        task.become(TaskState.VERIFYING)


def run_stopped(session: Session, event: RunStopped) -> None:
    task = session.task_of_run(event.run_id)
    if task and task.run and task.run.quiet.stopping:
        update_quiet(task, task.run.quiet, stopping=False)


# A person works in an agent's pane. Until they hand it back, the bot types nothing there and
# judges nothing.

HANDED_BACK = (
    "A person has worked in your worktree meanwhile. Look at what they did (git log, git diff, git status) before you go on, "
    "and keep it."
)


def decide_takeover(session: Session, event: Commanded) -> Iterator[Deed]:
    task = _find_task(session, event.command.argument)
    if task is None:
        which = ", ".join(t.key for t in _candidates(session, event.command.word)) or "none"
        yield messages.private_reply(
            event, f"Which task? {event.command.word} T001. It can be: {which}."
        )
    elif event.command.word is Word.TAKEOVER:
        yield from _take_over(session, task, event)
    else:
        yield from _hand_back(session, task, event)


def _find_task(session: Session, argument: str) -> Task | None:
    """Return the task with this key or label."""
    wanted = argument.lower()
    return next(
        (
            task
            for task in session.tasks
            if wanted and wanted in (task.key.lower(), f"task-{session.short}-{task.number}")
        ),
        None,
    )


def _candidates(session: Session, word: Word) -> list[Task]:
    if word is Word.HANDBACK:
        return [task for task in session.tasks if task.taken_by]
    return [
        task
        for task in session.in_state(TaskState.RUNNING)
        if not task.taken_by and _agent_is_alive(task)
    ]


def _agent_is_alive(task: Task) -> bool:
    # Not if the agent has ended and only the next step is still to be chosen.
    return bool(task.run and task.run.alive)


def _take_over(session: Session, task: Task, event: Commanded) -> Iterator[Deed]:
    run = task.run
    if task not in _candidates(session, Word.TAKEOVER) or run is None or not run.attach:
        why = f"{task.taken_by} has it already." if task.taken_by else "Its agent is not at work."
        yield messages.private_reply(event, f"{task.key} cannot be taken over: {why}")
        return
    yield from dialog_cards.close_quiet_card(task, messages.decided("Taken over", event))
    run = task.run or run
    task.taken_by = str(event.by)
    if run.state is RunState.WAITING_INPUT:
        # the person answers it in the pane; nothing more is typed
        yield from dialog_cards.close_dialog(task, run, messages.decided("Taken over", event))
        task.update_run(run.become(RunState.RUNNING, dialog=None, reply=""))
    yield messages.answer(
        event,
        f"{task.key} is yours, {event.by}",
        Text(text="On the machine where the bot runs, attach with:"),
        Text(text=f"`{run.attach}`"),
        Text(
            text=f"Detach with Ctrl-b d. Until you say `handback {task.key}` I type nothing there, and whatever ends there is "
            "not judged."
        ),
    )


def _hand_back(session: Session, task: Task, event: Commanded) -> Iterator[Deed]:
    if not task.taken_by:
        yield messages.private_reply(event, f"{task.key} is not taken over.")
        return
    task.taken_by = ""
    task.next_run.instructions = HANDED_BACK
    yield messages.answer(
        event,
        f"{task.key} is handed back",
        Text(text="I look at what is there, and go on with it."),
    )
