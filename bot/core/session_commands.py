"""Commands about a session of another thread, about one still to be chosen, or about none."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass

from bot.core.actor import Actor
from bot.core.cards import AnswerCard, Card
from bot.core.choices import OWN_SESSIONS, Choice, Command, Style, Verb, Word
from bot.core.commands import COMMANDS, AnsweredBy
from bot.core.errors import PortError
from bot.core.events import Commanded, FromPerson, Pressed
from bot.core.gate import Auditing, Gate
from bot.core.overview import GeneralAnswers
from bot.core.people import Person, Thread
from bot.core.session import Session
from bot.core.states import Status, TaskState
from bot.core.world import World
from bot.ports import Clock
from bot.steps import chat
from bot.steps.chat import chat_of

# Private answers of the desk. Each is waited for only briefly: a chat may need minutes to deliver one, and the next
# person in line may want to stop something.

log = logging.getLogger("bot.desk")

LATE_AFTER_SECONDS = 1.0
MAX_LATE_ANSWERS = 50
"""Late answers that may be pending at once; beyond that the desk waits for each answer."""


class AnswerDelivery:
    """Delivers answers without blocking the desk. The owner must close it; late answers are then dropped."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._background: set[asyncio.Task[None]] = set()

    async def give(self, answer: Coroutine[None, None, None]) -> None:
        """Return when the answer is delivered or late. An immediate error is raised, a later one only logged."""
        giving = asyncio.create_task(answer, name="answer")
        moment = asyncio.create_task(self._clock.sleep(LATE_AFTER_SECONDS))
        try:
            waited_for = {giving, moment} if len(self._background) < MAX_LATE_ANSWERS else {giving}
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            giving.cancel()
            raise
        finally:
            moment.cancel()
        if giving.done():
            giving.result()
            return
        self._background.add(giving)
        giving.add_done_callback(self._said)

    async def close(self) -> None:
        for answer in self._background:
            answer.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def _said(self, answer: asyncio.Task[None]) -> None:
        self._background.discard(answer)
        if answer.cancelled() or not (error := answer.exception()):
            return
        if isinstance(error, PortError):
            log.warning("not answered", extra={"data": {"why": error.reason}})
        else:
            # nobody awaits this task: a bug in it must show in the log
            log.error("not answered", exc_info=error)


# Commands that are not about the session of their own thread: about another one, one still to be chosen, or none at
# all.

MAX_NAMED_SESSIONS = 20
"""Most sessions offered for choosing."""
NOT_ALLOWED = "You may not do that here. Ask whoever runs this bot."
_VERBS = {Word.STOP: Verb.STOP, Word.RESUME: Verb.RESUME, Word.DISCARD: Verb.DISCARD}
_MATCHING_STATUSES = {Word.STOP: (Status.ACTIVE, Status.QUEUED), Word.RESUME: (Status.PAUSED,)}
_STATUSES_BY_ID = {**_MATCHING_STATUSES, Word.RESUME: (Status.PAUSED, Status.FAILED)}
"""A failed session resumes only if it is named; without an id it is not among the candidates."""
_RESUMED_WITHOUT_ID = (Status.FAILED, Status.ACTIVE, Status.QUEUED)
"""What `resume` without an id means if nothing is paused: a failed session, or one that an ended bot left unfinished."""


