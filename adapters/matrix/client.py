"""The bot's account on a homeserver, and calls to it: JSON comes back, or Unavailable (try again) or Refused (an answer)."""

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
from adapters.http import LONGEST_WAIT, retry_after
from bot.core.errors import PortError, Refused, Unavailable

# The bot's account: an access token, and the one device it stands for.

_REQUEST_SECONDS = 45
_WRONG_ACCOUNT = (
    "MATRIX_USER and MATRIX_ACCESS_TOKEN must be of the same account. Log in as the bot to get"
    " its token."
)


@dataclass(frozen=True)
class MatrixAccess:
    """Where the account is, and what lets the bot in."""

    homeserver: str
    user_id: str
    """The full id, as in @bot:example.org."""
    access_token: str = field(repr=False)
    password: str = field(default="", repr=False)
    """Only used where the keys of the bot's device, or those it is signed with, have to be made anew."""


async def connect(access: MatrixAccess) -> AsyncClient:
    """A client that is logged in as that account, on the device of the token. Who asks for it closes it.

    It tries nothing again by itself and waits for no limit: who calls decides that.
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
    """What the homeserver says of the token. Nothing changes there; the reason is raised where it says no."""
    client = await connect(access)
    await client.close()
    return f"the homeserver lets it in as {client.user_id}, with the device {client.device_id}"


async def _log_in(client: AsyncClient, access: MatrixAccess) -> None:
    client.access_token = access.access_token
    told = await ask("Logging in to Matrix", client.whoami())
    if told.get("user_id") != access.user_id:
        reason = f"The Matrix access token is one of {told.get('user_id')}, not {access.user_id}."
        raise Refused(reason, _WRONG_ACCOUNT)
    if not told.get("device_id"):
        reason = "The Matrix access token belongs to no device."
        raise Refused(reason, _WRONG_ACCOUNT)
    client.restore_login(access.user_id, told["device_id"], access.access_token)


# What a homeserver answers: JSON that was wanted, or a problem. What does not speak Matrix is not
# the homeserver but something before it, and that may pass.

Json = dict[str, Any]

_ANSWER_SECONDS = 60.0
_LONGEST_REASON = 200
"""Characters of what a homeserver says about an error."""
_SIGNED_OUT_CODES = frozenset(
    ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED")
)
_CHECK_ADDRESS = "Check that the homeserver runs and that MATRIX_HOMESERVER is its address."
_LOG_IN_ANEW = (
    "Log the bot's account in anew, put the new access token into MATRIX_ACCESS_TOKEN and start"
    " the bot again."
)


class SignedOut(Refused):
    """The account is logged in no more: nothing at all works until an operator changes that."""


class NotThere(Refused):
    """The homeserver has no such thing."""


async def ask(
    what: str, call: Awaitable[Response | ClientResponse], seconds: float = _ANSWER_SECONDS
) -> Json:
    """Await a call of nio and give the JSON of its answer. `what` opens the sentence that tells of a problem."""
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
    # Not nio's reading of it: that leaves out what nio does not know.
    response = answer if isinstance(answer, ClientResponse) else answer.transport_response
    if not isinstance(response, ClientResponse):
        raise TypeError(f"{type(answer).__name__} did not come over HTTP")
    told = _json_of(await response.read())
    if found := problem_with(what, response.status, told, response.headers):
        raise found
    return told or {}


def problem_with(
    what: str, status: int, told: Json | None, headers: Mapping[str, str] | None = None
) -> PortError | None:
    """What is wrong with an answer; None: nothing."""
    code = told.get("errcode") if told else None
    if told is None or code is None:
        if status == HTTPStatus.OK and told is not None:
            return None
        reason = f"{what} did not work: what answered ({status}) is no Matrix homeserver."
        return Unavailable(reason, _CHECK_ADDRESS, _retry_header(headers))
    text = str(told.get("error", ""))[:_LONGEST_REASON]
    if code in _SIGNED_OUT_CODES or status == HTTPStatus.UNAUTHORIZED:
        return SignedOut("The access token is no longer valid on the homeserver.", _LOG_IN_ANEW)
    if code == "M_LIMIT_EXCEEDED" or status == HTTPStatus.TOO_MANY_REQUESTS:
        reason = f"{what} must wait: the homeserver limits how much the bot may do."
        return Unavailable(reason, retry_after=_milliseconds(told) or _retry_header(headers))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        reason = f"{what} did not work: the homeserver has a problem ({status} {code}: {text})."
        return Unavailable(reason, _CHECK_ADDRESS, _retry_header(headers))
    refused = NotThere if code == "M_NOT_FOUND" else Refused
    return refused(f"{what} was refused by the homeserver ({code}: {text}).")


def _json_of(body: bytes) -> Json | None:
    """None: it is no JSON, or none that a homeserver would send."""
    with suppress(ValueError, RecursionError):
        told = prune_json(json.loads(body))
        if isinstance(told, dict):
            return told
    return None


def _milliseconds(told: Json) -> float | None:
    wait = told.get("retry_after_ms")
    if not isinstance(wait, int | float) or isinstance(wait, bool) or not wait >= 0:
        return None
    return min(wait / 1000, LONGEST_WAIT)


def _retry_header(headers: Mapping[str, str] | None) -> float | None:
    found = headers or {}
    return retry_after(found.get("Retry-After", ""), found.get("Date", ""))


# Calls of the client-server API that nio does not have, or answers without saying what went
# wrong.

_CALL_SECONDS = 30.0
_CLIENT_API = "/_matrix/client/v3/"
LOGIN_REMEDY = "Put the password of the bot's account into MATRIX_PASSWORD."


class PasswordWanted(Refused):
    """Only who knows the password of the account may do this."""


class ClientApi:
    """`path` follows `/_matrix/client/v3/`; `what` opens the sentence that tells of a problem."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def call(self, what: str, method: str, path: str, body: Json | None = None) -> Json:
        return await ask(what, self._send(method, path, body), _CALL_SECONDS)

    async def confirmed(self, what: str, method: str, path: str, body: Json, password: str) -> Json:
        """A call that the homeserver may want the password for. PasswordWanted: it does, and there is none."""
        answer = await _any_answer(what, self._send(method, path, body))
        session = await _auth_session(answer)
        if session is None:
            return await ask(what, _answered_already(answer))
        if not password:
            raise PasswordWanted(f"{what} needs the password of the bot's account.", LOGIN_REMEDY)
        proof = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": self._client.user_id},
            "password": password,
            "session": session,
        }
        answer = await _any_answer(what, self._send(method, path, {**body, "auth": proof}))
        if await _auth_session(answer) is not None:
            raise PasswordWanted(
                f"{what} was refused: MATRIX_PASSWORD is not the password.", LOGIN_REMEDY
            )
        return await ask(what, _answered_already(answer))

    def _send(self, method: str, path: str, body: Json | None) -> Awaitable[ClientResponse]:
        token = self._client.access_token
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        data = None if body is None else json.dumps(body)
        return self._client.send(method, _CLIENT_API + path, data, headers)


