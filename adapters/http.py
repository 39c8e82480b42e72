"""What all HTTP clients of the bot share: the meaning of `Retry-After`, and the limit on the size of an answer."""

from __future__ import annotations

import math
import re
import time
from email.utils import parsedate_to_datetime

MAX_WAIT = 3600.0
"""Seconds. If a server names a longer time it is asked again after an hour."""

_SECONDS = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?", re.ASCII)


def retry_after(header: str, date: str = "") -> float | None:
    """Return the seconds to wait, from a number or an HTTP date, or None if the header is not usable.

    `date`: the answer's own `Date` header, because the server's clock may differ.
    """
    header = header.strip()
    if _SECONDS.fullmatch(header):
        return min(float(header), MAX_WAIT)
    until = _timestamp(header)
    if until is None:
        return None
    now = _timestamp(date)
    return min(max(0.0, until - (time.time() if now is None else now)), MAX_WAIT)


def _timestamp(date: str) -> float | None:
    try:
        found = parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return None  # the library raises each of these for some input
    return found if math.isfinite(found) else None
