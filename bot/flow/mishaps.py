"""What goes wrong outside or inside: it is told with its remedy, agents end, and nothing else is affected."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show, StopRun
from bot.domain.cards import ProblemCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.events import (
    FromPerson,
    Happening,
    OrderFailed,
    RunStopped,
    TroubleBegan,
    TroubleEnded,
)
from bot.domain.session import Session
from bot.domain.sheets import Tone
from bot.domain.states import Outcome, Status, TaskState
from bot.domain.world import CompletionSource
from bot.flow import place, telling


def give_way(session: Session, event: OrderFailed) -> Iterator[Deed]:
    """Before any task runs, what the world refuses ends the session until a person has mended it."""
    title = {
        "survey": "I cannot work here yet",
        "find_questions": "The model cannot be used",
        "write_document": "The model cannot be used",
    }.get(event.what, "I cannot go on")
    yield from fail(session, event, title, event.reason, event.remedy)


def fail(
    session: Session, event: Happening, title: str, reason: str, remedy: str
) -> Iterator[Deed]:
    yield from end_runs(session, event)
    if session.over:
        return
    session.become(Status.FAILED)
    session.failure = reason
    yield from trouble_over(session, "I do not try any more.")
    place.let_go(session)
    choices = (
        Choice(label="Try again", verb=Verb.TRY_AGAIN, style=Style.PRIMARY),
        Choice(label="Discard", verb=Verb.DISCARD, style=Style.DANGER),
    )
    yield telling.trouble("failure", title, reason, remedy, *choices)


def try_again(session: Session, event: FromPerson) -> Iterator[Deed]:
    session.become(Status.ACTIVE)
    yield Show(
        card=ProblemCard(
            key="failure",
            title="a problem",
            reason=f"Trying again, as {event.by} asked.",
            over=True,
        )
    )
    session.failure = ""


def end_runs(session: Session, event: Happening) -> Iterator[Deed]:
    for task in session.tasks:
        run = task.run
        if run and run.alive:
            yield StopRun(run_id=run.id)
            task.update_run(run.end(Outcome.KILLED, event.at, ended_by=CompletionSource.STOPPED))
            if task.state is TaskState.RUNNING:
                task.become(TaskState.NEEDS_CONTINUATION)
                task.go_on("You were stopped. Look at what is there already and go on from it.")


def trouble(session: Session, event: TroubleBegan | TroubleEnded) -> Iterator[Deed]:
    if session.over:
        return
    if isinstance(event, TroubleBegan):
        session.trouble = event.reason
        card = ProblemCard(key="trouble", title=event.reason, reason=event.remedy, retrying=True)
        yield Show(card=card)
    else:
        yield from trouble_over(session, "It works again.")


def trouble_over(session: Session, reason: str) -> Iterator[Deed]:
    """Its card promises that the bot goes on trying: it must not say so any longer than it does."""
    if session.trouble:
        card = ProblemCard(key="trouble", title=session.trouble, reason=reason, over=True)
        session.trouble = ""
        yield Show(card=card)


def survivors(session: Session, event: RunStopped) -> Iterator[Deed]:
    if event.survivors:
        pids = ", ".join(str(pid) for pid in event.survivors)
        yield telling.news(
            f"survivors:{event.run_id}",
            "Some processes would not end",
            f"Still alive after SIGKILL: {pids}. Look at them with ps.",
            tone=Tone.FAILURE,
        )
