"""The bot's account on a homeserver, and calls to it: they return JSON or raise Unavailable (try again) or Refused (an
answer).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote

from aiohttp import ClientError, ClientResponse, ClientTimeout
from nio import AsyncClient, AsyncClientConfig
from nio.responses import Response

from adapters.bounded_http import new_session
from adapters.http import MAX_WAIT, retry_after
from bot.core.errors import PortError, Refused, Unavailable

# The bot's account: an access token and the one device it belongs to.

_REQUEST_SECONDS = 45
_WRONG_ACCOUNT = (
    "MATRIX_USER and MATRIX_ACCESS_TOKEN must be of the same account. Log in as the bot to get"
    " its token."
)


@dataclass(frozen=True)
class MatrixAccess:
    """Address and credentials of the account."""

    homeserver: str
    user_id: str
    """The full user id, as in @bot:example.org."""
    access_token: str = field(repr=False)
    password: str = field(default="", repr=False)
    """Only used when the keys of the bot's device, or those that sign it, have to be created again."""


async def connect(access: MatrixAccess) -> AsyncClient:
    """Return a client logged in with the token's account and device; the caller closes it.

    It neither retries nor waits for rate limits: that is the caller's decision.
    """
    homeserver = access.homeserver.rstrip("/")
    client = AsyncClient(
        homeserver,
        access.user_id,
        config=AsyncClientConfig(
            max_limit_exceeded=0,
            max_timeouts=0,
            request_timeout=_REQUEST_SECONDS,
            store_sync_tokens=False,
            encryption_enabled=False,
        ),
    )
    client.client_session = new_session(homeserver, ClientTimeout(total=_REQUEST_SECONDS))
    try:
        await _log_in(client, access)
    except BaseException:
        await client.close()
        raise
    return client


async def check_access(access: MatrixAccess) -> str:
    """Check that the homeserver accepts the token, without changing anything there; raise Refused or Unavailable with
    the reason.
    """
    client = await connect(access)
    await client.close()
    return f"the homeserver lets it in as {client.user_id}, with the device {client.device_id}"


async def _log_in(client: AsyncClient, access: MatrixAccess) -> None:
    client.access_token = access.access_token
    told = await json_answer("Logging in to Matrix", client.whoami())
    if told.get("user_id") != access.user_id:
        reason = f"The Matrix access token is one of {told.get('user_id')}, not {access.user_id}."
        raise Refused(reason, _WRONG_ACCOUNT)
    if not told.get("device_id"):
        reason = "The Matrix access token belongs to no device."
        raise Refused(reason, _WRONG_ACCOUNT)
    client.restore_login(access.user_id, told["device_id"], access.access_token)


# The answer of a homeserver: JSON, or an error. An answer that is not Matrix comes from something in front of the
# homeserver, and may be temporary.

Json = dict[str, Any]

_ANSWER_SECONDS = 60.0
_MAX_REASON_LENGTH = 200
"""The most characters kept of a homeserver's error message."""
_SIGNED_OUT_CODES = frozenset(
    ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED")
)
_CHECK_ADDRESS = "Check that the homeserver runs and that MATRIX_HOMESERVER is its address."
_LOG_IN_ANEW = (
    "Log the bot's account in anew, put the new access token into MATRIX_ACCESS_TOKEN and start"
    " the bot again."
)


class SignedOut(Refused):
    """The account is no longer logged in: nothing works until an operator changes that."""


class NotFound(Refused):
    """The homeserver has no such resource."""


async def json_answer(
    what: str, call: Awaitable[Response | ClientResponse], seconds: float = _ANSWER_SECONDS
) -> Json:
    """Await a call of nio and return the JSON of its answer. `what` begins the sentence that reports an error."""
    try:
        async with asyncio.timeout(seconds):
            return await _read_answer(what, await call)
    except TimeoutError as error:
        reason = f"{what} did not work: the homeserver did not answer in time."
        raise Unavailable(reason, _CHECK_ADDRESS) from error
    except (ClientError, OSError, UnicodeDecodeError) as error:
        reason = f"{what} did not work: the homeserver cannot be reached."
        raise Unavailable(reason, _CHECK_ADDRESS) from error


async def _read_answer(what: str, answer: Response | ClientResponse) -> Json:
    # not nio's parsed response, which leaves out what nio does not know
    response = answer if isinstance(answer, ClientResponse) else answer.transport_response
    if not isinstance(response, ClientResponse):
        raise TypeError(f"{type(answer).__name__} did not come over HTTP")
    told = _json_of(await response.read())
    if found := error_in_answer(what, response.status, told, response.headers):
        raise found
    return told or {}


def error_in_answer(
    what: str, status: int, body: Json | None, headers: Mapping[str, str] | None = None
) -> PortError | None:
    """Return the error an answer stands for, or None if it is fine."""
    code = body.get("errcode") if body else None
    if body is None or code is None:
        if status == HTTPStatus.OK and body is not None:
            return None
        reason = f"{what} did not work: what answered ({status}) is no Matrix homeserver."
        return Unavailable(reason, _CHECK_ADDRESS, _retry_header(headers))
    text = str(body.get("error", ""))[:_MAX_REASON_LENGTH]
    if code in _SIGNED_OUT_CODES or status == HTTPStatus.UNAUTHORIZED:
        return SignedOut("The access token is no longer valid on the homeserver.", _LOG_IN_ANEW)
    if code == "M_LIMIT_EXCEEDED" or status == HTTPStatus.TOO_MANY_REQUESTS:
        reason = f"{what} must wait: the homeserver limits how much the bot may do."
        return Unavailable(reason, retry_after=_milliseconds(body) or _retry_header(headers))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        reason = f"{what} did not work: the homeserver has a problem ({status} {code}: {text})."
        return Unavailable(reason, _CHECK_ADDRESS, _retry_header(headers))
    refused = NotFound if code == "M_NOT_FOUND" else Refused
    return refused(f"{what} was refused by the homeserver ({code}: {text}).")


