"""What a homeserver tells in answer to a sync: one odd room is nobody else's loss."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.matrix import events as matrix_events
from adapters.matrix.events import memberships, related_event
from bot.core.errors import Unavailable

SAID = {"type": "m.room.message", "event_id": "$1", "sender": "@a:hs", "content": {"body": "x"}}
WELL = {"timeline": {"events": [SAID]}}


@pytest.mark.parametrize(
    "odd",
    [
        None,
        [],
        "x",
        {"timeline": None},
        {"timeline": {"events": {}}},
        {"timeline": {"events": [7]}},
    ],
    ids=str,
)
def test_a_room_that_is_told_of_wrongly_hides_no_other(odd: object) -> None:
    told = {"next_batch": "s1", "rooms": {"join": {"!odd": odd, "!well": WELL}, "invite": odd}}
    news = matrix_events.read_sync(told)
    assert news.next_since == "s1"
    assert list(news.timelines) == ["!well"]
    assert news.timelines["!well"].events == (SAID,)
    assert "!well" in matrix_events.without_secrets(told)["rooms"]["join"]


@pytest.mark.parametrize("told", [{}, {"next_batch": 7}, {"next_batch": ""}], ids=str)
def test_without_a_place_to_go_on_from_it_is_no_answer(told: dict[str, object]) -> None:
    with pytest.raises(Unavailable):
        matrix_events.read_sync(told)


def member(user: object, membership: object, **more: object) -> dict[str, Any]:
    content = {"membership": membership}
    return {"type": "m.room.member", "state_key": user, "content": content, **more}


def test_who_comes_and_who_leaves_is_told_whatever_the_events_hold() -> None:
    renamed = {"prev_content": {"membership": "join"}}
    events: list[dict[str, Any]] = [
        member("@a", "join"),
        member("@b", "join", unsigned=renamed),
        member("@c", "leave", unsigned=renamed),
        member("@d", "leave", unsigned=[]),
        member(1, "join"),
        member("@e", None),
        {"type": "m.room.member", "state_key": "@f", "content": []},
        {**member("@g", "join"), "type": "m.room.message"},
    ]
    found = [(one.user, one.now, one.changed) for one in memberships(events)]
    assert found == [
        ("@a", "join", True),
        ("@b", "join", False),
        ("@c", "leave", True),
        ("@d", "leave", True),
    ]


def test_what_an_event_belongs_to_is_an_id() -> None:
    def related(content: object) -> str:
        return related_event({"content": content})

    assert related({"m.relates_to": {"event_id": "$root"}}) == "$root"
    assert related({"m.relates_to": {"event_id": "$" * 256}}) == ""
    assert related({"m.relates_to": ["$root"]}) == related([]) == related(None) == ""


def test_what_is_told_first_stands_first_whatever_the_clocks_of_servers_say() -> None:
    order = matrix_events.EventOrder("@bot:hs", known=("$earlier life",))
    mine = {"event_id": "$card", "sender": "@bot:hs", "origin_server_ts": 1}
    before, after = ({**SAID, "event_id": id, "origin_server_ts": 2} for id in ("$old", "$new"))
    order.record([before, mine, after])
    assert order.is_after("$card", "$old")
    assert not order.is_after("$card", "$new")
    assert not order.is_after("$earlier life", "$old")
    assert order.is_after("$posted and not told of yet", "$new")
