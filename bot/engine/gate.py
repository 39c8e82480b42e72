"""The one gate for every way in: may this person do this, here? By full ids only; an empty list means nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.choices import Verb, Word
from bot.domain.events import (
    Commanded,
    Configured,
    Continued,
    Edited,
    FromPerson,
    Opened,
    Pressed,
    Said,
    Visited,
)
from bot.domain.people import Person, Role, Thread

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
_WORD_ROLES = {
    Word.STOP: Role.STOP,
    Word.DISCARD: Role.APPROVE,
    Word.TAKEOVER: Role.APPROVE,
    Word.USE: Role.APPROVE,
    Word.HANDBACK: Role.APPROVE,
    Word.KEYS: Role.ADMIN,
    Word.RELINK: Role.ADMIN,
}
_FROM_HERE = frozenset({Word.STOP, Word.RESUME, Word.CONTINUE})
DIRECT = "dm"
"""Stands in a list of places for every conversation of one person with the bot alone."""


@dataclass(frozen=True)
class Door:
    """Who may come in from one platform, and from where: full ids of people by role, and of channels."""

    people: Mapping[Role, frozenset[str]]
    places: frozenset[str] | None = None
    """None: the platform is one place, the terminal."""

    def leads_in(self, thread: Thread) -> bool:
        if self.places is None or thread.home:
            return True
        direct = f"{thread.workspace}:{DIRECT}" if thread.workspace else DIRECT
        if thread.direct and direct in self.places:
            return True
        # a channel of that very name is no direct conversation
        return thread.place in self.places and thread.place != direct


@dataclass(frozen=True)
class Gate:
    """A platform that has no door lets nobody through."""

    doors: Mapping[str, Door]
    here: str = ""
    """The platform of whoever runs the bot and sits at its machine."""

    def lets(self, thread: Thread, event: FromPerson) -> bool:
        return self.grants(thread, event.by, role_for(event))

    def grants(self, thread: Thread, person: Person, role: Role) -> bool:
        door = self.doors.get(thread.platform)
        if door is None or person.platform != thread.platform:
            return False
        if person.outsider or not person.id:
            return False
        return door.leads_in(thread) and person.id in door.people.get(role, frozenset())

    def commands_from_here(self, thread: Thread, event: FromPerson) -> bool:
        """Whoever runs the bot may stop sessions of every chat and have them go on: they could as well end the bot."""
        if not self.here or thread.platform != self.here:
            return False
        word = event.command.word if isinstance(event, Commanded) else None
        return word in _FROM_HERE and self.lets(thread, event)

    def overhears(self, thread: Thread, person: Person) -> bool:
        """Whether what somebody says there, who may not ask for anything, may serve as context."""
        door = self.doors.get(thread.platform)
        if door is None or person.platform != thread.platform or not person.id:
            return False
        return not person.outsider and door.leads_in(thread)


def role_for(event: FromPerson) -> Role:
    """What somebody must be allowed to do for this to count."""
    match event:
        case Pressed(verb=verb) | Opened(verb=verb):
            return _VERB_ROLES.get(verb, Role.START)
        case Commanded(command=command):
            if command.word is Word.REPO and command.argument:
                return Role.ADMIN
            if command.word is Word.TESTS and command.text:
                return Role.APPROVE
            if command.word is Word.INTENT and command.argument in ("approve", "reject"):
                return Role.APPROVE
            return _WORD_ROLES.get(command.word, Role.START)
        case Said(repository=path) if path:
            # any folder of the machine
            return Role.OPERATE
        case Said() | Edited() | Continued() | Visited():
            return Role.START
        case Configured():
            return Role.OPERATE
        case _:
            return Role.ADMIN


def may_ask(platform: str, door: Door, thread: Thread, person: Person) -> bool:
    """All that a chat is told of the gate: whether it is worth its while to fetch what comes with somebody's words."""
    return Gate({platform: door}).grants(thread, person, Role.START)


def everyone_of(platform: str, ids: frozenset[str]) -> Mapping[str, Door]:
    """One list for all roles, on a platform that is one place."""
    return {platform: Door(dict.fromkeys(Role, ids))}
