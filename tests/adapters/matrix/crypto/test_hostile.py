"""What members of a room, other homeservers and one's own may send: it ends nothing, and gets nobody a key or a word."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

import pytest
import vodozemac

from adapters.matrix.client import Json
from adapters.matrix.crypto.decryption import Undecryptable
from bot.core.errors import Refused, Unavailable
from tests.adapters.matrix.crypto.others import (
    ALICE,
    BOT,
    EVE,
    OLM,
    ROOM,
    Bot,
    Device,
    bot_in_a_room,
    joins,
)

BASE64 = f"{ascii_uppercase}{ascii_lowercase}{digits}+/"


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with bot_in_a_room(tmp_path) as bot:
        yield bot


def said(body: object = "approve", **content: object) -> str:
    whole = {"msgtype": "m.text", "body": body, **content}
    return json.dumps({"room_id": ROOM, "type": "m.room.message", "content": whole})


def text_of(opened: Json | Undecryptable) -> object:
    return (
        opened
        if isinstance(opened, Undecryptable)
        else (opened["sender"], opened["content"]["body"])
    )


# ── devices ──


def with_bits_that_mean_nothing(key: str) -> str:
    return key[:-1] + BASE64[BASE64.index(key[-1]) + 1]


@pytest.mark.parametrize(
    "unsigned",
    [[], None, "x", {"device_display_name": None}, {"device_display_name": "\ud800"}, {"x": 2**70}],
)
async def test_what_nobody_has_signed_of_a_device_is_not_looked_at(
    bot: Bot, unsigned: object
) -> None:
    bot.there.add(Device(EVE), Device(EVE).keys())
    eves = bot.there.owners[EVE, "D"]
    bot.there.add(eves, eves.keys(unsigned=unsigned))
    await bot.machine.send_pending()
    assert {one.user_id for one in bot.machine.olm.device_store} >= {ALICE, EVE}


async def test_a_key_that_not_all_can_read_spoils_no_other(bot: Bot) -> None:
    eves = Device(EVE)
    odd = with_bits_that_mean_nothing(eves.signing)
    bot.there.add(eves, eves.keys(odd))
    await bot.machine.send_pending()
    await bot.writes()
    assert (bot.there.told(ALICE), bot.there.told(EVE)) == (1, 0)


async def test_of_one_person_only_so_many_devices_are_looked_at(bot: Bot) -> None:
    for number in range(120):
        bot.there.add(Device(EVE, f"D{number}"))
    await bot.machine.query_devices([EVE])
    assert len(bot.machine.olm.device_store[EVE]) == 100


async def test_an_old_answer_brings_no_device_back(bot: Bot) -> None:
    """Alice's was stolen and logged out, while somebody's words made the bot ask for her devices."""
    await bot.machine.send_pending()
    answered = asyncio.Event()

    async def slowly(path: str) -> None:
        if path == "keys/query" and not answered.is_set():
            await answered.wait()

    bot.there.meanwhile = slowly
    asking = asyncio.create_task(bot.machine.query_devices([ALICE]))
    await asyncio.sleep(0)
    bot.there.devices[ALICE] = {}
    bot.machine.olm.users_for_key_query.add(ALICE)
    keeping_up = asyncio.create_task(bot.machine.send_pending())
    await asyncio.sleep(0)
    answered.set()
    await asyncio.gather(asking, keeping_up)
    await bot.writes()
    assert not bot.there.told(ALICE)


async def test_who_could_not_be_asked_about_is_asked_about_again(bot: Bot) -> None:
    async def away(_: str) -> None:
        raise Unavailable("The homeserver is away.")

    bot.there.meanwhile = away
    with pytest.raises(Unavailable):
        await bot.machine.query_devices()
    assert {ALICE, EVE} <= bot.machine.olm.users_for_key_query


async def test_whose_homeserver_is_away_is_asked_about_again(bot: Bot) -> None:
    del bot.there.devices[EVE]
    await bot.machine.query_devices()
    assert bot.machine.olm.users_for_key_query - {BOT} == {EVE}


# ── who gets a key ──


async def test_a_device_in_the_bots_name_gets_no_key(bot: Bot) -> None:
    """The homeserver can make one up, and would read along."""
    bot.there.add(Device(BOT, "OF-THE-HOMESERVER"))
    await bot.writes()
    assert (bot.there.told(ALICE), bot.there.told(BOT)) == (1, 0)


async def test_who_leaves_has_another_key_made(bot: Bot) -> None:
    before = await bot.writes()
    bot.there.members.remove(EVE)
    await bot.hears(joins(EVE, "leave"))
    assert await bot.writes() != before


@pytest.mark.parametrize("odd", ["joined", "left"])
async def test_whatever_else_their_event_says(bot: Bot, odd: str) -> None:
    await bot.hears(joins(EVE, reason=1) if odd == "joined" else joins(EVE))
    before = await bot.writes()
    bot.there.members.remove(EVE)
    await bot.hears(joins(EVE, "leave", reason=1) if odd == "left" else joins(EVE, "leave"))
    assert await bot.writes() != before


async def test_another_name_makes_no_other_key(bot: Bot) -> None:
    before = await bot.writes()
    renamed = joins(EVE, displayname="Eva")
    await bot.hears({**renamed, "unsigned": {"prev_content": {"membership": "join"}}})
    assert await bot.writes() == before


async def test_who_leaves_while_a_key_is_shared_reads_nothing(bot: Bot) -> None:
    async def leaves(path: str) -> None:
        if path.startswith("sendToDevice") and EVE in bot.there.members:
            bot.there.members.remove(EVE)
            await bot.hears(joins(EVE, "leave"))

    bot.there.meanwhile = leaves
    await bot.writes()
    shared = bot.machine.olm.outbound_group_sessions[ROOM].users_shared_with
    assert shared == {(ALICE, "D")}


async def test_a_key_that_only_some_were_given_is_given_up(bot: Bot) -> None:
    """Eve got it, Alice did not; until that works Eve may have left."""
    for number in range(25):
        bot.there.add(Device(ALICE, f"A{number}"))
    failed: list[str] = []

    async def once(path: str) -> None:
        if path.startswith("sendToDevice") and bot.there.sent and not failed:
            failed.append(path)
            raise Unavailable("The homeserver is away.")

    bot.there.meanwhile = once
    with pytest.raises(Unavailable):
        await bot.writes()
    bot.there.members.remove(EVE)
    await bot.hears(joins(EVE, "leave"))
    await bot.writes()
    shared = bot.machine.olm.outbound_group_sessions[ROOM].users_shared_with
    assert {user for user, _ in shared} == {ALICE}


async def test_while_people_come_and_go_nothing_is_said(bot: Bot) -> None:
    async def in_and_out(path: str) -> None:
        if path.startswith("sendToDevice"):
            bot.there.members ^= {EVE}

    bot.there.meanwhile = in_and_out
    with pytest.raises(Unavailable, match="come and go"):
        await bot.writes()


# ── whose words are heard ──


@pytest.mark.parametrize(
    "plain",
    [
        said().replace("approve", '"}' + "[" * 2000),
        f'{{"room_id": "{ROOM}", "type": "m.room.message", "content": {{"x": {"[" * 5000}{"]" * 5000}}}}}',
        '{"x": ' + "9" * 5000 + "}",
        "[]",
    ],
)
async def test_what_nobody_can_read_is_broken(bot: Bot, plain: str) -> None:
    alice, key = bot.there.owners[ALICE, "D"], vodozemac.GroupSession()
    bot.takes(alice.gives(bot.machine, key))
    assert await bot.opener.decrypt(ROOM, alice.says(key, plain)) is Undecryptable.BROKEN


async def test_what_is_opened_can_be_written_down(bot: Bot) -> None:
    alice, key = bot.there.owners[ALICE, "D"], vodozemac.GroupSession()
    bot.takes(alice.gives(bot.machine, key))
    deep: list[object] = []
    for _ in range(500):
        deep = [deep]
    root = {"rel_type": "m.thread", "event_id": "$\ud800"}
    plain = said("half \ud800", deep=deep, **{"m.relates_to": root})
    opened = await bot.opener.decrypt(ROOM, alice.says(key, plain))
    assert text_of(opened) == (ALICE, "half ?")
    json.dumps(opened, ensure_ascii=False).encode()


async def test_who_passes_a_key_on_silences_nobody(bot: Bot) -> None:
    """Eve has Alice's key, as everybody in the room has, and gives it to the bot as hers before Alice's own arrives."""
    alice, eve = bot.there.owners[ALICE, "D"], bot.there.owners[EVE, "D"]
    key = vodozemac.GroupSession()
    first, alices = key.session_key.to_base64(), alice.gives(bot.machine, key)
    word = alice.says(key, said("stop"), "$alice")
    await bot.machine.query_devices([ALICE, EVE])
    bot.takes(eve.gives(bot.machine, key, first=first))
    assert await bot.opener.decrypt(ROOM, word) is Undecryptable.NO_KEY
    repeated = {**word, "sender": EVE, "event_id": "$eve"}
    assert text_of(await bot.opener.decrypt(ROOM, repeated)) == (EVE, "stop")
    bot.takes(alices)
    assert text_of(await bot.opener.decrypt(ROOM, word)) == (ALICE, "stop")
    again = {**word, "event_id": "$again"}
    assert await bot.opener.decrypt(ROOM, again) is Undecryptable.FORGED


async def test_a_homeserver_that_does_not_tell_of_devices_ends_nothing(bot: Bot) -> None:
    async def refuses(_: str) -> None:
        raise Refused("Asking for devices was refused.")

    alice, key = bot.there.owners[ALICE, "D"], vodozemac.GroupSession()
    bot.takes(alice.gives(bot.machine, key))
    bot.there.meanwhile = refuses
    assert await bot.opener.decrypt(ROOM, alice.says(key, said())) is Undecryptable.STRANGER


def test_what_comes_from_no_device_is_not_kept(bot: Bot) -> None:
    mine = bot.machine.olm.account.identity_keys["curve25519"]
    for key in ("x" * 60_000, "", None, 5, ALICE):
        content = {"algorithm": OLM, "sender_key": key, "ciphertext": {mine: {"type": 0}}}
        bot.takes({"type": "m.room.encrypted", "sender": EVE, "content": content})
    kept: Any = bot.machine.olm.session_store
    assert not kept._entries


@pytest.mark.parametrize(
    "counts", [None, [], {"signed_curve25519": "x"}, {"signed_curve25519": -3}]
)
def test_how_many_keys_are_left_is_a_number(bot: Bot, counts: object) -> None:
    bot.machine.process_sync({"device_one_time_keys_count": counts})
    assert bot.machine.olm.uploaded_key_count == 0
