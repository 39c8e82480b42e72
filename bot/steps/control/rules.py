"""Stop, resume, discard, a repository that was moved, and the bot's own restarts and bugs: valid in every phase."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import Deed, Relink, ShowLogs, StopRun
from bot.core.choices import Verb, Word
from bot.core.events import (
    Broke,
    Commanded,
    Event,
    EventBase,
    FromPerson,
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
from bot.core.runs import Why
from bot.core.session import Session, Speaker
from bot.core.states import IntentStatus, Status, TaskState
from bot.core.task import Workspace
from bot.core.text import sentences
from bot.steps import messages, plan
from bot.steps.blocked import limits, troubles
from bot.steps.control import commands
from bot.steps.dialogs import rules as dialogs
from bot.steps.finish import afterwards
from bot.steps.talk import rules as talk

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
    """Whether the event is decided here, whatever the phase."""
    return _is_control(event) or session.over or session.status is Status.PAUSED


def holds_back(session: Session, event: Event) -> bool:
    """Whether the event must wait in the inbox: while a session is paused, only control events are decided.

    Ticks are dropped instead.
    """
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
            talk.keep_overheard(session, event)
        case TalkSummarised() | OrderFailed(what="summarise_talk"):
            talk.summarised(session, event)
        case RunStopped():
            dialogs.run_stopped(session, event)
            yield from troubles.survivors(session, event)
        case TroubleBegan() | TroubleEnded():
            yield from troubles.trouble(session, event)
        case Woken():
            yield from _woken(session, event)
        case OrderFailed(away=True) if session.status in (Status.ACTIVE, Status.QUEUED):
            session.control.repository_missing = sentences(event.reason, event.remedy)
            yield from _pause(session, event, "the bot")
        case Relinked():
            yield from relinked(session, event)
        case Broke() if session.over:
            yield from afterwards.record_bug(session, event)
        case Broke(reason=reason):
            yield from troubles.fail(session, event, troubles.BUG, reason, "")
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
            yield from talk.take_feedback(session, event)
        case _:
            yield from _retry_session(session, event)


def _retry_session(session: Session, event: Pressed) -> Iterator[Deed]:
    if session.status is Status.FAILED:
        yield from resume(session, event)
    else:
        yield messages.stale_press(session, event)


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
            yield from commands.waiting_cards(session)
        case Word.REOPEN:
            yield from _reopened(session, event)
        case Word.TAKEOVER | Word.HANDBACK:
            yield from dialogs.decide_takeover(session, event)
        case Word.USE:
            yield from limits.use_agent(session, event)
        case Word.RELINK:
            yield from relink(session, event)
        case Word.CONTINUE:
            yield from afterwards.continue_with_missing(session, event)
        case _:
            yield from commands.answer(session, event)


def _reopened(session: Session, event: Commanded) -> Iterator[Deed]:
    """Reopen a decision, unless the session's status makes that pointless."""
    if session.status is Status.PAUSED:
        yield messages.private_reply(event, "This session is paused. Resume it first.")
    elif session.status in (Status.FAILED, Status.DISCARDED):
        yield messages.private_reply(event, f"This session is {session.status.lower()}.")
    else:
        yield from commands.reopen_decision(session, event)


def stop(session: Session, event: FromPerson) -> Iterator[Deed]:
    """Pause the session: cancel every order and end every agent. The state reached is kept."""
    if session.over or session.status is Status.PAUSED:
        yield messages.private_reply(
            event, f"Nothing to stop: this session is {session.status.lower()}."
        )
        return
    yield from _pause(session, event, str(event.by))


def _pause(session: Session, event: EventBase, by: str) -> Iterator[Deed]:
    stopped = list(troubles.end_runs(session, event))
    ended = sum(isinstance(deed, StopRun) for deed in stopped)
    session.become(Status.PAUSED)
    yield from troubles.close_trouble(session, "Stopped: I do not try any more.")
    session.control.stops, session.control.stopped_by, session.control.stopped_runs = (
        session.control.stops + 1,
        by,
        ended,
    )
    plan.release_place(session)
    session.say(Speaker.SYSTEM, f"Stopped by {by}", event.at)
    yield from stopped
    yield messages.status(session, event.at)
    yield commands.stopped_card(session)


