"""How much of the quota is left. Its rule: the last tenth is kept for what people wait for, so looking waits first."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from adapters import http
from adapters.http import LONGEST_WAIT
from bot.errors import Unavailable

RESERVE = 0.1


@dataclass
class Quota:
    """What the last answers told."""

    limit: int = 0
    remaining: int = 0
    resets_at: float = 0.0
    """On the monotonic clock."""

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
        self.resets_at = time.monotonic() + (until_reset(headers) or 0.0)

    def keep_reserve(self) -> None:
        """To be called before anything that can wait."""
        left = self.resets_at - time.monotonic()
        if self.remaining < self.limit * RESERVE and left > 0:
            raise Unavailable(
                f"only {self.remaining} of {self.limit} requests to GitHub are left for now",
                "The bot looks again when GitHub gives new ones.",
                retry_after=left,
            )


def until_reset(headers: Mapping[str, str]) -> float | None:
    """Seconds until the quota is renewed, by the clock of the one who says so."""
    reset = _number(headers, "x-ratelimit-reset")
    if reset is None:
        return None
    return min(max(0.0, reset - _now(headers)), LONGEST_WAIT) + 1.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """What the header of that name says, in seconds."""
    return http.retry_after(headers.get("retry-after", ""), headers.get("date", ""))


def _now(headers: Mapping[str, str]) -> float:
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, TypeError):
        return time.time()


def _number(headers: Mapping[str, str], name: str) -> int | None:
    told = headers.get(name, "").strip()
    return int(told) if told.isascii() and told.isdigit() and len(told) < 16 else None
