"""Whose devices they are: whoever runs the homeserver can say who has which, and cannot sign one in somebody's name."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import vodozemac

from adapters.matrix.client import Json
from adapters.matrix.crypto.decryption import Undecryptable
from adapters.matrix.crypto.encrypted_rooms import CHANGED, UNSIGNED
from adapters.matrix.crypto.identities import IDENTITIES_FILE, DeviceOwners
from bot.core.errors import Unavailable
from tests.adapters.matrix.crypto.others import (
    ALICE,
    BOT,
    EVE,
    ROOM,
    Bot,
    Device,
    bot_in_a_room,
)
from tests.adapters.matrix.crypto.stage import Ear
from tests.adapters.matrix.listening import until
from tests.beds.synapse import People
from tests.beds.synapse.identity import Identity


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with bot_in_a_room(tmp_path) as bot:
        yield bot


def shown(bot: Bot, *signed: Device, by: Identity | None = None) -> Identity:
    """Alice's identity, as the homeserver tells of it, and the devices that it vouches for."""
    identity = by or Identity(ALICE)
    bot.there.identities[ALICE] = identity.keys()
    for device in signed:
        bot.there.add(device, identity.signs(device.keys()))
    return identity


def alices(bot: Bot) -> Device:
    return bot.there.owners[ALICE, "D"]


async def heard(bot: Bot, device: Device) -> bool:
    """Whether words of that device are taken for its person's."""
    key = vodozemac.GroupSession()
    bot.takes(device.gives(bot.machine, key))
    content = {"msgtype": "m.text", "body": "approve"}
    plain = json.dumps({"room_id": ROOM, "type": "m.room.message", "content": content})
    opened = await bot.opener.decrypt(ROOM, device.says(key, plain))
    assert isinstance(opened, dict) or opened is Undecryptable.STRANGER
    return isinstance(opened, dict)


async def reads(bot: Bot, device: Device) -> bool:
    """Whether it is given the key of what the bot says next."""
    await bot.machine.query_devices([device.user])
    before = len(bot.there.sent)
    bot.machine.discard_room_key(ROOM)
    await bot.writes()
    given = (messages.get(device.user, {}) for messages in bot.there.sent[before:])
    return any(device.id in devices for devices in given)


async def test_a_device_that_a_persons_identity_vouches_for_is_theirs(bot: Bot) -> None:
    shown(bot, alices(bot))
    assert await reads(bot, alices(bot))
    assert await heard(bot, alices(bot))
    assert bot.machine.owners.problem(ALICE) == ""


async def test_one_that_the_homeserver_has_made_up_neither_reads_nor_is_heard(bot: Bot) -> None:
    shown(bot, alices(bot))
    ghost = bot.there.add(Device(ALICE, "GHOST"))
    assert not await reads(bot, ghost)
    assert not await heard(bot, ghost)
    assert bot.machine.owners.problem(ALICE) == UNSIGNED
    assert await reads(bot, alices(bot))
    assert await heard(bot, alices(bot))


async def test_nor_one_that_it_has_signed_itself(bot: Bot) -> None:
    shown(bot, alices(bot))
    await bot.machine.query_devices([ALICE])
    other = Identity(ALICE)
    ghost = bot.there.add(Device(ALICE, "GHOST"))
    bot.there.add(ghost, other.signs(ghost.keys()))
    for identity in (
        other.keys(),
        other.keys() | {"master_keys": bot.there.identities[ALICE]["master_keys"]},
        bot.there.identities[ALICE]
        | {"self_signing_keys": other.keys(by=Identity(ALICE))["self_signing_keys"]},
    ):
        bot.there.identities[ALICE] = identity
        assert not await reads(bot, ghost)
        assert not await heard(bot, ghost)


async def test_who_has_never_shown_an_identity_is_heard_on_every_device(bot: Bot) -> None:
    second = bot.there.add(Device(ALICE, "SECOND"))
    assert await heard(bot, second)
    assert await reads(bot, second)
    assert not bot.machine.owners.has_identity(ALICE)


async def test_devices_from_before_somebody_had_an_identity_count_no_more(bot: Bot) -> None:
    old = bot.there.add(Device(ALICE, "OLD"))
    assert await heard(bot, old)
    shown(bot, alices(bot))
    await bot.machine.query_devices([ALICE])
    assert not await heard(bot, old)
    del bot.there.devices[ALICE]["OLD"]
    await bot.machine.query_devices([ALICE])
    assert not await heard(bot, old)


