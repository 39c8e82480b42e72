"""Who began a thread is kept over restarts, and the first who is named stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.matrix import storage
from adapters.matrix.storage import ThreadOwners
from bot.core.errors import Unavailable
from bot.core.people import Thread


def thread(number: int) -> Thread:
    return Thread(platform="matrix", channel="!room", root=f"${number}")


def test_the_first_who_is_named_stays_over_restarts(tmp_path: Path) -> None:
    path = tmp_path / "matrix" / "roots.jsonl"
    ThreadOwners(path).remember(thread(1), "@anna:hs")
    again = ThreadOwners(path)
    again.remember(thread(1), "@mallory:hs")
    assert again.owner(thread(1)) == ThreadOwners(path).owner(thread(1)) == "@anna:hs"
    assert again.owner(thread(2)) == ""
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("torn", [b'["matrix::!room:$2", "@be', b"7", b"[1]", b"\xff"])
def test_a_torn_line_costs_nothing_but_itself(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "roots.jsonl"
    ThreadOwners(path).remember(thread(1), "@anna:hs")
    path.write_bytes(path.read_bytes() + torn)
    ThreadOwners(path).remember(thread(3), "@carla:hs")
    found = ThreadOwners(path)
    owners = [found.owner(thread(n)) for n in (1, 2, 3)]
    assert owners == ["@anna:hs", "", "@carla:hs"]


def test_old_threads_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "roots.jsonl"
    lines = [f'["matrix::!room:${n}", "@anna:hs"]\n' for n in range(storage.MAX_OWNERS + 10)]
    path.write_text("".join(lines), encoding="utf-8")
    found = ThreadOwners(path)
    assert found.owner(thread(9)) == ""
    assert found.owner(thread(10)) == "@anna:hs"
    assert len(path.read_text(encoding="utf-8").splitlines()) == storage.MAX_OWNERS


def test_a_disk_that_takes_nothing_may_later(tmp_path: Path) -> None:
    found = ThreadOwners(tmp_path / "roots.jsonl")
    (tmp_path / "roots.jsonl").mkdir()
    with pytest.raises(Unavailable):
        found.remember(thread(1), "@anna:hs")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "roots.jsonl").mkdir()
    with pytest.raises(Unavailable, match="cannot be read"):
        ThreadOwners(tmp_path / "roots.jsonl")
