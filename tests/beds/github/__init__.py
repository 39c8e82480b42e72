"""A GitHub on the loopback: real git below it, GitHub's own words above it, and whatever may go wrong in between."""

from tests.beds.github.accounts import Token
from tests.beds.github.api import Call
from tests.beds.github.checks import CheckRun, Status
from tests.beds.github.comments import Comment, Inline, InlineComment, Review
from tests.beds.github.faults import Faults, GitFaults
from tests.beds.github.hosted import Hosted
from tests.beds.github.names import BOT, MIKA, STRANGER, TOKEN, CannotDo
from tests.beds.github.people import People
from tests.beds.github.pulls import PullRequest
from tests.beds.github.repositories import Habits, Protection
from tests.beds.github.robots import Robots, annotation
from tests.beds.github.server import GithubBed
from tests.beds.github.smart_http import GitCall

__all__ = [
    "BOT",
    "MIKA",
    "STRANGER",
    "TOKEN",
    "Call",
    "CannotDo",
    "CheckRun",
    "Comment",
    "Faults",
    "GitCall",
    "GitFaults",
    "GithubBed",
    "Habits",
    "Hosted",
    "Inline",
    "InlineComment",
    "People",
    "Protection",
    "PullRequest",
    "Review",
    "Robots",
    "Status",
    "Token",
    "annotation",
]
