"""The cards about an agent whose program opened a dialog in its pane, or that has shown nothing new for a while."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import Deed, Show
from bot.core.cards import CardDecision, NeedsYouCard
from bot.core.choices import Choice, Style, Verb
from bot.core.runs import Dialog, DialogKind, Quiet, Run
from bot.core.session import Session
from bot.core.states import RunState, TaskState
from bot.core.task import Task

# Dialogs of programs in a pane: their own options become buttons. A dialog for a secret gets no buttons.

LONGEST_LABEL = 60
"""Characters of an option on a button."""


def dialog_card(task: Task, run: Run, decided: CardDecision | None = None) -> Show:
    dialog = run.dialog
    return Show(
        card=NeedsYouCard(
            key=f"dialog:{task.key}:{run.number}.{run.dialogs}",
            title=f"{task.key}: {run.agent} asks",
            reason=_dialog_reason(run, dialog) if dialog else "",
            output=dialog.text if dialog else "",
            choices=() if decided or dialog is None else tuple(_dialog_choices(run, dialog)),
            decided=decided,
        )
    )


def _dialog_reason(run: Run, dialog: Dialog) -> str:
    # A password must not go through a chat.
    if dialog.is_secret:
        return f"{dialog.title} Answer this in the pane yourself, not here: {run.attach}"
    return dialog.title


def _dialog_choices(run: Run, dialog: Dialog) -> Iterator[Choice]:
    about = f"{run.id}:{run.dialogs}"
    if dialog.is_secret:
        return
    if dialog.kind is DialogKind.WORDS:
        yield Choice(
            label="Answer…", verb=Verb.REPLY, about=f"{about}:", asks=dialog.title or "Your answer?"
        )
        return
    for option in dialog.options:
        yield Choice(
            label=option.label[:LONGEST_LABEL], verb=Verb.REPLY, about=f"{about}:{option.id}"
        )
    if dialog.topic and dialog.options:
        first = dialog.options[0]
        label = f"Always “{first.label}” in this session"[: LONGEST_LABEL + 20]
        yield Choice(
            label=label,
            verb=Verb.ALWAYS,
            about=f"{about}:{first.id}",
            style=Style.NORMAL,
            confirm=f"Answer “{first.label}” by itself whenever {run.agent} asks this?",
        )


def open_dialog_cards(session: Session, decided: CardDecision | None = None) -> Iterator[Deed]:
    """Show the cards of all open dialogs, again or with the decision."""
    for task in session.tasks:
        run = task.run
        asks = run is not None and run.dialog is not None and not run.reply
        if run and asks and run.state is RunState.WAITING_INPUT and not task.taken_by:
            yield dialog_card(task, run, decided)


def close_dialog(task: Task, run: Run, decided: CardDecision) -> Iterator[Deed]:
    """Close the card of the run's dialog."""
    if run.dialog and not run.reply:
        yield dialog_card(task, run, decided)


# An agent that shows nothing new, or has worked for very long: a person decides.


def update_quiet(task: Task, quiet: Quiet, **changes: object) -> None:
    if run := task.run:
        task.update_run(run.model_copy(update={"quiet": quiet.model_copy(update=changes)}))


def quiet_card(task: Task, run: Run, decided: CardDecision | None = None) -> Show:
    quiet = run.quiet
    return Show(
        card=NeedsYouCard(
            key=f"quiet:{task.key}:{run.number}.{quiet.cards}",
            title=_quiet_title(task, run),
            reason=_quiet_reason(run),
            choices=() if decided else _quiet_choices(run),
            decided=decided,
        )
    )


def _quiet_title(task: Task, run: Run) -> str:
    if run.quiet.about_time and run.quiet.shown:
        hours = (run.quiet.shown - run.started_at).total_seconds() / 3600
        return f"{task.key}: {run.agent} has been at work for {hours:.1f} hours"
    return f"{task.key}: nothing new from {run.agent}"


def _quiet_reason(run: Run) -> str:
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


def _quiet_choices(run: Run) -> tuple[Choice, ...]:
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


def close_quiet_card(task: Task, decided: CardDecision) -> Iterator[Deed]:
    """Close the card, for whatever reason a decision is no longer needed."""
    run = task.run
    if run and run.quiet.shown:
        yield quiet_card(task, run, decided)
        update_quiet(task, run.quiet, shown=None, about_time=False)


def open_quiet_cards(session: Session, decided: CardDecision | None = None) -> Iterator[Deed]:
    """Show the open cards, again or with the decision."""
    for task in session.in_state(TaskState.RUNNING):
        if task.run and task.run.alive and task.run.quiet.shown:
            yield quiet_card(task, task.run, decided)
