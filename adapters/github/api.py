"""One request to GitHub's API: address and access, sending, errors and rate limits.

Nothing here reveals a secret, and a token is sent only to its own host.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import urlsplit

from adapters import http
from adapters.http import MAX_WAIT
from bot.core.errors import PortError, Refused, SettingsError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from github import Github
    from github.Auth import Auth


# Access and address.

API_URL = "https://api.github.com"
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")


@dataclass(frozen=True)
class Access:
    """A token, a GitHub App, or what the environment and the `gh` program of this machine provide."""

    token: str = field(default="", repr=False)
    api_url: str = API_URL
    app_id: str = ""
    app_key_file: str = ""
    installation: str = ""
    """The installation id; empty asks GitHub for that of the repository."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def has_app(self) -> bool:
        """Whether a GitHub App is configured, at least in part."""
        return bool(self.app_id or self.app_key_file or self.installation)


@dataclass(frozen=True)
class ApiTiming:
    """Time-outs and intervals, in seconds."""

    call: float = 15.0
    """Time-out for each part of an answer."""
    whole: float = 60.0
    """Time-out for a whole answer, however slowly it arrives."""
    between_writes: float = 1.0
    """Requested by GitHub."""
    again: float = 1.0
    """Delay before the same is asked again: GitHub computes some answers only on request."""
    git: float = 600.0
    """Time-out for one transfer of a branch."""


@dataclass(frozen=True)
class Address:
    """Addresses of the API and of the repositories on the same host."""

    api: str
    web: str
    """Scheme, host and port, without a path."""
    host: str
    port: int | None

    @property
    def is_unencrypted(self) -> bool:
        """Whether it is unencrypted, which is allowed only on this machine."""
        return self.web.startswith("http://")

    def clone_url(self, slug: str) -> str:
        return f"{self.web}/{slug}.git"

    def page(self, slug: str) -> str:
        return f"{self.web}/{slug}"


def parse_address(api_url: str) -> Address:
    """Parse the setting; an address that would send the token unencrypted over a network is refused."""
    parts = urlsplit(api_url.strip().rstrip("/"))
    host, port = _host_and_port(api_url)
    if parts.scheme not in {"http", "https"} or parts.username is not None or parts.query:
        raise _wrong_address(api_url, "it must look like https://host/api/v3")
    if parts.scheme == "http" and not _is_loopback(host):
        raise _wrong_address(api_url, "a token may travel over https only")
    web_host = host.removeprefix("api.") if not parts.path else host
    shown = f"[{web_host}]" if ":" in web_host else web_host
    at = f":{port}" if port is not None else ""
    return Address(
        api=f"{parts.scheme}://{parts.netloc}{parts.path}",
        web=f"{parts.scheme}://{shown}{at}",
        host=web_host,
        port=port,
    )


def _host_and_port(api_url: str) -> tuple[str, int | None]:
    parts = urlsplit(api_url.strip())
    try:
        port = parts.port
    except ValueError as error:
        raise _wrong_address(api_url, "its port is no number") from error
    host = (parts.hostname or "").lower()
    if not _HOST.fullmatch(host) and ":" not in host:
        raise _wrong_address(api_url, "it names no host")
    return host, port


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _wrong_address(api_url: str, why: str) -> SettingsError:
    # a password in the address must not be shown
    shown = re.sub(r"//[^/@]*@", "//", api_url)
    return SettingsError(
        f"GITHUB_API_URL is {shown}: {why}. "
        f"Leave it at {API_URL}, or set it to that of your GitHub Enterprise Server."
    )


# PyGithub: imported only if GitHub is used, and without its retries.


def with_token(token: str, address: Address, pace: ApiTiming) -> Github:
    from github import Auth

    return open_client(Auth.Token(token), address, pace)


def open_client(auth: Auth, address: Address, pace: ApiTiming) -> Github:
    # `retry=0`: PyGithub's own retries repeat what may have been done, and wait without being cancellable.
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


