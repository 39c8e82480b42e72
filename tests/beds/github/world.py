"""Everything there is on this GitHub, and the quota of those who ask; one lock keeps people and the API apart."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.beds.github.accounts import Accounts
from tests.beds.github.names import not_found
from tests.beds.github.repositories import Repository, bare


@dataclass
class Quota:
    """How much may be asked in an hour; what was asked with a condition that holds is free."""

    limit: int = 5_000
    used: int = 0
    reset: int = field(default_factory=lambda: int(time.time()) + 3_600)

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)

    @property
    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.left),
            "X-RateLimit-Reset": str(self.reset),
            "X-RateLimit-Used": str(self.used),
            "X-RateLimit-Resource": "core",
        }


class World:
    def __init__(self, folder: Path, prefix: str) -> None:
        self.folder = folder
        self.prefix = prefix
        self.base = ""
        """Scheme, host and port: what every address here begins with."""
        self.lock = threading.RLock()
        self.accounts = Accounts()
        self.quota = Quota()
        self.repositories: dict[str, Repository] = {}
        self._ids: Iterator[int] = itertools.count(501)

    @property
    def api(self) -> str:
        return self.base + self.prefix

    def create(self, full_name: str, seed: Path | None) -> Repository:
        owner, _, name = full_name.partition("/")
        if owner not in self.accounts.users:
            self.accounts.add(owner, "Organization", "OWNER")
        git = bare(self.folder / owner / f"{name}.git", seed)
        branch = git.run("symbolic-ref", "--short", "HEAD")
        made = Repository(owner, name, git, next(self._ids), self._ids, default_branch=branch)
        self.repositories[full_name] = made
        return made

    def repository(self, full_name: str) -> Repository:
        found = self.repositories.get(full_name)
        if found is None:
            raise not_found()
        return found