def _json_of(body: bytes) -> Json | None:
    """Return the JSON object, or None if the body is not one."""
    with suppress(ValueError, RecursionError):
        told = prune_json(json.loads(body))
        if isinstance(told, dict):
            return told
    return None


def _milliseconds(told: Json) -> float | None:
    wait = told.get("retry_after_ms")
    if not isinstance(wait, int | float) or isinstance(wait, bool) or not wait >= 0:
        return None
    return min(wait / 1000, MAX_WAIT)


def _retry_header(headers: Mapping[str, str] | None) -> float | None:
    found = headers or {}
    return retry_after(found.get("Retry-After", ""), found.get("Date", ""))


# Calls of the client-server API that nio does not have, or whose errors it does not report.

_CALL_SECONDS = 30.0
_CLIENT_API = "/_matrix/client/v3/"
LOGIN_REMEDY = "Put the password of the bot's account into MATRIX_PASSWORD."


class PasswordRequired(Refused):
    """The call needs the password of the account."""


class ClientApi:
    """Calls the API. `path` follows `/_matrix/client/v3/`; `what` begins the sentence that reports an error."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def call(self, what: str, method: str, path: str, body: Json | None = None) -> Json:
        return await json_answer(what, self._send(method, path, body), _CALL_SECONDS)

    async def call_with_password(
        self, what: str, method: str, path: str, body: Json, password: str
    ) -> Json:
        """Make a call that the homeserver may want confirmed with the password.

        Raises PasswordWanted if it does and there is none.
        """
        answer = await _raw_answer(what, self._send(method, path, body))
        session = await _auth_session(answer)
        if session is None:
            return await json_answer(what, _resolved(answer))
        if not password:
            raise PasswordRequired(f"{what} needs the password of the bot's account.", LOGIN_REMEDY)
        proof = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": self._client.user_id},
            "password": password,
            "session": session,
        }
        answer = await _raw_answer(what, self._send(method, path, {**body, "auth": proof}))
        if await _auth_session(answer) is not None:
            raise PasswordRequired(
                f"{what} was refused: MATRIX_PASSWORD is not the password.", LOGIN_REMEDY
            )
        return await json_answer(what, _resolved(answer))

    def _send(self, method: str, path: str, body: Json | None) -> Awaitable[ClientResponse]:
        token = self._client.access_token
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        data = None if body is None else json.dumps(body)
        return self._client.send(method, _CLIENT_API + path, data, headers)


def quote_id(name: str) -> str:
    return quote(name, safe="")


async def _raw_answer(what: str, call: Awaitable[ClientResponse]) -> ClientResponse:
    """Return the response whatever its status; raise only if there is none."""
    answers: list[ClientResponse] = []

    async def keeping() -> ClientResponse:
        answers.append(await call)
        return answers[0]

    try:
        await json_answer(what, keeping(), _CALL_SECONDS)
    except PortError:
        if not answers or answers[0].status != HTTPStatus.UNAUTHORIZED:
            raise
    return answers[0]


async def _auth_session(answer: ClientResponse) -> str | None:
    """Return the id of the homeserver's authentication session, or None if it asks for no confirmation."""
    if answer.status != HTTPStatus.UNAUTHORIZED:
        return None
    told = json.loads(await answer.read())
    session = told.get("session") if isinstance(told, dict) else None
    return session if isinstance(session, str) else None


async def _resolved(answer: ClientResponse) -> ClientResponse:
    """Wrap a response that was received already, so that `ask` can check it."""
    return answer


# Retries: soon at first, then every ten seconds, and never before the time the server names.

log = logging.getLogger(__name__)

T = TypeVar("T")

_MAX_RETRY_AFTER = 300
"""Seconds. Longer retry times named by a homeserver are ignored."""


@dataclass(frozen=True)
class Backoff:
    shortest: float = 0.5
    longest: float = 10.0

    async def retry(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        """Call until it succeeds. The log records when the trouble begins and when it ends."""
        for tries, wait in enumerate(self.waits()):
            try:
                done = await call()
            except Unavailable as error:
                if not tries:
                    log.warning("trouble", extra={"data": {"what": what, "reason": error.reason}})
                await asyncio.sleep(retry_delay(wait, error))
            else:
                if tries:
                    log.info("trouble ended", extra={"data": {"what": what, "tries": tries}})
                return done
        raise AssertionError("there is always another wait")

    def waits(self) -> Iterator[float]:
        """Yield the seconds to wait after each failure, without end."""
        wait = self.shortest
        while True:
            yield wait
            wait = min(wait * 2, self.longest)


def retry_delay(wait: float, error: Unavailable) -> float:
    """Return how long to wait after a failure: the time the server names, but no less than `wait`."""
    return max(wait, min(error.retry_after or 0, _MAX_RETRY_AFTER))


# JSON written by others, made safe to be written down again. It may be nested deeper than the next parser can follow,
# and contain half surrogate pairs that no file and no message accepts. A single event like that, kept by the
# homeserver, would break every start of the bot.

MAX_JSON_DEPTH = 100
"""No meaningful Matrix event is nested nearly as deeply."""


def prune_json(value: Any, levels: int = MAX_JSON_DEPTH) -> Any:
    """Return a copy with None in place of deeper levels and `?` in place of half surrogate pairs."""
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-8", "replace").decode()
        case dict() if levels:
            return {prune_json(name): prune_json(one, levels - 1) for name, one in value.items()}
        case list() if levels:
            return [prune_json(one, levels - 1) for one in value]
        case dict() | list():
            return None
        case _:
            return value
