"""The gate for all incoming events: who may do what, how often, and what is recorded in the audit log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.choices import Verb, Word
from bot.core.commands import COMMANDS
from bot.core.errors import Unavailable
from bot.core.events import (
    Commanded,
    Configured,
    Continued,
    Edited,
    FromPeople,
    FromPerson,
    Opened,
    Pressed,
    Said,
    Visited,
)
from bot.core.people import Person, Role, Thread
from bot.core.projections.audit import Decision, gate_entry, requested_action
from bot.core.session import Session
from bot.core.world import Rules, World

# Whether a person may do something in a place. Compares full ids only; an empty list means nobody.

_VERB_ROLES = {
    Verb.STOP: Role.STOP,
    Verb.RESUME: Role.START,
    Verb.DISCARD: Role.APPROVE,
    Verb.APPROVE: Role.APPROVE,
    Verb.MERGE: Role.APPROVE,
    Verb.GIVE_UP: Role.APPROVE,
    Verb.REPLY: Role.APPROVE,
    Verb.ALWAYS: Role.APPROVE,
    Verb.ACCEPT: Role.APPROVE,
    Verb.SEND_BACK: Role.APPROVE,
    Verb.HINT: Role.APPROVE,
    Verb.USE_AGENT: Role.APPROVE,
    Verb.TAKE_AS_DONE: Role.APPROVE,
    Verb.STOP_TASK: Role.STOP,
    Verb.MERGE_PULL: Role.APPROVE,
    Verb.MERGE_PULLS: Role.APPROVE,
    Verb.MERGE_UNCHECKED: Role.APPROVE,
    Verb.UNNEEDED: Role.APPROVE,
    Verb.TESTS: Role.APPROVE,
    Verb.UNTESTED: Role.APPROVE,
    Verb.MERGE_BRANCH: Role.APPROVE,
    Verb.DELETE_BRANCH: Role.APPROVE,
    Verb.SETTINGS: Role.OPERATE,
    Verb.INTENT_APPROVE: Role.APPROVE,
    Verb.INTENT_REJECT: Role.APPROVE,
}
DIRECT = "dm"
"""In a list of places it stands for every direct conversation with the bot."""


@dataclass(frozen=True)
class Door:
    """Who may use the bot on one platform, and where: full ids of people by role, and of channels."""

    people: Mapping[Role, frozenset[str]]
    places: frozenset[str] | None = None
    """`None` if the platform has no channels, as a terminal."""

    def allows_place(self, thread: Thread) -> bool:
        if self.places is None or thread.home:
            return True
        direct = f"{thread.workspace}:{DIRECT}" if thread.workspace else DIRECT
        if thread.direct and direct in self.places:
            return True
        # a channel that happens to be named like that is not a direct conversation
        return thread.place in self.places and thread.place != direct


@dataclass(frozen=True)
class Gate:
    """Decides who may do what. On a platform without a door nobody may do anything."""

    doors: Mapping[str, Door]
    here: str = ""
    """The platform of the operator at the machine's own terminal."""

    def lets(self, thread: Thread, event: FromPerson) -> bool:
        return self.grants(thread, event.by, role_for(event))

    def grants(self, thread: Thread, person: Person, role: Role) -> bool:
        door = self.doors.get(thread.platform)
        if door is None or person.platform != thread.platform:
            return False
        if person.outsider or not person.id:
            return False
        return door.allows_place(thread) and person.id in door.people.get(role, frozenset())

    def is_operator_command(self, thread: Thread, event: FromPerson) -> bool:
        """Whether a command applies to sessions of every chat.

        The operator at the terminal may stop and continue them all, as they could also end the bot.
        """
        if not self.here or thread.platform != self.here:
            return False
        if not isinstance(event, Commanded):
            return False
        return COMMANDS[event.command.word].from_here and self.lets(thread, event)

    def may_give_context(self, thread: Thread, person: Person) -> bool:
        """Whether a message from somebody without permission may serve as context here."""
        door = self.doors.get(thread.platform)
        if door is None or person.platform != thread.platform or not person.id:
            return False
        return not person.outsider and door.allows_place(thread)


