"""Stop, resume, discard, commands, and what the bot itself goes through: legal in every phase."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show, StopRun
from bot.domain.cards import AnswerCard, Decided, ProblemCard, StoppedCard
from bot.domain.choices import Choice, Style, Verb, Word
from bot.domain.events import (
    Broke,
    CleanedUp,
    Commanded,
    Event,
    FromPerson,
    Happening,
    OrderFailed,
    Pressed,
    Result,
    RunEnded,
    RunStopped,
    Said,
    Ticked,
    TroubleBegan,
    TroubleEnded,
    Woken,
)
from bot.domain.session import Session, Speaker
from bot.domain.sheets import Bullets, Text, Tone
from bot.domain.states import IntentStatus, Outcome, Phase, Status, TaskState
from bot.domain.world import CompletionSource, Usage
from bot.flow import place, replies, telling

_VERBS = frozenset({Verb.STOP, Verb.RESUME, Verb.DISCARD, Verb.TRY_AGAIN})
_ALWAYS = Commanded | RunStopped | TroubleBegan | TroubleEnded | Woken | Broke


def concerns(session: Session, event: Event) -> bool:
    """Whether an event is decided here whatever the phase."""
    if isinstance(event, _ALWAYS) or (isinstance(event, Pressed) and event.verb in _VERBS):
        return True
    return session.over or session.status is Status.PAUSED


def holds_back(session: Session, event: Event) -> bool:
    """While a session is paused everything but control events waits in the inbox. Ticks are not worth keeping."""
    if session.status is not Status.PAUSED or isinstance(event, _ALWAYS | Ticked):
        return False
    return not (isinstance(event, Pressed) and event.verb in _VERBS)


def usage_of(event: Event) -> Usage:
    return event.usage if isinstance(event, Result) else Usage()


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case Pressed() if event.verb in _VERBS:
            yield from _pressed(session, event)
        case Commanded():
            yield from _commanded(session, event)
        case RunStopped():
            yield from _looked_after(session, event)
        case TroubleBegan() | TroubleEnded():
            yield from _trouble(session, event)
        case Woken():
            yield from _woken(session, event)
        case Broke(reason=reason):
            yield from fail(session, event, "Something went wrong in the bot itself", reason, "")
        case _ if session.over:
            yield from after_the_end(session, event)
        case _:
            pass


def _pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    match event.verb:
        case Verb.STOP:
            yield from stop(session, event)
        case Verb.RESUME:
            yield from resume(session, event)
        case Verb.DISCARD:
            yield from discard(session, event)
        case _:
            yield from try_again(session, event)


def _commanded(session: Session, event: Commanded) -> Iterator[Deed]:
    match event.command.word:
        case Word.STOP:
            yield from stop(session, event)
        case Word.RESUME:
            yield from resume(session, event)
        case Word.DISCARD:
            yield from discard(session, event)
        case _:
            yield from replies.answer(session, event)


def stop(session: Session, event: FromPerson) -> Iterator[Deed]:
    """Everything under way is called off, every agent ended. What was reached stays."""
    if session.over or session.status is Status.PAUSED:
        yield telling.privately(
            event, f"Nothing to stop: this session is {session.status.lower()}."
        )
        return
    yield from _pause(session, event, str(event.by))


def _pause(session: Session, event: Happening, by: str) -> Iterator[Deed]:
    stopped = list(_end_runs(session, event))
    session.become(Status.PAUSED)
    session.trouble = ""
    session.stops, session.stopped_by, session.stopped_runs = session.stops + 1, by, len(stopped)
    place.let_go(session)
    session.say(Speaker.SYSTEM, f"Stopped by {by}", event.at)
    yield from stopped
    yield telling.status(session, event.at)
    yield _stopped_card(session)


def _stopped_card(session: Session, decided: Decided | None = None) -> Show:
    """The same card for the same stop, however often it is shown."""
    return Show(
        card=StoppedCard(
            key=f"stopped:{session.stops}",
            by=session.stopped_by,
            stopped_runs=session.stopped_runs,
            session=session.short,
            decided=decided,
        )
    )


def _end_runs(session: Session, event: Happening) -> Iterator[Deed]:
    for task in session.tasks:
        run = task.run
        if run and run.alive:
            yield StopRun(run_id=run.id)
            task.update_run(run.end(Outcome.KILLED, event.at, ended_by=CompletionSource.STOPPED))
            if task.state is TaskState.RUNNING:
                task.become(TaskState.NEEDS_CONTINUATION)
                task.go_on("You were stopped. Look at what is there already and go on from it.")


def resume(session: Session, event: FromPerson) -> Iterator[Deed]:
    """Only the status changes: what must be done follows from the states."""
    if session.status is not Status.PAUSED:
        yield telling.privately(
            event, f"Nothing to resume: this session is {session.status.lower()}."
        )
        return
    session.become(Status.ACTIVE)
    session.say(Speaker.SYSTEM, f"Resumed by {event.by}", event.at)
    yield _stopped_card(session, telling.decided("Resumed", event))
    yield from _pending_card(session)


def _pending_card(session: Session) -> Iterator[Deed]:
    """The card that waits for a person is shown again at the end of the thread, should it have scrolled away."""
    if session.phase is Phase.CLARIFYING and session.asked:
        yield telling.questions(session)
    elif session.phase is Phase.APPROVING:
        yield telling.approval_wanted(session)
    elif session.phase is Phase.FINISHING and session.ending is None:
        yield telling.offer(session)


def discard(session: Session, event: FromPerson) -> Iterator[Deed]:
    """Agents end, clean worktrees go, branches stay and are listed."""
    if session.status in (Status.COMPLETED, Status.DISCARDED):
        yield telling.privately(
            event, f"Nothing to discard: this session is {session.status.lower()}."
        )
        return
    yield from _end_runs(session, event)
    session.intend(IntentStatus.REJECTED)
    if session.status is Status.PAUSED:
        yield _stopped_card(session, telling.decided("Discarded", event))
    for task in session.tasks:
        if task.state not in place.SETTLED:
            task.become(TaskState.CANCELLED)
    session.become(Status.DISCARDED)
    session.say(Speaker.USER, "Discarded", event.at)
    yield telling.status(session, event.at)


def try_again(session: Session, event: Pressed) -> Iterator[Deed]:
    if session.status is not Status.FAILED:
        yield telling.stale(session, event)
        return
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
    yield from _end_runs(session, event)
    if session.over:
        return
    session.become(Status.FAILED)
    session.failure = reason
    session.trouble = ""
    place.let_go(session)
    choices = (
        Choice(label="Try again", verb=Verb.TRY_AGAIN, style=Style.PRIMARY),
        Choice(label="Discard", verb=Verb.DISCARD, style=Style.DANGER),
    )
    yield telling.trouble("failure", title, reason, remedy, *choices)


def more_context(session: Session, event: Said, text: str) -> Iterator[Deed]:
    """Words while something is under way: kept with the conversation, and answered honestly."""
    session.say(Speaker.USER, text, event.at)
    yield telling.privately(
        event,
        "Noted in the conversation; it does not change what is under way. "
        "To change course write stop, then discard, and ask anew. help lists the commands.",
    )


def after_the_end(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case CleanedUp(removals=removals) if session.status is Status.DISCARDED:
            session.leftovers, session.cleaned = removals, True
            lines = tuple(f"{r.branch}: {r.reason or 'kept'}" for r in removals)
            body = (Text(text="These branches stay:"), Bullets(items=lines)) if lines else ()
            yield Show(card=AnswerCard(key="discarded", title="Discarded", body=body))
        case OrderFailed(reason=reason) if session.status is Status.DISCARDED:
            session.cleaned = True
            body = (Text(text=f"Not everything could be cleaned up: {reason}"),)
            yield Show(card=AnswerCard(key="discarded", title="Discarded", body=body))
        case RunEnded(run_id=run_id):
            task = session.task_of_run(run_id)
            if task and task.run and task.run.alive:
                task.update_run(task.run.end(event.end.outcome, event.at))
        case Said():
            yield telling.privately(event, "This session is over. A new request opens a new one.")
        case Pressed():
            yield telling.stale(session, event)
        case _:
            pass


def _looked_after(session: Session, event: RunStopped) -> Iterator[Deed]:
    if event.survivors:
        pids = ", ".join(str(pid) for pid in event.survivors)
        yield telling.news(
            f"survivors:{event.run_id}",
            "Some processes would not end",
            f"Still alive after SIGKILL: {pids}. Look at them with ps.",
            tone=Tone.FAILURE,
        )


def _trouble(session: Session, event: TroubleBegan | TroubleEnded) -> Iterator[Deed]:
    if session.over:
        return
    if isinstance(event, TroubleBegan):
        session.trouble = event.reason
        card = ProblemCard(key="trouble", title=event.reason, reason=event.remedy, retrying=True)
        yield Show(card=card)
    elif session.trouble:
        card = ProblemCard(
            key="trouble", title=session.trouble, reason="It works again.", over=True
        )
        session.trouble = ""
        yield Show(card=card)


def _woken(session: Session, event: Woken) -> Iterator[Deed]:
    """Back from the dead. Orders follow from the states; only the person must be told."""
    if not event.restarted or session.over:
        return
    if event.hold and session.status in (Status.ACTIVE, Status.QUEUED):
        yield from _pause(session, event, "the restart (ON_RESTART=ask)")
        return
    if session.status is Status.PAUSED:
        yield _stopped_card(session)
        return
    yield telling.status(session, event.at)
    yield from _pending_card(session)
