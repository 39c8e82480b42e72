"""What can be made to go wrong with the Web API, and how often; without orders nothing does."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatch


class Mishap(StrEnum):
    STATUS = "status"
    """An HTTP status instead of an answer."""
    ERROR = "error"
    """An answer that is not ok, by Slack's name of it."""
    SLOW = "slow"
    DROPPED = "dropped"
    """The connection is cut before anything was done."""
    LOST = "lost"
    """Everything was done, and then the connection is cut."""


@dataclass
class Fault:
    mishap: Mishap
    method: str
    left: int | None
    """How many calls it is still for; None: until healed."""
    status: int = 200
    error: str = ""
    seconds: float = 0
    channel: str = ""


@dataclass
class Bucket:
    """So many calls a minute, and so many at once."""

    per_minute: float
    burst: float
    level: float
    filled: float = 0

    def take(self, now: float) -> float:
        """Take one; otherwise, how long to wait until there is one."""
        grown = (now - self.filled) * self.per_minute / 60
        self.level, self.filled = min(self.burst, self.level + grown), now
        if self.level >= 1:
            self.level -= 1
            return 0
        return (1 - self.level) * 60 / self.per_minute


class Faults:
    """A method is a name or a pattern (`chat.*`); the first order that fits a call counts."""

    def __init__(self) -> None:
        self._orders: list[Fault] = []
        self._rates: dict[str, tuple[float, int]] = {}
        self._buckets: dict[tuple[str, str], Bucket] = {}
        self.dead_urls = 0
        """So many of the next socket urls will answer 404."""
        self.repeats = 0
        """So many more times every event is delivered, each time in an envelope of its own."""
        self.echoes = 0
        """So many more times every envelope itself is delivered."""
        self.acks_elsewhere = True
        """Whether an ack counts that comes on another socket than its envelope went."""
        self.hanging = asyncio.Event()
        """A call hangs, as `hang` wanted it."""
        self._until_hanging: int | None = None
        self.hangs_when_done = False

    def answer(self, status: int, method: str = "*", times: int | None = 1) -> None:
        """500, 502, 503 …"""
        self._orders.append(Fault(Mishap.STATUS, method, times, status=status))

    def refuse(self, error: str, method: str = "*", times: int | None = 1) -> None:
        """`invalid_auth` in the middle of a run, `edit_window_closed`, `fatal_error` …"""
        self._orders.append(Fault(Mishap.ERROR, method, times, error=error))

    def storm(
        self, times: int | None, retry_after: int = 1, method: str = "*", channel: str = ""
    ) -> None:
        """The next calls are told to come back later."""
        fault = Fault(Mishap.STATUS, method, times, 429, seconds=retry_after, channel=channel)
        self._orders.append(fault)

    def slow(self, seconds: float, method: str = "*", times: int | None = 1) -> None:
        self._orders.append(Fault(Mishap.SLOW, method, times, seconds=seconds))

    def drop(self, method: str = "*", times: int | None = 1) -> None:
        self._orders.append(Fault(Mishap.DROPPED, method, times))

    def lose_answer(self, method: str = "*", times: int | None = 1) -> None:
        self._orders.append(Fault(Mishap.LOST, method, times))

    def hang(self, after: int | None, *, done: bool = False) -> None:
        """Of the calls that write or read what stands in threads, the one after so many never returns; it is `done` all the
        same, or it is not. None: no call hangs any more."""
        self._until_hanging, self.hangs_when_done = after, done
        self.hanging.clear()

    def hangs(self, method: str) -> bool:
        """Whether this call is the one."""
        if self._until_hanging is None or not method.startswith(
            ("chat.", "conversations.", "files.")
        ):
            return False
        self._until_hanging -= 1
        return self._until_hanging == -1

    def heal(self) -> None:
        """From now on everything works again; rate limits stay."""
        self._orders.clear()

    def limit(self, method: str, per_minute: float, burst: int = 1) -> None:
        """A rate for a method; `chat.postMessage` is counted per channel, as Slack does."""
        self._rates[method] = (per_minute, burst)

    def limit_as_slack(self, faster: float = 1) -> None:
        """The rates Slack publishes, or a multiple of them."""
        self.limit("chat.postMessage", 60 * faster, 5)
        for method in ("chat.update", "chat.delete", "reactions.*", "conversations.*", "agents.*"):
            self.limit(method, 50 * faster, 20)
        for method in ("chat.postEphemeral", "views.*", "files.*", "users.info"):
            self.limit(method, 100 * faster, 40)
        self.limit("usergroups.*", 20 * faster, 10)

    def next_for(self, method: str, channel: str, now: float) -> Fault | None:
        """What happens to this call."""
        for order in self._orders:
            fits = fnmatch(method, order.method) and order.channel in ("", channel)
            if fits and order.left != 0:
                if order.left is not None:
                    order.left -= 1
                self._orders = [one for one in self._orders if one.left != 0]
                return order
        wait = self._wait(method, channel, now)
        return Fault(Mishap.STATUS, method, 1, 429, seconds=math.ceil(wait)) if wait else None

    def _wait(self, method: str, channel: str, now: float) -> float:
        rate = next((self._rates[name] for name in self._rates if fnmatch(method, name)), None)
        if rate is None:
            return 0
        key = (method, channel if method == "chat.postMessage" else "")
        bucket = self._buckets.setdefault(key, Bucket(*rate, level=rate[1], filled=now))
        return bucket.take(now)