async def test_what_becomes_of_a_device_has_another_key_made(bot: Bot) -> None:
    identity = shown(bot, alices(bot))
    new = bot.there.add(Device(ALICE, "NEW"))
    keys = [await bot.writes()]
    for payload in (identity.signs(new.keys()), new.keys(), identity.signs(new.keys())):
        bot.there.add(new, payload)
        await bot.machine.query_devices([ALICE])
        keys.append(await bot.writes())
        assert await heard(bot, new) is (payload != new.keys())
    assert len(set(keys)) == 4
    shared = bot.machine.olm.outbound_group_sessions[ROOM].users_shared_with
    assert (ALICE, "NEW") in shared


async def test_nor_while_a_key_is_given_away(bot: Bot) -> None:
    second = Device(ALICE, "SECOND")
    shown(bot, alices(bot), second)
    await bot.machine.query_devices([ALICE])

    async def meanwhile(path: str) -> None:
        if path.startswith("sendToDevice") and bot.there.devices[ALICE]["SECOND"] != second.keys():
            bot.there.add(second)
            await bot.machine.query_devices([ALICE])

    bot.there.meanwhile = meanwhile
    await bot.writes()
    shared = bot.machine.olm.outbound_group_sessions[ROOM].users_shared_with
    assert shared == {(ALICE, "D"), (EVE, "D")}


