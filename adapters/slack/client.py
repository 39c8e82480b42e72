"""The client for Slack's Web API: one call, what its errors mean, and whether the request may have taken effect despite
an error.

Tokens are never shown or logged.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.bounded_http import new_session
from adapters.http import retry_after
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.text import date_time

# Access to Slack: its tokens and addresses, the one client for all calls, and the meaning of library errors.

API_URL = "https://slack.com/api/"
_CALL_TIMEOUT = 30.0
_CONNECT_TIMEOUT = 10.0
_REPEATED_WITHIN = 300.0
_TICKET = re.compile(r"(ticket=)[^&'\"\s]+")
_TOKEN_ERRORS = frozenset(
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
_RATE_LIMIT_ERRORS = frozenset({"ratelimited", "rate_limited"})
_PASSING_ERRORS = frozenset(
    {
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
    }
)
_CHANNEL_ERRORS = {
    "channel_not_found": "does not show me that channel",
    "not_in_channel": "has me outside of that channel",
    "is_archived": "has archived that channel",
}


@dataclass(frozen=True)
class SlackAccess:
    """Tokens and addresses.

    With an app token the bot listens through a socket, otherwise for HTTP requests on `port`.
    """

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
    """Return one HTTP session for all calls, because a session per call would open a new connection each time.

    The caller closes it.
    """
    limits = aiohttp.ClientTimeout(total=_CALL_TIMEOUT, connect=_CONNECT_TIMEOUT)
    return new_session(access.api_url, limits)


def new_client(access: SlackAccess, session: aiohttp.ClientSession) -> AsyncWebClient:
    """Return a client without retries: after a lost answer a retry would post twice."""
    return AsyncWebClient(
        token=access.bot_token,
        base_url=access.api_url,
        session=session,
        logger=library_log(),
        retry_handlers=[],
    )


def library_log() -> logging.Logger:
    # The debug output of Slack's client contains secrets, so its level is fixed at INFO.
    log = logging.getLogger("bot.slack.sdk")
    log.setLevel(logging.INFO)
    if not log.filters:
        log.addFilter(_SecretsFilter())
    return log


class _SecretsFilter(logging.Filter):
    """Hides keys in addresses, and drops tracebacks and repeated lines, which the library would log every few seconds
    while Slack is unreachable.
    """

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        said = _TICKET.sub(r"\1…", record.getMessage())
        record.msg, record.args, record.exc_info, record.exc_text = said, (), None, None
        recent = record.created - _REPEATED_WITHIN
        self._said = {one: at for one, at in self._said.items() if at > recent}
        new = said not in self._said
        self._said.setdefault(said, record.created)
        return new


@contextmanager
def slack_errors(what: str) -> Iterator[None]:
    """Translate library errors of a call into PortError.

    `what` names the call in the reason, as in «Slack did not answer (asking who U1 is)».
    """
    try:
        yield
    except (SlackApiError, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise port_error(error, what) from error


def port_error(error: Exception, what: str) -> PortError:
    """Return the PortError that corresponds to a library error."""
    if isinstance(error, SlackApiError):
        return _error_of_answer(error, what)
    if isinstance(error, TimeoutError):
        return Unavailable(f"Slack did not answer in time ({what}).")
    return Unavailable(f"Slack cannot be reached ({what}): {type(error).__name__}.")


def error_code(error: SlackApiError) -> str:
    """Return Slack's own code of the error; empty if it sent none."""
    return str(_content(error).get("error", ""))


def error_code_behind(error: PortError) -> str:
    """Return Slack's own code of the error that caused a PortError; empty if there is none."""
    return error_code(error.__cause__) if isinstance(error.__cause__, SlackApiError) else ""


def _error_of_answer(error: SlackApiError, what: str) -> PortError:
    code, status = error_code(error), _status(error)
    if status == 429 or code in _RATE_LIMIT_ERRORS:
        return Unavailable(
            f"Slack limits how much the bot may do ({what}).", retry_after=_retry_after(error)
        )
    if status >= 500 or not code or code in _PASSING_ERRORS:
        told = code or f"HTTP {status}"
        return Unavailable(f"Slack does not serve just now ({what}): {told}.")
    if code in _TOKEN_ERRORS:
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
    if code in _CHANNEL_ERRORS:
        return Refused(
            f"Slack {_CHANNEL_ERRORS[code]} ({what}): {code}.",
            "Invite the bot there: /invite @its-name.",
        )
    return Refused(f"Slack refused ({what}): {code}.")


def _content(error: SlackApiError) -> Mapping[str, object]:
    # A gateway in between may answer with something other than Slack's JSON.
    content = getattr(error.response, "data", None)
    return content if isinstance(content, Mapping) else {}


def _status(error: SlackApiError) -> int:
    told = getattr(error.response, "status_code", None) or getattr(error.response, "status", 0)
    return int(told)


def _retry_after(error: SlackApiError) -> float | None:
    """Return the delay Slack asks for, in seconds, or None."""
    headers = getattr(error.response, "headers", None) or {}
    return retry_after(str(headers.get("Retry-After", "")), str(headers.get("Date", "")))


