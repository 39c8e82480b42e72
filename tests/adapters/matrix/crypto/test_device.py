"""The bot's device: its keys are kept for the owner only, it is signed, and lost keys are noticed and mended."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.matrix.client import MatrixAccess
from adapters.matrix.crypto.identities import IDENTITIES_FILE, DeviceOwners, is_signed
from adapters.matrix.crypto.machine import OlmMachine
from adapters.matrix.crypto.setup import LoggedIn, log_in, log_out
from bot.core.errors import Refused, Unavailable
from tests.adapters.matrix.crypto.stage import PASSWORD, Secret
from tests.adapters.matrix.listening import until
from tests.beds.synapse import Homeserver
from tests.fakes import cards


@asynccontextmanager
async def entered(secret: Secret) -> AsyncGenerator[LoggedIn]:
    found = await log_in(secret.access, secret.folder)
    try:
        yield found
    finally:
        await log_out(found)


async def is_device_signed(secret: Secret, device: str) -> bool:
    """As any other client sees it."""
    keys = await secret.keys()
    signing = keys["self_signing_keys"][secret.bot.id]
    public = next(iter(signing["keys"].values()))
    master = await secret.master()
    assert is_signed(signing, secret.bot.id, f"ed25519:{master}", master)
    return is_signed(await secret.device(device=device), secret.bot.id, f"ed25519:{public}", public)


def store_of(secret: Secret) -> Path:
    return next(one for one in (secret.folder / "crypto").glob("*.db") if one.name != "opened.db")


async def test_whatever_it_keeps_is_for_the_owner_only(secret: Secret) -> None:
    before = os.umask(0)
    try:
        async with secret.listening() as chat:
            await secret.anna.say(secret.room, "hello", mention=secret.bot.id)
            await secret.hears("hello")
            await secret.anna.keep_key(secret.room)
            await secret.anna.say(secret.room, "waits", mention=secret.bot.id)
            await chat.show(secret.thread, cards.NEWS)
    finally:
        os.umask(before)
    kept = (secret.folder, *secret.folder.rglob("*"))
    modes = {str(one): one.stat().st_mode & 0o777 for one in kept}
    assert modes == {str(one): 0o700 if one.is_dir() else 0o600 for one in kept}
    assert {"seeds.json", "store.key", "opened.db"} <= {one.name for one in kept}


async def test_its_keys_are_sealed_with_one_that_no_other_bot_has(secret: Secret) -> None:
    async with entered(secret) as there:
        key = (secret.folder / "crypto" / "store.key").read_text()
        assert there.client.config.pickle_key == key
    assert len(key) > 40
    assert key not in repr(there)


@pytest.mark.covers("O-MATRIX-2")
async def test_the_device_is_signed_at_the_first_start_and_left_alone_later(secret: Secret) -> None:
    for _ in range(2):
        async with entered(secret) as there:
            assert (there.problem, there.unsigned) == (None, None)
    assert await is_device_signed(secret, secret.bot.login.device_id)
    for once in ("device_signing/upload", "signatures/upload", "keys/upload"):
        assert secret.proxy.count(once) == 1, once


@pytest.mark.parametrize("where", ["device_signing/upload", "signatures/upload", "keys/upload"])
@pytest.mark.parametrize("arrives", [False, True])
async def test_a_start_that_was_broken_off_is_gone_on_with(
    secret: Secret, where: str, arrives: bool
) -> None:
    spoil = secret.proxy.lose if arrives else secret.proxy.fail
    spoil(2, where=where)
    with pytest.raises(Unavailable):
        await log_in(secret.access, secret.folder)
    seeds = secret.folder / "crypto" / "seeds.json"
    before = seeds.read_bytes() if seeds.exists() else b""
    assert before or where == "keys/upload"
    secret.proxy.heal()
    async with entered(secret) as there:
        assert (there.problem, there.unsigned) == (None, None)
    assert not before or seeds.read_bytes() == before
    assert await is_device_signed(secret, secret.bot.login.device_id)
    async with secret.listening():
        await secret.anna.say(secret.room, "hello", mention=secret.bot.id)
        await secret.hears("hello")


async def test_keys_that_somebody_else_has_made_are_never_replaced(
    secret: Secret, homeserver: Homeserver, tmp_path: Path
) -> None:
    theirs = homeserver.login(secret.bot.id)
    access = MatrixAccess(secret.proxy.url, secret.bot.id, theirs.access_token)
    await log_out(await log_in(access, tmp_path / "theirs"))
    master = await secret.master()
    secret.password = PASSWORD
    async with entered(secret) as there:
        assert there.unsigned is not None
        assert "did not make" in there.unsigned.reason
        assert secret.bot.login.device_id in there.unsigned.remedy
    assert await secret.master() == master
    assert not (secret.folder / "crypto" / "seeds.json").exists()
    async with secret.listening():
        await secret.anna.say(secret.room, "all the same", mention=secret.bot.id)
        await secret.hears("all the same")


async def test_a_device_that_a_person_has_signed_is_as_good(
    secret: Secret, homeserver: Homeserver, tmp_path: Path
) -> None:
    """As by the command with which clients verify a session by its text."""
    theirs = homeserver.login(secret.bot.id)
    access = MatrixAccess(secret.proxy.url, secret.bot.id, theirs.access_token)
    await log_out(await log_in(access, tmp_path / "theirs"))
    async with entered(secret) as there:
        assert there.unsigned is not None
    seeds = secret.folder / "crypto" / "seeds.json"
    shutil.copy(tmp_path / "theirs" / "crypto" / "seeds.json", seeds)
    async with entered(secret) as there:
        assert there.unsigned is None
    seeds.unlink()
    async with entered(secret) as there:
        assert there.unsigned is None


async def test_with_lost_keys_and_no_password_it_works_on_in_plain_rooms_and_says_why(
    secret: Secret,
) -> None:
    async with entered(secret):
        pass
    shutil.rmtree(secret.folder)
    plain = await secret.anna.create_room(secret.bot.id)
    await secret.bot.join(plain)
    async with secret.listening() as chat:
        with pytest.raises(Refused, match="lost") as refused:
            await chat.show(secret.thread, cards.NEWS)
        assert "MATRIX_PASSWORD" in refused.value.remedy
        for _ in range(2):
            await secret.anna.say(secret.room, "can you read this?", mention=secret.bot.id)
        await secret.anna.say(plain, "and this?", mention=secret.bot.id)
        await secret.hears("and this?")
        await chat.show(secret.thread.model_copy(update={"channel": plain}), cards.NEWS)
        await secret.sees(lambda text: "cannot read encrypted" in text)
        await secret.anna.until(
            lambda: any(secret.bot.id == p.sender for p in secret.anna.posts(plain))
        )
    assert len(secret.read()) == 1
    assert secret.texts == ["and this?"]


async def test_with_lost_keys_and_a_password_it_comes_back_on_a_new_signed_device(
    secret: Secret,
) -> None:
    secret.password = PASSWORD
    async with entered(secret) as there:
        old = there.client.device_id
    master = await secret.master()
    store_of(secret).unlink()
    async with entered(secret) as there:
        new = there.client.device_id or ""
        assert (there.problem, there.unsigned) == (None, None)
    assert new != old
    assert await secret.master() == master
    assert await is_device_signed(secret, new)
    assert await secret.device(device=old or "") == {}
    async with secret.listening():
        await secret.anna.say(secret.room, "welcome back", mention=secret.bot.id)
        await secret.hears("welcome back")
    async with entered(secret) as there:
        assert there.client.device_id == new


async def test_with_everything_lost_and_a_password_it_makes_new_keys(secret: Secret) -> None:
    secret.password = PASSWORD
    async with entered(secret):
        pass
    master = await secret.master()
    shutil.rmtree(secret.folder)
    async with entered(secret) as there:
        assert (there.problem, there.unsigned) == (None, None)
        device = there.client.device_id or ""
    assert await secret.master() not in ("", master)
    assert await is_device_signed(secret, device)


@pytest.mark.parametrize("where", ["v3/login", "device_signing/upload", "delete_devices"])
@pytest.mark.parametrize("arrives", [False, True])
async def test_a_recovery_that_was_broken_off_is_gone_on_with(
    secret: Secret, where: str, arrives: bool
) -> None:
    secret.password = PASSWORD
    async with entered(secret):
        pass
    shutil.rmtree(secret.folder)
    spoil = secret.proxy.lose if arrives else secret.proxy.fail
    spoil(2, where=where)
    with pytest.raises(Unavailable):
        await log_in(secret.access, secret.folder)
    with pytest.raises(Unavailable):
        await log_in(secret.access, secret.folder)
    secret.proxy.heal()
    async with entered(secret) as there:
        assert (there.problem, there.unsigned) == (None, None)
        device = there.client.device_id or ""
    assert await is_device_signed(secret, device)
    assert list((await secret.keys())["device_keys"][secret.bot.id]) == [device]


async def test_a_wrong_password_is_told_and_plain_rooms_go_on(secret: Secret) -> None:
    async with entered(secret):
        pass
    shutil.rmtree(secret.folder)
    secret.password = "wrong"  # noqa: S105
    for _ in range(2):
        async with entered(secret) as there:
            assert there.problem is not None
            assert "wrong" not in there.problem.reason + there.problem.remedy + repr(secret.access)


async def test_another_token_makes_it_forget_the_login_of_its_own(
    secret: Secret, homeserver: Homeserver
) -> None:
    secret.password = PASSWORD
    async with entered(secret):
        pass
    store_of(secret).unlink()
    async with entered(secret):
        pass
    given = homeserver.login(secret.bot.id)
    access = replace(secret.access, access_token=given.access_token)
    found = await log_in(access, secret.folder)
    await log_out(found)
    assert found.client.device_id == given.device_id
    assert await is_device_signed(secret, given.device_id)


async def test_a_store_that_cannot_be_read_is_put_aside_and_told_as_lost(secret: Secret) -> None:
    async with entered(secret):
        pass
    store = store_of(secret)
    store.write_bytes(b"not a database at all, " * 100)
    async with entered(secret) as there:
        assert there.problem is not None
    assert store.with_suffix(".broken").exists()


async def test_a_store_whose_key_is_lost_is_told_as_lost(secret: Secret) -> None:
    async with entered(secret):
        pass
    (secret.folder / "crypto" / "store.key").write_text("another")
    async with entered(secret) as there:
        assert there.problem is not None


async def test_a_store_that_is_older_than_what_was_uploaded_is_noticed_and_given_up(
    secret: Secret,
) -> None:
    """One that came from a backup uses names for keys a second time; whoever got the other ones cannot be read."""
    secret.password = PASSWORD
    async with entered(secret):
        pass
    old, path = store_of(secret).read_bytes(), store_of(secret)
    await claim(secret)
    async with secret.listening():
        await until(lambda: secret.proxy.count("keys/upload") == 2)
    path.write_bytes(old)
    async with secret.listening() as chat:
        # her words take one of the keys: until they are heard nothing shall be noticed
        secret.proxy.fail(where="keys/upload")
        await secret.anna.say(secret.room, "still on the old device", mention=secret.bot.id)
        await secret.hears("still on the old device")
        secret.proxy.heal()
        await claim(secret)
        # a key that is taken ends no waiting for news by itself
        await secret.anna.say(secret.room, "still there?")
        await until(path.with_suffix(".broken").exists)
        await until(lambda: secret.proxy.count("delete_devices"))
        await chat.show(secret.thread, cards.NEWS)
        await secret.sees(lambda text: cards.NEWS.title in text)
        await secret.anna.say(secret.room, "on the new one", mention=secret.bot.id)
        await secret.hears("on the new one")
    assert await secret.device() == {}


async def claim(secret: Secret) -> None:
    """Somebody begins a conversation with the bot's device, and says nothing."""
    wanted = {secret.bot.id: {secret.bot.login.device_id: "signed_curve25519"}}
    await secret.anna.call("POST", "keys/claim", {"one_time_keys": wanted})


