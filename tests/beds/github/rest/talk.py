"""What is said below and in the lines of a pull request, and its reviews and labels."""

from __future__ import annotations

from collections.abc import Iterable

from tests.beds.github.comments import Comment, Inline
from tests.beds.github.names import Json, invalid, not_found, now
from tests.beds.github.payloads.pulls import issue
from tests.beds.github.payloads.repositories import label
from tests.beds.github.payloads.talk import comment, inline, review
from tests.beds.github.rest.asking import Answer, Ask, Route
from tests.beds.github.talking import answer_inline, say, say_inline, submit

_REPO = "/repos/{owner}/{repo}"
_PULL = _REPO + "/pulls/{pull_number}"
_ISSUE = _REPO + "/issues/{issue_number}"
_EITHER = "pull_requests|issues"
_ONE = _REPO + "/issues/comments/{id}"
_PINNED = "pull-request-review-comment"


def routes() -> Iterable[Route]:
    return (
        Route("GET", _ISSUE, _EITHER, read_issue, "any"),
        Route("GET", _ISSUE + "/comments", _EITHER, listed),
        Route("POST", _ISSUE + "/comments", _EITHER, create),
        Route("GET", _ONE, _EITHER, read_one, "issue-comment"),
        Route("PATCH", _ONE, _EITHER, edit, "issue-comment"),
        Route("DELETE", _ONE, _EITHER, delete),
        Route("GET", _ISSUE + "/labels", _EITHER, labels, "[]label"),
        Route("POST", _ISSUE + "/labels", _EITHER, add_labels),
        Route("DELETE", _ISSUE + "/labels/{label}", _EITHER, remove_label, "[]label"),
        Route("GET", _REPO + "/labels", _EITHER, all_labels, "[]label"),
        Route("GET", _PULL + "/comments", "pull_requests", listed_inline),
        Route("POST", _PULL + "/comments", "pull_requests", create_inline),
        Route("POST", _PULL + "/comments/{id}/replies", "pull_requests", reply, _PINNED),
        Route("GET", _REPO + "/pulls/comments/{id}", "pull_requests", read_inline, _PINNED),
        Route("GET", _PULL + "/reviews", "pull_requests", listed_reviews),
        Route("POST", _PULL + "/reviews", "pull_requests", create_review),
        Route("GET", _PULL + "/reviews/{id}", "pull_requests", read_review, "pull-request-review"),
    )


def read_issue(ask: Ask) -> Answer:
    return Answer(issue(ask.world, ask.repository, ask.pull))


def listed(ask: Ask) -> Answer:
    since = ask.query.get("since", "")
    shown = [
        comment(ask.world, ask.repository, one)
        for one in ask.repository.comments
        if one.number == ask.pull.number
    ]
    return Answer(items=[one for one in shown if str(one["updated_at"]) >= since])


def create(ask: Ask) -> Answer:
    made = say(ask.repository, ask.pull, ask.user, str(ask.body["body"]))
    return Answer(comment(ask.world, ask.repository, made), 201)


def read_one(ask: Ask) -> Answer:
    return Answer(comment(ask.world, ask.repository, _comment(ask)))


def edit(ask: Ask) -> Answer:
    found = _comment(ask)
    found.body, found.updated_at = str(ask.body.get("body", "")), now()
    return Answer(comment(ask.world, ask.repository, found))


def delete(ask: Ask) -> Answer:
    ask.repository.comments.remove(_comment(ask))
    return Answer(status=204)


def labels(ask: Ask) -> Answer:
    return Answer(items=_labels(ask, ask.pull.labels))


def all_labels(ask: Ask) -> Answer:
    return Answer(items=_labels(ask, ask.repository.labels))


def add_labels(ask: Ask) -> Answer:
    for name in ask.body.get("labels", []):
        if name not in ask.pull.labels:
            ask.pull.labels.append(str(name))
    return Answer(items=_labels(ask, ask.pull.labels))


def remove_label(ask: Ask) -> Answer:
    if ask.names["label"] not in ask.pull.labels:
        raise not_found()
    ask.pull.labels.remove(ask.names["label"])
    return Answer(items=_labels(ask, ask.pull.labels))


def listed_inline(ask: Ask) -> Answer:
    found = [one for one in ask.repository.inline if one.number == ask.pull.number]
    return Answer(items=[inline(ask.world, ask.repository, one) for one in found])


def create_inline(ask: Ask) -> Answer:
    body = ask.body
    if body.get("in_reply_to"):
        before = body["in_reply_to"]
        made = answer_inline(ask.repository, ask.pull, ask.user, before, str(body["body"]))
    else:
        made = say_inline(ask.repository, ask.pull, ask.user, _wanted(body), None)
    return Answer(inline(ask.world, ask.repository, made), 201)


def reply(ask: Ask) -> Answer:
    said = str(ask.body.get("body", ""))
    made = answer_inline(ask.repository, ask.pull, ask.user, ask.id, said)
    return Answer(inline(ask.world, ask.repository, made), 201)


def read_inline(ask: Ask) -> Answer:
    for one in ask.repository.inline:
        if one.id == ask.id:
            return Answer(inline(ask.world, ask.repository, one))
    raise not_found()


def listed_reviews(ask: Ask) -> Answer:
    found = [one for one in ask.repository.reviews if one.number == ask.pull.number]
    return Answer(items=[review(ask.world, ask.repository, one) for one in found])


def create_review(ask: Ask) -> Answer:
    body = ask.body
    event = str(body.get("event", "PENDING"))
    given: list[Json] = body.get("comments") or []
    comments = [_wanted(one) for one in given]
    said = str(body.get("body") or "")
    made = submit(ask.repository, ask.pull, ask.user, event, said, comments)
    return Answer(review(ask.world, ask.repository, made))


def read_review(ask: Ask) -> Answer:
    for one in ask.repository.reviews:
        if (one.number, one.id) == (ask.pull.number, ask.id):
            return Answer(review(ask.world, ask.repository, one))
    raise not_found()


def _comment(ask: Ask) -> Comment:
    found = next((one for one in ask.repository.comments if one.id == ask.id), None)
    if found is None:
        raise not_found()
    return found


def _labels(ask: Ask, names: Iterable[str]) -> list[Json]:
    return [label(ask.world, ask.repository, ask.repository.label(name)) for name in names]


def _wanted(body: Json) -> Inline:
    line = body.get("line") or body.get("position")
    if not isinstance(line, int):
        raise invalid("PullRequestReviewComment", "line", "missing_field")
    return Inline(str(body["path"]), line, str(body["body"]), str(body.get("side") or "RIGHT"))