def resume(session: Session, event: FromPerson) -> Iterator[Deed]:
    """Set the status to active; everything else follows from the states. A failed session is retried."""
    if session.status is Status.FAILED:
        yield from troubles.try_again(session, event)
        yield from commands.waiting_cards(session)
        return
    if session.status in (Status.ACTIVE, Status.QUEUED):
        yield messages.private_reply(event, "This session is not stopped: it goes on by itself.")
        return
    if session.status is not Status.PAUSED:
        yield messages.private_reply(
            event, f"Nothing to resume: this session is {session.status.lower()}."
        )
        return
    session.become(Status.ACTIVE)
    session.say(Speaker.SYSTEM, f"Resumed by {event.by}", event.at)
    yield commands.stopped_card(session, messages.decided("Resumed", event))
    session.control.repository_missing = ""
    yield from commands.waiting_cards(session)


def discard(session: Session, event: FromPerson) -> Iterator[Deed]:
    """Discard the session: end its agents and remove clean worktrees. Branches are kept and listed."""
    if session.status in (Status.COMPLETED, Status.DISCARDED):
        yield messages.private_reply(
            event, f"Nothing to discard: this session is {session.status.lower()}."
        )
        return
    yield from troubles.end_runs(session, event)
    yield from troubles.close_trouble(session, "Discarded: I do not try any more.")
    yield from troubles.close_failure(session, f"Discarded by {event.by}.")
    session.set_intent_status(IntentStatus.REJECTED)
    discarded = messages.decided("Discarded", event)
    if session.status is Status.PAUSED:
        yield commands.stopped_card(session, discarded)
    yield from commands.waiting_cards(session, discarded)
    for task in session.tasks:
        if task.state not in plan.SETTLED:
            task.become(TaskState.CANCELLED)
    for words in session.talk.waiting:
        yield messages.whisper_to(words.by, words.id, afterwards.GIVEN_UP)
    session.change, session.talk.waiting, session.execution.choice = None, (), None
    session.request.parts = tuple(part for part in session.request.parts if part.thread)
    session.become(Status.DISCARDED)
    session.say(Speaker.USER, "Discarded", event.at)
    yield messages.status(session, event.at)


def _woken(session: Session, event: Woken) -> Iterator[Deed]:
    # After a restart, orders follow from the states; only the users must be told.
    if not event.restarted or session.over:
        return
    dialogs.after_restart(session)
    yield from troubles.close_trouble(session, "I was restarted, and am trying again.")
    if event.hold and session.status in (Status.ACTIVE, Status.QUEUED):
        yield from _pause(session, event, "the restart (ON_RESTART=ask)")
        return
    if session.status is not Status.PAUSED:
        yield messages.status(session, event.at)
    yield from commands.waiting_cards(session)


# The repository is not where it was: the session is paused until it is back, or somebody names its new location.

HOW_TO_RELINK = "Write relink and the path where the repository lies now."
ELSEWHERE = "The repository was moved, and your worktree with it. Look at what is there already and go on from it."


def relink(session: Session, event: Commanded) -> Iterator[Deed]:
    path = event.command.text
    if not session.control.repository_missing or session.status is not Status.PAUSED:
        text = f"I miss no repository here: this session works in {session.repository.path}."
        yield messages.private_reply(event, text)
    elif not path:
        yield messages.private_reply(event, HOW_TO_RELINK)
    else:
        yield Relink(about=event.id, path=path, by=event.by)


def relinked(session: Session, event: Relinked) -> Iterator[Deed]:
    if not session.control.repository_missing or session.status is not Status.PAUSED:
        return
    if not event.path:
        yield messages.whisper_to(event.by, event.id, event.problem)
        return
    _update_paths(session, event.path)
    session.become(Status.ACTIVE)
    session.say(Speaker.SYSTEM, f"{event.by} says that the repository is at {event.path}", event.at)
    yield commands.stopped_card(
        session, messages.decided_by(f"Found at {event.path}", event.by, event.at)
    )
    session.control.repository_missing = ""
    yield from commands.waiting_cards(session)


def _update_paths(session: Session, path: str) -> None:
    """Update everything that contains the repository's path.

    CLIs identify a conversation by its folder, so agents start new ones.
    """

    def there(workspace: Workspace) -> Workspace:
        inside = workspace.path.removeprefix(f"{session.repository.path}/")
        return workspace.model_copy(update={"path": f"{path}/{inside}"})

    for task in session.tasks:
        task.workspace = there(task.workspace) if task.workspace else None
        task.former_workspaces = tuple(map(there, task.former_workspaces))
        if task.state is TaskState.NEEDS_CONTINUATION:
            task.next_run.why = Why.RETRY
            task.next_run.feedback = "\n\n".join(filter(None, (ELSEWHERE, task.next_run.feedback)))
    if session.plan.spec:
        moved = there(session.plan.spec.workspace)
        session.plan.spec = session.plan.spec.model_copy(update={"workspace": moved})
    session.repository.path = path