def quote_id(name: str) -> str:
    return quote(name, safe="")


async def _any_answer(what: str, call: Awaitable[ClientResponse]) -> ClientResponse:
    """The answer whatever it says, as long as there is one."""
    answers: list[ClientResponse] = []

    async def keeping() -> ClientResponse:
        answers.append(await call)
        return answers[0]

    try:
        await ask(what, keeping(), _CALL_SECONDS)
    except PortError:
        if not answers or answers[0].status != HTTPStatus.UNAUTHORIZED:
            raise
    return answers[0]


async def _auth_session(answer: ClientResponse) -> str | None:
    """Of the conversation in which the homeserver wants a proof. None: it wants none."""
    if answer.status != HTTPStatus.UNAUTHORIZED:
        return None
    told = json.loads(await answer.read())
    session = told.get("session") if isinstance(told, dict) else None
    return session if isinstance(session, str) else None


async def _answered_already(answer: ClientResponse) -> ClientResponse:
    """What was answered already: read once more, for what it says."""
    return answer


# Trying again what may work later: first soon, then every ten seconds, and never before a named
# time.

log = logging.getLogger(__name__)

T = TypeVar("T")

_LONGEST_NAMED = 300
"""Seconds. A homeserver that names a day is not believed."""


@dataclass(frozen=True)
class Backoff:
    shortest: float = 0.5
    longest: float = 10.0

    async def until_done(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        """Do it, as often as it takes. The log is told when the trouble begins and when it ends."""
        for tries, wait in enumerate(self.waits()):
            try:
                done = await call()
            except Unavailable as error:
                if not tries:
                    log.warning("trouble", extra={"data": {"what": what, "reason": error.reason}})
                await asyncio.sleep(pause_after(wait, error))
            else:
                if tries:
                    log.info("trouble ended", extra={"data": {"what": what, "tries": tries}})
                return done
        raise AssertionError("there is always another wait")

    def waits(self) -> Iterator[float]:
        """Seconds after each failure, without end."""
        wait = self.shortest
        while True:
            yield wait
            wait = min(wait * 2, self.longest)


def pause_after(wait: float, error: Unavailable) -> float:
    """How long to wait after a failure: as long as it says, but no shorter than otherwise."""
    return max(wait, min(error.retry_after or 0, _LONGEST_NAMED))


# JSON that others have written, as far as it can be written down again. It may be nested deeper
# than the next reader can follow, and hold halves of characters that no file and no message
# takes. A single event like that, kept by the homeserver, would meet the bot at each of its
# starts.

DEEPEST_JSON = 100
"""Nothing in Matrix that means something comes near it."""


def prune_json(value: Any, levels: int = DEEPEST_JSON) -> Any:
    """The same, with nothing in the place of what lies deeper, and a question mark in that of half a character."""
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
