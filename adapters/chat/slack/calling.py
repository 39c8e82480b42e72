"""One call to Slack: it waits as long as it is told to, and a failure says whether the thing may have been done all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.chat.slack.access import code_of, meaning_of
from bot.errors import PortError, Refused, Unavailable

LONGEST_WAIT = 60.0
"""Seconds of waiting in one call, all in all. Whoever is to wait longer does so without holding up others."""

_NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_UNSAID = 1.0
_SHORTEST = 0.05
Answer = dict[str, Any]


class Lost(Unavailable):
    """No answer came, or a broken one: what was asked for may have been done."""


class Denied(Refused):
    """Slack said no. `code` is Slack's own word for the reason, `details` what it says besides."""

    def __init__(self, reason: str, remedy: str, code: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(reason, remedy)
        self.code = code
        self.details = details


async def asked(what: str, call: Callable[[], Awaitable[AsyncSlackResponse]]) -> Answer:
    """The answer to a call. `what` it is for stands in every reason."""
    waited = 0.0
    while True:
        try:
            response = await call()
        except (SlackApiError, aiohttp.ClientError, OSError) as error:
            pause = _pause(error)
            if pause is None or waited + pause > LONGEST_WAIT:
                raise told(error, what) from error
            waited += pause
            await asyncio.sleep(pause)
        else:
            return response.data if isinstance(response.data, dict) else {}


def told(error: Exception, what: str) -> PortError:
    """What went wrong, and what may have come of it."""
    meaning = meaning_of(error, what)
    if isinstance(meaning, Refused):
        if not isinstance(error, SlackApiError):
            return meaning
        return Denied(meaning.reason, meaning.remedy, code_of(error), _details(error))
    if _never_done(error):
        return meaning
    return Lost(meaning.reason, meaning.remedy)


def _pause(error: Exception) -> float | None:
    """How long Slack wants to be left alone; None: it is something else."""
    if not _put_off(error):
        return None
    meaning = meaning_of(error, "")
    named = meaning.retry_after if isinstance(meaning, Unavailable) else None
    return _UNSAID if named is None else max(_SHORTEST, named)


def _details(error: SlackApiError) -> tuple[str, ...]:
    content = getattr(error.response, "data", None)
    more = content.get("response_metadata") if isinstance(content, dict) else None
    said = more.get("messages") if isinstance(more, dict) else None
    return tuple(map(str, said)) if isinstance(said, list) else ()


def _never_done(error: Exception) -> bool:
    return isinstance(error, _NEVER_SENT) or _put_off(error)


def _put_off(error: Exception) -> bool:
    """Told to come back later, before anything was done."""
    if not isinstance(error, SlackApiError):
        return False
    status = getattr(error.response, "status_code", None) or getattr(error.response, "status", 0)
    return status == 429 or code_of(error) in ("ratelimited", "rate_limited")
