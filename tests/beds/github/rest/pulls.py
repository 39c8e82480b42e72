"""Pull requests: listed, opened, edited, merged."""

from __future__ import annotations

from collections.abc import Iterable

from tests.beds.github.following import keep
from tests.beds.github.merging import merge
from tests.beds.github.names import Json, Refusal, custom, invalid
from tests.beds.github.payloads.commits import files
from tests.beds.github.payloads.pulls import short, whole
from tests.beds.github.pulls import LONGEST_BODY, LONGEST_TITLE, PullRequest
from tests.beds.github.repositories import Repository
from tests.beds.github.rest.asking import Answer, Ask, Route

_REPO = "/repos/{owner}/{repo}"
_PULL = _REPO + "/pulls/{pull_number}"


def routes() -> Iterable[Route]:
    return (
        Route("GET", _REPO + "/pulls", "pull_requests", listed),
        Route("POST", _REPO + "/pulls", "pull_requests", create),
        Route("GET", _PULL, "pull_requests", read),
        Route("PATCH", _PULL, "pull_requests", edit),
        Route("PUT", _PULL + "/merge", "contents", put_merge),
        Route("GET", _PULL + "/files", "pull_requests", changed),
    )


def listed(ask: Ask) -> Answer:
    state, query = ask.query.get("state", "open"), ask.query
    pulls = [
        one
        for one in ask.repository.pulls.values()
        if state in ("all", one.state)
        and query.get("base", one.base) == one.base
        and _is_head(ask.repository, query.get("head", ""), one)
    ]
    key = "updated_at" if query.get("sort") == "updated" else "created_at"
    newest_first = query.get("direction", "asc" if query.get("sort") == "updated" else "desc")
    pulls.sort(key=lambda one: (getattr(one, key), one.number), reverse=newest_first == "desc")
    return Answer(items=[short(ask.world, ask.repository, one) for one in pulls])


def create(ask: Ask) -> Answer:
    repository, body = ask.repository, ask.body
    head, base = str(body["head"]).removeprefix(f"{repository.owner}:"), str(body["base"])
    _titled(body.get("title"), body.get("body"))
    if not body.get("title"):
        raise invalid("PullRequest", "title", "missing_field")
    if body.get("draft") and not repository.habits.drafts:
        raise Refusal(422, "Draft pull requests are not supported in this repository.")
    head_sha, base_sha = _ends(repository, head, base)
    _not_yet(repository, head, base)
    pull = PullRequest(
        next(repository.ids),
        repository.next_number(),
        str(body["title"]),
        body.get("body"),
        head,
        base,
        head_sha,
        base_sha,
        ask.token.login,
        draft=bool(body.get("draft")),
    )
    repository.pulls[pull.number] = pull
    keep(repository, pull)
    made = whole(ask.world, repository, pull)
    return Answer(made, 201, {"Location": made["url"]})


def read(ask: Ask) -> Answer:
    if "diff" in ask.media:
        pull = ask.pull
        since = ask.repository.git.fork(pull.base_sha, pull.head_sha)
        return Answer(text=ask.repository.git.run("diff", since, pull.head_sha) + "\n")
    return Answer(whole(ask.world, ask.repository, ask.pull, asked=True))


def edit(ask: Ask) -> Answer:
    pull, body = ask.pull, ask.body
    _titled(body.get("title"), body.get("body"))
    if (base := body.get("base")) and base != pull.base:
        _move(ask.repository, pull, str(base))
    if (state := body.get("state")) and state != pull.state:
        _turn(ask.repository, pull, str(state))
    if body.get("title"):
        pull.title = str(body["title"])
    if "body" in body:
        pull.body = body["body"]
    pull.changed()
    return Answer(whole(ask.world, ask.repository, pull))


def put_merge(ask: Ask) -> Answer:
    body, pull = ask.body, ask.pull
    made = merge(
        ask.repository,
        pull,
        method=body.get("merge_method") or "merge",
        by=ask.token.login,
        sha=body.get("sha"),
        title=body.get("commit_title"),
        message=body.get("commit_message"),
    )
    return Answer({"sha": made, "merged": True, "message": "Pull Request successfully merged"})


def changed(ask: Ask) -> Answer:
    pull = ask.pull
    since = ask.repository.git.fork(pull.base_sha, pull.head_sha)
    return Answer(items=files(ask.world, ask.repository, since, pull.head_sha))


def _is_head(repository: Repository, wanted: str, pull: PullRequest) -> bool:
    """Whether it fits the filter; one without an owner is no filter at all."""
    return ":" not in wanted or wanted == f"{repository.owner}:{pull.head}"


def _titled(title: object, body: object) -> None:
    if isinstance(title, str) and len(title) > LONGEST_TITLE:
        said = f"title is too long (maximum is {LONGEST_TITLE} characters)"
        raise custom("PullRequest", said, field="title")
    if isinstance(body, str) and len(body) > LONGEST_BODY:
        said = f"body is too long (maximum is {LONGEST_BODY} characters)"
        raise custom("Issue", said, field="body")


def _ends(repository: Repository, head: str, base: str) -> tuple[str, str]:
    """Where both branches are; refused when there is nothing between them."""
    heads = repository.git.heads()
    if head not in heads:
        raise invalid("PullRequest", "head")
    if base not in heads:
        raise invalid("PullRequest", "base")
    if not repository.git.fork(heads[base], heads[head]):
        raise custom("PullRequest", f"The {head} branch has no history in common with {base}")
    if repository.git.contains(heads[base], heads[head]):
        raise custom("PullRequest", f"No commits between {base} and {head}")
    return heads[head], heads[base]


def _not_yet(repository: Repository, head: str, base: str) -> None:
    for one in repository.pulls.values():
        if one.is_open and (one.head, one.base) == (head, base):
            said = f"A pull request already exists for {repository.owner}:{head}."
            raise custom("PullRequest", said)


def _move(repository: Repository, pull: PullRequest, base: str) -> None:
    if not pull.is_open:
        raise custom("PullRequest", "Cannot change the base branch of a closed pull request.")
    _, pull.base_sha = _ends(repository, pull.head, base)
    pull.base = base


def _turn(repository: Repository, pull: PullRequest, state: str) -> None:
    """Close it, or open it again if that can still be."""
    if state == "closed":
        pull.close()
        return
    said: Json = {"resource": "PullRequest", "code": "invalid", "field": "state"}
    heads = repository.git.heads()
    why = ""
    if pull.merged_at:
        why = "The pull request cannot be reopened."
    elif pull.head not in heads:
        why = f"The {pull.head} branch has been deleted."
    elif pull.base not in heads:
        why = f"The {pull.base} branch has been deleted."
    elif not repository.git.contains(heads[pull.head], pull.head_sha):
        why = f"The {pull.head} branch was force-pushed or recreated."
    if why:
        said["message"] = f"state cannot be changed. {why}"
        raise Refusal(422, "Validation Failed", errors=[said])
    _not_yet(repository, pull.head, pull.base)
    pull.reopen()
    pull.base_sha = heads[pull.base]
