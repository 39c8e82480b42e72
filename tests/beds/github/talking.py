"""Saying something about a pull request, and reviewing it: the same for people and for the API."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tests.beds.github.accounts import User
from tests.beds.github.comments import Comment, Inline, InlineComment, Review
from tests.beds.github.names import Refusal, custom, invalid, not_found
from tests.beds.github.payloads.commits import patch
from tests.beds.github.pulls import LONGEST_BODY, PullRequest
from tests.beds.github.repositories import Repository

_STATES = {
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "COMMENT": "COMMENTED",
    "PENDING": "PENDING",
}
_OWN = {
    "APPROVE": "Can not approve your own pull request",
    "REQUEST_CHANGES": "Can not request changes on your own pull request",
}


def say(repository: Repository, pull: PullRequest, user: User, body: str) -> Comment:
    """Below the pull request."""
    if not body.strip():
        raise invalid("IssueComment", "body", "missing_field")
    if len(body) > LONGEST_BODY:
        said = f"Body is too long (maximum is {LONGEST_BODY} characters)"
        raise custom("IssueComment", said, field="body")
    made = Comment(next(repository.ids), pull.number, user.login, user.association, body)
    repository.comments.append(made)
    pull.changed()
    return made


def say_inline(
    repository: Repository, pull: PullRequest, user: User, what: Inline, review: int | None
) -> InlineComment:
    """In a line of what the pull request changes."""
    since = repository.git.fork(pull.base_sha, pull.head_sha)
    hunk = _hunk(patch(repository.git, since, pull.head_sha, what.path), what.line, what.side)
    if not hunk:
        raise invalid("PullRequestReviewComment", "pull_request_review_thread.line")
    made = InlineComment(
        next(repository.ids),
        pull.number,
        user.login,
        user.association,
        what.body,
        what.path,
        what.line,
        what.side,
        pull.head_sha,
        hunk,
        review,
    )
    repository.inline.append(made)
    pull.changed()
    return made


def answer_inline(
    repository: Repository, pull: PullRequest, user: User, before: int, body: str
) -> InlineComment:
    """In the same line, below what was said there; answers to answers stand below the first."""
    first = next(
        (one for one in repository.inline if (one.id, one.number) == (before, pull.number)), None
    )
    if first is None:
        raise not_found()
    review = submit(repository, pull, user, "COMMENT", "", [], empty=True)
    made = InlineComment(
        next(repository.ids),
        pull.number,
        user.login,
        user.association,
        body,
        first.path,
        first.line,
        first.side,
        first.commit,
        first.hunk,
        review.id,
        answers=first.answers or first.id,
    )
    repository.inline.append(made)
    pull.changed()
    return made


def submit(
    repository: Repository,
    pull: PullRequest,
    user: User,
    event: str,
    body: str,
    comments: Iterable[Inline],
    *,
    empty: bool = False,
) -> Review:
    """A review with its comments; without any word it must be an approval."""
    inline = list(comments)
    if user.login == pull.user and event in _OWN:
        raise Refusal(422, "Unprocessable Entity", errors=[_OWN[event]])
    if event in ("REQUEST_CHANGES", "COMMENT") and not (body or inline or empty):
        raise Refusal(422, "Unprocessable Entity", errors=["Review body can't be blank"])
    number = next(repository.ids)
    said = [say_inline(repository, pull, user, one, number) for one in inline]
    made = Review(
        number,
        pull.number,
        user.login,
        user.association,
        _STATES[event],
        body,
        said[0].commit if said else pull.head_sha,
    )
    repository.reviews.append(made)
    pull.changed()
    return made


def _hunk(patch_text: str, line: int, side: str) -> str:
    """The hunk with that line, down to it; empty when the line is in none."""
    for part in re.split(r"(?m)^(?=@@ )", patch_text):
        found = re.match(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@", part)
        if not found:
            continue
        at = int(found[2] if side == "RIGHT" else found[1]) - 1
        lines = part.splitlines()
        for count, text in enumerate(lines[1:], 2):
            at += text[:1] != ("-" if side == "RIGHT" else "+")
            if at == line and text[:1] in (" ", "+" if side == "RIGHT" else "-"):
                return "\n".join(lines[:count])
    return ""
