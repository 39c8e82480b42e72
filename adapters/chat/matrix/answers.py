"""What a homeserver answers: JSON that was wanted, or a problem told as Unavailable or Refused.

What does not speak Matrix is not the homeserver but something before it, and that may pass.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from aiohttp import ClientError, ClientResponse
from nio.responses import Response

from adapters.chat.matrix.pruned import pruned
from adapters.http import LONGEST_WAIT, retry_after
from bot.errors import PortError, Refused, Unavailable

Json = dict[str, Any]

_SECONDS = 60.0
_TOLD = 200
"""Characters of what a homeserver says about an error."""
_GONE = frozenset(("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED"))
_REACH = "Check that the homeserver runs and that MATRIX_HOMESERVER is its address."
_LOG_IN_ANEW = (
    "Log the bot's account in anew, put the new access token into MATRIX_ACCESS_TOKEN and start"
    " the bot again."
)


class SignedOut(Refused):
    """The account is logged in no more: nothing at all works until an operator changes that."""


class NotThere(Refused):
    """The homeserver has no such thing."""


async def ask(
    what: str, call: Awaitable[Response | ClientResponse], seconds: float = _SECONDS
) -> Json:
    """Await a call of nio and give the JSON of its answer. `what` opens the sentence that tells of a problem."""
    try:
        async with asyncio.timeout(seconds):
            return await _read(what, await call)
    except TimeoutError as error:
        reason = f"{what} did not work: the homeserver did not answer in time."
        raise Unavailable(reason, _REACH) from error
    except (ClientError, OSError, UnicodeDecodeError) as error:
        reason = f"{what} did not work: the homeserver cannot be reached."
        raise Unavailable(reason, _REACH) from error


async def _read(what: str, answer: Response | ClientResponse) -> Json:
    # Not nio's reading of it: that leaves out what nio does not know.
    response = answer if isinstance(answer, ClientResponse) else answer.transport_response
    if not isinstance(response, ClientResponse):
        raise TypeError(f"{type(answer).__name__} did not come over HTTP")
    told = _json(await response.read())
    if found := problem(what, response.status, told, response.headers):
        raise found
    return told or {}


def problem(
    what: str, status: int, told: Json | None, headers: Mapping[str, str] | None = None
) -> PortError | None:
    """What is wrong with an answer; None: nothing."""
    code = told.get("errcode") if told else None
    if told is None or code is None:
        if status == HTTPStatus.OK and told is not None:
            return None
        reason = f"{what} did not work: what answered ({status}) is no Matrix homeserver."
        return Unavailable(reason, _REACH, _header(headers))
    text = str(told.get("error", ""))[:_TOLD]
    if code in _GONE or status == HTTPStatus.UNAUTHORIZED:
        return SignedOut("The access token is no longer valid on the homeserver.", _LOG_IN_ANEW)
    if code == "M_LIMIT_EXCEEDED" or status == HTTPStatus.TOO_MANY_REQUESTS:
        reason = f"{what} must wait: the homeserver limits how much the bot may do."
        return Unavailable(reason, retry_after=_milliseconds(told) or _header(headers))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        reason = f"{what} did not work: the homeserver has a problem ({status} {code}: {text})."
        return Unavailable(reason, _REACH, _header(headers))
    refused = NotThere if code == "M_NOT_FOUND" else Refused
    return refused(f"{what} was refused by the homeserver ({code}: {text}).")


def _json(body: bytes) -> Json | None:
    """None: it is no JSON, or none that a homeserver would send."""
    with suppress(ValueError, RecursionError):
        told = pruned(json.loads(body))
        if isinstance(told, dict):
            return told
    return None


def _milliseconds(told: Json) -> float | None:
    wait = told.get("retry_after_ms")
    if not isinstance(wait, int | float) or isinstance(wait, bool) or not wait >= 0:
        return None
    return min(wait / 1000, LONGEST_WAIT)


def _header(headers: Mapping[str, str] | None) -> float | None:
    found = headers or {}
    return retry_after(found.get("Retry-After", ""), found.get("Date", ""))
