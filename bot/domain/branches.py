"""Branches as people look at them: where each stands, what it brings, and what would be lost with it. Facts only."""

from __future__ import annotations

from pydantic import AwareDatetime

from bot.domain.facts import Fact
from bot.domain.world import Commit


class Branch(Fact):
    """One local branch, held against what is checked out in the main checkout."""

    name: str
    commit: str
    at: AwareDatetime
    """When its last commit was made."""
    subject: str = ""
    ahead: int = 0
    """Commits it has and the base has not."""
    behind: int = 0
    worktree: str = ""
    """Where it is checked out; empty: nowhere."""


class BranchList(Fact):
    repository: str
    """The main checkout's top directory."""
    base: str
    """What the main checkout is on; empty: no branch (detached HEAD)."""
    branches: tuple[Branch, ...] = ()
    """The newest first."""
    more: int = 0
    """How many older ones are not listed."""


class ChangedFile(Fact):
    path: str
    added: int | None = None
    """Lines; none: it is no text."""
    deleted: int | None = None


class BranchDetails(Fact):
    repository: str
    branch: Branch
    base: str
    """What the main checkout is on; empty: no branch."""
    author: str = ""
    """Of its last commit: a name, never an address."""
    upstream: str = ""
    """The branch it follows, as git writes it; empty: none."""
    parted: str = ""
    """The last commit it has in common with the base; empty: there is none."""
    commits: tuple[Commit, ...] = ()
    """What it has and the base has not, the newest first."""
    files: tuple[ChangedFile, ...] = ()
    """What it changed since they parted."""
    uncommitted: int | None = None
    """Files changed and not committed where it is checked out; none: it is checked out nowhere, or cannot be looked at."""
    lost: int = 0
    """Commits that no other branch, tag or remote has: they would go with it."""
    only_here: tuple[Commit, ...] = ()
    """The newest of them."""

    @property
    def merged(self) -> bool:
        """Everything on it is in the base."""
        return bool(self.base) and not self.branch.ahead
