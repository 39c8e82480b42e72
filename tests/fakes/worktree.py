"""One worktree in memory: what is checked out, what lies around uncommitted, and a merge."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.core.errors import Lost
from bot.core.git import Merged
from tests.fakes.histories import changes, clashes, is_below
from tests.fakes.repository import FakeRepository


@dataclass
class FakeWorktree:
    repository: FakeRepository
    branch: str
    """Empty: a scratch worktree on no branch."""
    detached: str = ""
    left: dict[str, str] = field(default_factory=dict[str, str])
    """Uncommitted files."""
    copied: dict[str, str] = field(default_factory=dict[str, str])
    """Ignored files."""
    origin: str = ""
    """The commit its branch began with."""
    restored: dict[str, str] = field(default_factory=dict[str, str])
    """Files that are as they were at another commit."""

    @property
    def head(self) -> str:
        return self.repository.heads[self.branch] if self.branch else self.detached

    def require_branch(self) -> None:
        """What people did to it by hand is told."""
        there, branch = self.repository, self.branch
        if branch and branch not in there.heads:
            raise Lost(f"the branch {branch} is gone", "Bring it back, or give the task up.")
        if branch and self.origin not in there.ancestors(there.heads[branch]):
            raise Lost(f"the branch {branch} was moved by hand", "Put it back.")

    def merge(self, other: str, message: str, plan: str = "") -> Merged:
        """File by file: who changed it since they parted wins; both in different ways is a conflict."""
        there = self.repository
        if other in there.ancestors(self.head):
            return Merged(commit=self.head)
        ours, theirs = there.commits[self.head].files, there.commits[other].files
        clash = clashes(there, self.head, other)
        if others := [name for name in clash if not plan or not is_below(name, plan)]:
            return Merged(conflicts=tuple(others))
        changed = changes(there, self.head, other).keys() - {*clash}
        result = {name: text for name, text in ours.items() if name not in changed}
        result |= {name: theirs[name] for name in changed if name in theirs}
        commit = there.make(result, message, (self.head, other))
        if self.branch:
            there.heads[self.branch] = commit
        else:
            self.detached = commit
        return Merged(commit=commit)
