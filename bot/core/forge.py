"""Where a repository is hosted, and what the forge knows about a pull request: checks, reviews, and whether it can be
merged.
"""

from __future__ import annotations

from enum import StrEnum

from bot.core.facts import Exact, Fact


class Hosted(Fact):
    """A repository on a forge.

    It is fixed when a session starts, because an agent can change the checkout's remotes.
    """

    slug: Exact
    """"owner/name"."""
    url: Exact = ""
    """The URL of its page."""
    problem: str = ""
    """Why pull requests cannot be made there now; empty if they can."""
    remedy: str = ""


class PullWanted(Fact):
    """The wanted state of a pull request."""

    branch: str
    commit: str
    base: str
    title: str
    body: str
    draft: bool = False


class CiState(StrEnum):
    NONE = "none"
    PENDING = "pending"
    PASSED = "passed"
    FAILED = "failed"


class CiFailure(Fact):
    """A check of the forge that failed on a pull request's head."""

    key: str
    """Identifies the failure however often it is seen: the check, its run and the commit."""
    name: str
    output: str = ""
    """Its summary, and the end of its log if that can be read."""
    url: str = ""


class ReviewNote(Fact):
    """A comment on a pull request."""

    key: str
    author: str
    trusted: bool
    """Whether the author has write access to the repository: nobody else may instruct an agent."""
    text: str
    path: str = ""
    line: int | None = None
    asks_for_changes: bool = False
    url: str = ""


class MergeState(StrEnum):
    """Whether the forge would merge it."""

    UNKNOWN = "unknown"
    CLEAN = "clean"
    CONFLICT = "conflict"
    BEHIND = "behind"
    BLOCKED = "blocked"
    """The rules of the base branch forbid it: reviews or checks are missing."""
    UNSTABLE = "unstable"
    """It can be merged, though a check has failed or is still running."""
    DRAFT = "draft"


class Pull(Fact):
    """A pull request as it was last seen."""

    number: int
    url: str
    branch: str = ""
    head: str = ""
    base: str = ""
    open: bool = True
    merged: bool = False
    merge_commit: str = ""
    draft: bool = False
    merge_state: MergeState = MergeState.UNKNOWN
    ci: CiState = CiState.NONE
    checks: tuple[str, ...] = ()
    """The names of all checks of its head."""
    failures: tuple[CiFailure, ...] = ()
    notes: tuple[ReviewNote, ...] = ()
    """Open comments only, without replies and resolved threads."""


class Obstacle(StrEnum):
    """Why a pull request was not merged."""

    CONFLICT = "conflict"
    MOVED = "moved"
    """Its head is not the commit that was to be merged."""
    BEHIND = "behind"
    RULES = "rules"
    """A rule of the base branch, such as a required review."""
    CHECKS = "checks"
    """Some checks have not finished yet."""
    CHECKS_MISSING = "checks_missing"
    """Expected checks have not appeared yet."""
    CHECKS_FAILED = "checks_failed"
    CLOSED = "closed"
    DRAFT = "draft"


WAITS_FOR = frozenset(
    {Obstacle.RULES, Obstacle.CHECKS, Obstacle.CHECKS_MISSING, Obstacle.CHECKS_FAILED}
)
"""Obstacles that may disappear without the bot, e.g. when reviews arrive or checks pass.

The wish to merge stays valid meanwhile.
"""


class ChecksWanted(Fact):
    """What is known of the checks that must pass before a head is merged."""

    names: tuple[str, ...] = ()
    """The names of the checks that earlier heads of the pull request had."""
    expected: bool = False
    """Other pull requests of the session had checks."""
    anyway: bool = False
    """A person does not want to wait for checks that have not appeared. Those that have appeared must still pass."""


NOTHING_KNOWN = ChecksWanted()


class MergeTried(Fact):
    merged: bool
    commit: str = ""
    obstacle: Obstacle | None = None
    reason: str = ""


class Fetched(Fact):
    """A branch of the forge, copied to this machine."""

    path: str
    """The repository on disk that holds it."""
    commit: str