@dataclass(frozen=True)
class SessionCommands:
    """Answers such commands.

    `actor_of` finds the actor of a thread, loading it if necessary; `awake` returns the sessions in memory.
    """

    world: World
    gate: Gate
    actor_of: Callable[[Thread], Actor | None]
    awake: Callable[[], Iterable[Session]]
    answers: AnswerDelivery
    auditing: Auditing
    front: GeneralAnswers

    async def answered(self, thread: Thread, event: Pressed | Commanded, *, known: bool) -> bool:
        """Answer the event if it is such a command; return whether it was. `known`: this thread has a session."""
        if self.front.intents.concerns(event):
            self.auditing.allowed(thread, event)
            card = await self.front.intents.answer(thread, event)
            return await self.whisper(thread, event.by, card)
        if isinstance(event, Pressed) and event.verb is Verb.SETTINGS:
            return await self._answer_model(thread, event)
        if isinstance(event, Pressed) and event.verb is Verb.TELL:
            return await self._answer_picked(thread, event)
        if isinstance(event, Pressed):
            about = event.about if event.verb in _VERBS.values() else ""
            return bool(about) and await self._with_id(thread, event, about)
        word, argument = event.command.word, event.command.argument
        row = COMMANDS[word]
        if row.answered_by is AnsweredBy.EVERYWHERE or (
            word is Word.USAGE and not known and not argument
        ):
            return await self._answer_general(thread, event)
        if argument in OWN_SESSIONS or (not known and (not argument or word is Word.REOPEN)):
            return await self._without_id(thread, event)
        if word is Word.VERBOSITY and not known:
            return await self.say(thread, event, "Write that in the thread of a session.")
        if argument and not (row.own_argument and known):
            return await self._with_id(thread, event, argument)
        return False

    async def say(self, thread: Thread, event: FromPerson, text: str) -> bool:
        # The key is derived from event and text: a chat that has shown this answer does not show it twice.
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        card = AnswerCard(key=f"told:{event.id}:{digest}", title=text)
        return await self.whisper(thread, event.by, card)

    async def whisper(self, thread: Thread, to: Person, card: Card) -> bool:
        chat = chat_of(self.world, thread.platform)
        await self.answers.give(chat.whisper(thread, to, card))
        return True

    async def _answer_model(self, thread: Thread, event: Pressed) -> bool:
        # Pressed in a chat that has no form for it.
        self.auditing.allowed(thread, event)
        title, body = self.front.model()
        card = AnswerCard(key=f"answer:{event.id}", title=title, body=body)
        return await self.whisper(thread, event.by, card)

    async def _answer_general(self, thread: Thread, event: Commanded) -> bool:
        """Answer a command that is about no session: help, the list of sessions, what waits, which keys are set."""
        self.auditing.allowed(thread, event)
        title, body = await self.front.answer(thread, event)
        card = AnswerCard(key=f"answer:{event.id}", title=title, body=body)
        return await self.whisper(thread, event.by, card)

    async def _without_id(self, thread: Thread, event: Commanded) -> bool:
        """Find the only session that can be meant, or offer a choice."""
        word, argument = event.command.word, event.command.argument
        if word is Word.CONTINUE and (newest := self._latest_session_id(thread, Status.COMPLETED)):
            return await self._with_id(thread, event, newest)
        meant = self._sessions_that_heard(event) if argument not in OWN_SESSIONS else []
        meant = meant or matching_sessions(word, argument, self.awake(), thread, event.by)
        if (
            not meant
            and word is Word.RESUME
            and (newest := self._latest_session_id(thread, *_RESUMED_WITHOUT_ID))
        ):
            return await self._with_id(thread, event, newest)
        if not meant:
            what = f" to {word}" if word in _VERBS else ""
            return await self.say(thread, event, f"There is no session here{what}.")
        if word is not Word.DISCARD and (len(meant) == 1 or argument in OWN_SESSIONS):
            for session in meant:
                await self._with_id(thread, event, session.id)
            return True
        if word in _VERBS or COMMANDS[word].pickable:
            card = session_picker(word, meant, f"answer:{event.id}", event.command.text)
            return await self.whisper(thread, event.by, card)
        named = "; ".join(f"{one.short} ({one.title})" for one in meant[:MAX_NAMED_SESSIONS])
        said = f"Of which session? Write {word} in its thread: {named}."
        return await self.say(thread, event, said)

    async def _answer_picked(self, thread: Thread, event: Pressed) -> bool:
        # The choice is handled like a typed command, including the check of permission.
        name, _, which = event.about.partition(":")
        id, _, text = which.partition(":")
        word = next((word for word, row in COMMANDS.items() if row.pickable and word == name), None)
        if word is None:
            return False
        command = Command(word=word, argument=id, text=text)
        given = Commanded(id=event.id, at=event.at, by=event.by, command=command)
        return await self._with_id(thread, given, id)

    def _latest_session_id(self, thread: Thread, *statuses: Status) -> str:
        """Return the id of this channel's most recently changed session with one of these statuses; empty if there is
        none.
        """
        fit = [
            listed
            for listed in self.world.store.sessions()
            if listed.status in statuses and listed.thread.place == thread.place
        ]
        return max(fit, key=lambda one: one.updated_at).id if fit else ""

    def _sessions_that_heard(self, event: Commanded) -> list[Session]:
        # A repeated event belongs to the session that has already heard it, even if another one would fit by now.
        records = [self.world.store.find(session.id) for session in self.awake()]
        return [r.session for r in records if r and event.id in r.heard]

    async def _with_id(self, thread: Thread, event: Pressed | Commanded, id: str) -> bool:
        """Handle `resume 1a2b` as `resume` in the thread of that session."""
        record = self.world.store.find(id)
        from_here = self.gate.is_operator_command(thread, event)
        if record is None or not (from_here or _may_know(thread, event.by, record.session)):
            unknown = f"I know no session {id}. sessions lists them."
            return await self.say(thread, event, unknown)
        home, there = record.session.thread, _without_argument(event)
        if why := self._why_without_effect(thread, event, record.session):
            return await self.say(thread, event, why)
        if not (from_here or self.gate.lets(home, there)):
            self.auditing.refused(home, event, NOT_ALLOWED, record.session.id)
            return await self.say(thread, event, NOT_ALLOWED)
        actor = self.actor_of(home)
        if actor is None:
            return True
        if not actor.has_heard(there):
            self.auditing.allowed(home, event, record.session.id)
        turned = await self.turn_to(home, thread.platform)
        if not (self._is_chat_disconnected(home) and actor.session.status is Status.PAUSED):
            actor.hear(there)
        elsewhere = f" in {home.platform}" if home.platform != thread.platform else ""
        if elsewhere or (home.key != thread.key and not turned):
            session = record.session
            done = f"Passed on to session {session.short}{elsewhere}: {session.title}"
            await self.say(thread, event, done)
        return True

    def _why_without_effect(
        self, thread: Thread, event: Pressed | Commanded, session: Session
    ) -> str:
        """Return why a command from another chat would have no effect; in its own chat the session itself says so."""
        if session.thread.platform == thread.platform or isinstance(event, Pressed):
            return ""
        word, platform = event.command.word, session.thread.platform
        if self._is_chat_disconnected(session.thread):
            if word is Word.STOP:
                # the session was stopped when it was loaded, because its chat is not connected
                return ""
            return f"Session {session.short} is in {platform}, which is not at work here. Start it: gwt-bot serve."
        fit = _STATUSES_BY_ID.get(word, (Status.COMPLETED,))
        if session.status not in fit:
            return f"Nothing to {word}: session {session.short} is {session.status.lower()}."
        return ""

    def _is_chat_disconnected(self, thread: Thread) -> bool:
        return not chat.is_chat_connected(self.world, thread.platform)

    async def turn_to(self, thread: Thread, platform: str = "") -> bool:
        """Tell a chat that shows one thread at a time to switch to this one.

        `platform`: another chat than the thread's own.
        """
        chat = chat_of(self.world, platform or thread.platform)
        return await chat.turn_to(thread)


