"""Pull requests in answers: short in lists, whole when one is asked for."""

from __future__ import annotations

from tests.beds.github.mergeability import looked_at
from tests.beds.github.names import Json, stamp
from tests.beds.github.payloads.commits import size
from tests.beds.github.payloads.repositories import repository, url_of
from tests.beds.github.payloads.users import user
from tests.beds.github.pulls import PullRequest
from tests.beds.github.repositories import Repository
from tests.beds.github.world import World


def short(world: World, one: Repository, pull: PullRequest) -> Json:
    author = world.accounts.user(pull.user)
    links = _links(world, one, pull)
    hrefs = {"self": links["url"], "html": links["html_url"], "issue": links["issue_url"]}
    for name in ("comments", "review_comments", "review_comment", "commits", "statuses"):
        hrefs[name] = links[f"{name}_url"]
    return {
        **links,
        "id": pull.id,
        "node_id": pull.node_id,
        "number": pull.number,
        "state": pull.state,
        "locked": False,
        "title": pull.title,
        "body": pull.body,
        "user": user(world, pull.user),
        "labels": [],
        "milestone": None,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "created_at": stamp(pull.created_at),
        "updated_at": stamp(pull.updated_at),
        "closed_at": stamp(pull.closed_at),
        "merged_at": stamp(pull.merged_at),
        "merge_commit_sha": pull.merge_commit,
        "draft": pull.draft,
        "head": _end(world, one, pull.head, pull.head_sha),
        "base": _end(world, one, pull.base, pull.base_sha),
        "_links": {name: {"href": href} for name, href in hrefs.items()},
        "author_association": author.association,
        "auto_merge": None,
        "active_lock_reason": None,
    }


def whole(world: World, one: Repository, pull: PullRequest, *, asked: bool = False) -> Json:
    """Whoever asks for this sets GitHub thinking about whether it can be merged."""
    mergeable, mergeable_state = looked_at(one, pull, asked=asked)
    since = one.git.fork(pull.base_sha, pull.head_sha)
    return {
        **short(world, one, pull),
        "merged": pull.merged_at is not None,
        "merged_by": user(world, pull.merged_by) if pull.merged_by else None,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": mergeable_state,
        "comments": sum(each.number == pull.number for each in one.comments),
        "review_comments": sum(each.number == pull.number for each in one.inline),
        "maintainer_can_modify": False,
        "commits": len(one.git.between(pull.base_sha, pull.head_sha)),
        **size(one.git, since, pull.head_sha),
    }


def mentioned(world: World, one: Repository, pull: PullRequest) -> Json:
    """A pull request on the page of a check run."""
    here = {"id": one.id, "url": url_of(world, one), "name": one.name}
    return {
        "id": pull.id,
        "number": pull.number,
        "url": f"{url_of(world, one)}/pulls/{pull.number}",
        "head": {"ref": pull.head, "sha": pull.head_sha, "repo": here},
        "base": {"ref": pull.base, "sha": pull.base_sha, "repo": here},
    }


def _links(world: World, one: Repository, pull: PullRequest) -> dict[str, str]:
    base = url_of(world, one)
    url, issue_url = f"{base}/pulls/{pull.number}", f"{base}/issues/{pull.number}"
    page = f"{world.base}/{one.full_name}/pull/{pull.number}"
    return {
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue_url,
        "commits_url": f"{url}/commits",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": f"{base}/pulls/comments{{/number}}",
        "comments_url": f"{issue_url}/comments",
        "statuses_url": f"{base}/statuses/{pull.head_sha}",
    }


def _end(world: World, one: Repository, branch: str, sha: str) -> Json:
    return {
        "label": f"{one.owner}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": user(world, one.owner),
        "repo": repository(world, one),
    }
