"""What the bot says in an encrypted room: read by everybody there, and by nobody else, whatever goes wrong."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from adapters.matrix.cards import draw_card
from adapters.matrix.client import ClientApi
from adapters.matrix.crypto.encrypted_rooms import EncryptedRooms, Rotation, decrypt_file
from adapters.matrix.crypto.identities import IDENTITIES_FILE, DeviceOwners
from adapters.matrix.crypto.machine import OlmMachine, RoomEncryptor
from adapters.matrix.crypto.setup import LoggedIn, log_in, log_out
from adapters.matrix.sending import EventSender
from bot.core.errors import Refused, Unavailable
from bot.core.people import Person as Somebody
from tests.adapters.matrix.crypto.stage import Secret
from tests.beds.synapse import People
from tests.beds.synapse.seen import Json
from tests.fakes import cards

CLEAR = frozenset({"m.room.encrypted", "m.reaction", "m.room.redaction", "m.room.member"})
"""What the bot may send into an encrypted room."""


def wire_of(secret: Secret) -> list[Json]:
    return [event for event in secret.anna.wire if event["sender"] == secret.bot.id]


def file_of(secret: Secret) -> Json:
    post = next(p for p in secret.anna.posts(secret.room) if p.type == "m.file")
    assert "url" not in post.content
    return cast("Json", post.content["file"])


def assert_nothing_in_clear(secret: Secret) -> None:
    assert {event["type"] for event in wire_of(secret)} <= CLEAR
    for event in wire_of(secret):
        if event["type"] == "m.room.encrypted":
            assert "body" not in json.dumps(event)


@pytest.mark.covers("O-MATRIX-1")
async def test_nothing_of_any_card_goes_out_in_clear(secret: Secret) -> None:
    anna = Somebody(platform="matrix", id=secret.anna.id)
    async with secret.there() as chat:
        thread = await chat.open(secret.thread, cards.ROOT)
        for card in cards.EVERY_KIND:
            await chat.show(thread, card)
            await chat.whisper(thread, anna, card)
        await chat.show(thread, cards.NEWS.model_copy(update={"lines": ("It is mended.",)}))
    await secret.sees(lambda text: "It is mended." in text)
    assert len(wire_of(secret)) > 2 * len(cards.EVERY_KIND)
    assert_nothing_in_clear(secret)


@pytest.mark.covers("O-MATRIX-1")
async def test_a_document_is_uploaded_sealed_and_can_be_opened_by_those_in_the_room(
    secret: Secret,
) -> None:
    async with secret.there() as chat:
        thread = await chat.open(secret.thread, cards.ROOT)
        await chat.show(thread, cards.DOCUMENT)
    await secret.anna.until(lambda: any(p.type == "m.file" for p in secret.anna.posts(secret.room)))
    file = file_of(secret)
    data = await secret.anna.download(str(file["url"]))
    assert cards.DOCUMENT.text.encode() not in data
    assert decrypt_file(data, file) == cards.DOCUMENT.text.encode()


async def test_a_file_that_was_changed_on_its_way_is_refused(secret: Secret) -> None:
    async with secret.there() as chat:
        thread = await chat.open(secret.thread, cards.ROOT)
        await chat.show(thread, cards.DOCUMENT)
    await secret.anna.until(lambda: any(p.type == "m.file" for p in secret.anna.posts(secret.room)))
    file = file_of(secret)
    data = await secret.anna.download(str(file["url"]))
    for broken in (data[:-1], b"", data[1:] + data[:1]):
        with pytest.raises(Refused, match="not whole"):
            decrypt_file(broken, file)
    wrong: tuple[Json, ...] = ({"key": "?"}, {"iv": 7}, {"hashes": []}, {"v": "v2", "key": {}})
    for odd in (None, {}, *({**file, **one} for one in wrong)):
        with pytest.raises(Refused, match="not whole"):
            decrypt_file(data, odd)


async def test_a_room_that_the_homeserver_calls_plain_again_gets_no_plain_text(
    secret: Secret,
) -> None:
    async with secret.there() as chat:
        await chat.show(secret.thread, cards.NEWS)
    secret.proxy.refuse(status=404, errcode="M_NOT_FOUND", where="m.room.encryption")
    async with secret.there() as chat:
        await chat.show(secret.thread, cards.ANSWER)
    await secret.sees(lambda text: cards.ANSWER.title in text)
    assert_nothing_in_clear(secret)


async def test_nothing_is_sent_while_nobody_knows_whether_the_room_is_encrypted(
    secret: Secret,
) -> None:
    trouble = secret.proxy.fail(where="m.room.encryption")
    async with secret.there() as chat:
        with pytest.raises(Unavailable):
            await chat.show(secret.thread, cards.NEWS)
        assert trouble.met
        secret.proxy.heal()
        await chat.show(secret.thread, cards.NEWS)
    await secret.sees(lambda text: cards.NEWS.title in text)
    assert_nothing_in_clear(secret)


@pytest.mark.parametrize("where", ["/sendToDevice", "/keys/claim", "/keys/query", "/members"])
async def test_nothing_is_sent_before_everybody_has_the_key(secret: Secret, where: str) -> None:
    async with secret.there() as chat:
        trouble = secret.proxy.fail(1, where=where)
        with pytest.raises(Unavailable):
            await chat.show(secret.thread, cards.NEWS)
        assert (trouble.left, secret.proxy.count("/send/")) == (0, 0)
        await chat.show(secret.thread, cards.NEWS)
    await secret.sees(lambda text: cards.NEWS.title in text)


async def test_a_message_whose_answer_was_lost_stands_there_once(secret: Secret) -> None:
    async with secret.there() as chat:
        secret.proxy.lose(2, where="/send/m.room.encrypted")
        with pytest.raises(Unavailable):
            await chat.show(secret.thread, cards.NEWS)
    async with secret.there() as chat:
        await chat.show(secret.thread, cards.NEWS)
        await chat.show(secret.thread, cards.ANSWER)
    await secret.sees(lambda text: cards.ANSWER.title in text)
    assert sum(cards.NEWS.title in text for text in secret.read()) == 1


async def test_who_comes_later_reads_what_is_said_later(secret: Secret, people: People) -> None:
    ben = await people.confidant("ben")
    async with secret.listening() as chat:
        await secret.anna.say(secret.room, "hello", mention=secret.bot.id)
        await secret.hears("hello")
        await chat.show(secret.thread, cards.NEWS)
        await secret.anna.invite(secret.room, ben.id)
        await ben.join(secret.room)
        await ben.say(secret.room, "here I am", mention=secret.bot.id)
        await secret.hears("here I am")
        await chat.show(secret.thread, cards.ANSWER)
        await ben.until(
            lambda: any(cards.ANSWER.title in post.text for post in ben.posts(secret.room))
        )
    assert not any(cards.NEWS.title in post.text for post in ben.posts(secret.room))


async def test_a_key_is_used_as_long_as_the_room_says(secret: Secret) -> None:
    await secret.anna.encrypt(secret.room, rotation_period_msgs=2)
    async with secret.there() as chat:
        for number in range(5):
            card = cards.NEWS.model_copy(update={"key": f"news {number}", "title": f"N{number}"})
            await chat.show(secret.thread, card)
    await secret.sees(lambda text: "N4" in text)
    sealed = (event for event in wire_of(secret) if event["type"] == "m.room.encrypted")
    sessions = [cast("Json", event["content"])["session_id"] for event in sealed]
    assert [sessions.count(one) for one in dict.fromkeys(sessions)] == [2, 2, 1]


async def test_a_device_with_a_broken_key_keeps_nobody_from_being_written_to(
    secret: Secret, people: People
) -> None:
    mallory = people("mallory")
    device = mallory.login.device_id
    await mallory.call(
        "POST",
        "keys/upload",
        {
            "device_keys": {
                "user_id": mallory.id,
                "device_id": device,
                "algorithms": ["m.megolm.v1.aes-sha2"],
                "keys": {f"ed25519:{device}": "AAAA", f"curve25519:{device}": "!"},
                "signatures": {mallory.id: {f"ed25519:{device}": "AAAA"}},
            }
        },
    )
    await secret.anna.invite(secret.room, mallory.id)
    await mallory.join(secret.room)
    async with secret.there() as chat:
        await chat.show(secret.thread, cards.NEWS)
    await mallory.look(0)
    assert mallory.rooms[secret.room].events[-1]["type"] == "m.room.encrypted"


async def test_the_same_transaction_is_the_same_event(secret: Secret) -> None:
    entered = await log_in(secret.access, secret.folder)
    sender = EventSender(entered.client, encryptor=_seal(entered))
    content = {"msgtype": "m.text", "body": "hello"}
    ids = {await sender.send(secret.room, "m.room.message", content, "one") for _ in range(2)}
    await log_out(entered)
    assert len(ids) == 1


async def test_what_is_known_of_rooms_is_bounded_and_survives_a_torn_line(
    secret: Secret, tmp_path: Path
) -> None:
    entered = await log_in(secret.access, secret.folder)
    path = tmp_path / "rooms.jsonl"
    rooms = EncryptedRooms(ClientApi(entered.client), path)
    wild = {"rotation_period_ms": 1, "rotation_period_msgs": 10**9}
    event = {"type": "m.room.encryption", "state_key": "", "content": wild}
    rooms.note_encryption({"rooms": {"join": {"!a": {"timeline": {"events": [event]}}}}})
    path.write_bytes(path.read_bytes() + b'\n["!b", 3600')
    again = EncryptedRooms(ClientApi(entered.client), path)
    assert (again.is_known_encrypted("!a"), again.is_known_encrypted("!b")) == (True, False)
    assert await again.rotation("!a") == Rotation(timedelta(hours=1), 1000)
    await log_out(entered)


def _seal(entered: LoggedIn) -> RoomEncryptor:
    owners = DeviceOwners(Path(entered.client.store_path or "") / IDENTITIES_FILE)
    return RoomEncryptor(OlmMachine(entered.client, entered.wire, owners), entered.rooms)


async def test_a_room_that_becomes_encrypted_while_the_bot_is_at_work_gets_sealed_words(
    secret: Secret, people: People
) -> None:
    plain = await people.room(secret.anna, secret.bot)
    thread = secret.thread.model_copy(update={"channel": plain})
    async with secret.listening() as chat:
        await chat.show(thread, cards.RECEIVED)
        await secret.anna.encrypt(plain)
        await secret.anna.say(plain, "from now on", mention=secret.bot.id)
        await secret.hears("from now on")
        await chat.show(thread, cards.APPROVAL)
    await secret.anna.until(
        lambda: any("Shall I build" in post.text for post in secret.anna.posts(plain))
    )
    kinds = [event["type"] for event in wire_of(secret)]
    assert kinds.count("m.room.message") == 1, "that was before"
    assert "m.room.encrypted" in kinds


async def test_the_largest_message_fits_into_an_event_when_it_is_sealed_and_edited(
    secret: Secret,
) -> None:
    """Sealed it is a third longer, and an edit says it twice."""
    words = "\n\n".join("あいうえお <&> " * 60 for _ in range(60))
    long = cards.DOCUMENT.model_copy(update={"text": words})
    async with secret.there() as chat:
        await chat.show(secret.thread, long)
        await chat.show(secret.thread, long.model_copy(update={"text": f"{words}\n\nThe end."}))
    posts = len(draw_card(long))
    assert posts > 2
    await secret.sees(lambda text: "The end." in text)
    mine = [p for p in secret.anna.posts(secret.room) if p.sender == secret.bot.id]
    assert len([post for post in mine if post.type == "m.text"]) == posts
