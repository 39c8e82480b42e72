"""Coming into rooms and losing them: only the invited of the right people come, and nobody is left wondering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adapters.matrix.rooms import (
    Invitation,
    RemovedFromRoom,
    ReplacedRoom,
    accepts_invitation,
    invitation,
    membership_change,
)
from tests.adapters.matrix.conftest import Talk
from tests.adapters.matrix.listening import until
from tests.beds.synapse import People, Person, Proxy

pytestmark = pytest.mark.covers("O-MATRIX-6")

ME = "@bot:hs"


def member(
    membership: str, *, of: str = ME, by: str = "@anna:hs", **content: Any
) -> dict[str, Any]:
    return {
        "type": "m.room.member",
        "state_key": of,
        "sender": by,
        "content": {"membership": membership, **content},
    }


def created(**content: Any) -> dict[str, Any]:
    return {"type": "m.room.create", "state_key": "", "sender": "@owner:hs", "content": content}


def everybody(_inviter: str, _room: str, _direct: bool) -> bool:
    return True


async def membership(person: Person, room: str, of: str) -> str | None:
    return (await person.members(room)).get(of)


async def until_membership(person: Person, room: str, of: str, wanted: str) -> None:
    """Look, as often as something happens in the rooms of that person, until it is so."""
    while await membership(person, room, of) != wanted:
        await person.look()


def logged(caplog: pytest.LogCaptureFixture, event: str) -> Callable[[], list[Any]]:
    return lambda: [getattr(one, "data", None) for one in caplog.records if one.message == event]


async def test_the_bot_comes_where_somebody_welcome_invites_it(talk: Talk) -> None:
    talk.ear.friends.add(talk.anna.id)
    async with talk.ear.open():
        room = await talk.anna.create_room()
        await talk.anna.invite(room, talk.bot.id)
        await until_membership(talk.anna, room, talk.bot.id, "join")
        direct = await talk.anna.create_room(talk.bot.id, direct=True)
        await until_membership(talk.anna, direct, talk.bot.id, "join")
    assert talk.ear.invited == [(talk.anna.id, room, False), (talk.anna.id, direct, True)]


async def test_the_invitations_of_all_others_are_declined(talk: Talk, people: People) -> None:
    talk.ear.friends.add(talk.anna.id)
    stranger = people("stranger")
    async with talk.ear.open():
        room = await stranger.create_room(talk.bot.id)
        await until_membership(stranger, room, talk.bot.id, "leave")
    assert talk.ear.invited == [(stranger.id, room, False)]


async def test_spaces_are_declined_whoever_invites(talk: Talk) -> None:
    talk.ear.friends.add(talk.anna.id)
    async with talk.ear.open():
        space = await talk.anna.create_room(talk.bot.id, space=True)
        await until_membership(talk.anna, space, talk.bot.id, "leave")
    assert talk.ear.invited == []


async def test_an_invitation_that_was_not_answered_is_answered_at_the_next_start(
    talk: Talk,
) -> None:
    """The homeserver tells of it once; the bot may have died just then."""
    async with talk.ear.open():
        pass
    room = await talk.anna.create_room(talk.bot.id)
    await talk.bot.look(0)
    talk.ear.bookmark().advance(talk.bot.since)
    talk.ear.friends.add(talk.anna.id)
    async with talk.ear.open():
        await until_membership(talk.anna, room, talk.bot.id, "join")


async def test_an_invitation_is_answered_when_the_homeserver_is_back(
    far_talk: Talk, proxy: Proxy
) -> None:
    ear = far_talk.ear
    ear.friends.add(far_talk.anna.id)
    async with ear.open():
        fault = proxy.fail(2, where="/join")
        room = await far_talk.anna.create_room(far_talk.bot.id)
        await until_membership(far_talk.anna, room, far_talk.bot.id, "join")
    assert fault.left == 0


async def test_an_invitation_that_cannot_be_followed_does_not_end_the_listening(
    far_talk: Talk, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    ear, failures = far_talk.ear, logged(caplog, "an invitation failed")
    ear.friends.add(far_talk.anna.id)
    async with ear.open():
        proxy.refuse(1, status=403, errcode="M_FORBIDDEN", where="/join")
        await far_talk.anna.create_room(far_talk.bot.id)
        await until(failures)
        await far_talk.anna.say(far_talk.room, "still there?")
        await until(lambda: ear.texts(far_talk.room))


@pytest.mark.parametrize("banned", [False, True])
async def test_being_put_out_is_noticed(
    talk: Talk, caplog: pytest.LogCaptureFixture, banned: bool
) -> None:
    put_out = logged(caplog, "put out of a room")
    async with talk.ear.open():
        await (talk.anna.ban if banned else talk.anna.kick)(talk.room, talk.bot.id, "too loud")
        await until(put_out)
    told = {"room": talk.room, "by": talk.anna.id, "banned": banned, "reason": "too loud"}
    assert put_out() == [told]


async def test_a_room_that_is_replaced_is_told_of(talk: Talk) -> None:
    async with talk.ear.open():
        new = await talk.anna.upgrade(talk.room)
        await until(lambda: talk.ear.moved)
    assert talk.ear.moved == [(talk.room, new)]
    async with talk.ear.open():
        other = await talk.anna.upgrade(new)
        await talk.anna.invite(other, talk.bot.id)
        await until(lambda: talk.ear.invited)
    assert talk.ear.moved == [(talk.room, new)], "it is told once, and not at every start"


def test_an_invitation_is_read_from_what_the_room_shows_of_itself() -> None:
    shown = [
        created(room_version="12"),
        member("join", of="@anna:hs"),
        member("invite", is_direct=True),
    ]
    assert invitation("!r", shown, ME) == Invitation("!r", "@anna:hs", direct=True, space=False)
    assert invitation("!r", [*shown, created(type="m.space")], ME).space


@pytest.mark.parametrize(
    "shown", [[], [created()], [member("invite", of="@other:hs")], [{"type": "m.room.member"}]]
)
def test_an_invitation_without_a_name_is_followed_for_nobody(shown: list[dict[str, Any]]) -> None:
    assert not accepts_invitation(invitation("!r", shown, ME), everybody)
    assert accepts_invitation(invitation("!r", [member("invite")], ME), everybody)


@pytest.mark.parametrize("order", [1, -1])
def test_an_invitation_that_names_two_is_followed_for_nobody(order: int) -> None:
    shown = [member("invite", by=one) for one in ("@anna:hs", "@mallory:else")]
    assert not accepts_invitation(invitation("!r", shown[::order], ME), everybody)


def test_only_what_others_do_to_the_bot_puts_it_out() -> None:
    assert membership_change(member("leave", reason="x"), ME) == RemovedFromRoom(
        "@anna:hs", banned=False, reason="x"
    )
    assert membership_change(member("ban"), ME) == RemovedFromRoom(
        "@anna:hs", banned=True, reason=""
    )
    for event in (
        member("leave", by=ME),
        member("leave", of="@b:hs"),
        member("join"),
        member("knock", by="@b:hs", of="@b:hs"),
        {},
    ):
        assert membership_change(event, ME) is None


def test_a_tombstone_names_the_next_room_and_only_as_state() -> None:
    grave = {"type": "m.room.tombstone", "sender": "@a:hs", "content": {"replacement_room": "!n"}}
    assert membership_change({**grave, "state_key": ""}, ME) == ReplacedRoom("@a:hs", "!n")
    assert membership_change(grave, ME) is None
