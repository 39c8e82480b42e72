"""The one gate for every way in: may this person do this? By full ids only; an empty list means nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.choices import Verb, Word
from bot.domain.events import Commanded, FromPerson, Pressed, Said
from bot.domain.people import Person, Role

_VERB_ROLES = {
    Verb.STOP: Role.STOP,
    Verb.RESUME: Role.START,
    Verb.DISCARD: Role.APPROVE,
    Verb.APPROVE: Role.APPROVE,
    Verb.MERGE: Role.APPROVE,
    Verb.GIVE_UP: Role.APPROVE,
}
_WORD_ROLES = {Word.STOP: Role.STOP, Word.DISCARD: Role.APPROVE, Word.KEYS: Role.ADMIN}


@dataclass(frozen=True)
class Gate:
    """`allowed`: platform → role → full ids. A platform or role that is not there lets nobody through."""

    allowed: Mapping[str, Mapping[Role, frozenset[str]]]

    def lets(self, person: Person, event: FromPerson) -> bool:
        return self.grants(person, role_for(event))

    def grants(self, person: Person, role: Role) -> bool:
        return person.id in self.allowed.get(person.platform, {}).get(role, frozenset())


def role_for(event: FromPerson) -> Role:
    """What somebody must be allowed to do for this to count."""
    match event:
        case Pressed(verb=verb):
            return _VERB_ROLES.get(verb, Role.START)
        case Commanded(command=command):
            return _WORD_ROLES.get(command.word, Role.START)
        case Said():
            return Role.START
        case _:
            return Role.ADMIN


def everyone_of(platform: str, ids: frozenset[str]) -> Mapping[str, Mapping[Role, frozenset[str]]]:
    """One list for all roles."""
    return {platform: dict.fromkeys(Role, ids)}
