"""The two mutations REST does not have: a draft becomes ready for review, and a draft again."""

from __future__ import annotations

import re
from typing import Any, cast

from tests.beds.github.names import Json
from tests.beds.github.rest.asking import Answer, Ask

_DRAFT_AFTER = {"markPullRequestReadyForReview": False, "convertPullRequestToDraft": True}


def answer(ask: Ask) -> Answer:
    """Errors of GraphQL come with 200, too."""
    found = re.search(r"\{\s*(\w+)", str(ask.body.get("query", "")))
    name = found[1] if found else ""
    if name not in _DRAFT_AFTER:
        said = f"Field '{name}' doesn't exist on type 'Mutation'"
        return Answer({"errors": [{"message": said, "path": [name]}]})
    variables: Any = ask.body.get("variables") or {}
    given = cast("Json", variables.get("input") or {})
    for repository in ask.world.repositories.values():
        for pull in repository.pulls.values():
            if pull.node_id != given.get("pullRequestId") or not ask.token.sees(
                repository.full_name
            ):
                continue
            if not ask.token.may("pull_requests", "write"):
                return _error(name, "FORBIDDEN", _forbidden(ask))
            if not pull.is_open:
                return _error(name, "UNPROCESSABLE", "Pull request is closed")
            pull.draft = _DRAFT_AFTER[name]
            pull.changed()
            made = {"isDraft": pull.draft, "id": pull.node_id, "number": pull.number}
            same = given.get("clientMutationId")
            return Answer({"data": {name: {"clientMutationId": same, "pullRequest": made}}})
    wanted = given.get("pullRequestId")
    return _error(
        name, "NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'."
    )


def _forbidden(ask: Ask) -> str:
    kind = "integration" if ask.token.value.startswith("ghs_") else "personal access token"
    return f"Resource not accessible by {kind}"


def _error(name: str, kind: str, message: str) -> Answer:
    error = {"type": kind, "path": [name], "message": message}
    return Answer({"data": {name: None}, "errors": [error]})
