"""How events and interactions reach the app: every attempt and its ack on record, and what is not acked is sent again."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.beds.slack.faults import Faults
from tests.beds.slack.names import APP, BOT, TEAM, Json

RETRIES_AFTER = (0, 60, 300)
"""Seconds, before they are scaled."""

Carry = Callable[["Attempt", Json], Awaitable[bool]]
"""Takes an envelope on its way; False: there is nobody to take it to."""


@dataclass
class Attempt:
    envelope_id: str
    number: int
    sent: float
    acked: float | None = None
    via: str = ""
    """The connection it went on."""


@dataclass
class Delivery:
    """One event, interaction or command, and all that was done to bring it."""

    kind: str
    payload: Json
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    answer: Json = field(default_factory=dict[str, Any])
    """What came with the ack."""
    confirm: Json | None = None
    """The dialog the person had to agree to."""
    then: Callable[[Json], None] | None = None
    """What Slack does with what came with the ack."""
    lost: bool = False
    """Nobody acked it, and it will not be sent again."""
    sent: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def event(self) -> Json:
        return self.payload.get("event", {})

    @property
    def what(self) -> str:
        return f"{self.kind} {self.event.get('type') or self.payload.get('type', '')}"

    @property
    def acked(self) -> bool:
        return any(one.acked is not None for one in self.attempts)

    @property
    def delay(self) -> float | None:
        """Seconds from the sending to the ack of the attempt that was acked first."""
        delays = [one.acked - one.sent for one in self.attempts if one.acked is not None]
        return min(delays) if delays else None

    async def ack(self, seconds: float = 120) -> Json:
        """Wait for the ack, and read what came with it."""
        async with asyncio.timeout(seconds):
            await self.over.wait()
        assert self.acked, f"never acked: {self.kind} {self.event.get('type', '')}"
        return self.answer


class Courier:
    def __init__(self, faults: Faults, ack_seconds: float, time_scale: float) -> None:
        self._faults = faults
        self.deliveries: list[Delivery] = []
        self.carry: Carry = _nobody
        self.ack_seconds = ack_seconds
        self.time_scale = time_scale
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: dict[str, tuple[Delivery, Attempt]] = {}

    def event(self, event: Json, *, shared: bool = False) -> Delivery:
        """Something happened: told until it is acked, or four times."""
        number = f"{len(self.deliveries) + 1:08d}"
        return self.send(
            "events_api",
            {
                "token": "verification",
                "team_id": TEAM,
                "context_team_id": TEAM,
                "api_app_id": APP,
                "event": event,
                "type": "event_callback",
                "event_id": f"Ev{number}",
                "event_time": int(float(event["event_ts"])),
                "authorizations": [{"team_id": TEAM, "user_id": BOT, "is_bot": True}],
                "is_ext_shared_channel": shared,
                "event_context": f"4-{number}",
            },
        )

    def send(self, kind: str, payload: Json, confirm: Json | None = None) -> Delivery:
        delivery = Delivery(kind, payload, confirm=confirm)
        self.deliveries.append(delivery)
        task = asyncio.create_task(self._deliver(delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return delivery

    def heard(self, envelope_id: str, answer: Json, via: str | None = None) -> None:
        """An ack has come. With `via` it counts only for what went that way."""
        delivery, attempt = self._waiting.get(envelope_id, (None, None))
        if delivery is None or attempt is None or (via is not None and attempt.via != via):
            return
        if not delivery.acked:
            delivery.answer = answer
            if delivery.then is not None:
                delivery.then(answer)
        attempt.acked = attempt.acked or time.monotonic()
        delivery.over.set()

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _deliver(self, delivery: Delivery) -> None:
        waits = RETRIES_AFTER if delivery.kind == "events_api" else ()
        again = self._faults.repeats if delivery.kind == "events_api" else 0
        if await self._attempt(delivery, 0, again):
            return
        for number, wait in enumerate(waits, 1):
            await asyncio.sleep(wait * self.time_scale)
            if delivery.acked or await self._attempt(delivery, number):
                return
        delivery.lost = True
        delivery.over.set()

    async def _attempt(self, delivery: Delivery, number: int, again: int = 0) -> bool:
        """Whether it was acked in time."""
        reason = "timeout" if number else ""
        taken = False
        for _ in range(1 + again):
            attempt = Attempt(str(uuid.uuid4()), number, time.monotonic())
            self._waiting[attempt.envelope_id] = (delivery, attempt)
            envelope = _envelope(delivery, attempt.envelope_id, number, reason)
            if await self.carry(attempt, envelope):
                delivery.attempts.append(attempt)
                taken = True
        delivery.sent.set()
        if not taken:
            return False
        try:
            async with asyncio.timeout(self.ack_seconds):
                await delivery.over.wait()
        except TimeoutError:
            return False
        return True


def _envelope(delivery: Delivery, envelope_id: str, number: int, reason: str) -> Json:
    envelope: Json = {
        "envelope_id": envelope_id,
        "type": delivery.kind,
        "payload": delivery.payload,
        "accepts_response_payload": delivery.kind != "events_api",
    }
    if delivery.kind == "events_api":
        envelope |= {"retry_attempt": number, "retry_reason": reason}
    return envelope


async def _nobody(attempt: Attempt, envelope: Json) -> bool:
    return False
