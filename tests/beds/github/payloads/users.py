"""People, robots and organizations in answers."""

from __future__ import annotations

from tests.beds.github.names import Json
from tests.beds.github.world import World

_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}


def user(world: World, login: str) -> Json:
    one = world.accounts.user(login)
    url = f"{world.api}/users/{login}"
    return {
        "login": login,
        "id": one.id,
        "node_id": f"U_kgDOBed{one.id}",
        "avatar_url": f"{world.base}/avatars/{one.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{world.base}/{login}",
        **{name: url + rest for name, rest in _LINKS.items()},
        "type": one.kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def app(world: World, name: str) -> Json:
    """A robot that leaves check runs."""
    slug = name.lower().replace(" ", "-")
    return {
        "id": 15368,
        "slug": slug,
        "node_id": "MDM6QXBwMTUzNjg=",
        "client_id": "Iv1.bed",
        "owner": user(world, "github"),
        "name": name,
        "description": "",
        "external_url": f"{world.base}/features",
        "html_url": f"{world.base}/apps/{slug}",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "permissions": {"checks": "write", "metadata": "read"},
        "events": ["check_run"],
    }
