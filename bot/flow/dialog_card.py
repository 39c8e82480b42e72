"""The card of what a program in a pane asks: its own options as buttons; what belongs into no chat has none."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Show
from bot.domain.cards import Decided, NeedsYouCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.dialogs import Dialog, DialogKind
from bot.domain.tasks import Run, Task

LABEL = 60
"""Characters of an option that stand on a button."""


def card(task: Task, run: Run, decided: Decided | None = None) -> Show:
    dialog = run.dialog
    return Show(
        card=NeedsYouCard(
            key=f"dialog:{task.key}:{run.number}.{run.dialogs}",
            title=f"{task.key}: {run.agent} asks",
            reason=_reason(run, dialog) if dialog else "",
            output=dialog.text if dialog else "",
            choices=() if decided or dialog is None else tuple(_choices(run, dialog)),
            decided=decided,
        )
    )


def _reason(run: Run, dialog: Dialog) -> str:
    """A password belongs into no chat."""
    if dialog.is_secret:
        return f"{dialog.title} Answer this in the pane yourself, not here: {run.attach}"
    return dialog.title


def _choices(run: Run, dialog: Dialog) -> Iterator[Choice]:
    about = f"{run.id}:{run.dialogs}"
    if dialog.is_secret:
        return
    if dialog.kind is DialogKind.WORDS:
        yield Choice(
            label="Answer…", verb=Verb.REPLY, about=f"{about}:", asks=dialog.title or "Your answer?"
        )
        return
    for option in dialog.options:
        yield Choice(label=option.label[:LABEL], verb=Verb.REPLY, about=f"{about}:{option.id}")
    if dialog.topic and dialog.options:
        first = dialog.options[0]
        label = f"Always “{first.label}” in this session"[: LABEL + 20]
        yield Choice(
            label=label,
            verb=Verb.ALWAYS,
            about=f"{about}:{first.id}",
            style=Style.NORMAL,
            confirm=f"Answer “{first.label}” by itself whenever {run.agent} asks this?",
        )
