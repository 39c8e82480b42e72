"""Comments and reviews in answers."""

from __future__ import annotations

from tests.beds.github.comments import Comment, InlineComment, Review
from tests.beds.github.names import Json, stamp
from tests.beds.github.payloads.repositories import url_of
from tests.beds.github.payloads.users import user
from tests.beds.github.repositories import Repository
from tests.beds.github.world import World


def comment(world: World, one: Repository, said: Comment) -> Json:
    url = url_of(world, one)
    page = f"{world.base}/{one.full_name}/pull/{said.number}"
    return {
        "id": said.id,
        "node_id": f"IC_kwDOBed{said.id}",
        "url": f"{url}/issues/comments/{said.id}",
        "html_url": f"{page}#issuecomment-{said.id}",
        "issue_url": f"{url}/issues/{said.number}",
        "user": user(world, said.user),
        "body": said.body,
        "author_association": said.association,
        "created_at": stamp(said.created_at),
        "updated_at": stamp(said.updated_at),
        "performed_via_github_app": None,
    }


def inline(world: World, one: Repository, said: InlineComment) -> Json:
    url = url_of(world, one)
    own = f"{url}/pulls/comments/{said.id}"
    page = f"{world.base}/{one.full_name}/pull/{said.number}#discussion_r{said.id}"
    pull = f"{url}/pulls/{said.number}"
    stands = _still_stands(one, said)
    found: Json = {
        "id": said.id,
        "node_id": f"PRRC_kwDOBed{said.id}",
        "url": own,
        "html_url": page,
        "pull_request_url": pull,
        "pull_request_review_id": said.review,
        "diff_hunk": said.hunk,
        "path": said.path,
        "commit_id": one.pulls[said.number].head_sha if stands else said.commit,
        "original_commit_id": said.commit,
        "user": user(world, said.user),
        "body": said.body,
        "author_association": said.association,
        "created_at": stamp(said.created_at),
        "updated_at": stamp(said.updated_at),
        "_links": {
            name: {"href": href}
            for name, href in (("self", own), ("html", page), ("pull_request", pull))
        },
        **_place(said, stands=stands),
    }
    if said.answers:
        found["in_reply_to_id"] = said.answers
    return found


def _place(said: InlineComment, *, stands: bool) -> Json:
    """Where in the file; only where it was, once the file is another."""
    found: Json = {
        "side": said.side,
        "start_line": None,
        "original_start_line": None,
        "start_side": None,
        "original_line": said.line,
        "original_position": 1,
        "subject_type": "line",
    }
    return found | (
        {"line": said.line, "position": 1} if stands else {"line": None, "position": None}
    )


def _still_stands(one: Repository, said: InlineComment) -> bool:
    """Whether the file is what it was when it was said."""
    head = one.pulls[said.number].head_sha
    return one.git.holds("diff", "--quiet", said.commit, head, "--", said.path)


def review(world: World, one: Repository, said: Review) -> Json:
    pull = f"{url_of(world, one)}/pulls/{said.number}"
    page = f"{world.base}/{one.full_name}/pull/{said.number}#pullrequestreview-{said.id}"
    return {
        "id": said.id,
        "node_id": f"PRR_kwDOBed{said.id}",
        "user": user(world, said.user),
        "body": said.body,
        "state": said.state,
        "html_url": page,
        "pull_request_url": pull,
        "_links": {"html": {"href": page}, "pull_request": {"href": pull}},
        "commit_id": said.commit,
        "submitted_at": stamp(said.submitted_at),
        "author_association": said.association,
    }