async def test_while_another_identity_is_told_of_only_devices_from_before_count(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    shown(bot, alices(bot))
    await bot.machine.query_devices([ALICE])
    new = Device(ALICE, "NEW")
    with caplog.at_level(logging.WARNING):
        shown(bot, alices(bot), new)
        assert not await heard(bot, new)
        assert not await heard(bot, new)
    assert bot.machine.owners.problem(ALICE) == CHANGED
    assert await heard(bot, alices(bot))
    assert await reads(bot, alices(bot))
    assert not await reads(bot, new)
    assert [one.message for one in caplog.records].count("somebody's identity has changed") == 1


async def test_an_identity_that_is_told_of_no_more_is_still_theirs(bot: Bot) -> None:
    shown(bot, alices(bot))
    await bot.machine.query_devices([ALICE])
    del bot.there.identities[ALICE]
    ghost = bot.there.add(Device(ALICE, "GHOST"))
    assert not await heard(bot, ghost)
    assert not await reads(bot, ghost)
    assert await heard(bot, alices(bot))


async def test_whoever_runs_the_bot_can_let_somebody_have_another_one(
    bot: Bot, tmp_path: Path
) -> None:
    shown(bot, alices(bot))
    await bot.machine.query_devices([ALICE])
    new = Device(ALICE, "NEW")
    shown(bot, alices(bot), new)
    assert not await heard(bot, new)
    path = tmp_path / IDENTITIES_FILE
    assert json.loads(path.read_text())[0] == ALICE
    path.write_text("")
    assert await heard(bot, new)
    assert await reads(bot, new)
    # and that one is theirs from now on
    shown(bot)
    ghost = bot.there.add(Device(ALICE, "GHOST"))
    assert not await heard(bot, ghost)


async def test_it_is_remembered_over_a_start(tmp_path: Path) -> None:
    async with bot_in_a_room(tmp_path) as bot:
        shown(bot, alices(bot))
        ghost = bot.there.add(Device(ALICE, "GHOST"))
        assert not await heard(bot, ghost)
        alice = alices(bot)
    with (tmp_path / IDENTITIES_FILE).open("a") as file:
        file.write('["@eve:x", "half a')
    async with bot_in_a_room(tmp_path) as bot:
        assert bot.machine.owners.has_identity(ALICE)
        assert not bot.machine.owners.has_identity(EVE)
        bot.there.devices[ALICE] = {}
        for device in (alice, ghost):
            bot.there.add(device)
        assert not await heard(bot, ghost)
        assert await heard(bot, alice)


async def test_a_name_that_was_taken_before_gets_nobody_in(bot: Bot) -> None:
    """The homeserver gives its own device the name that Alice's next one is to have."""
    ghost = bot.there.add(Device(ALICE, "NEXT"))
    await bot.machine.query_devices([ALICE])
    shown(bot, alices(bot), Device(ALICE, "NEXT"))
    await bot.machine.query_devices([ALICE])
    assert not await heard(bot, ghost)


async def test_nothing_is_believed_that_could_not_be_written_down(bot: Bot, tmp_path: Path) -> None:
    (tmp_path / IDENTITIES_FILE).mkdir()
    shown(bot, alices(bot))
    with pytest.raises(Unavailable, match="cannot be written"):
        await bot.machine.query_devices([ALICE, EVE])
    assert not bot.machine.owners.has_identity(ALICE)
    assert {ALICE, EVE} <= bot.machine.olm.users_for_key_query
    (tmp_path / IDENTITIES_FILE).rmdir()
    await bot.machine.send_pending()
    assert bot.machine.owners.has_identity(ALICE)


def test_identities_that_cannot_be_read_are_said_at_the_start(tmp_path: Path) -> None:
    (tmp_path / IDENTITIES_FILE).mkdir()
    with pytest.raises(Unavailable, match="cannot be read"):
        DeviceOwners(tmp_path / IDENTITIES_FILE)


async def test_a_device_that_cannot_be_marked_is_nobodys_until_it_can(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = shown(bot, alices(bot))
    await bot.machine.query_devices([ALICE])
    new, ghost = Device(ALICE, "NEW"), bot.there.add(Device(ALICE, "GHOST"))
    bot.there.add(new, identity.signs(new.keys()))
    with monkeypatch.context() as full:

        def fails(_: object) -> bool:
            raise sqlite3.OperationalError("database or disk is full")

        for mark in ("verify_device", "blacklist_device"):
            full.setattr(bot.machine.olm, mark, fails)
        assert [await reads(bot, one) for one in (new, ghost)] == [False, False]
        assert [await heard(bot, one) for one in (new, ghost)] == [False, False]
        assert await reads(bot, bot.there.owners[EVE, "D"])
    assert [await heard(bot, one) for one in (new, ghost)] == [True, False]
    assert [await reads(bot, one) for one in (new, ghost)] == [True, False]


async def test_another_device_of_the_bots_account_is_never_its_own(bot: Bot) -> None:
    identity = Identity(BOT)
    bot.there.identities[BOT] = identity.keys()
    other = Device(BOT, "OTHER")
    bot.there.add(other, identity.signs(other.keys()))
    await bot.machine.query_devices([BOT])
    assert not bot.machine.olm.device_store[BOT]["OTHER"].verified
    assert not bot.machine.owners.has_identity(BOT)


def odd_identities() -> list[Json]:
    whole = Identity(EVE).keys()
    master: Json = whole["master_keys"]
    name, key = next(iter(master["keys"].items()))
    others: list[object] = [
        None,
        "words",
        [],
        {},
        master | {"keys": {}},
        master | {"keys": [name]},
        master | {"keys": {name: key, "ed25519:x": key}},
        master | {"keys": {name: 5}},
        master | {"keys": {"ed25519:other": key}},
        master | {"keys": {name: key[:-1] + "/"}},
        master | {"usage": "master"},
        master | {"usage": None},
        master | {"usage": ["self_signing"]},
        master | {"user_id": ALICE},
    ]
    return [{**whole, "master_keys": odd} for odd in others]


@pytest.mark.parametrize("odd", odd_identities())
async def test_what_is_no_identity_is_none(bot: Bot, odd: Json) -> None:
    bot.there.identities[EVE] = odd
    shown(bot, alices(bot))
    await bot.machine.query_devices([ALICE, EVE])
    assert bot.machine.owners.has_identity(ALICE)
    assert not bot.machine.owners.has_identity(EVE)
    assert await heard(bot, bot.there.owners[EVE, "D"])


async def test_on_a_real_homeserver_a_device_counts_once_it_is_verified(
    ear: Ear, people: People
) -> None:
    secret = ear.secret
    anna, other = secret.anna, await people.elsewhere(secret.anna)
    identity = Identity(anna.id)
    await anna.shows(identity)
    async with ear.open():
        await anna.say(secret.room, "from the one I have verified")
        await ear.hears("from the one I have verified")
        strange = await other.say(secret.room, "from the other one")
        await until(lambda: ear.told == [(strange, UNSIGNED)])
        await anna.vouches(identity, other.login.device_id)
        ear.now += 30
        await ear.hears("from the other one")
        await until(lambda: not ear.waiting)
    assert ear.told == [(strange, UNSIGNED)]
