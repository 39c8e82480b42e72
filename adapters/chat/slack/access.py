"""The way to Slack: what opens it, the one client for all calls, and what its errors mean. Tokens are never shown."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.http import retry_after
from adapters.posting.guarded import new_session
from bot.errors import PortError, Refused, Unavailable

API_URL = "https://slack.com/api/"
_LONGEST_CALL = 30.0
_CONNECTING = 10.0
_SAME_AGAIN = 300.0
_TICKET = re.compile(r"(ticket=)[^&'\"\s]+")
_OF_THE_TOKEN = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",
        "user_removed_from_team",
        "not_allowed_token_type",
    }
)
_TOO_FAST = frozenset({"ratelimited", "rate_limited"})
_PASSING = frozenset(
    {
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
    }
)
_CHANNELS = {
    "channel_not_found": "does not show me that channel",
    "not_in_channel": "has me outside of that channel",
    "is_archived": "has archived that channel",
}


@dataclass(frozen=True)
class SlackAccess:
    """Tokens and addresses. With an app token Slack is heard through a socket, else through requests to `port`."""

    bot_token: str = field(repr=False)
    app_token: str = field(default="", repr=False)
    signing_secret: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    port: int = 3000
    api_url: str = API_URL

    @property
    def by_socket(self) -> bool:
        return bool(self.app_token)


def session_for(access: SlackAccess) -> aiohttp.ClientSession:
    """For all calls: a session for each would be a new connection each. Whoever asks for it closes it."""
    limits = aiohttp.ClientTimeout(total=_LONGEST_CALL, connect=_CONNECTING)
    return new_session(access.api_url, limits)


def new_client(access: SlackAccess, session: aiohttp.ClientSession) -> AsyncWebClient:
    """It tries nothing again by itself: after a lost answer that would post twice."""
    return AsyncWebClient(
        token=access.bot_token,
        base_url=access.api_url,
        session=session,
        logger=library_log(),
        retry_handlers=[],
    )


def library_log() -> logging.Logger:
    """The log of Slack's client. What it says while debugging holds what must not be kept."""
    log = logging.getLogger("bot.slack.sdk")
    log.setLevel(logging.INFO)
    if not log.filters:
        log.addFilter(_Discreet())
    return log


class _Discreet(logging.Filter):
    """It would show the keys in addresses, and a traceback every few seconds for as long as Slack is away."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        said = _TICKET.sub(r"\1…", record.getMessage())
        record.msg, record.args, record.exc_info, record.exc_text = said, (), None, None
        recent = record.created - _SAME_AGAIN
        self._said = {one: at for one, at in self._said.items() if at > recent}
        new = said not in self._said
        self._said.setdefault(said, record.created)
        return new


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Around a call: `what` it was for stands in the reason, as in «Slack did not answer (asking who U1 is)»."""
    try:
        yield
    except (SlackApiError, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise meaning_of(error, what) from error


def meaning_of(error: Exception, what: str) -> PortError:
    """What the error of a library means to the bot."""
    if isinstance(error, SlackApiError):
        return _answered(error, what)
    if isinstance(error, TimeoutError):
        return Unavailable(f"Slack did not answer in time ({what}).")
    return Unavailable(f"Slack cannot be reached ({what}): {type(error).__name__}.")


def code_of(error: SlackApiError) -> str:
    """Slack's own name of the error; empty where it did not even say that."""
    return str(_content(error).get("error", ""))


def code_behind(error: PortError) -> str:
    """Slack's own name of what is behind an error of ours."""
    return code_of(error.__cause__) if isinstance(error.__cause__, SlackApiError) else ""


def _answered(error: SlackApiError, what: str) -> PortError:
    code, status = code_of(error), _status(error)
    if status == 429 or code in _TOO_FAST:
        return Unavailable(
            f"Slack limits how much the bot may do ({what}).", retry_after=_wait(error)
        )
    if status >= 500 or not code or code in _PASSING:
        told = code or f"HTTP {status}"
        return Unavailable(f"Slack does not serve just now ({what}): {told}.")
    if code in _OF_THE_TOKEN:
        return Refused(
            f"Slack does not accept the token ({what}): {code}.",
            "Install the app into the workspace again, and set SLACK_BOT_TOKEN and SLACK_APP_TOKEN to its tokens.",
        )
    if code == "missing_scope":
        needed = _content(error).get("needed", "")
        return Refused(
            f"The Slack app may not do this ({what}): it lacks the scope {needed}.",
            f"Add {needed} to the scopes of the app, and install it into the workspace again.",
        )
    if code in _CHANNELS:
        return Refused(
            f"Slack {_CHANNELS[code]} ({what}): {code}.", "Invite the bot there: /invite @its-name."
        )
    return Refused(f"Slack refused ({what}): {code}.")


def _content(error: SlackApiError) -> Mapping[str, object]:
    """A gateway in between may answer with something else than Slack's JSON."""
    content = getattr(error.response, "data", None)
    return content if isinstance(content, Mapping) else {}


def _status(error: SlackApiError) -> int:
    told = getattr(error.response, "status_code", None) or getattr(error.response, "status", 0)
    return int(told)


def _wait(error: SlackApiError) -> float | None:
    """Seconds, if Slack names them."""
    headers = getattr(error.response, "headers", None) or {}
    return retry_after(str(headers.get("Retry-After", "")), str(headers.get("Date", "")))
