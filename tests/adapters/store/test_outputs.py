"""What programs printed stays within bounds, and nothing goes that somebody may still need."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.store import TaskLogFiles
from adapters.store.evidence import OutputBounds, OutputLimits
from bot.core.masking import Masker

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def kept(home: Path, name: str, days: float, size: int = 10) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    return aged(path, days)


def aged(path: Path, days: float) -> Path:
    at = (NOW - timedelta(days=days)).timestamp()
    os.utime(path, (at, at))
    return path


def tidy(home: Path, **bounds: int) -> None:
    OutputLimits(home, lambda: NOW, OutputBounds(**bounds)).tidy()  # type: ignore[arg-type]


def left(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*.log")}


def test_transcripts_go_after_thirty_days(tmp_path: Path) -> None:
    kept(tmp_path, "runs/old.log", 31)
    kept(tmp_path, "runs/new.log", 29)
    tidy(tmp_path)
    assert left(tmp_path) == {"runs/new.log"}


def test_where_there_is_no_room_the_oldest_go_but_none_of_today(tmp_path: Path) -> None:
    for days in (3, 2, 0.5, 0.1):
        kept(tmp_path, f"runs/{days}.log", days)
    tidy(tmp_path, runs=10)
    assert left(tmp_path) == {"runs/0.5.log", "runs/0.1.log"}


def test_raw_logs_of_a_session_that_is_not_over_stay(tmp_path: Path) -> None:
    kept(tmp_path, "sessions/unfinished/one.journal", 0)
    kept(tmp_path, "raw/one/t_1.log", 90)
    kept(tmp_path, "raw/two/t_1.log", 80)
    kept(tmp_path, "raw/two/t_2.log", 70)
    tidy(tmp_path, raw=10)
    assert left(tmp_path) == {"raw/one/t_1.log", "raw/two/t_2.log"}


def test_raw_logs_do_not_go_for_their_age_alone(tmp_path: Path) -> None:
    kept(tmp_path, "raw/two/t_1.log", 400)
    tidy(tmp_path)
    assert left(tmp_path) == {"raw/two/t_1.log"}


def test_what_stood_between_the_bot_and_an_agent_goes_after_thirty_days(tmp_path: Path) -> None:
    for name, days in (("old", 31), ("new", 29), ("needed", 90)):
        spool = kept(tmp_path, f"spool/run-{name}/exit", days).parent
        (spool / "link").symlink_to(tmp_path / "theirs")
        aged(spool, days)
    kept(tmp_path, "theirs/kept.log", 400)
    (tmp_path / "spool" / "run-link").symlink_to(tmp_path / "theirs")
    aged(tmp_path / "theirs", 400)
    kept(tmp_path, "sessions/unfinished/one.journal", 0).write_text('{"run": {"id": "needed"}}')
    tidy(tmp_path)
    assert {path.name for path in (tmp_path / "spool").iterdir()} == {
        "run-new",
        "run-needed",
        "run-link",
    }
    assert left(tmp_path) == {"theirs/kept.log"}


async def test_it_is_tidied_at_every_start(tmp_path: Path) -> None:
    kept(tmp_path, "runs/old.log", 31)
    await TaskLogFiles(tmp_path, Masker({}), now=lambda: NOW).tidy()
    assert left(tmp_path) == set()


def test_a_home_without_outputs_is_fine(tmp_path: Path) -> None:
    tidy(tmp_path / "nothing")
    assert left(tmp_path) == set()


def test_evidence_goes_where_there_is_no_room_and_never_what_an_open_session_names(
    tmp_path: Path,
) -> None:
    for name, days in (("open", 90), ("old", 80), ("older", 85), ("today", 0.1)):
        kept(tmp_path, f"evidence/{name}.json", days)
    journal = kept(tmp_path, "sessions/unfinished/one.journal", 0)
    journal.write_text('{"evidence": ["open"], "path": "/of/older-ones.json"}')
    tidy(tmp_path)
    assert len(list((tmp_path / "evidence").iterdir())) == 4
    tidy(tmp_path, evidence=30)
    assert {path.stem for path in (tmp_path / "evidence").iterdir()} == {"open", "old", "today"}
    tidy(tmp_path, evidence=1)
    assert {path.stem for path in (tmp_path / "evidence").iterdir()} == {"open", "today"}
