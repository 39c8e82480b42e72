"""What can be made to go wrong with requests, and how often; without orders nothing does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase


class Mishap(StrEnum):
    STATUS = "status"
    """An HTTP status instead of an answer, before anything was done."""
    LATE_STATUS = "late status"
    """Everything was done, and then such a status."""
    DROPPED = "dropped"
    """The connection is cut before anything was done."""
    LOST = "lost"
    """Everything was done, and then the connection is cut without an answer."""
    SLOW = "slow"
    TRICKLE = "trickle"
    """The answer comes in little pieces, with pauses."""
    HALF = "half"
    """The answer breaks off in its middle."""
    HTML = "html"
    """A page of something in between, with 200."""
    BROKEN = "broken"
    """A whole answer that is not JSON."""
    HANG = "hang"
    """No answer, and the connection stays."""


@dataclass
class Fault:
    mishap: Mishap
    method: str
    path: str
    left: int | None
    """How many requests it is still for; None: until healed."""
    status: int = 200
    message: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = 0
    skip: int = 0
    """So many that fit are let through first."""

    def takes(self, method: str, path: str) -> bool:
        """Whether this request is its next."""
        if not (fnmatchcase(method, self.method) and fnmatchcase(path, self.path)):
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.left is not None:
            self.left -= 1
        return True


class Orders:
    """A method and a path are patterns (`*/merge`); the first order that fits a request counts."""

    def __init__(self) -> None:
        self._orders: list[Fault] = []

    def heal(self) -> None:
        """From now on everything works again."""
        self._orders.clear()

    def next_for(self, method: str, path: str) -> Fault | None:
        """What happens to this request."""
        found = next((one for one in self._orders if one.takes(method, path)), None)
        self._orders = [one for one in self._orders if one.left != 0]
        return found

    def order(
        self, mishap: Mishap, method: str, path: str, times: int | None, **more: object
    ) -> None:
        fault = Fault(mishap, method, path, times)
        for name, value in more.items():
            setattr(fault, name, value)
        self._orders.append(fault)


class Faults(Orders):
    """Of the REST API and GraphQL: `faults.lose_answer("POST", "*/pulls")`."""

    def drop(self, method: str = "*", path: str = "*", times: int | None = 1) -> None:
        self.order(Mishap.DROPPED, method, path, times)

    def lose_answer(
        self, method: str = "*", path: str = "*", times: int | None = 1, *, skip: int = 0
    ) -> None:
        self.order(Mishap.LOST, method, path, times, skip=skip)

    def answer(
        self,
        status: int,
        method: str = "*",
        path: str = "*",
        times: int | None = 1,
        *,
        after: bool = False,
    ) -> None:
        """500, 502, 503 … before it was done, or after."""
        mishap = Mishap.LATE_STATUS if after else Mishap.STATUS
        self.order(mishap, method, path, times, status=status, message="Server Error")

    def unauthorized(self, method: str = "*", path: str = "*", times: int | None = 1) -> None:
        self.order(Mishap.STATUS, method, path, times, status=401, message="Bad credentials")

    def forbid(self, method: str = "*", path: str = "*", times: int | None = 1) -> None:
        """A right is missing; no limit."""
        message = "Resource not accessible by integration"
        self.order(Mishap.STATUS, method, path, times, status=403, message=message)

    def secondary_limit(
        self,
        retry_after: int | None = 60,
        method: str = "*",
        path: str = "*",
        times: int | None = 1,
        *,
        status: int = 403,
    ) -> None:
        """Too much in too short a time; GitHub says 403 or 429, and mostly how long to wait."""
        message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        headers = (("Retry-After", str(retry_after)),) if retry_after is not None else ()
        self.order(
            Mishap.STATUS, method, path, times, status=status, message=message, headers=headers
        )

    def primary_limit(
        self, reset: int, method: str = "*", path: str = "*", times: int | None = 1
    ) -> None:
        """The quota is used up until that second of the epoch."""
        headers = (("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", str(reset)))
        message = "API rate limit exceeded for user ID 1000."
        self.order(Mishap.STATUS, method, path, times, status=403, message=message, headers=headers)

    def slow(
        self, seconds: float, method: str = "*", path: str = "*", times: int | None = 1
    ) -> None:
        self.order(Mishap.SLOW, method, path, times, seconds=seconds)

    def trickle(
        self, seconds: float, method: str = "*", path: str = "*", times: int | None = 1
    ) -> None:
        """The answer takes so long, but something of it comes all the time."""
        self.order(Mishap.TRICKLE, method, path, times, seconds=seconds)

    def half(self, method: str = "*", path: str = "*", times: int | None = 1) -> None:
        self.order(Mishap.HALF, method, path, times)

    def html(self, method: str = "*", path: str = "*", times: int | None = 1) -> None:
        self.order(Mishap.HTML, method, path, times)

    def broken_json(self, method: str = "*", path: str = "*", times: int | None = 1) -> None:
        self.order(Mishap.BROKEN, method, path, times)

    def hang(self, method: str = "*", path: str = "*", times: int | None = 1) -> None:
        self.order(Mishap.HANG, method, path, times)


class GitFaults(Orders):
    """Of git over HTTP: `what` is "push", "fetch" or "*"; `greeting` is the question before it, where git learns the refs."""

    def answer(
        self,
        status: int,
        what: str = "*",
        times: int | None = 1,
        *,
        greeting: bool = True,
        after: bool = False,
    ) -> None:
        """401, 403, 502 … ; `after`: the push was taken."""
        mishap = Mishap.LATE_STATUS if after else Mishap.STATUS
        step = "greeting" if greeting and not after else "transfer"
        self.order(mishap, what, step, times, status=status, message="The server is not well")

    def drop(self, what: str = "*", times: int | None = 1, *, greeting: bool = True) -> None:
        self.order(Mishap.DROPPED, what, "greeting" if greeting else "transfer", times)

    def cut(self, what: str = "push", times: int | None = 1) -> None:
        """The connection breaks off in the middle: nothing was pushed, or half of it fetched."""
        self.order(Mishap.HALF, what, "transfer", times)

    def lose_answer(self, what: str = "push", times: int | None = 1) -> None:
        """Pushed, but nobody hears it."""
        self.order(Mishap.LOST, what, "transfer", times)

    def hang(self, what: str = "*", times: int | None = 1, *, greeting: bool = True) -> None:
        self.order(Mishap.HANG, what, "greeting" if greeting else "transfer", times)

    def slow(self, seconds: float, what: str = "*", times: int | None = 1) -> None:
        self.order(Mishap.SLOW, what, "transfer", times, seconds=seconds)
