"""The REST API, and the little of GraphQL that stands beside it."""

from __future__ import annotations

from tests.beds.github.rest import checks, pulls, repositories, talk
from tests.beds.github.rest.asking import Route


def all_routes() -> tuple[Route, ...]:
    """In the order in which they are tried: what stands below a commit before the commit, whose name may have slashes."""
    found = (*pulls.routes(), *talk.routes(), *checks.routes(), *repositories.routes())
    return tuple(found)
