"""Accounts and their tokens: who somebody is, and what a token of theirs may still do."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.beds.github.names import BOT, MIKA, STRANGER, TOKEN

LEVELS = ("none", "read", "write")
WRITERS = ("OWNER", "MEMBER", "COLLABORATOR")


@dataclass(frozen=True)
class User:
    login: str
    id: int
    kind: str = "User"
    association: str = "NONE"
    """What they are to the repositories, unless a comment says otherwise."""


def enough() -> dict[str, str]:
    """The fewest rights the app can do its work with."""
    return {
        "metadata": "read",
        "contents": "write",
        "pull_requests": "write",
        "checks": "read",
        "statuses": "read",
        "actions": "read",
    }


@dataclass
class Token:
    value: str = field(repr=False)
    login: str = BOT
    rights: dict[str, str] = field(default_factory=enough)
    expired: bool = False
    repositories: frozenset[str] | None = None
    """The only ones it is for, by full name; None: all."""

    def may(self, right: str, level: str) -> bool:
        return LEVELS.index(self.rights.get(right, "none")) >= LEVELS.index(level)

    def sees(self, repository: str) -> bool:
        return self.repositories is None or repository in self.repositories

    def give(self, **rights: str) -> None:
        """Change single rights: `contents="read"`, `pull_requests="none"`, `workflows="write"` …"""
        unknown = set(rights.values()) - set(LEVELS)
        if unknown:
            raise ValueError(f"no such level: {unknown}")
        self.rights |= rights

    def expire(self) -> None:
        self.expired = True


class Accounts:
    def __init__(self) -> None:
        self.users: dict[str, User] = {}
        self.tokens: dict[str, Token] = {}
        self.add(BOT, association="COLLABORATOR")
        self.add(MIKA, association="MEMBER")
        self.add(STRANGER)
        self.tokens[TOKEN] = Token(TOKEN)

    def add(self, login: str, kind: str = "User", association: str = "NONE") -> User:
        user = User(login, 1000 + len(self.users), kind, association)
        self.users[login] = user
        return user

    def user(self, login: str) -> User:
        """Somebody; whoever is named for the first time has an account from now on."""
        return self.users.get(login) or self.add(login)
