"""What an answer left out is read backwards and told forwards, from the last time or from the invitation on."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.matrix import sync
from adapters.matrix.events import MatrixEvent, Timeline, read_sync
from bot.core.errors import Unavailable

ME = "@bot:hs"


def said(*texts: str) -> list[MatrixEvent]:
    return [{"type": "m.room.message", "content": {"body": text}} for text in texts]


def own(membership: str, before: str | None = None) -> MatrixEvent:
    event: MatrixEvent = {
        "type": "m.room.member",
        "state_key": ME,
        "content": {"membership": membership},
    }
    if before:
        event["unsigned"] = {"prev_content": {"membership": before}}
    return event


class Room:
    """A history that is given out page by page; the last time was before `since` events of it."""

    def __init__(self, events: list[MatrixEvent], since: int, size: int = 2) -> None:
        self.events, self.since, self.size = events, since, size
        self.asked: list[str] = []

    def timeline(self, count: int) -> Timeline:
        begin = len(self.events) - count
        return Timeline(tuple(self.events[begin:]), str(begin))

    async def page(self, start: str, end: str) -> tuple[list[MatrixEvent], str]:
        self.asked.append(end)
        first = max(int(start) - self.size, int(end or 0))
        return self.events[first : int(start)][::-1], str(first) if first < int(start) else ""

    async def told(self, shown: int, *, from_join: bool = False) -> list[str]:
        timeline = self.timeline(shown)
        events = await sync.complete_timeline(
            timeline, str(self.since), ME, self.page, from_join=from_join
        )
        return [one["content"].get("body", one["content"].get("membership")) for one in events]


async def test_all_since_the_last_time_is_told_in_order() -> None:
    room = Room(said("0", "1", "2", "3", "4", "5", "6"), since=2)
    assert await room.told(1) == ["2", "3", "4", "5", "6"]


async def test_nothing_is_read_where_nothing_is_missing() -> None:
    room = Room(said("0", "1"), since=0)
    timeline = Timeline(tuple(room.events))
    assert await sync.complete_timeline(timeline, "0", ME, room.page) == room.events
    assert room.asked == []


async def test_of_a_flood_the_last_pages_are_read(caplog: pytest.LogCaptureFixture) -> None:
    room = Room(said(*map(str, range(1_000))), since=0)
    found = await room.told(1)
    assert (len(room.asked), found[-1]) == (sync.MAX_PAGES, "999")
    assert found == [str(number) for number in range(1_000 - len(found), 1_000)]
    assert "more was said than is read again" in caplog.messages


@pytest.mark.parametrize("shown", range(1, 8))
async def test_a_new_room_is_told_from_the_invitation_wherever_that_is(shown: int) -> None:
    events = [*said("old", "older"), own("invite"), *said("please"), own("join", "invite")]
    room = Room([*events, *said("thanks", "!")], since=4)
    assert await room.told(shown) == ["invite", "please", "join", "thanks", "!"]


async def test_a_room_entered_without_an_invitation_is_told_from_there() -> None:
    room = Room([*said("old"), own("join", "leave"), *said("new")], since=0)
    assert await room.told(1) == ["join", "new"]


async def test_where_the_invitation_does_not_count_a_room_is_told_from_the_entering() -> None:
    room = Room([own("invite"), *said("please"), own("join", "invite"), *said("new")], since=0)
    assert await room.told(1, from_join=True) == ["join", "new"]


async def test_another_name_of_the_bot_is_no_entering() -> None:
    room = Room([*said("0", "1"), own("join", "join"), *said("2")], since=1)
    assert await room.told(1) == ["1", "join", "2"]


async def test_an_invitation_that_cannot_be_found_loses_nothing() -> None:
    room = Room([*said("0"), own("join", "invite"), *said("1")], since=0)
    assert await room.told(1) == ["0", "join", "1"]


def test_rooms_with_news_and_invitations_are_read_and_the_others_not() -> None:
    def timeline(*events: str, **more: Any) -> dict[str, Any]:
        return {
            "timeline": {"events": [{"event_id": id} for id in events], "prev_batch": "p", **more}
        }

    told = read_sync(
        {
            "next_batch": "s2",
            "rooms": {
                "join": {"!a": timeline("1"), "!b": timeline(), "!c": timeline(limited=True)},
                "leave": {"!d": timeline("2", limited=True), "!e": {}},
                "invite": {"!f": {"invite_state": {"events": [{}]}}},
            },
        }
    )
    assert told.next_since == "s2"
    assert {room: one.before for room, one in told.timelines.items()} == {
        "!a": "",
        "!c": "p",
        "!d": "p",
    }
    assert told.invites == {"!f": ({},)}


def test_what_is_no_answer_to_a_sync_is_asked_for_again() -> None:
    with pytest.raises(Unavailable):
        read_sync({"rooms": {}})
