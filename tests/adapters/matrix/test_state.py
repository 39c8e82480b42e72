"""How far the bot has heard: kept for the owner only, whole at any time, and of one account."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from adapters.matrix.storage import SyncBookmark
from bot.core.errors import Unavailable

BOT = "@bot:hs"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_place_is_there_after_a_restart(tmp_path: Path) -> None:
    bookmark = SyncBookmark(tmp_path, BOT, "DEVICE")
    assert bookmark.since is None
    for token in ("s1", "s2", "s2"):
        bookmark.advance(token)
        assert bookmark.since == SyncBookmark(tmp_path, BOT, "DEVICE").since == token


def test_only_the_owner_may_look(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "matrix"
    folder.mkdir(parents=True, mode=0o755)
    (folder / "sync.json.tmp").write_text("of a crash")
    bookmark = SyncBookmark(folder, BOT, "DEVICE")
    bookmark.advance("s1")
    assert (mode(folder), mode(bookmark.path)) == (0o700, 0o600)
    assert [one.name for one in folder.iterdir()] == ["sync.json"]


def test_another_user_begins_anew_and_another_device_goes_on(tmp_path: Path) -> None:
    SyncBookmark(tmp_path, BOT, "DEVICE").advance("s1")
    assert SyncBookmark(tmp_path, BOT, "OTHER").since == "s1"
    assert SyncBookmark(tmp_path, "@other:hs", "DEVICE").since is None


@pytest.mark.parametrize("content", ["", "{", "[]", "5", "{}", '{"since": "s1"}', "\udcff"])
def test_what_cannot_be_read_is_put_aside(tmp_path: Path, content: str) -> None:
    broken = tmp_path / "sync.json"
    broken.write_bytes(content.encode("utf-8", "surrogateescape"))
    bookmark = SyncBookmark(tmp_path, BOT, "DEVICE")
    assert bookmark.since is None
    assert (tmp_path / "sync.broken").exists()
    bookmark.advance("s1")
    assert SyncBookmark(tmp_path, BOT, "DEVICE").since == "s1"


def test_a_place_that_cannot_be_written_stays_what_it_was(tmp_path: Path) -> None:
    bookmark = SyncBookmark(tmp_path, BOT, "DEVICE")
    bookmark.advance("s1")
    (tmp_path / "sync.json.tmp").mkdir()
    with pytest.raises(Unavailable, match="cannot be written"):
        bookmark.advance("s2")
    assert bookmark.since == SyncBookmark(tmp_path, BOT, "DEVICE").since == "s1"
    (tmp_path / "sync.json.tmp").rmdir()
    bookmark.advance("s2")
    assert bookmark.since == "s2"
