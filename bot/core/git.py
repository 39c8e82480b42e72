"""What git says of a repository: its base branch, its projects, worktrees, merges and branches.

Facts only, as adapters report them.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from bot.core.context.excerpts import RequestContext
from bot.core.facts import Exact, Fact


class Upstream(Fact):
    """The base branch as it stands on its host, compared with the same branch of the checkout."""

    host: str
    """As people call it: GitHub, origin."""
    commit: str = ""
    """Where it stands there; empty: that is not known."""
    local: str = ""
    """Where the checkout's branch stands; empty: there is no such branch any more."""
    ahead: int | None = 0
    """Commits there that the checkout's branch lacks; none: some, but nobody has counted them."""
    unpushed: int = 0
    """Commits of the checkout's branch that are not there."""
    used: bool = False
    """The session builds on the host's branch."""
    missing: bool = False
    """There is no such branch there."""
    problem: str = ""
    """Why it is not known where it stands there."""


class Base(Fact):
    """Where a session starts from: a branch, and the commit it stands at on its host, or in the checkout without one."""

    repository: Exact
    """The main checkout's top directory, absolute."""
    branch: Exact
    commit: Exact
    uncommitted: int = 0
    """How many files of the main checkout have uncommitted changes. They are never touched."""
    under_way: str = ""
    """What a person has begun there and not ended: a merge, a bisect."""
    upstream: Upstream | None = None
    """None: it is hosted nowhere, and has no `origin` that could be asked."""


class Divergence(Fact):
    """How two commits differ."""

    ahead: int
    """Commits that only the second one has."""
    behind: int
    """Commits that only the first one has."""
    files: tuple[str, ...] = ()
    """What differs between their trees, the first few thousand."""


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
    """A directory of the repository that is built and tested by itself."""

    path: str
    """Below the top directory; the top itself is `.`."""
    build_system: BuildSystem = BuildSystem.OTHER
    test_command: str = ""
    """What runs its tests, in that directory. Empty: none was found."""
    set_up: str = ""
    """What its tests need in a new worktree first. Empty: nothing, or what a directory around it has done."""


class Scan(Fact):
    """What the bot read of the repository at one commit, from git objects only."""

    commit: str
    conventions: str = ""
    """CLAUDE.md, AGENTS.md, CONTRIBUTING.md: the rules of the house."""
    directory_tree: str = ""
    build_system: BuildSystem = BuildSystem.OTHER
    test_command: str = ""
    """Empty: none was found, and the person is asked."""
    set_up: str = ""
    """What the tests need in a new worktree first, as lock files tell: `npm ci`. The approval card shows it."""
    has_tests: bool = False
    """There are files of tests, or something that runs them."""
    projects: tuple[Project, ...] = ()
    """The top directory, and what is built and tested by itself below it."""
    project_meta: str = ""
    specs_summary: str = ""
    source_overview: str = ""
    files: int = 0
    truncated: bool = False
    context: RequestContext | None = None
    """What the request is about in it: files, definitions, tests, pieces of code. None: nobody could look."""


class Commit(Fact):
    sha: str
    subject: str


class Work(Fact):
    """What really lies in a worktree, read from git and not from what an agent says."""

    head: str
    commits: tuple[Commit, ...] = ()
    """Those ahead of the commit the task started from, newest first."""
    changed_files: tuple[str, ...] = ()
    created_files: tuple[str, ...] = ()
    deleted_files: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()


class Merged(Fact):
    """A merge was tried. With conflicts nothing was changed: it was aborted."""

    commit: str = ""
    conflicts: tuple[str, ...] = ()


class Removal(Fact):
    """A worktree and its branch were to be removed. Without proof that it is safe nothing is removed."""

    branch: Exact
    path: Exact
    worktree_gone: bool
    branch_gone: bool
    reason: str = ""
    """Why something was left."""


class Checkout(Fact):
    """How the main checkout looks: agents have no business there."""

    branch: str
    commit: str
    changed: tuple[str, ...] = ()
    """Files with uncommitted changes, each as `path:mark`; the mark is another one when the file is."""

    def touched_since(self, before: Checkout) -> tuple[str, ...]:
        """The files whose uncommitted changes are not what they were. Whether its commit moved is told by `commit`."""
        entries = set(self.changed) ^ set(before.changed)
        return tuple(sorted({entry.rpartition(":")[0] for entry in entries}))


class Collision(Fact):
    """Two branches that would not merge with each other."""

    one: Exact
    other: Exact
    files: tuple[str, ...]


# Branches as people look at them: where each stands, what it adds, and what would be lost with
# it.


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
