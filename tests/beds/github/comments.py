"""What people say about a pull request: comments below it, comments in its lines, reviews."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from tests.beds.github.accounts import WRITERS
from tests.beds.github.names import now


@dataclass
class Comment:
    id: int
    number: int
    """Of the pull request."""
    user: str
    association: str
    body: str
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)


@dataclass
class InlineComment:
    id: int
    number: int
    user: str
    association: str
    body: str
    path: str
    line: int
    side: str
    commit: str
    hunk: str
    review: int | None
    answers: int | None = None
    """The comment that it is an answer to."""
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)


@dataclass
class Review:
    id: int
    number: int
    user: str
    association: str
    state: str
    body: str
    commit: str
    submitted_at: datetime = field(default_factory=now)


@dataclass(frozen=True)
class Inline:
    """What somebody wants to say in a line."""

    path: str
    line: int
    body: str
    side: str = "RIGHT"


def approvals(reviews: Iterable[Review], number: int) -> tuple[int, int]:
    """How many of those who may write approve, and how many want changes: each by their last word."""
    last = {
        one.user: one.state
        for one in reviews
        if one.number == number and one.association in WRITERS and one.state != "COMMENTED"
    }
    words = list(last.values())
    return words.count("APPROVED"), words.count("CHANGES_REQUESTED")
