"""What is said in an encrypted room is heard: whenever its key comes, from its sender only, and once."""

from __future__ import annotations

from typing import cast

import pytest

from tests.adapters.matrix.crypto.stage import Ear, Secret
from tests.adapters.matrix.listening import until
from tests.beds.synapse import People, Person
from tests.beds.synapse.seen import Json

TOO_LATE = 301.0


async def test_what_is_said_in_an_encrypted_room_is_heard_in_its_thread(secret: Secret) -> None:
    async with secret.listening():
        root = await secret.anna.say(secret.room, "Add a dark mode", mention=secret.bot.id)
        await secret.hears("Add a dark mode")
        await secret.anna.say(secret.room, "and a light one", thread=root)
        await secret.hears("and a light one")
    assert [thread.root for thread, _ in secret.heard] == [root, root]


async def test_what_was_said_while_the_bot_was_away_is_read_after_it(secret: Secret) -> None:
    async with secret.listening():
        root = await secret.anna.say(secret.room, "first", mention=secret.bot.id)
        await secret.hears("first")
    for number in range(12):
        await secret.anna.say(secret.room, f"away {number}", thread=root)
    async with secret.listening():
        await secret.hears("away 11")
    assert secret.texts == ["first", *(f"away {number}" for number in range(12))]


async def test_an_event_keeps_its_relation_its_sender_and_its_time(ear: Ear) -> None:
    secret = ear.secret
    async with ear.open():
        root = await secret.anna.say(secret.room, "root")
        await secret.anna.edit(secret.room, root, "better")
        await ear.hears("* better")
    edit = next(e for e in ear.heard if e["content"].get("body") == "* better")
    assert edit["content"]["m.relates_to"] == {"rel_type": "m.replace", "event_id": root}
    assert edit["sender"] == secret.anna.id
    assert edit["origin_server_ts"] > 1_600_000_000_000


async def test_a_message_whose_key_comes_later_is_heard_then(ear: Ear) -> None:
    secret = ear.secret
    async with ear.open():
        key = await secret.anna.keep_key(secret.room)
        late = await secret.anna.say(secret.room, "late")
        await until(lambda: late in ear.waiting)
        await secret.anna.forget_key(secret.room)
        await secret.anna.say(secret.room, "after it")
        await ear.hears("after it")
        await secret.anna.give_key(key, secret.bot.id)
        await ear.hears("late")
        await until(lambda: not ear.waiting)
    assert (ear.texts, ear.told) == (["after it", "late"], [])


async def test_what_waits_for_its_key_outlives_the_bot(ear: Ear) -> None:
    secret = ear.secret
    async with ear.open():
        key = await secret.anna.keep_key(secret.room)
        late = await secret.anna.say(secret.room, "late")
        await until(lambda: late in ear.waiting)
        await secret.anna.say(secret.room, "-")
    await secret.anna.give_key(key, secret.bot.id)
    async with ear.open():
        await ear.hears("late")


async def test_the_sender_is_asked_for_a_key_that_is_missing(ear: Ear) -> None:
    secret = ear.secret
    async with ear.open():
        key = await secret.anna.keep_key(secret.room)
        await secret.anna.say(secret.room, "late")
        await secret.anna.say(secret.room, "later")
        await until(lambda: len(ear.waiting) == 2)
        await secret.anna.until(lambda: bool(_requests(secret)))
    [request] = _requests(secret)
    assert cast("Json", request["body"])["session_id"] == key["session_id"]
    assert request["requesting_device_id"] == secret.bot.login.device_id


@pytest.mark.covers("O-MATRIX-4")
async def test_a_message_without_key_is_let_go_after_some_minutes_and_that_is_told_once(
    ear: Ear,
) -> None:
    secret = ear.secret
    async with ear.open():
        await secret.anna.keep_key(secret.room)
        lost = await secret.anna.say(secret.room, "lost")
        await until(lambda: lost in ear.waiting)
        assert not ear.told
        ear.now += TOO_LATE
        await until(lambda: not ear.waiting)
    ear.now += TOO_LATE
    async with ear.open():
        await secret.anna.forget_key(secret.room)
        await secret.anna.say(secret.room, "again")
        await ear.hears("again")
    assert ear.told == [(lost, "lost")]