def role_for(event: FromPerson) -> Role:
    """Return the role that somebody needs for this event."""
    match event:
        case Pressed(verb=verb) | Opened(verb=verb):
            return _VERB_ROLES.get(verb, Role.START)
        case Commanded(command=command):
            return COMMANDS[command.word].role_for(command)
        case Said(repository=path) if path:
            # it names any folder of the machine
            return Role.OPERATE
        case Said() | Edited() | Continued() | Visited():
            return Role.START
        case Configured():
            return Role.OPERATE
        case _:
            return Role.ADMIN


def may_ask(platform: str, door: Door, thread: Thread, person: Person) -> bool:
    """Whether this person may start work here.

    The only question that chats ask the gate: is it worth fetching the attachments?
    """
    return Gate({platform: door}).grants(thread, person, Role.START)


def single_list_doors(platform: str, ids: frozenset[str]) -> Mapping[str, Door]:
    """Return a door with the same list for all roles, for a platform without channels."""
    return {platform: Door(dict.fromkeys(Role, ids))}


# Rate limits per person, counted by full id; stopping something is never limited. After a restart the started sessions
# are counted again, the messages of the last minute are not.

MAX_MESSAGE_BYTES = 16_000
"""Bytes of text in one message. Attached files have limits of their own."""
MAX_WAITING_EVENTS = 200
"""Messages and presses that may wait in a paused session."""
_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)


class RateLimits:
    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._message_times: dict[tuple[str, str], dict[str, datetime]] = {}
        self._session_starts: dict[tuple[str, str], dict[str, datetime]] = {}
        """For each person, the ids that counted and their times."""

    def remember(self, sessions: Iterable[Session], now: datetime) -> None:
        """Count sessions started before this start of the bot. Parts of a larger request count once."""
        for session in sessions:
            if session.intent.parent is None and abs(now - session.created_at) < _HOUR:
                who = (session.owner.platform, session.owner.id)
                self._session_starts.setdefault(who, {})[session.id] = session.created_at

    def problem(self, event: FromPeople, now: datetime, *, begins: bool, open_now: int) -> str:
        """Return why the event exceeds a limit, in a sentence; empty if it does not, and then it is counted.

        The same event counts once.
        """
        if _stops(event):
            return ""
        if (size := _size(event)) > MAX_MESSAGE_BYTES:
            return (
                f"That is too long: {size / 1000:.0f} kB, and I read at most {MAX_MESSAGE_BYTES // 1000} kB of a message. "
                "Put it into a text file and attach that."
            )
        rules = self._rules
        # an event sent while the bot was away counts at the time it was sent
        at = min(event.at, now)
        if not _has_room(
            self._message_times, event.by, event.id, at, now, _MINUTE, rules.most_in_a_minute
        ):
            return (
                f"That is more than {rules.most_in_a_minute} things in a minute. Say it again later; "
                "to stop something always works."
            )
        return self.one_more(event.by, event.id, at, now, open_now=open_now) if begins else ""

    def one_more(self, by: Person, id: str, at: datetime, now: datetime, *, open_now: int) -> str:
        """Return why this person may not start another session, in a sentence; empty if they may, and then it is
        counted, once.
        """
        rules = self._rules
        if rules.most_sessions and open_now >= rules.most_sessions:
            return f"There are {open_now} unfinished sessions. Finish or discard some of them first; sessions lists them."
        if not _has_room(self._session_starts, by, id, at, now, _HOUR, rules.most_in_an_hour):
            return (
                f"You have begun {rules.most_in_an_hour} sessions within an hour. Ask again later."
            )
        return ""


def _has_room(
    counted: dict[tuple[str, str], dict[str, datetime]],
    by: Person,
    id: str,
    at: datetime,
    now: datetime,
    window: timedelta,
    most: int,
) -> bool:
    """Whether the window around the event still has room. A limit of 0 means no limit."""
    if not most:
        return True
    _drop_expired(counted, now, window)
    mine = counted.setdefault((by.platform, by.id), {})
    if id in mine:
        return True
    if sum(abs(at - other) < window for other in mine.values()) >= most:
        return False
    mine[id] = at
    return True


def _drop_expired(
    counted: dict[tuple[str, str], dict[str, datetime]], now: datetime, window: timedelta
) -> None:
    # Compares in both directions: if the clock was set back, nobody is silenced for long.
    for who, events in list(counted.items()):
        kept = {id: at for id, at in events.items() if abs(now - at) < window}
        if kept:
            counted[who] = kept
        else:
            del counted[who]


