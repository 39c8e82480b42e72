"""A pull request as GitHub keeps it; what of it follows from git is brought up to date by `following`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from tests.beds.github.names import now

LONGEST_TITLE, LONGEST_BODY = 256, 65_536


@dataclass
class PullRequest:
    id: int
    number: int
    title: str
    body: str | None
    head: str
    """A branch of the same repository."""
    base: str
    head_sha: str
    base_sha: str
    """Where the base stands; once it is over, where it stood then."""
    user: str
    draft: bool = False
    state: str = "open"
    merged_at: datetime | None = None
    merged_by: str | None = None
    merge_commit: str | None = None
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)
    closed_at: datetime | None = None
    reads: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """How often it was read while head and base stood so."""

    @property
    def node_id(self) -> str:
        return f"PR_kwDOBed{self.id}"

    @property
    def is_open(self) -> bool:
        return self.state == "open"

    def changed(self) -> None:
        self.updated_at = now()

    def close(self) -> None:
        self.state, self.closed_at, self.updated_at = "closed", now(), now()

    def reopen(self) -> None:
        self.state, self.closed_at, self.updated_at = "open", None, now()

    def become_merged(self, commit: str, by: str) -> None:
        self.close()
        self.merged_at, self.merged_by, self.merge_commit = self.closed_at, by, commit