# One call to Slack: it waits out rate limits, and an error says whether the request may have taken effect.

MAX_RATE_LIMIT_WAIT = 60.0
"""Total seconds one call may wait for rate limits.

Longer waits are left to the caller, so that they do not block others.
"""

_NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_DEFAULT_WAIT = 1.0
_SHORTEST_WAIT = 0.05
SlackAnswer = dict[str, Any]


class AnswerLost(Unavailable):
    """No answer arrived, or a broken one: the request may have taken effect."""


class SlackDenied(Refused):
    """Slack refused the call. `code`: Slack's own error code; `details`: its further messages."""

    def __init__(self, reason: str, remedy: str, code: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(reason, remedy)
        self.code = code
        self.details = details


async def call_slack(what: str, call: Callable[[], Awaitable[AsyncSlackResponse]]) -> SlackAnswer:
    """Call Slack and return its answer, waiting out rate limits. `what` names the call in every error."""
    waited = 0.0
    while True:
        try:
            response = await call()
        except (SlackApiError, aiohttp.ClientError, OSError) as error:
            pause = _rate_limit_delay(error)
            if pause is None or waited + pause > MAX_RATE_LIMIT_WAIT:
                raise call_error(error, what) from error
            waited += pause
            await asyncio.sleep(pause)
        else:
            return response.data if isinstance(response.data, dict) else {}


def call_error(error: Exception, what: str) -> PortError:
    """Return the PortError for a failed call; AnswerLost if the request may have taken effect."""
    meaning = port_error(error, what)
    if isinstance(meaning, Refused):
        if not isinstance(error, SlackApiError):
            return meaning
        return SlackDenied(meaning.reason, meaning.remedy, error_code(error), _details(error))
    if _had_no_effect(error):
        return meaning
    return AnswerLost(meaning.reason, meaning.remedy)


def _rate_limit_delay(error: Exception) -> float | None:
    """Return how long to wait, in seconds, or None if the error is no rate limit."""
    if not _is_rate_limited(error):
        return None
    meaning = port_error(error, "")
    named = meaning.retry_after if isinstance(meaning, Unavailable) else None
    return _DEFAULT_WAIT if named is None else max(_SHORTEST_WAIT, named)


def _details(error: SlackApiError) -> tuple[str, ...]:
    content = getattr(error.response, "data", None)
    more = content.get("response_metadata") if isinstance(content, dict) else None
    said = more.get("messages") if isinstance(more, dict) else None
    return tuple(map(str, said)) if isinstance(said, list) else ()


def _had_no_effect(error: Exception) -> bool:
    return isinstance(error, _NEVER_SENT) or _is_rate_limited(error)


def _is_rate_limited(error: Exception) -> bool:
    """Whether Slack refused the call because of its rate limit, before doing anything."""
    if not isinstance(error, SlackApiError):
        return False
    status = getattr(error.response, "status_code", None) or getattr(error.response, "status", 0)
    return status == 429 or error_code(error) in ("ratelimited", "rate_limited")


# Background work: it may fail, and neither delays a card nor makes one fail.

log = logging.getLogger("bot.slack")


class BackgroundTasks:
    """Runs work in the background; `close` cancels all of it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, what: str, work: Callable[[], Awaitable[None]]) -> None:
        """Start work in the background. `what` names it in the log if it fails."""
        task = asyncio.create_task(_run_logged(what, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _run_logged(what: str, work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except PortError as problem:
        log.warning("left undone", extra={"data": {"what": what, "why": problem.reason}})
    except Exception:
        # nobody waits for this task: log a bug in it, but let nothing else fail
        log.exception("left undone", extra={"data": {"what": what}})


# Health of the connection to Slack, in facts for people: since when it exists, how often it was renewed, when Slack
# last sent something.


class ConnectionHealth:
    """Record the health of the connection.

    `now`: returns the time of day. The listener reports every change; reading makes no calls.
    """

    def __init__(
        self, *, by_socket: bool = True, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._by_socket = by_socket
        self._now = now
        self._since: datetime | None = None
        self._epoch = ""
        self._connections = 0
        self._heard: datetime | None = None

    def connected(self, epoch: str) -> None:
        """Record that the connection is up.

        `epoch` identifies the connection; repeated calls with the same one are allowed.
        """
        if epoch != self._epoch:
            self._epoch, self._connections, self._since = epoch, self._connections + 1, None
        self._since = self._since or self._now()

    def lost(self) -> None:
        self._since = None

    def heard(self) -> None:
        self._heard = self._now()

    def facts(self) -> tuple[tuple[str, str], ...]:
        last = date_time(self._heard) if self._heard else "nothing yet"
        return (("Slack", self._state()), ("Last heard of Slack", last))

    def _state(self) -> str:
        if not self._by_socket:
            return "Slack calls this host"
        if self._since is None:
            return "not connected: trying again all the time"
        count = f", connection {self._connections} of this start" if self._connections > 1 else ""
        return f"connected since {date_time(self._since)}{count}"
