"""What every HTTP client of the bot agrees on: how long `Retry-After` means, and how much of an answer is read."""

from __future__ import annotations

import math
import re
import time
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 3600.0
"""Seconds. A server may ask for an hour; one that names a day or a year is asked again after an hour."""

_SECONDS = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?", re.ASCII)


def retry_after(told: str, date: str = "") -> float | None:
    """Seconds to wait, from a number or an HTTP date; None: it says nothing of use.

    `date` is the answer's own `Date`: a server's clock need not agree with ours.
    """
    told = told.strip()
    if _SECONDS.fullmatch(told):
        return min(float(told), LONGEST_WAIT)
    until = _timestamp(told)
    if until is None:
        return None
    now = _timestamp(date)
    return min(max(0.0, until - (time.time() if now is None else now)), LONGEST_WAIT)


def _timestamp(date: str) -> float | None:
    try:
        found = parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return None  # the library raises each of these for some text
    return found if math.isfinite(found) else None