def _stops(event: FromPeople) -> bool:
    if isinstance(event, Commanded):
        return event.command.word is Word.STOP
    return isinstance(event, Pressed) and event.verb is Verb.STOP


def _size(event: FromPeople) -> int:
    match event:
        case Said(text=text):
            written = [text]
        case Pressed(about=about, text=text, answers=answers):
            written = [about, text, *answers.values()]
        case Commanded(command=command):
            written = [command.argument, command.text]
        case Configured(base_url=base_url, model=model):
            written = [base_url, model]
        case _:
            written = []
    return sum(len(text.encode("utf-8", "replace")) for text in written)


# How often people are told no: each refusal costs a message, and people without permission must not use up the bot's
# rate limit.

REFUSAL_WINDOW = timedelta(minutes=5)
MAX_REFUSALS_PER_PERSON = 5
MAX_REFUSALS_PER_CHANNEL = 20


class RefusalLimit:
    """Limits refusals per person and per channel within a window; beyond that nobody is answered."""

    def __init__(self, to_one: int = MAX_REFUSALS_PER_PERSON) -> None:
        self._to_one = to_one
        self._told_at: dict[tuple[str, str], list[datetime]] = {}

    def may_tell(self, thread: Thread, person: Person, now: datetime) -> bool:
        """Whether this person may be told no once more, here. If so, it is counted."""
        self._forget(now)
        limits = {
            (person.platform, person.id): self._to_one,
            (thread.platform, f"in {thread.place}"): MAX_REFUSALS_PER_CHANNEL,
        }
        if any(len(self._told_at.get(who, ())) >= most for who, most in limits.items()):
            return False
        for who in limits:
            self._told_at.setdefault(who, []).append(now)
        return True

    def _forget(self, now: datetime) -> None:
        # Compares in both directions: if the clock was set back, nobody is silenced for long.
        for who, times in list(self._told_at.items()):
            self._told_at[who] = [at for at in times if abs(now - at) < REFUSAL_WINDOW]
            if not self._told_at[who]:
                del self._told_at[who]


# The desk's audit log: what is let in is on disk before it takes effect; refusals are recorded up to a limit.

log = logging.getLogger("bot.desk")


class Auditing:
    def __init__(self, world: World) -> None:
        self._world = world
        self._note_limit = RefusalLimit()
        """Limits records of refusals: people without permission must not fill the disk."""

    def allowed(self, thread: Thread, event: FromPerson, session_id: str = "") -> None:
        """Record an allowed event. Raises Unavailable on a full disk: what cannot be recorded is not done."""
        if requested_action(event):
            self._note(thread, event, Decision.ALLOWED, "", session_id)

    def refused(self, thread: Thread, event: FromPerson, why: str, session_id: str = "") -> None:
        """Record a refusal. A full disk is only logged, as a refusal has no effect."""
        if not self._note_limit.may_tell(thread, event.by, self._world.clock.now()):
            return
        try:
            self._note(thread, event, Decision.REFUSED, why, session_id)
        except Unavailable as full:
            log.warning("a no was not noted", extra={"data": {"why": full.reason}})

    def _note(
        self, thread: Thread, event: FromPerson, decision: Decision, why: str, session_id: str
    ) -> None:
        now = self._world.clock.now()
        self._world.audit.note(gate_entry(thread, event, now, decision, why, session_id))


# Events that no session records are remembered here, so that they are not answered twice.

MAX_REMEMBERED_ANSWERS = 5_000


class Deduplication:
    def __init__(self) -> None:
        self._answered: dict[str, bool] = {}
        self._answering: dict[str, asyncio.Event] = {}

    async def known(self, event: FromPeople) -> bool | None:
        """Return whether the event was accepted, or `None` if it was not answered yet.

        Waits if it is being answered now.
        """
        while answer := self._answering.get(event.id):
            await answer.wait()
        return self._answered.get(event.id)

    async def answered(
        self, event: FromPeople, answer: Awaitable[bool], *, taken: bool = True
    ) -> bool:
        """Answer the event and remember it.

        If answering fails, the event is not remembered, so that it can be retried.
        """
        over = self._answering[event.id] = asyncio.Event()
        try:
            answered = await answer
        finally:
            del self._answering[event.id]
            over.set()
        if answered:
            self._answered[event.id] = taken
        while len(self._answered) > MAX_REMEMBERED_ANSWERS:
            del self._answered[next(iter(self._answered))]
        return answered
