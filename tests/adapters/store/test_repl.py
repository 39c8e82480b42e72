"""repl.json on the disk: private, exactly five keys, and never mended by guessing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.store import ReplFile
from bot.core.errors import Refused
from bot.core.projections.records import ReplState

WHOLE = ReplState.first().model_copy(
    update={
        "selected_provider": "openai",
        "updated_at": datetime(2026, 1, 2, tzinfo=UTC),
        "last_task_id": "t1",
    }
)


@pytest.mark.covers("R-REPL-STATE-2")
def test_where_there_is_none_everything_is_null_and_none_is_made(tmp_path: Path) -> None:
    assert ReplFile(tmp_path).load() == ReplState.first()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.covers("R-ENTITY-ReplState", "R-REPL-STATE-1", "R-REPL-STATE-5", "R-FILE-repl")
def test_what_was_saved_is_read_again_and_is_private(tmp_path: Path) -> None:
    ReplFile(tmp_path).save(WHOLE)
    assert ReplFile(tmp_path).load() == WHOLE
    path = tmp_path / "repl.json"
    assert path.stat().st_mode & 0o777 == 0o600
    told = json.loads(path.read_text())
    assert list(told) == list(ReplState.model_fields)
    assert datetime.fromisoformat(told["updated_at"]) == WHOLE.updated_at


@pytest.mark.covers("R-REPL-STATE-5", "R-REPL-STATE-8")
@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "{}",
        WHOLE.model_dump_json().replace("openai", "gemini"),
        WHOLE.model_dump_json().replace("2026", "the year 2026"),
    ],
)
def test_a_broken_file_is_e105_and_stays_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "repl.json"
    path.write_text(content)
    with pytest.raises(Refused, match=r"^E105: .*repl\.json"):
        ReplFile(tmp_path).load()
    assert path.read_text() == content
