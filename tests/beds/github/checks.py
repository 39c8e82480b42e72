"""What robots say of a commit: check runs and statuses, and what they come to together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from tests.beds.github.names import Json, now

GOOD = ("success", "neutral", "skipped")


@dataclass
class CheckRun:
    id: int
    sha: str
    name: str
    app: str
    status: str
    conclusion: str | None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Json] = field(default_factory=list[Json])
    log: str = ""
    """What the job printed, for those of GitHub Actions."""
    started_at: datetime = field(default_factory=now)
    completed_at: datetime | None = None

    @property
    def outcome(self) -> str:
        """`good`, `bad` or `pending`."""
        if self.status != "completed":
            return "pending"
        return "good" if self.conclusion in GOOD else "bad"


@dataclass(frozen=True)
class Status:
    id: int
    sha: str
    context: str
    state: str
    creator: str
    description: str | None = None
    target_url: str | None = None
    created_at: datetime = field(default_factory=now)

    @property
    def outcome(self) -> str:
        return {"success": "good", "pending": "pending"}.get(self.state, "bad")


@dataclass
class Ci:
    """A robot that checks the head of every pull request, but takes its time to begin.

    Time is counted in looks at the checks of a commit: nobody can be quicker than it by looking only once.
    """

    name: str
    finds: Callable[[str], str]
    """What it comes to at a commit: a conclusion."""
    begins: int
    """At which look its check run appears; GitHub shows nothing of it before."""
    ends: int
    """At which look it has come to an end."""
    app: str = "GitHub Actions"
    looks: dict[str, int] = field(default_factory=dict[str, int])

    def looked_at(self, sha: str) -> int:
        self.looks[sha] = self.looks.get(sha, 0) + 1
        return self.looks[sha]


def latest_runs(runs: Iterable[CheckRun], sha: str) -> list[CheckRun]:
    """The last run of each check on a commit, the newest first."""
    last = {(one.app, one.name): one for one in runs if one.sha == sha}
    return sorted(last.values(), key=lambda one: -one.id)


def latest_statuses(statuses: Iterable[Status], sha: str) -> list[Status]:
    """The last word of each context on a commit, the newest first."""
    last = {one.context: one for one in statuses if one.sha == sha}
    return sorted(last.values(), key=lambda one: -one.id)


def outcomes(
    runs: Iterable[CheckRun], statuses: Iterable[Status], sha: str
) -> Iterator[tuple[str, str]]:
    """(name, outcome) of everything that was said of a commit."""
    yield from ((one.name, one.outcome) for one in latest_runs(runs, sha))
    yield from ((one.context, one.outcome) for one in latest_statuses(statuses, sha))


def combined(statuses: Iterable[Status]) -> str:
    """The state of a commit by its statuses alone; without any it is pending."""
    said = {one.outcome for one in statuses}
    if "bad" in said:
        return "failure"
    return "success" if said == {"good"} else "pending"
