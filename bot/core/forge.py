"""Where a repository is hosted, and what is known there of a pull request: its checks, its reviews, and whether
it can be merged.
"""

from __future__ import annotations

from enum import StrEnum

from bot.core.facts import Exact, Fact


class Hosted(Fact):
    """A repository on a forge. It is fixed when a session begins: an agent can change the checkout's remotes."""

    slug: Exact
    """owner/name."""
    url: Exact = ""
    """Its page."""
    problem: str = ""
    """Why pull requests cannot be made there now; empty: they can."""
    remedy: str = ""


class PullWanted(Fact):
    """A pull request as it shall be."""

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
    """A check of the forge's own that failed on the head of a pull request."""

    key: str
    """The same failure has the same one, however often it is looked at: the check, its run and the commit."""
    name: str
    output: str = ""
    """Its summary, and the end of its log where that can be read."""
    url: str = ""


class ReviewNote(Fact):
    """What somebody wrote at a pull request."""

    key: str
    author: str
    trusted: bool
    """Whether the author may write to the repository: nobody else instructs an agent."""
    text: str
    path: str = ""
    line: int | None = None
    asks_for_changes: bool = False
    url: str = ""


class MergeState(StrEnum):
    """What the forge says about merging it."""

    UNKNOWN = "unknown"
    CLEAN = "clean"
    CONFLICT = "conflict"
    BEHIND = "behind"
    BLOCKED = "blocked"
    """By the rules of its base branch: reviews or checks are missing."""
    UNSTABLE = "unstable"
    """It can be merged, though a check has failed or still runs."""
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
    """The names of all checks that there are of its head."""
    failures: tuple[CiFailure, ...] = ()
    notes: tuple[ReviewNote, ...] = ()
    """Those that are not settled: replies and resolved threads are none."""


class Obstacle(StrEnum):
    """Why a pull request was not merged."""

    CONFLICT = "conflict"
    MOVED = "moved"
    """Its head is another one than was to be merged."""
    BEHIND = "behind"
    RULES = "rules"
    """Of its base branch: reviews, for example."""
    CHECKS = "checks"
    """Some of its checks have not ended yet."""
    CHECKS_MISSING = "checks_missing"
    """Checks that are to be expected have not appeared yet."""
    CHECKS_FAILED = "checks_failed"
    CLOSED = "closed"
    DRAFT = "draft"


WAITS_FOR = frozenset(
    {Obstacle.RULES, Obstacle.CHECKS, Obstacle.CHECKS_MISSING, Obstacle.CHECKS_FAILED}
)
"""What may be out of the way later, without the bot: reviews come, checks pass. Who wants it merged still does then."""


class ChecksWanted(Fact):
    """What is known of the checks that a head must have passed before it is merged."""

    names: tuple[str, ...] = ()
    """Of the checks that earlier heads of the same pull request had."""
    expected: bool = False
    """Other pull requests of the session had some."""
    anyway: bool = False
    """A person does not want to wait for those that have not appeared. Those that have must pass all the same."""


NOTHING_KNOWN = ChecksWanted()


class MergeTried(Fact):
    merged: bool
    commit: str = ""
    obstacle: Obstacle | None = None
    reason: str = ""


class Fetched(Fact):
    """A branch of the forge, copied to this machine."""

    path: str
    """The repository that holds it."""
    commit: str
