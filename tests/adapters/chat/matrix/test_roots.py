"""Who began a thread is kept over restarts, and the first who is named stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.chat.matrix import roots
from adapters.chat.matrix.roots import Roots
from bot.domain.people import Thread
from bot.errors import Unavailable


def thread(number: int) -> Thread:
    return Thread(platform="matrix", channel="!room", root=f"${number}")


def test_the_first_who_is_named_stays_over_restarts(tmp_path: Path) -> None:
    path = tmp_path / "matrix" / "roots.jsonl"
    Roots(path).remember(thread(1), "@anna:hs")
    again = Roots(path)
    again.remember(thread(1), "@mallory:hs")
    assert again.owner(thread(1)) == Roots(path).owner(thread(1)) == "@anna:hs"
    assert again.owner(thread(2)) == ""
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("torn", [b'["matrix::!room:$2", "@be', b"7", b"[1]", b"\xff"])
def test_a_torn_line_costs_nothing_but_itself(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "roots.jsonl"
    Roots(path).remember(thread(1), "@anna:hs")
    path.write_bytes(path.read_bytes() + torn)
    Roots(path).remember(thread(3), "@carla:hs")
    found = Roots(path)
    owners = [found.owner(thread(n)) for n in (1, 2, 3)]
    assert owners == ["@anna:hs", "", "@carla:hs"]


def test_old_threads_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "roots.jsonl"
    lines = [f'["matrix::!room:${n}", "@anna:hs"]\n' for n in range(roots.KEPT + 10)]
    path.write_text("".join(lines), encoding="utf-8")
    found = Roots(path)
    assert found.owner(thread(9)) == ""
    assert found.owner(thread(10)) == "@anna:hs"
    assert len(path.read_text(encoding="utf-8").split()) == 2 * roots.KEPT


def test_a_disk_that_takes_nothing_may_later(tmp_path: Path) -> None:
    found = Roots(tmp_path / "roots.jsonl")
    (tmp_path / "roots.jsonl").mkdir()
    with pytest.raises(Unavailable):
        found.remember(thread(1), "@anna:hs")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "roots.jsonl").mkdir()
    with pytest.raises(Unavailable, match="cannot be read"):
        Roots(tmp_path / "roots.jsonl")
