"""Stop, resume, discard, commands, and what the bot itself goes through: legal in every phase."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, ShowLogs, StopRun
from bot.domain.choices import Verb, Word
from bot.domain.events import (
    Broke,
    Commanded,
    Event,
    FromPerson,
    Happening,
    OrderFailed,
    Overheard,
    Pressed,
    Relinked,
    RunStopped,
    TalkSummarised,
    Ticked,
    TroubleBegan,
    TroubleEnded,
    Woken,
)
from bot.domain.sentences import sentences
from bot.domain.session import Session, Speaker
from bot.domain.states import IntentStatus, Status, TaskState
from bot.flow import (
    afterwards,
    commands,
    decisions,
    dialogs,
    listeners,
    mishaps,
    other_agent,
    pending,
    place,
    quiet,
    relink,
    replies,
    standing,
    takeover,
    telling,
)

_VERBS = frozenset(
    {
        Verb.STOP,
        Verb.RESUME,
        Verb.DISCARD,
        Verb.TRY_AGAIN,
        Verb.LOG,
        Verb.HELPFUL,
        Verb.UNHELPFUL,
    }
)
_ALWAYS = (
    Commanded | Overheard | RunStopped | Relinked | TroubleBegan | TroubleEnded | Woken | Broke
)


def concerns(session: Session, event: Event) -> bool:
    """Whether an event is decided here whatever the phase."""
    return _is_control(event) or session.over or session.status is Status.PAUSED


def holds_back(session: Session, event: Event) -> bool:
    """While a session is paused everything but control events waits in the inbox. Ticks are not worth keeping."""
    return (
        session.status is Status.PAUSED and not isinstance(event, Ticked) and not _is_control(event)
    )


def _is_control(event: Event) -> bool:
    match event:
        case Pressed(verb=verb):
            return verb in _VERBS
        case TalkSummarised() | OrderFailed(what="summarise_talk") | OrderFailed(away=True):
            return True
        case _:
            return isinstance(event, _ALWAYS)


def decide(session: Session, event: Event) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case Pressed() if event.verb in _VERBS:
            yield from _pressed(session, event)
        case Commanded():
            yield from _commanded(session, event)
        case Overheard():
            replies.overheard(session, event)
        case TalkSummarised() | OrderFailed(what="summarise_talk"):
            replies.summarised(session, event)
        case RunStopped():
            quiet.stopped(session, event)
            yield from mishaps.survivors(session, event)
        case TroubleBegan() | TroubleEnded():
            yield from mishaps.trouble(session, event)
        case Woken():
            yield from _woken(session, event)
        case OrderFailed(away=True) if session.status in (Status.ACTIVE, Status.QUEUED):
            session.away = sentences(event.reason, event.remedy)
            yield from _pause(session, event, "the bot")
        case Relinked():
            yield from relink.answered(session, event)
        case Broke() if session.over:
            yield from afterwards.broke(session, event)
        case Broke(reason=reason):
            yield from mishaps.fail(session, event, mishaps.BUG, reason, "")
        case _ if session.over:
            yield from afterwards.decide(session, event)
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
        case Verb.LOG:
            level = "full" if event.about else ""
            yield ShowLogs(about=event.id, task=event.about, level=level, to=event.by)
        case Verb.HELPFUL | Verb.UNHELPFUL:
            yield from listeners.judged_result(session, event)
        case _:
            yield from _tried_again(session, event)


def _tried_again(session: Session, event: Pressed) -> Iterator[Deed]:
    if session.status is Status.FAILED:
        yield from resume(session, event)
    else:
        yield telling.stale(session, event)


def _commanded(session: Session, event: Commanded) -> Iterator[Deed]:
    match event.command.word:
        case Word.STOP:
            yield from stop(session, event)
        case Word.RESUME:
            yield from resume(session, event)
        case Word.DISCARD:
            yield from discard(session, event)
        case Word.STATUS:
            yield from commands.answer(session, event)
            yield from pending.card(session)
        case Word.REOPEN:
            yield from _reopened(session, event)
        case Word.TAKEOVER | Word.HANDBACK:
            yield from takeover.decide(session, event)
        case Word.USE:
            yield from other_agent.asked(session, event)
        case Word.RELINK:
            yield from relink.asked(session, event)
        case Word.CONTINUE:
            yield from afterwards.continued(session, event)
        case _:
            yield from commands.answer(session, event)


def _reopened(session: Session, event: Commanded) -> Iterator[Deed]:
    """Not where nothing would follow from it."""
    if session.status is Status.PAUSED:
        yield telling.privately(event, "This session is paused. Resume it first.")
    elif session.status in (Status.FAILED, Status.DISCARDED):
        yield telling.privately(event, f"This session is {session.status.lower()}.")
    else:
        yield from decisions.reopen(session, event)


def stop(session: Session, event: FromPerson) -> Iterator[Deed]:
    """Everything under way is called off, every agent ended. What was reached stays."""
    if session.over or session.status is Status.PAUSED:
        yield telling.privately(
            event, f"Nothing to stop: this session is {session.status.lower()}."
        )
        return
    yield from _pause(session, event, str(event.by))


def _pause(session: Session, event: Happening, by: str) -> Iterator[Deed]:
    stopped = list(mishaps.end_runs(session, event))
    ended = sum(isinstance(deed, StopRun) for deed in stopped)
    session.become(Status.PAUSED)
    yield from mishaps.trouble_over(session, "Stopped: I do not try any more.")
    session.stops, session.stopped_by, session.stopped_runs = session.stops + 1, by, ended
    place.let_go(session)
    session.say(Speaker.SYSTEM, f"Stopped by {by}", event.at)
    yield from stopped
    yield standing.status(session, event.at)
    yield pending.stopped(session)


def resume(session: Session, event: FromPerson) -> Iterator[Deed]:
    """Only the status changes: what must be done follows from the states. What has failed is tried again."""
    if session.status is Status.FAILED:
        yield from mishaps.try_again(session, event)
        yield from pending.card(session)
        return
    if session.status in (Status.ACTIVE, Status.QUEUED):
        yield telling.privately(event, "This session is not stopped: it goes on by itself.")
        return
    if session.status is not Status.PAUSED:
        yield telling.privately(
            event, f"Nothing to resume: this session is {session.status.lower()}."
        )
        return
    session.become(Status.ACTIVE)
    session.say(Speaker.SYSTEM, f"Resumed by {event.by}", event.at)
    yield pending.stopped(session, telling.decided("Resumed", event))
    session.away = ""
    yield from pending.card(session)


def discard(session: Session, event: FromPerson) -> Iterator[Deed]:
    """Agents end, clean worktrees go, branches stay and are listed."""
    if session.status in (Status.COMPLETED, Status.DISCARDED):
        yield telling.privately(
            event, f"Nothing to discard: this session is {session.status.lower()}."
        )
        return
    yield from mishaps.end_runs(session, event)
    yield from mishaps.trouble_over(session, "Discarded: I do not try any more.")
    yield from mishaps.failure_over(session, f"Discarded by {event.by}.")
    session.intend(IntentStatus.REJECTED)
    discarded = telling.decided("Discarded", event)
    if session.status is Status.PAUSED:
        yield pending.stopped(session, discarded)
    yield from pending.card(session, discarded)
    for task in session.tasks:
        if task.state not in place.SETTLED:
            task.become(TaskState.CANCELLED)
    for words in session.words:
        yield telling.to(words.by, words.id, afterwards.GIVEN_UP)
    session.change, session.words, session.step = None, (), None
    session.parts = tuple(part for part in session.parts if part.thread)
    session.become(Status.DISCARDED)
    session.say(Speaker.USER, "Discarded", event.at)
    yield standing.status(session, event.at)


def _woken(session: Session, event: Woken) -> Iterator[Deed]:
    """Back from the dead. Orders follow from the states; only the person must be told."""
    if not event.restarted or session.over:
        return
    dialogs.after_restart(session)
    yield from mishaps.trouble_over(session, "I was restarted, and am trying again.")
    if event.hold and session.status in (Status.ACTIVE, Status.QUEUED):
        yield from _pause(session, event, "the restart (ON_RESTART=ask)")
        return
    if session.status is not Status.PAUSED:
        yield standing.status(session, event.at)
    yield from pending.card(session)
