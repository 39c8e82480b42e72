"""What the console keeps in its home: private, small, and readable after any crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.console.transcript import MAX_FILE_BYTES, CurrentThread, ShownCards, make_showing
from bot.core.errors import Unavailable
from tests.adapters.console.stage import Stage
from tests.fakes import cards


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_everything_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "home")
    await stage.type("hello")
    await stage.show(cards.APPROVAL)
    folder = tmp_path / "home" / "console"
    assert mode(folder) == 0o700
    assert {path.name: mode(path) for path in folder.iterdir()} == {
        "thread": 0o600,
        "shown.jsonl": 0o600,
    }


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"thread": 1}'])
def test_a_broken_note_of_the_current_thread_begins_a_new_one(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "thread").write_bytes(content)
    thread = CurrentThread(tmp_path / "thread").thread
    assert CurrentThread(tmp_path / "thread").thread == thread


def test_a_thread_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot be read"):
        _ = CurrentThread(tmp_path / "file" / "thread").thread


async def test_a_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot be made"):
        await Stage(tmp_path / "file").chat.show(cards.THREAD, cards.NEWS)


def test_a_torn_last_line_costs_that_line_only(tmp_path: Path) -> None:
    path = tmp_path / "shown.jsonl"
    shown = ShownCards(path)
    shown.record(make_showing(cards.THREAD, cards.NEWS))
    shown.record(make_showing(cards.THREAD, cards.ANSWER))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    torn = ShownCards(path)
    assert torn.last(cards.THREAD, cards.NEWS.key)
    assert torn.last(cards.THREAD, cards.ANSWER.key) is None
    torn.record(make_showing(cards.THREAD, cards.OFFER))
    again = ShownCards(path)
    assert [old.key for old in again] == [cards.NEWS.key, cards.OFFER.key]


def test_the_file_stays_small_and_forgets_the_oldest_first(tmp_path: Path) -> None:
    path = tmp_path / "shown.jsonl"
    old = "".join(
        make_showing(cards.THREAD, cards.NEWS.model_copy(update={"key": f"n{n}"})).model_dump_json()
        + "\n"
        for n in range(4000)
    )
    path.write_text(old)
    assert len(old) > MAX_FILE_BYTES
    shown = ShownCards(path)
    shown.record(make_showing(cards.THREAD, cards.ANSWER))
    assert path.stat().st_size <= MAX_FILE_BYTES // 2
    assert mode(path) == 0o600
    keys = [old.key for old in ShownCards(path)]
    assert keys[-2:] == ["n3999", cards.ANSWER.key]
    assert "n0" not in keys
    assert [file.name for file in tmp_path.iterdir()] == ["shown.jsonl"]


def test_a_full_disk_does_not_make_a_card_come_again(tmp_path: Path) -> None:
    shown = ShownCards(tmp_path / "missing" / "shown.jsonl")
    shown.record(make_showing(cards.THREAD, cards.NEWS))
    assert shown.last(cards.THREAD, cards.NEWS.key)


def test_a_card_is_kept_only_while_it_can_be_pressed(tmp_path: Path) -> None:
    shown = ShownCards(tmp_path / "shown.jsonl")
    shown.record(make_showing(cards.THREAD, cards.APPROVAL))
    assert next(iter(ShownCards(tmp_path / "shown.jsonl"))).open == cards.APPROVAL
    shown.record(make_showing(cards.THREAD, cards.APPROVED))
    assert next(iter(ShownCards(tmp_path / "shown.jsonl"))).open is None
