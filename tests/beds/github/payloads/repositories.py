"""Repositories and branches in answers."""

from __future__ import annotations

from tests.beds.github.names import Json, stamp
from tests.beds.github.payloads.commits import commit
from tests.beds.github.payloads.users import user
from tests.beds.github.repositories import Protection, Repository
from tests.beds.github.world import World

_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
_COUNTS = (
    "forks_count",
    "stargazers_count",
    "watchers_count",
    "size",
    "forks",
    "watchers",
    "subscribers_count",
    "network_count",
)


def url_of(world: World, one: Repository) -> str:
    return f"{world.api}/repos/{one.full_name}"


def minimal(world: World, one: Repository) -> Json:
    """A repository where it is mentioned only."""
    url = url_of(world, one)
    return {
        "id": one.id,
        "node_id": f"R_kgDOBed{one.id}",
        "name": one.name,
        "full_name": one.full_name,
        "owner": user(world, one.owner),
        "private": one.private,
        "html_url": f"{world.base}/{one.full_name}",
        "description": None,
        "fork": False,
        "url": url,
        **{name: url + rest for name, rest in _LINKS.items()},
    }


def repository(world: World, one: Repository) -> Json:
    """Everything about it; what the token may is said by the one who answers."""
    clone = f"{world.base}/{one.full_name}.git"
    host = world.base.partition("://")[2]
    return {
        **minimal(world, one),
        "clone_url": clone,
        "git_url": f"git://{host}/{one.full_name}.git",
        "ssh_url": f"git@127.0.0.1:{one.full_name}.git",
        "svn_url": f"{world.base}/{one.full_name}",
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "default_branch": one.default_branch,
        "visibility": "private" if one.private else "public",
        "created_at": stamp(one.created_at),
        "updated_at": stamp(one.created_at),
        "pushed_at": stamp(one.created_at),
        **dict.fromkeys(_COUNTS, 0),
        **_abilities(one),
    }


def _abilities(one: Repository) -> Json:
    pulls = sum(pull.is_open for pull in one.pulls.values())
    yes = ("has_issues", "has_projects", "has_wiki", "has_downloads", "has_pull_requests")
    no = ("has_pages", "has_discussions", "archived", "disabled", "allow_auto_merge")
    return {
        "open_issues": pulls,
        "open_issues_count": pulls,
        **dict.fromkeys(yes, True),
        **dict.fromkeys(no, False),
        "delete_branch_on_merge": one.habits.delete_branch_on_merge,
        "allow_merge_commit": "merge" in one.habits.methods,
        "allow_squash_merge": "squash" in one.habits.methods,
        "allow_rebase_merge": "rebase" in one.habits.methods,
    }


def branch(world: World, one: Repository, name: str, sha: str) -> Json:
    url = f"{url_of(world, one)}/branches/{name}"
    rules = one.protected.get(name)
    return {
        "name": name,
        "commit": commit(world, one, sha),
        "_links": {"self": url, "html": f"{world.base}/{one.full_name}/tree/{name}"},
        "protected": rules is not None,
        "protection": {
            "enabled": rules is not None,
            "required_status_checks": _required(rules or Protection()),
        },
        "protection_url": f"{url}/protection",
    }


def _required(rules: Protection) -> Json:
    return {
        "enforcement_level": "everyone" if rules.checks else "off",
        "contexts": list(rules.checks),
        "checks": [{"context": name, "app_id": None} for name in rules.checks],
    }
