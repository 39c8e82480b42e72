"""Short texts for people: cleaned, joined into sentences and shortened; numbers and times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

# Sentences: joined, capitalized, shortened with a note of what is left out.

_SENTENCE_ENDS = (".", "!", "?", "…", "。", ":")
_LOWER_CASE_NAMES = frozenset({"bwrap", "gh", "git", "gwt-bot", "make", "npm", "tmux"})
"""Programs that keep their lower-case names even at the beginning of a sentence."""


def sentences(*said: str) -> str:
    """Join texts, each with a full stop. First words are not changed: they may be names of branches."""
    told = filter(None, map(str.strip, said))
    return " ".join(one if one.endswith(_SENTENCE_ENDS) else f"{one}." for one in told)


def capitalized(text: str) -> str:
    """Return the text with a capital letter, unless its first word is a name, a path or code."""
    first = text.partition(" ")[0].rstrip(",.:;!?")
    ordinary = first.isalpha() and first.islower() and first not in _LOWER_CASE_NAMES
    return text[:1].upper() + text[1:] if ordinary else text


def as_clause(text: str) -> str:
    """Return a sentence as the end of a longer one: lower-case first letter, no full stop."""
    first = text.partition(" ")[0]
    small = text[:1].lower() + text[1:] if first.istitle() and first.isalpha() else text
    return small.rstrip().removesuffix(".")


def cut(text: str, longest: int) -> str:
    """Return at most `longest` characters; the last one is an ellipsis if something was cut."""
    return text if len(text) <= longest else text[: max(0, longest - 1)].rstrip() + "…"


def shortened(text: str, most: int) -> str:
    """Return the first characters of a text and how many were left out."""
    if len(text) <= most:
        return text
    kept = text[:most].rstrip()
    return f"{kept} … ({len(text) - len(kept):,} more characters)"


def first_few(lines: Sequence[str], most: int, noun: str = "") -> tuple[str, ...]:
    """Return the first lines and the number of the others.

    A single further line is shown, because the number would need as much room.
    """
    if len(lines) <= most + 1:
        return tuple(lines)
    more = len(lines) - most
    return (*lines[:most], f"… and {counted(more, f'more {noun}') if noun else f'{more} more'}")


# Numbers and times.

MINUTE, HOUR, DAY = 60, 3_600, 86_400
SOME_DAYS = 2
"""From this many days on, hours are left out."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    if number == 1:
        return f"1 {noun}"
    plural = noun + ("es" if noun.endswith(("ch", "s", "x")) else "s")
    return f"{number} {plural}"


def date_time(at: datetime, *, seconds: bool = False) -> str:
    """Format a time like 2026-01-31 09:05 UTC. The zone is included because people read it in many places."""
    return f"{at.astimezone(UTC):%Y-%m-%d} {time_of_day(at, seconds=seconds)}"


def time_of_day(at: datetime, *, seconds: bool = False) -> str:
    return f"{at.astimezone(UTC):{'%H:%M:%S' if seconds else '%H:%M'}} UTC"


def duration(seconds: int | None) -> str:
    """Return a duration in words, or an empty string for `None`."""
    if seconds is None:
        return ""
    # a clock that was set back must not give negative times
    minutes, rest = divmod(max(0, seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def ago(then: datetime, now: datetime) -> str:
    """Return how long ago it was, without seconds below an hour. Never negative, even if the clock was set back."""
    seconds = max(0, int((now - then).total_seconds()))
    if seconds >= SOME_DAYS * DAY:
        return f"{seconds // DAY} days ago"
    whole = seconds - seconds % MINUTE if MINUTE <= seconds < HOUR else seconds
    return f"{duration(whole).removesuffix(' 00 s')} ago"


# Text as a person would see it: no terminal escapes, no control characters, nothing invisible.

_EMOJI = "\u203c-\u3299\U0001f000-\U0001faff"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_UNSEEN = re.compile(
    rf"""
      (?: \x1b\[ | \x9b ) [0-?]{{0,256}} [\ -/]{{0,16}} [@-~]?          # CSI: colours, cursor
    | (?: \x1b[\]PX^_] | [\x90\x98\x9d-\x9f] )                           # OSC, DCS …: titles, links,
        [^\x07\x1b\x9c\n]{{0,65536}} (?: \x07 | \x1b\\ | \x9c )?         #   the clipboard
    | \x1b [\ -/]{{0,16}} [0-~]?
    | [\x00-\x08\x0b-\x1f\x7f-\x9f]
    | [\ud800-\udfff]                                                  # halves of a pair: no file takes them
    | [{_INVISIBLE}]
    # Two invisible characters belong to emoji, and stay where they do.
    | (?<![{_EMOJI}\ufe0f]) \u200d | \u200d (?![{_EMOJI}])
    | (?<![{_EMOJI}]) \ufe0f (?! \u20e3 )
    """,
    re.VERBOSE,
)


_SEPARATOR = re.compile(r"(?<!\x00[^\x00])\x00+(?![^\x00]\x00)")
"""A NUL between two texts, as in `/proc/*/environ`; not one after each letter, as in UTF-16."""


def clean(text: str) -> str:
    r"""Remove escapes, control, bidirectional and zero-width characters; lines end with \n.

    NUL-separated texts become lines, so that they do not merge into one word.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    if "\0" in text:
        text = _SEPARATOR.sub("\n", text)
    return _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
