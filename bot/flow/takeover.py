"""A person works in an agent's pane themselves: until they hand it back the bot types nothing there and judges nothing."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.choices import Word
from bot.domain.events import Commanded
from bot.domain.session import Session
from bot.domain.sheets import Text
from bot.domain.states import RunState, TaskState
from bot.domain.tasks import Task
from bot.flow import dialogs, quiet, telling

HANDED_BACK = (
    "A person has worked in your worktree meanwhile. Look at what they did (git log, git diff, git status) before you go on, "
    "and keep it."
)


def decide(session: Session, event: Commanded) -> Iterator[Deed]:
    task = _meant(session, event.command.argument)
    if task is None:
        which = ", ".join(t.key for t in _candidates(session, event.command.word)) or "none"
        yield telling.privately(
            event, f"Which task? {event.command.word} T001. It can be: {which}."
        )
    elif event.command.word is Word.TAKEOVER:
        yield from _take(session, task, event)
    else:
        yield from _hand_back(session, task, event)


def _meant(session: Session, argument: str) -> Task | None:
    """By its key, or its label."""
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
        task for task in session.in_state(TaskState.RUNNING) if not task.taken_by and _lives(task)
    ]


def _lives(task: Task) -> bool:
    """Not where its agent has ended, and only what comes next is still to be chosen."""
    return bool(task.run and task.run.alive)


def _take(session: Session, task: Task, event: Commanded) -> Iterator[Deed]:
    run = task.run
    if task not in _candidates(session, Word.TAKEOVER) or run is None or not run.attach:
        why = f"{task.taken_by} has it already." if task.taken_by else "Its agent is not at work."
        yield telling.privately(event, f"{task.key} cannot be taken over: {why}")
        return
    yield from quiet.over(task, telling.decided("Taken over", event))
    run = task.run or run
    task.taken_by = str(event.by)
    if run.state is RunState.WAITING_INPUT:
        # whatever it asks, a person answers it in the pane now; nothing more is typed
        yield from dialogs.ended(task, run, telling.decided("Taken over", event))
        task.update_run(run.become(RunState.RUNNING, dialog=None, reply=""))
    yield telling.answer(
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
        yield telling.privately(event, f"{task.key} is not taken over.")
        return
    task.taken_by = ""
    task.told = HANDED_BACK
    yield telling.answer(
        event,
        f"{task.key} is handed back",
        Text(text="I look at what is there, and go on with it."),
    )
