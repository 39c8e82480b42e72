"""A request on its way to what it asks for, and what comes back; a route says where it leads and which right it needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.beds.github.accounts import Token, User
from tests.beds.github.names import Json, Refusal, not_found
from tests.beds.github.pulls import PullRequest
from tests.beds.github.repositories import Repository
from tests.beds.github.world import World

_GREEDY = ("ref", "branch", "basehead", "path")
"""Names that may have a slash in them."""


@dataclass
class Answer:
    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    items: list[Any] | None = None
    """A list, of which only a page is answered."""
    under: str = ""
    """The field a page stands in; empty: the page is the whole answer."""
    text: str | None = None
    """Instead of JSON."""


@dataclass
class Ask:
    world: World
    token: Token
    query: dict[str, str]
    body: Json
    names: dict[str, str]
    """What stood in the path."""
    media: str = ""
    """What the one who asks would like to be given."""

    @property
    def user(self) -> User:
        return self.world.accounts.user(self.token.login)

    @property
    def repository(self) -> Repository:
        full_name = f"{self.names['owner']}/{self.names['repo']}"
        if not self.token.sees(full_name):
            raise not_found()
        return self.world.repository(full_name)

    @property
    def number(self) -> int:
        given = self.names.get("pull_number") or self.names.get("issue_number") or ""
        if not given.isdecimal():
            raise not_found()
        return int(given)

    @property
    def pull(self) -> PullRequest:
        found = self.repository.pulls.get(self.number)
        if found is None:
            raise not_found()
        return found

    @property
    def id(self) -> int:
        given = self.names["id"]
        if not given.isdecimal():
            raise not_found()
        return int(given)

    def commit(self, name: str) -> str:
        """The commit that is meant; refused when there is none."""
        found = self.repository.git.commit_of(name)
        if not found:
            raise Refusal(422, f"No commit found for SHA: {name}")
        return found


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    """As GitHub's description writes it."""
    needs: str
    """The right, and perhaps another one that will do: `pull_requests|issues`; empty: any token."""
    do: Callable[[Ask], Answer]
    shape: str = ""
    """The component an answer is like, where the description does not know the path; `any`: nothing is known of it."""

    @property
    def level(self) -> str:
        return "read" if self.method == "GET" else "write"

    def names(self, method: str, path: str) -> dict[str, str] | None:
        """What stands in the path of a request that this route is for."""
        if method != self.method:
            return None
        pattern = re.sub(
            r"\{(\w+)\}", lambda found: f"(?P<{found[1]}>{_part(found[1])})", self.path
        )
        found = re.fullmatch(pattern, path)
        return found.groupdict() if found else None


def _part(name: str) -> str:
    return ".+" if name in _GREEDY else "[^/]+"