def send_request(
    github: Github,
    verb: str,
    path: str,
    headers: dict[str, str],
    body: Mapping[str, object] | None,
) -> ApiAnswer:
    """Send one request and return the raw answer. Blocks. `path`: `graphql` or a path of the REST API."""
    requester = github.requester
    url = requester.graphql_url if path == "graphql" else path
    status, told, text = requester.requestJson(verb, url, headers=headers, input=body)
    return ApiAnswer(status, {name.lower(): value for name, value in told.items()}, text)


def as_port_error(error: Exception) -> Exception:
    # PyGithub and its libraries fail in many ways. Only the type is reported, because messages may contain addresses
    # and headers.
    kind = type(error).__name__
    if isinstance(error, PortError):
        return error
    if isinstance(error, TimeoutError):
        return Unavailable("GitHub takes too long to answer", RETRY_REMEDY)
    if isinstance(error, OSError):
        return Unavailable(
            f"GitHub is not reached ({kind})", f"Look at the network. {RETRY_REMEDY}"
        )
    if isinstance(error, (AssertionError, RuntimeError, ValueError)):
        return invalid_answer_error(kind)
    return error


# The meaning of GitHub's errors, and whether a retry helps. No I/O.

RETRY_REMEDY = "The bot tries again by itself."
GIVE_TOKEN = "Give GITHUB_TOKEN a token that is valid and has the rights contents:write and pull_requests:write."  # noqa: S105
_LIMITED_SECONDS = 60.0
_EXCERPT = 300
_LIMITS = re.compile(r"rate limit|abuse detection|please wait a few minutes", re.IGNORECASE)
_MOVED = frozenset({301, 302, 307, 308})


@dataclass(frozen=True)
class ApiAnswer:
    """An answer of the API, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: str = ""

    @property
    def message(self) -> str:
        """Return GitHub's message, with those of the individual errors."""
        told = _json_object(self.body)
        errors = told.get("errors")
        each = cast("list[object]", errors) if isinstance(errors, list) else []
        said = [str(told.get("message") or ""), *map(_sentence, each)]
        return "; ".join(part for part in said if part)[:_EXCERPT]

    def rejects_field(self, field: str, code: str = "invalid") -> bool:
        """Whether GitHub rejected that field."""
        errors = _json_object(self.body).get("errors")
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


class ApiRefused(Refused):
    """Refused, with the answer, for callers that can handle this error."""

    def __init__(self, answer: ApiAnswer, reason: str, remedy: str = "") -> None:
        super().__init__(reason, remedy)
        self.answer = answer


def error_for(answer: ApiAnswer, doing: str) -> PortError:
    """Return the error to raise. `doing` completes "GitHub does not let me …"."""
    if answer.is_limit:
        return _limit_error(answer)
    said = f": {answer.message}" if answer.message else f" (HTTP {answer.status})"
    if answer.status >= 500 or answer.status == 408:
        return Unavailable(
            f"GitHub does not serve just now (HTTP {answer.status})",
            RETRY_REMEDY,
            retry_after(answer.headers),
        )
    if answer.status == 401:
        return ApiRefused(
            answer, "GitHub refuses the token: it is wrong or has expired", GIVE_TOKEN
        )
    if answer.status == 403:
        return ApiRefused(answer, f"GitHub does not let me {doing}{said}", _missing_right(answer))
    if answer.status in {404, 410}:
        return ApiRefused(
            answer,
            f"GitHub cannot {doing}: there is no such thing, or the token does not see it",
            "Look whether it was removed or renamed, and whether the token is for this repository.",
        )
    if answer.status in _MOVED:
        return ApiRefused(
            answer,
            f"GitHub cannot {doing}: it has moved to another address",
            "Set GITHUB_REPOSITORY or the remote origin to where it is now.",
        )
    return ApiRefused(answer, f"GitHub does not {doing}{said}")


def invalid_answer_error(why: str) -> Unavailable:
    """Return the error for an answer that is not from the API: from a proxy, a log-in page, or incomplete."""
    return Unavailable(
        f"the answer was not one of GitHub's API: {why}",
        "Look whether a proxy or a log-in page stands between. " + RETRY_REMEDY,
    )


