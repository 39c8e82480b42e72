"""What GitHub says when it does not do what was asked, and whether trying again helps. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from adapters.github.quota import retry_after, until_reset
from bot.errors import PortError, Refused, Unavailable

TRIES_AGAIN = "The bot tries again by itself."
GIVE_TOKEN = "Give GITHUB_TOKEN a token that is valid and has the rights contents:write and pull_requests:write."  # noqa: S105
_LIMITED_SECONDS = 60.0
_EXCERPT = 300
_LIMITS = re.compile(r"rate limit|abuse detection|please wait a few minutes", re.IGNORECASE)
_MOVED = frozenset({301, 302, 307, 308})


@dataclass(frozen=True)
class Answered:
    """An answer of the API, whatever it says."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: str = ""

    @property
    def message(self) -> str:
        """GitHub's sentence, with those of the single errors."""
        told = _told(self.body)
        errors = told.get("errors")
        each = cast("list[object]", errors) if isinstance(errors, list) else []
        said = [str(told.get("message") or ""), *map(_sentence, each)]
        return "; ".join(part for part in said if part)[:_EXCERPT]

    def blames(self, field: str, code: str = "invalid") -> bool:
        """Whether that field is what GitHub does not like."""
        errors = _told(self.body).get("errors")
        return isinstance(errors, list) and any(
            isinstance(one, dict) and one.get("field") == field and one.get("code") == code
            for one in cast("list[object]", errors)
        )

    @property
    def is_limit(self) -> bool:
        if self.status == 429:
            return True
        return self.status == 403 and (
            "retry-after" in self.headers
            or self.headers.get("x-ratelimit-remaining") == "0"
            or _LIMITS.search(self.message) is not None
        )


class NotDone(Refused):
    """Refused, with the answer, for whoever can do something about this very refusal."""

    def __init__(self, answer: Answered, reason: str, remedy: str = "") -> None:
        super().__init__(reason, remedy)
        self.answer = answer


def judge(answer: Answered, doing: str) -> PortError:
    """The error to raise. `doing` completes "GitHub does not let me …"."""
    if answer.is_limit:
        return _limited(answer)
    said = f": {answer.message}" if answer.message else f" (HTTP {answer.status})"
    if answer.status >= 500 or answer.status == 408:
        return Unavailable(
            f"GitHub does not serve just now (HTTP {answer.status})",
            TRIES_AGAIN,
            retry_after(answer.headers),
        )
    if answer.status == 401:
        return NotDone(answer, "GitHub refuses the token: it is wrong or has expired", GIVE_TOKEN)
    if answer.status == 403:
        return NotDone(answer, f"GitHub does not let me {doing}{said}", _right(answer))
    if answer.status in {404, 410}:
        return NotDone(
            answer,
            f"GitHub cannot {doing}: there is no such thing, or the token does not see it",
            "Look whether it was removed or renamed, and whether the token is for this repository.",
        )
    if answer.status in _MOVED:
        return NotDone(
            answer,
            f"GitHub cannot {doing}: it has moved to another address",
            "Set GITHUB_REPOSITORY or the remote origin to where it is now.",
        )
    return NotDone(answer, f"GitHub does not {doing}{said}")


def not_understood(why: str) -> Unavailable:
    """Something answered, but not the API: a proxy, a log-in page, half an answer."""
    return Unavailable(
        f"the answer was not one of GitHub's API: {why}",
        "Look whether a proxy or a log-in page stands between. " + TRIES_AGAIN,
    )


def _limited(answer: Answered) -> Unavailable:
    """The secondary limit says how long; the primary one when the quota is renewed."""
    seconds = retry_after(answer.headers)
    if seconds is None and answer.headers.get("x-ratelimit-remaining") == "0":
        seconds = until_reset(answer.headers)
    return Unavailable(
        "GitHub's limit on requests is reached",
        "The bot goes on when GitHub takes requests again.",
        _LIMITED_SECONDS if seconds is None else seconds,
    )


def _right(answer: Answered) -> str:
    wanted = answer.headers.get("x-accepted-github-permissions", "")
    if re.fullmatch(r"[a-z_=;, ]{3,200}", wanted):
        return f"Give the token the right {wanted.replace('=', ':').replace(';', ' or')}."
    if "SAML" in answer.message:
        return "Authorise the token for the organisation's single sign-on."
    return GIVE_TOKEN


def _told(body: str) -> dict[str, object]:
    try:
        told: object = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", told) if isinstance(told, dict) else {}


def _sentence(error: object) -> str:
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return ""
    parts = cast("dict[str, object]", error)
    return str(parts.get("message") or f"{parts.get('field', '')} {parts.get('code', '')}".strip())