async def test_a_device_that_was_removed_from_the_account_is_made_known_again(
    secret: Secret, homeserver: Homeserver
) -> None:
    async with entered(secret):
        pass
    path = homeserver.folder / "homeserver.db"
    homeserver.stop()
    with sqlite3.connect(path) as base:
        for table in ("e2e_device_keys_json", "e2e_one_time_keys_json"):
            base.execute(f"DELETE FROM {table} WHERE user_id = ?", (secret.bot.id,))  # noqa: S608
    base.close()
    homeserver.start()
    async with entered(secret) as there:
        assert there.problem is None
    assert await secret.device()


async def test_a_login_of_its_own_is_never_shown(secret: Secret) -> None:
    secret.password = PASSWORD
    async with entered(secret):
        pass
    store_of(secret).unlink()
    async with entered(secret):
        pass
    kept = json.loads((secret.folder / "crypto" / "login.json").read_bytes())
    assert secret.access.access_token not in json.dumps(kept)
    assert kept["access_token"]


@pytest.mark.parametrize("kind", ["m.room.encrypted", "m.room_key.withheld"])
async def test_what_another_homeserver_sends_to_it_may_have_any_shape(
    secret: Secret, kind: str
) -> None:
    odd: list[object] = ["words", ["a", "list"], None, 7]
    whole: list[object] = [{"type": kind, "sender": "@eve:far", "content": one} for one in odd]
    async with entered(secret) as found:
        machine = OlmMachine(
            found.client, found.wire, DeviceOwners(secret.folder / IDENTITIES_FILE)
        )
        withheld: list[object] = []
        machine.withheld = lambda _, content: withheld.append(content["code"])
        for events in ([*whole, *odd], *odd):
            machine.process_sync({"to_device": {"events": events}})
        machine.process_sync({"to_device": "words"})
        sound = {"type": "m.room_key.withheld", "sender": "@eve:far", "content": {"code": "why"}}
        machine.process_sync({"to_device": {"events": [*whole, sound]}})
    assert withheld == ["why"]