@pytest.mark.covers("O-MATRIX-4")
@pytest.mark.parametrize("code", ["m.unverified", "m.blacklisted", "m.unauthorised", "m.no_olm"])
async def test_why_a_key_was_withheld_is_told_at_once_and_once(ear: Ear, code: str) -> None:
    secret = ear.secret
    async with ear.open():
        key = await secret.anna.keep_key(secret.room)
        withheld = {name: key[name] for name in ("algorithm", "room_id", "session_id")}
        await secret.anna.tell_devices(
            "m.room_key.withheld", secret.bot.id, {"*": {**withheld, "code": code}}
        )
        unread = await secret.anna.say(secret.room, "hidden")
        await until(lambda: ear.told)
        ear.now += TOO_LATE
        await until(lambda: not ear.waiting)
    assert ear.told == [(unread, code)]


async def test_who_cannot_be_read_is_told_so_in_the_room_and_encrypted(secret: Secret) -> None:
    async with secret.listening():
        key = await secret.anna.keep_key(secret.room)
        withheld = {name: key[name] for name in ("algorithm", "room_id", "session_id")}
        for text in ("one", "two"):
            await secret.anna.tell_devices(
                "m.room_key.withheld",
                secret.bot.id,
                {"*": {**withheld, "code": "m.unverified"}},
            )
            await secret.anna.say(secret.room, text)
        await secret.sees(lambda text: "not verified" in text)
        await secret.anna.forget_key(secret.room)
        await secret.anna.say(secret.room, "readable", mention=secret.bot.id)
        await secret.hears("readable")
        await secret.anna.say(secret.room, "-")
    assert sum("not verified" in text for text in secret.read()) == 1
    assert secret.texts == ["readable"]


async def test_a_message_that_is_said_again_under_another_id_counts_once(ear: Ear) -> None:
    secret = ear.secret
    async with ear.open():
        said = await secret.anna.say(secret.room, "approve")
        await ear.hears("approve")
    await secret.anna.look(0)
    cipher = next(event for event in secret.anna.wire if event["event_id"] == said)
    async with ear.open():
        await _repeat(secret.anna, secret.room, cipher["content"])
        await secret.anna.say(secret.room, "end")
        await ear.hears("end")
    assert ear.texts == ["approve", "end"]


async def test_words_of_one_person_are_not_taken_for_those_of_another(
    ear: Ear, people: People
) -> None:
    """A homeserver can put any name on an event; not on the key in which it is written."""
    secret = ear.secret
    ben = people("ben")
    await secret.anna.invite(secret.room, ben.id)
    await ben.join(secret.room)
    async with ear.open():
        await secret.anna.say(secret.room, "first")
        await ear.hears("first")
        content: Json = {"msgtype": "m.text", "body": "approve"}
        await _repeat(ben, secret.room, secret.anna.sealed(secret.room, "m.room.message", content))
        await secret.anna.say(secret.room, "end")
        await ear.hears("end")
    # as if Ben had written it: with a key of his own, which may still come
    assert (ear.texts, len(ear.waiting)) == (["first", "end"], 1)


async def test_nothing_that_strangers_send_ends_the_listening(ear: Ear) -> None:
    secret = ear.secret
    async with ear.open() as entered:
        me = entered.client.olm
        assert me is not None
        own = str(me.account.identity_keys["curve25519"])
        ciphers: tuple[object, ...] = (
            {own: {"type": 0, "body": "!"}},
            {own: {"type": 1, "body": "AAAA"}},
            {own: {"type": 7, "body": "AAAA"}},
            {own: {"type": 0}},
            [],
        )
        for cipher in ciphers:
            sealed: Json = {
                "algorithm": "m.olm.v1.curve25519-aes-sha2",
                "sender_key": "AA",
                "ciphertext": cipher,
            }
            await secret.anna.tell_devices("m.room.encrypted", secret.bot.id, {"*": sealed})
        await secret.anna.tell_devices("m.room_key.withheld", secret.bot.id, {"*": {}})
        await secret.anna.say(secret.room, "first")
        await ear.hears("first")
        garbled = secret.anna.sealed(secret.room, "m.room.message", {"body": "x"})
        for content in (
            {**garbled, "ciphertext": "AAAA"},
            {**garbled, "session_id": 7},
            {**garbled, "algorithm": "m.unknown"},
            {},
        ):
            await _repeat(secret.anna, secret.room, content)
        await secret.anna.say(secret.room, "end")
        await ear.hears("end")
    assert ear.texts == ["first", "end"]


def _requests(secret: Secret) -> list[Json]:
    found = (one for one in secret.anna.to_device if one["type"] == "m.room_key_request")
    return [cast("Json", one["content"]) for one in found]


async def _repeat(person: Person, room: str, content: object) -> None:
    await person.send(room, "m.room.encrypted", cast("Json", content))