def matching_sessions(
    word: Word, argument: str, sessions: Iterable[Session], thread: Thread, person: Person
) -> list[Session]:
    """Return the matching sessions of this channel, or else the person's own elsewhere."""
    fits = [s for s in sessions if _fits(word, s) and _is_same_workspace(thread, s.thread)]
    own = [s for s in fits if s.owner.id == person.id]
    here = [s for s in fits if s.thread.place == thread.place]
    if argument in OWN_SESSIONS:
        return own
    at_work = [s for s in here or own if s.in_state(TaskState.RUNNING, TaskState.VERIFYING)]
    # of several sessions, perhaps only one has anything to stop
    return at_work if word is Word.STOP and len(at_work) == 1 else here or own


def session_picker(word: Word, sessions: list[Session], key: str, text: str = "") -> AnswerCard:
    """Return a card with a button per session.

    `text`: what followed the word, e.g. `make check` in `tests: make check`.
    """
    said = f":{text}" if text else ""
    choices = tuple(
        Choice(
            label=f"{word.capitalize()} {session.short} {session.title}"[:70],
            verb=_VERBS.get(word, Verb.TELL),
            about=session.id if word in _VERBS else f"{word}:{session.id}{said}",
            style=Style.DANGER if word in (Word.STOP, Word.DISCARD) else Style.NORMAL,
            confirm="Discard this session? Its branches stay." if word is Word.DISCARD else "",
        )
        for session in sessions[:MAX_NAMED_SESSIONS]
    )
    return AnswerCard(key=key, title="Which session?", choices=choices)


def _fits(word: Word, session: Session) -> bool:
    return (
        session.status in _MATCHING_STATUSES[word]
        if word in _MATCHING_STATUSES
        else not session.over
    )


def _is_same_workspace(thread: Thread, other: Thread) -> bool:
    # No organisation may see sessions of another.
    return (thread.platform, thread.workspace) == (other.platform, other.workspace)


def _may_know(thread: Thread, person: Person, session: Session) -> bool:
    # Somebody else's direct conversation must look as if it did not exist, even to a person who guesses its id.
    if not _is_same_workspace(thread, session.thread):
        return False
    alone = session.thread.direct and session.thread.place != thread.place
    return not alone or session.owner.id == person.id


def _without_argument(event: Pressed | Commanded) -> Pressed | Commanded:
    if isinstance(event, Pressed):
        return event.model_copy(update={"about": ""})
    command = event.command.model_copy(update={"argument": ""})
    return event.model_copy(update={"command": command})
