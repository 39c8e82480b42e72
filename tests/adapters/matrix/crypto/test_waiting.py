"""What cannot be opened yet: it is there after a restart, and nobody's flood pushes out what others have said."""

from __future__ import annotations

from pathlib import Path

from adapters.matrix.crypto.decryption import (
    MAX_WAITING,
    MAX_WAITING_CHARACTERS,
    WaitingMessage,
    WaitingMessages,
)


def message(number: int, sender: str, size: int = 10) -> WaitingMessage:
    content = {"session_id": "key", "ciphertext": "x" * size}
    return WaitingMessage(
        "!room", {"event_id": f"${sender}{number}", "sender": sender, "content": content}, 1.0
    )


def ids(room: WaitingMessages) -> list[str]:
    return [one.id for one in room.all()]


def test_what_waits_is_there_after_a_restart(tmp_path: Path) -> None:
    room = WaitingMessages(tmp_path / "waiting.json")
    room.put(message(1, "@anna"))
    room.mark_reported(message(1, "@anna"))
    [found] = WaitingMessages(tmp_path / "waiting.json").all()
    assert (found.id, found.sender, found.session, found.told) == ("$@anna1", "@anna", "key", True)


def test_of_a_flood_of_many_the_last_are_waited_for_and_others_lose_nothing(
    tmp_path: Path,
) -> None:
    room = WaitingMessages(tmp_path / "waiting.json")
    room.put(message(1, "@anna"))
    for number in range(MAX_WAITING + 20):
        room.put(message(number, "@eve"))
    assert len(room.all()) == MAX_WAITING
    assert ids(room)[0] == "$@anna1"
    assert ids(room)[-1] == f"$@eve{MAX_WAITING + 19}"


def test_of_a_flood_of_large_ones_no_more_is_written_than_there_is_room_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "waiting.json"
    room = WaitingMessages(path)
    room.put(message(1, "@anna"))
    for number in range(40):
        room.put(message(number, "@eve", 60_000))
    assert path.stat().st_size < MAX_WAITING_CHARACTERS * 1.1
    assert ids(WaitingMessages(path))[0] == "$@anna1"
    assert ids(WaitingMessages(path))[-1] == "$@eve39"


def test_why_a_key_was_withheld_is_for_its_sender_to_say(tmp_path: Path) -> None:
    path = tmp_path / "waiting.json"
    room, annas = WaitingMessages(path), message(1, "@anna")
    room.note_withheld("@eve", "!room", "key", "m.blacklisted")
    assert room.withheld_code(annas) == ""
    room.note_withheld("@anna", "!room", "key", "m.unverified")
    room.save()
    assert WaitingMessages(path).withheld_code(annas) == "m.unverified"


def test_many_that_withhold_keys_are_written_down_once(tmp_path: Path) -> None:
    path = tmp_path / "waiting.json"
    room = WaitingMessages(path)
    for number in range(50):
        room.note_withheld("@eve", "!room", f"key {number}", "m.blacklisted")
    assert not path.exists()
    room.save()
    written = path.stat().st_mtime_ns
    room.note_withheld("@eve", "!room", "key 1", "m.blacklisted")
    room.save()
    assert path.stat().st_mtime_ns == written
