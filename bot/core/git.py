"""What git reports about a repository: its base branch, projects, worktrees, merges and branches.

Facts only, as adapters deliver them.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from bot.core.context.excerpts import RequestContext
from bot.core.facts import Exact, Fact


class Upstream(Fact):
    """The base branch on its host, compared with the same branch of the checkout."""

    host: str
    """The host's name for people: "GitHub", or "origin"."""
    commit: str = ""
    """Its commit on the host; empty if unknown."""
    local: str = ""
    """The commit of the checkout's branch; empty if that branch no longer exists."""
    ahead: int | None = 0
    """Commits on the host that the checkout's branch lacks; `None` if there are some but their number is unknown."""
    unpushed: int = 0
    """Commits of the checkout's branch that the host lacks."""
    used: bool = False
    """Whether the session starts from the host's branch."""
    missing: bool = False
    """Whether the host has no such branch."""
    problem: str = ""
    """Why the commit on the host is unknown."""


class Base(Fact):
    """Where a session starts: a branch and its commit, taken from the host, or from the checkout if there is no host."""

    repository: Exact
    """The absolute path of the main checkout's top directory."""
    branch: Exact
    commit: Exact
    uncommitted: int = 0
    """How many files of the main checkout have uncommitted changes. The bot never touches them."""
    under_way: str = ""
    """An operation that a person has begun there and not finished: a merge, a bisect."""
    upstream: Upstream | None = None
    """`None` if there is neither a host nor an `origin` remote to ask."""


class Divergence(Fact):
    """How two commits differ."""

    ahead: int
    """Commits that only the second one has."""
    behind: int
    """Commits that only the first one has."""
    files: tuple[str, ...] = ()
    """The files that differ between their trees, limited to a few thousand."""


class BuildSystem(StrEnum):
    CARGO = "Cargo"
    NPM = "Npm"
    PNPM = "Pnpm"
    YARN = "Yarn"
    BUN = "Bun"
    PYTHON = "Python"
    GO = "Go"
    MAVEN = "Maven"
    GRADLE = "Gradle"
    CMAKE = "CMake"
    MAKE = "Make"
    DOTNET = "DotNet"
    RUBY = "Ruby"
    OTHER = "Other"


class Project(Fact):
    """A directory of the repository that is built and tested on its own."""

    path: str
    """Relative to the top directory, which itself is `.`."""
    build_system: BuildSystem = BuildSystem.OTHER
    test_command: str = ""
    """The command that runs its tests, in that directory. Empty if none was found."""
    set_up: str = ""
    """The command that its tests need first in a new worktree.

    Empty if none is needed or a parent directory's command covers it.
    """


class Scan(Fact):
    """What the bot read of the repository at one commit, from git objects only."""

    commit: str
    conventions: str = ""
    """The contents of CLAUDE.md, AGENTS.md and CONTRIBUTING.md: the repository's own rules."""
    directory_tree: str = ""
    build_system: BuildSystem = BuildSystem.OTHER
    test_command: str = ""
    """Empty if none was found; then the user is asked."""
    set_up: str = ""
    """The command that the tests need first in a new worktree, derived from lock files:

    `npm ci`. The approval card shows it.
    """
    has_tests: bool = False
    """Whether there are test files or something that runs tests."""
    projects: tuple[Project, ...] = ()
    """The top directory, and the directories below it that are built and tested on their own."""
    project_meta: str = ""
    specs_summary: str = ""
    source_overview: str = ""
    files: int = 0
    truncated: bool = False
    context: RequestContext | None = None
    """What the request is about in this repository. None: the search was not possible."""


class Commit(Fact):
    sha: str
    subject: str


class Work(Fact):
    """What a worktree really contains, read from git and not taken from what an agent says."""

    head: str
    commits: tuple[Commit, ...] = ()
    """The commits since the task's start commit, newest first."""
    changed_files: tuple[str, ...] = ()
    created_files: tuple[str, ...] = ()
    deleted_files: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()


class Merged(Fact):
    """The result of a merge. If there are conflicts it was aborted and nothing has changed."""

    commit: str = ""
    conflicts: tuple[str, ...] = ()


class Removal(Fact):
    """The result of removing a worktree and its branch. Nothing is removed without proof that it is safe."""

    branch: Exact
    path: Exact
    worktree_gone: bool
    branch_gone: bool
    reason: str = ""
    """Why something was not removed."""


class Checkout(Fact):
    """The state of the main checkout, which agents must not change."""

    branch: str
    commit: str
    changed: tuple[str, ...] = ()
    """Files with uncommitted changes, each as `path:mark`; the mark changes when the file does."""

    def touched_since(self, before: Checkout) -> tuple[str, ...]:
        """Return the files whose uncommitted changes differ from before. A moved commit shows in `commit` instead."""
        entries = set(self.changed) ^ set(before.changed)
        return tuple(sorted({entry.rpartition(":")[0] for entry in entries}))


class Collision(Fact):
    """Two branches that would conflict when merged."""

    one: Exact
    other: Exact
    files: tuple[str, ...]


# Branches as people look at them: where each stands, what it adds, and what would be lost by deleting it.


class Branch(Fact):
    """One local branch, compared with the branch of the main checkout."""

    name: str
    commit: str
    at: AwareDatetime
    """The time of its last commit."""
    subject: str = ""
    ahead: int = 0
    """Commits that the base does not have."""
    behind: int = 0
    worktree: str = ""
    """The path where it is checked out; empty if nowhere."""


class BranchList(Fact):
    repository: str
    """The main checkout's top directory."""
    base: str
    """The branch of the main checkout; empty if its head is detached."""
    branches: tuple[Branch, ...] = ()
    """Newest first."""
    more: int = 0
    """How many older branches are left out."""


class ChangedFile(Fact):
    path: str
    added: int | None = None
    """Added lines; `None` for a binary file."""
    deleted: int | None = None


class BranchDetails(Fact):
    repository: str
    branch: Branch
    base: str
    """The branch of the main checkout; empty if its head is detached."""
    author: str = ""
    """The author's name of the last commit; never a mail address."""
    upstream: str = ""
    """The branch it tracks, as git writes it; empty if none."""
    parted: str = ""
    """The merge base with the base branch; empty if there is none."""
    commits: tuple[Commit, ...] = ()
    """Commits that the base does not have, newest first."""
    files: tuple[ChangedFile, ...] = ()
    """The files changed since the merge base."""
    uncommitted: int | None = None
    """Files with uncommitted changes where it is checked out; `None` if it is not checked out or cannot be read."""
    lost: int = 0
    """Commits that are on no other branch, tag or remote: deleting the branch would lose them."""
    only_here: tuple[Commit, ...] = ()
    """The newest of those commits."""

    @property
    def merged(self) -> bool:
        """Whether the base contains everything of this branch."""
        return bool(self.base) and not self.branch.ahead
