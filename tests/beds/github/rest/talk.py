"""What is said below and in the lines of a pull request, and its reviews."""

from __future__ import annotations

from collections.abc import Iterable

from tests.beds.github.payloads.talk import comment, inline, review
from tests.beds.github.rest.asking import Answer, Ask, Route

_REPO = "/repos/{owner}/{repo}"
_PULL = _REPO + "/pulls/{pull_number}"
_ISSUE = _REPO + "/issues/{issue_number}"
_EITHER = "pull_requests|issues"
_ONE = _REPO + "/issues/comments/{id}"


def routes() -> Iterable[Route]:
    return (
        Route("GET", _ISSUE + "/comments", _EITHER, listed),
        Route("GET", _PULL + "/comments", "pull_requests", listed_inline),
        Route("GET", _PULL + "/reviews", "pull_requests", listed_reviews),
    )


def listed(ask: Ask) -> Answer:
    since = ask.query.get("since", "")
    shown = [
        comment(ask.world, ask.repository, one)
        for one in ask.repository.comments
        if one.number == ask.pull.number
    ]
    return Answer(items=[one for one in shown if str(one["updated_at"]) >= since])


def listed_inline(ask: Ask) -> Answer:
    found = [one for one in ask.repository.inline if one.number == ask.pull.number]
    return Answer(items=[inline(ask.world, ask.repository, one) for one in found])


def listed_reviews(ask: Ask) -> Answer:
    found = [one for one in ask.repository.reviews if one.number == ask.pull.number]
    return Answer(items=[review(ask.world, ask.repository, one) for one in found])
