"""Reads usage limits from the error messages of a CLI: that there is one, and when it ends.

No I/O. What an agent says or shows of its work is never read here, because a diff may be about limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.core.runs import Limit

LONGEST_SAYING = 300
MAX_LIMIT_PERIOD = timedelta(days=40)
"""No limit lasts longer; a longer one was misread."""


@dataclass(frozen=True)
class LimitWords:
    """One way a CLI reports a limit.

    Named groups tell when it ends: `epoch` in seconds since 1970; `clock` as a time of day, with `day` before it and
    `zone` after it; `lasts` as a duration.
    """

    pattern: str


CLOCK = r"(?P<clock>\d{1,2}(?:[:.]\d{2})?(?::\d{2})?\s*(?:[ap]\.?m\b\.?)?)"
DAY = (
    r"(?:(?P<day>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}(?:st|nd|rd|th)?"
    r"(?:,?\s+\d{4})?),?\s+(?:at\s+)?)?"
)
LASTS = (
    r"(?P<lasts>(?:\d+(?:\.\d+)?\s*(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|ms|[dhms])"
    r"(?![a-z])[\s,]*(?:and\s+)?)+)"
)
_LENGTHS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def find_limit(
    text: str, ways: Iterable[LimitWords], at: datetime, local: tzinfo | None = None
) -> Limit | None:
    """Return the limit that an error reports, or None. `local`: the zone of the machine, used if none is named."""
    for way in ways:
        found = re.search(way.pattern, text, re.IGNORECASE)
        if found:
            until = _plausible_end(found.groupdict(), at, local)
            return Limit(says=_sentence_from(text, found.start()), resets_at=until)
    return None


def _sentence_from(text: str, start: int) -> str:
    line = text[text.rfind("\n", 0, start) + 1 :].splitlines()[0]
    return " ".join(line.split())[:LONGEST_SAYING]


def _plausible_end(
    told: Mapping[str, str | None], at: datetime, local: tzinfo | None
) -> datetime | None:
    # None for impossible times: an agent can write what it likes.
    try:
        until = _until(told, at, local)
    except (ValueError, OverflowError):
        return None
    return until if until is not None and at < until <= at + MAX_LIMIT_PERIOD else None


def _until(told: Mapping[str, str | None], at: datetime, local: tzinfo | None) -> datetime | None:
    if epoch := told.get("epoch"):
        seconds = int(epoch)
        return datetime.fromtimestamp(seconds / 1000 if seconds > 10**11 else seconds, UTC)
    if lasts := told.get("lasts"):
        return at + _length(lasts)
    if clock := told.get("clock"):
        return _next_moment(clock, told.get("day") or "", _zone(told.get("zone"), local), at)
    return None


def _length(text: str) -> timedelta:
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*(ms|[dhms])", text.lower())
    return timedelta(seconds=sum(float(number) * _LENGTHS[unit] for number, unit in parts))


def _zone(name: str | None, local: tzinfo | None) -> tzinfo | None:
    """Return the zone of that name; an unknown one counts as that of the machine, whose clock the CLI reads."""
    if not name:
        return local
    offset = re.fullmatch(
        r"(?:GMT|UTC)(?:([+-])(\d{1,2})(?::?(\d{2}))?)?", name.strip(), re.IGNORECASE
    )
    if offset:
        sign, hours, minutes = offset.groups()
        ahead = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        return timezone(-ahead if sign == "-" else ahead)
    try:
        return ZoneInfo(name.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return local


def _next_moment(clock: str, day: str, zone: tzinfo | None, at: datetime) -> datetime | None:
    """Return the next such moment."""
    time = _time_of_day(clock)
    here = at.astimezone(zone)
    date = _date(day, here) if day else here
    if time is None or date is None:
        return None
    try:
        naive = date.replace(hour=time[0], minute=time[1], second=0, microsecond=0, tzinfo=None)
    except ValueError:
        return None
    found = _placed(naive, zone)
    if found > at or day:
        return found
    # tomorrow by the calendar, because a day on which the clocks change does not have 24 hours
    return _placed(naive + timedelta(days=1), zone)


def _placed(naive: datetime, zone: tzinfo | None) -> datetime:
    placed = naive.replace(tzinfo=zone) if zone is not None else naive.astimezone()
    return placed.astimezone(UTC)


def _time_of_day(clock: str) -> tuple[int, int] | None:
    found = re.match(r"(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})?\s*([ap])?", clock.lower())
    if found is None:
        return None
    hour, minute, half = int(found[1]), int(found[2] or 0), found[3]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    return (hour, minute) if hour < 24 and minute < 60 else None


def _date(day: str, here: datetime) -> datetime | None:
    found = re.match(r"([a-z]{3})[a-z]*\.?\s+(\d{1,2})\D*(\d{4})?", day.lower())
    if found is None or found[1] not in _MONTHS:
        return None
    month = _MONTHS.index(found[1]) + 1
    year = int(found[3]) if found[3] else here.year
    if not found[3] and month < here.month - 6:
        year += 1  # said in December about January
    try:
        return here.replace(year=year, month=month, day=int(found[2]))
    except ValueError:
        return None


# How each CLI reports that its account has reached a limit. Named groups of the pattern tell when that ends.

_UNTIL = rf"{DAY}{CLOCK}(?:\s*\((?P<zone>[A-Za-z0-9_+\-/: ]{{2,40}})\))?"

CLAUDE_LIMITS = (
    LimitWords(r"usage limit reached\s*\|\s*(?P<epoch>\d{10,13})"),
    LimitWords(
        r"(?:you[’']ve (?:hit|reached) your|you[’']re out of|(?:usage|session|weekly|5-hour|opus|sonnet) limit"
        rf" reached)[^\n]{{0,160}}?\bresets?(?: at)? {_UNTIL}"
    ),
    LimitWords(
        r"you[’']ve (?:hit|reached) your (?:[\w’']+ ){0,5}(?:limit|allocation)|you[’']re out of (?:usage|extra usage|credits)"
        r"|(?:usage|session|weekly|5-hour|opus|sonnet) limit reached|credit balance is too low"
    ),
)
CODEX_LIMITS = (
    LimitWords(rf"usage limit[^\n]{{0,240}}?try again in {LASTS}"),
    LimitWords(rf"usage limit[^\n]{{0,240}}?try again at {DAY}{CLOCK}"),
    LimitWords(r"you[’']ve hit your usage limit|usage limit has been reached|out of credits"),
    LimitWords(rf"rate limit reached[^\n]{{0,200}}?try again in {LASTS}"),
    LimitWords(r"exceeded your current quota|insufficient_quota|\b429 Too Many Requests"),
)
GEMINI_LIMITS = (
    LimitWords(rf"quota[^\n]{{0,200}}?resets? (?:after|in) {LASTS}"),
    LimitWords(
        rf"access resets at {DAY}{CLOCK}(?:\s*(?P<zone>(?:GMT|UTC)(?:[+-][0-9:]{{1,5}})?|[A-Z]{{2,5}}))?"
    ),
    LimitWords(rf"quota[^\n]{{0,400}}?(?:retry|try again) (?:in|after) {LASTS}"),
    LimitWords(
        r"exhausted your (?:daily )?(?:quota|capacity)|quota exceeded|exceeded your current quota"
        r"|usage limit reached|RESOURCE_EXHAUSTED"
    ),
)
OPENCODE_LIMITS = (
    LimitWords(rf"^HTTP 429\b[^\n]*?(?:retry|try again|resets?) (?:after|in) {LASTS}"),
    LimitWords(rf"usage limit[^\n]{{0,200}}?(?:resets?|try again|retry) (?:after|in) {LASTS}"),
    LimitWords(
        r"^HTTP 429\b|usage limit (?:reached|exceeded)|too many requests|insufficient_quota"
    ),
)