def _limit_error(answer: ApiAnswer) -> Unavailable:
    # The secondary limit names a delay; the primary one the time when the quota is renewed.
    seconds = retry_after(answer.headers)
    if seconds is None and answer.headers.get("x-ratelimit-remaining") == "0":
        seconds = seconds_until_reset(answer.headers)
    return Unavailable(
        "GitHub's limit on requests is reached",
        "The bot goes on when GitHub takes requests again.",
        _LIMITED_SECONDS if seconds is None else seconds,
    )


def _missing_right(answer: ApiAnswer) -> str:
    wanted = answer.headers.get("x-accepted-github-permissions", "")
    if re.fullmatch(r"[a-z_=;, ]{3,200}", wanted):
        return f"Give the token the right {wanted.replace('=', ':').replace(';', ' or')}."
    if "SAML" in answer.message:
        return "Authorise the token for the organisation's single sign-on."
    return GIVE_TOKEN


def _json_object(body: str) -> dict[str, object]:
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


# The remaining quota. The last tenth is reserved for what people wait for, so polling pauses first.

RESERVE_SHARE = 0.1


@dataclass
class Quota:
    """The quota as of the last answer."""

    limit: int = 0
    remaining: int = 0
    resets_at: float = 0.0
    """In monotonic time."""

    def note(self, headers: Mapping[str, str]) -> None:
        if headers.get("x-ratelimit-resource", "core") != "core":
            return
        limit, remaining = (
            _number(headers, "x-ratelimit-limit"),
            _number(headers, "x-ratelimit-remaining"),
        )
        if limit is None or remaining is None:
            return
        self.limit, self.remaining = limit, remaining
        self.resets_at = time.monotonic() + (seconds_until_reset(headers) or 0.0)

    def keep_reserve(self) -> None:
        """Raise Unavailable if only the reserve is left; call it before anything that can wait."""
        left = self.resets_at - time.monotonic()
        if self.remaining < self.limit * RESERVE_SHARE and left > 0:
            raise Unavailable(
                f"only {self.remaining} of {self.limit} requests to GitHub are left for now",
                "The bot looks again when GitHub gives new ones.",
                retry_after=left,
            )


def seconds_until_reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until the quota is renewed, by the server's clock."""
    reset = _number(headers, "x-ratelimit-reset")
    if reset is None:
        return None
    return min(max(0.0, reset - _now(headers)), MAX_WAIT) + 1.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the value of the Retry-After header, in seconds."""
    return http.retry_after(headers.get("retry-after", ""), headers.get("date", ""))


def _now(headers: Mapping[str, str]) -> float:
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, TypeError):
        return time.time()


def _number(headers: Mapping[str, str], name: str) -> int | None:
    told = headers.get(name, "").strip()
    return int(told) if told.isascii() and told.isdigit() and len(told) < 16 else None


# A blocking call in a thread of its own, for which nobody waits longer than they want to, even at exit. The threads of
# `asyncio.to_thread` are joined when the program ends, so a server that answers slowly would keep it alive.

T = TypeVar("T")


async def in_own_thread(work: Callable[[], T], *, seconds: float) -> T:
    """Return or raise the result of `work`.

    Raises TimeoutError after `seconds`, while the call itself may still go on.
    """
    loop = asyncio.get_running_loop()
    told: asyncio.Future[T] = loop.create_future()
    threading.Thread(
        target=_call_and_report, args=(work, loop, told), name="github", daemon=True
    ).start()
    async with asyncio.timeout(seconds):
        return await told


def _call_and_report(
    work: Callable[[], T], loop: asyncio.AbstractEventLoop, told: asyncio.Future[T]
) -> None:
    try:
        value = work()
    except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
        _schedule(loop, lambda error=error: told.done() or told.set_exception(error))
    else:
        _schedule(loop, lambda: told.done() or told.set_result(value))


def _schedule(loop: asyncio.AbstractEventLoop, what: Callable[[], object]) -> None:
    # the loop may have ended meanwhile, and nobody waits any more
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(what)
