"""Files that people send: text is read, from a real homeserver, and of all others it is said why not."""

from __future__ import annotations

import pytest

from adapters.matrix.crypto import encrypted_rooms
from adapters.matrix.events import SentFile
from adapters.matrix.incoming import MAX_FILE_BYTES, as_text, file_problem, shown_name
from bot.core.events import Attached, Said
from tests.adapters.matrix.hearing_room import Room

NOTES = "# Notes\n\n色は青。\n".encode()


def mentioned(room: Room) -> dict[str, object]:
    """A caption that asks the bot for something."""
    return {
        "body": f"{room.bot.id}: Build this",
        "filename": "notes.md",
        "m.mentions": {"user_ids": [room.bot.id]},
    }


def in_thread(root: str) -> dict[str, object]:
    return {"m.relates_to": {"rel_type": "m.thread", "event_id": root}}


async def test_a_text_that_comes_with_a_request_is_read(room: Room) -> None:
    await room.sends_file(NOTES, **mentioned(room))
    [said] = await room.next()
    assert isinstance(said, Said)
    assert (said.text, said.mention) == ("Build this", True)
    assert said.files == (Attached(name="notes.md", text=NOTES.decode()),)


async def test_a_file_in_a_thread_of_a_session_is_read_and_elsewhere_it_is_let_be(
    room: Room,
) -> None:
    thread = await room.shown()
    lunch = await room.anna.say(room.id, "Lunch?")
    before = room.way.count("/media/download/")
    await room.sends_file(b"pizza", **in_thread(lunch))
    await room.sends_file(b"pizza")
    await room.sends_file(NOTES, **in_thread(thread.root))
    await room.sends_file(b"\x89PNG", body="a.png", msgtype="m.image", **in_thread(thread.root))
    _, notes, picture = await room.next(3)
    assert isinstance(notes, Said)
    assert isinstance(picture, Said)
    assert [(file.name, file.text) for file in notes.files] == [("notes.md", NOTES.decode())]
    assert [(file.name, bool(file.problem)) for file in picture.files] == [("a.png", True)]
    assert room.way.count("/media/download/") == before + 1, "what is no text is not fetched"


async def test_a_file_of_an_encrypted_room_is_opened(room: Room) -> None:
    cipher, lock = encrypted_rooms.encrypt_file(NOTES)
    await room.sends_file(cipher, file=lock, **mentioned(room))
    await room.sends_file(cipher + b"x", file=lock, **mentioned(room))
    whole, broken = await room.next(2)
    assert isinstance(whole, Said)
    assert isinstance(broken, Said)
    assert whole.files[0].text == NOTES.decode()
    assert "not whole" in broken.files[0].problem


async def test_a_file_that_is_larger_than_it_says_is_not_read_to_its_end(room: Room) -> None:
    await room.sends_file(b"x" * (MAX_FILE_BYTES + 1), info={"size": 5}, **mentioned(room))
    await room.sends_file(b"x" * MAX_FILE_BYTES, **mentioned(room))
    larger, fits = await room.next(2)
    assert isinstance(larger, Said)
    assert isinstance(fits, Said)
    assert "larger than 100 kB" in larger.files[0].problem
    assert len(fits.files[0].text) == MAX_FILE_BYTES


@pytest.mark.parametrize("status", [404, 502])
async def test_a_request_is_heard_although_its_file_cannot_be_had(room: Room, status: int) -> None:
    room.way.fail(status=status, where="/media/download/")
    await room.sends_file(NOTES, **mentioned(room))
    [said] = await room.next()
    assert isinstance(said, Said)
    assert "send it again" in said.files[0].problem


async def test_an_address_that_is_none_is_not_asked_for(room: Room) -> None:
    for url in ("http://127.0.0.1/secret", "mxc://hs/../../admin", "mxc://hs", "", 5):
        content = {"msgtype": "m.file", "url": url, **mentioned(room)}
        await room.anna.send(room.id, "m.room.message", content)
    for said in await room.next(5):
        assert isinstance(said, Said)
        assert said.files[0].problem
    assert room.way.count("/media/download/") == 0


@pytest.mark.parametrize("data", [b"PK\x03\x04\xff\xfe", b"a\0b", b"", b"  \n"])
def test_what_is_no_text_has_a_problem(data: bytes) -> None:
    assert as_text("a", data).problem


def test_a_file_that_says_it_is_too_large_is_not_fetched() -> None:
    file = SentFile("m.file", "a.txt", "mxc://hs/1", MAX_FILE_BYTES + 1, {})
    assert "larger" in file_problem(file)
    assert file_problem(SentFile("m.audio", "a.ogg", "mxc://hs/1", 5, {}))
    assert not file_problem(SentFile("m.file", "a.txt", "mxc://hs/1", MAX_FILE_BYTES, {}))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("a\nb.txt", "a b.txt"),
        ("", "a file"),
        ("x" * 500, "x" * 100),
    ],
)
def test_a_name_is_only_a_name(name: str, shown: str) -> None:
    assert shown_name(SentFile("m.file", name, "mxc://hs/1", 5, {})) == shown
