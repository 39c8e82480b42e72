"""What a homeserver tells in answer to a sync: one odd room is nobody else's loss."""

from __future__ import annotations

import pytest

from adapters.chat.matrix import batch
from bot.errors import Unavailable

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
    news = batch.read(told)
    assert news.next_since == "s1"
    assert list(news.timelines) == ["!well"]
    assert news.timelines["!well"].events == (SAID,)
    assert "!well" in batch.without_secrets(told)["rooms"]["join"]


@pytest.mark.parametrize("told", [{}, {"next_batch": 7}, {"next_batch": ""}], ids=str)
def test_without_a_place_to_go_on_from_it_is_no_answer(told: dict[str, object]) -> None:
    with pytest.raises(Unavailable):
        batch.read(told)
