"""The other way to reach an app: signed posts to its request url, where the answer is the ack."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from http import HTTPStatus
from urllib.parse import urlencode

import aiohttp

from tests.beds.slack.deliveries import Attempt, Courier
from tests.beds.slack.names import Json


def signed(body: str, secret: str, at: float) -> dict[str, str]:
    """Slack's v0 signature of a body."""
    stamp = str(int(at))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256)
    return {
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={digest.hexdigest()}",
    }


class RequestUrl:
    def __init__(self, url: str, secret: str, courier: Courier) -> None:
        self._url = url
        self._secret = secret
        self._courier = courier
        self._session = aiohttp.ClientSession()
        self._tasks: set[asyncio.Task[None]] = set()
        self.statuses: list[int] = []
        """What the app answered, in order; 0: it could not be reached."""

    async def carry(self, attempt: Attempt, envelope: Json) -> bool:
        attempt.via = self._url
        body, headers = _wire(envelope)
        headers |= signed(body, self._secret, time.time())
        task = asyncio.create_task(self._post(envelope["envelope_id"], body, headers))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._session.close()

    async def _post(self, envelope_id: str, body: str, headers: dict[str, str]) -> None:
        try:
            async with self._session.post(self._url, data=body, headers=headers) as answer:
                text, status = await answer.text(), answer.status
        except aiohttp.ClientError:
            self.statuses.append(0)
            return
        self.statuses.append(status)
        if status == HTTPStatus.OK:
            self._courier.heard(envelope_id, _read(text))


def _wire(envelope: Json) -> tuple[str, dict[str, str]]:
    payload = envelope["payload"]
    if envelope["type"] == "events_api":
        headers = {"Content-Type": "application/json"}
        if envelope["retry_attempt"]:
            headers["X-Slack-Retry-Num"] = str(envelope["retry_attempt"])
            headers["X-Slack-Retry-Reason"] = "http_timeout"
        return json.dumps(payload), headers
    fields = payload if envelope["type"] == "slash_commands" else {"payload": json.dumps(payload)}
    return urlencode(fields), {"Content-Type": "application/x-www-form-urlencoded"}


def _read(text: str) -> Json:
    if not text:
        return {}
    try:
        read: Json = json.loads(text)
    except ValueError:
        return {"text": text}
    return read
