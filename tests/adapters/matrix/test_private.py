"""The files of a device: what is no such file any more is put aside, and the bot comes up without it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.matrix.crypto.decryption import WaitingMessage, WaitingMessages
from adapters.state_files import JsonFile

KEPT = WaitingMessage("!room", {"event_id": "$1", "content": {"session_id": "s"}}, since=1.0)


@pytest.mark.parametrize(
    "text",
    [
        "{ nothing",
        "[]",
        '"text"',
        '{"events": 5}',
        '{"events": [{"room": "!room"}]}',
        '{"events": [{"room": "!room", "event": "none", "since": 1}]}',
        '{"withheld": ["none"]}',
    ],
)
def test_a_list_of_what_waits_that_is_none_is_put_aside(tmp_path: Path, text: str) -> None:
    path = tmp_path / "waiting.json"
    path.write_text(text)
    room = WaitingMessages(path)
    assert room.all() == ()
    assert path.with_suffix(".broken").read_text() == text

    room.put(KEPT)
    assert WaitingMessages(path).all() == (KEPT,)


def test_what_is_there_is_read_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    assert JsonFile(path, dict[str, int]).read() is None
    path.write_text(json.dumps({"one": 1}))
    assert JsonFile(path, dict[str, int]).read() == {"one": 1}


def test_what_lacks_something_is_put_aside_before_anything_is_written_in_its_place(
    tmp_path: Path,
) -> None:
    """A key that was kept is never written over."""

    @dataclass(frozen=True)
    class Pair:
        one: str
        two: str

    path = tmp_path / "pair.json"
    path.write_text('{"one": "kept"}')
    assert JsonFile(path, Pair).read() is None
    assert not path.exists()
    assert path.with_suffix(".broken").read_text() == '{"one": "kept"}'
