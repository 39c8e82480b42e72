"""PyGithub, opened as it is used here. Its rule: it is imported where GitHub is used, and never tries anything again itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.github.access import Address, Pace
from adapters.github.problem import TRIES_AGAIN, Answered, not_understood
from bot.errors import PortError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from github import Github
    from github.Auth import Auth


def with_token(token: str, address: Address, pace: Pace) -> Github:
    from github import Auth

    return opened(Auth.Token(token), address, pace)


def opened(auth: Auth, address: Address, pace: Pace) -> Github:
    """`retry=0`: its own trying again sends a second time what was done already, and waits where nobody can stop it."""
    from github import Github

    return Github(
        auth=auth,
        base_url=address.api,
        timeout=max(1, round(pace.call)),
        user_agent="gwt-bot",
        retry=0,
        seconds_between_requests=None,
        seconds_between_writes=pace.between_writes,
    )


def sent(
    github: Github,
    verb: str,
    path: str,
    headers: dict[str, str],
    body: Mapping[str, object] | None,
) -> Answered:
    """One request, and its answer as it came. Blocks. `path` is `graphql`, or that of a thing of the REST API."""
    requester = github.requester
    url = requester.graphql_url if path == "graphql" else path
    status, told, text = requester.requestJson(verb, url, headers=headers, input=body)
    return Answered(status, {name.lower(): value for name, value in told.items()}, text)


def translated(error: Exception) -> Exception:
    """PyGithub and what it stands on fail in many ways. By kind only: their texts may hold addresses and headers."""
    kind = type(error).__name__
    if isinstance(error, PortError):
        return error
    if isinstance(error, TimeoutError):
        return Unavailable("GitHub takes too long to answer", TRIES_AGAIN)
    if isinstance(error, OSError):
        return Unavailable(f"GitHub is not reached ({kind})", f"Look at the network. {TRIES_AGAIN}")
    if isinstance(error, (AssertionError, RuntimeError, ValueError)):
        return not_understood(kind)
    return error
