"""What an answer left out of a room: read backwards until nothing is missing, told forwards.

A homeserver shows a room one has just entered with what was said long before. For the bot a room begins with its
invitation, so that the words which came with it are heard, and none of before.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from adapters.chat.matrix.batch import Event, Timeline

log = logging.getLogger(__name__)
MOST_PAGES = 200
"""What was said before them is not heard: a room may be flooded for days, and the memory is not without end."""
Page = Callable[[str, str], Awaitable[tuple[list[Event], str]]]
"""Events before a place and after another (empty: any), the latest first; and the place to read on from (empty: none)."""


async def told(
    timeline: Timeline, since: str, me: str, page: Page, *, from_join: bool = False
) -> list[Event]:
    """All that is new since the last time, the oldest first. `from_join`: a room begins when the bot enters it."""
    events, place, pages = list(timeline.events), timeline.before, 0
    while place and pages < MOST_PAGES:
        pages += 1
        beginning = _beginning(events, me, from_join=from_join)
        if beginning is not None and beginning >= 0:
            break
        # Once it is clear that the room is new, the invitation is looked for, which may be older than the last time.
        more, further = await page(place, since if beginning is None else "")
        events[:0] = reversed(more)
        place = further if more and further != place else ""
    if pages == MOST_PAGES and place:
        log.warning("more was said than is read again", extra={"data": {"events": len(events)}})
    return events[max(_beginning(events, me, from_join=from_join) or 0, 0) :]


def _beginning(events: Sequence[Event], me: str, *, from_join: bool) -> int | None:
    """Where the room begins for the bot. None: it was there all the time; -1: further back."""
    entered = next(
        (place for place in _of(events, me, "join") if _before(events[place]) != "join"), None
    )
    if entered is None or from_join or _before(events[entered]) != "invite":
        return entered
    return next((place for place in _of(events[:entered], me, "invite")), -1)


def _of(events: Sequence[Event], me: str, membership: str) -> list[int]:
    """Where the bot's own membership became that, the latest first."""
    return [
        place
        for place, event in reversed(list(enumerate(events)))
        if event.get("type") == "m.room.member"
        and event.get("state_key") == me
        and event.get("content", {}).get("membership") == membership
    ]


def _before(event: Event) -> str | None:
    """The membership that an event changed."""
    unsigned = event.get("unsigned", {})
    return (unsigned.get("prev_content") or event.get("prev_content") or {}).get("membership")
