"""Evidence on disk: private, masked, kept once, held against its hash; and what programs printed stays within bounds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.store import TaskLogFiles
from adapters.store.evidence import RAW_LIMIT, EvidenceFiles, OutputLimits, OutputQuotas
from bot.core.errors import Unavailable
from bot.core.evidence import Artifact, Evidence
from bot.core.masking import Masker
from tests.adapters.store.disks import files_no_larger_than
from tests.adapters.store.samples import NOON

CANARY = "canary-7f3a9c51e0"

TOKEN = "sk-proj-" + "Ab3" * 16

MAIL = "ann.example@shop.example.org"

PHONE = "+81 90-1234-5678"


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    old = os.umask(0)
    yield
    os.umask(old)


@pytest.fixture
def files(tmp_path: Path) -> EvidenceFiles:
    return EvidenceFiles(tmp_path / "home", Masker({"CANARY": CANARY}))


def evidence(name: str = "e-1", **changes: object) -> Evidence:
    made = Evidence(evidence_id=name, timestamp=NOON, operation_type="check", summary="passed")
    return made.model_copy(update=changes)


async def kept(files: EvidenceFiles, made: Evidence, raw: str = "", source: str = "") -> Evidence:
    return await files.keep(made, session_id="s-1", task_id="t-1", raw=raw, source=source)


def read(evidence: Evidence) -> str:
    """Its raw log."""
    return Path(evidence.raw_logs).read_text()


def written_at(directory: Path) -> dict[Path, int]:
    """When each file in it was written last."""
    return {path: path.stat().st_mtime_ns for path in directory.rglob("*") if path.is_file()}


@pytest.mark.covers("R-ENTITY-Evidence", "R-RULE-EVIDENCE-1", "R-FILE-raw")
async def test_what_was_kept_is_found_whole_and_holds(files: EvidenceFiles, tmp_path: Path) -> None:
    written = await kept(files, evidence(), raw="3 passed\n")
    assert written.raw_logs == str(tmp_path / "home" / "raw" / "s-1" / "t-1_e-1.log")
    assert [one.path for one in written.artifacts] == [written.raw_logs]
    modes = {
        (path.is_dir(), oct(path.stat().st_mode & 0o7777))
        for path in [tmp_path / "home", *(tmp_path / "home").rglob("*")]
    }
    assert modes == {(True, "0o700"), (False, "0o600")}
    assert await files.find("e-1") == written
    assert written.integrity_validated
    assert read(written) == "3 passed\n"
    assert await files.find("e-2") is None


@pytest.mark.covers("R-ENTITY-Evidence", "R-RULE-EVIDENCE-3", "R-SECRET-RULE-2")
async def test_no_secret_and_nobodys_address_reaches_a_file(
    files: EvidenceFiles, tmp_path: Path
) -> None:
    said = f"key {CANARY}\ntoken {TOKEN}\nby {MAIL} or {PHONE}\n"
    written = await kept(files, evidence(summary=said), raw=said * 3)
    assert written.contains_sensitive_data
    texts = [path.read_text() for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert len(texts) == 2
    for secret in (CANARY, TOKEN, MAIL, PHONE, "1234-5678"):
        assert all(secret not in text for text in texts)
    assert all("[MASKED:" in text for text in texts)


@pytest.mark.covers("R-RULE-EVIDENCE-3")
@pytest.mark.parametrize(("raw", "sensitive"), [
    ("", False), ("3 passed\n", False), ("\x1b[32mok\x1b[0m\r\n", False), ("[MASKED:JWT]", True),
])  # fmt: skip
async def test_only_what_needed_a_mask_is_called_sensitive(
    files: EvidenceFiles, raw: str, sensitive: bool
) -> None:
    assert (await kept(files, evidence(), raw=raw)).contains_sensitive_data is sensitive


@pytest.mark.covers("R-RULE-EVIDENCE-1")
async def test_keeping_the_same_twice_changes_nothing(files: EvidenceFiles, tmp_path: Path) -> None:
    first = await kept(files, evidence(), raw="x")
    before = written_at(tmp_path)
    again = evidence(timestamp=NOON.replace(hour=13))
    assert await kept(files, again, raw="x") == first
    assert written_at(tmp_path) == before


async def test_what_a_lost_attempt_wrote_gives_way(files: EvidenceFiles) -> None:
    await kept(files, evidence(), raw="1 failed")
    await kept(files, evidence(summary="failed"), raw="2 passed")
    found = await files.find("e-1")
    assert found
    assert (found.summary, found.integrity_validated) == ("failed", True)
    assert read(found) == "2 passed"


async def test_the_raw_log_may_be_a_file(files: EvidenceFiles, tmp_path: Path) -> None:
    source = tmp_path / "check.log"
    source.write_text(f"by {MAIL}\n")
    written = await kept(files, evidence(), source=str(source))
    assert read(written) == "by [MASKED:EMAIL]\n"


async def test_without_its_log_it_is_still_evidence(files: EvidenceFiles, tmp_path: Path) -> None:
    link = tmp_path / "link.log"
    link.symlink_to("/etc/passwd")
    for source in (str(tmp_path / "gone.log"), str(link), ""):
        written = await kept(files, evidence(), source=source)
        assert (written.raw_logs, written.artifacts) == ("", ())
        assert written.integrity_validated


@pytest.mark.parametrize("lines", [500, 510, 511, 512, 1023])
async def test_a_secret_that_a_line_break_parts_is_masked_in_a_long_log_too(
    files: EvidenceFiles, lines: int
) -> None:
    raw = f"{'x' * 63}\n" * lines + f"{'x' * 54}{CANARY[:9]}\n{CANARY[9:]}\n" + "y\n" * 500
    told = read(await kept(files, evidence(), raw=raw))
    assert CANARY[:9] not in told
    assert CANARY[9:] not in told


async def test_a_long_log_keeps_its_beginning_and_its_end(files: EvidenceFiles) -> None:
    raw = "begin\n" + "line é\n" * 200_000 + "end\n"
    content = read(await kept(files, evidence(), raw=raw)).encode()
    assert len(content) <= RAW_LIMIT
    assert content.startswith(b"begin\n")
    assert content.endswith(b"end\n")
    assert b"[TRUNCATED]" in content


@pytest.mark.covers("R-ENTITY-EvidenceInventory", "R-RULE-EVIDENCE-4", "R-FILE-evidence")
async def test_a_changed_record_a_changed_log_and_a_broken_file_are_found_out(
    files: EvidenceFiles, tmp_path: Path
) -> None:
    names = ["good", "reworded", "swapped log", "lost log", "broken", "renamed", "never kept"]
    for name in names[:-1]:
        await kept(files, evidence(name), raw=f"log of {name}")
    home = tmp_path / "home"
    reword(home / "evidence" / "reworded.json", summary="all passed")
    (home / "raw/s-1/t-1_swapped%20log.log").write_text("other")
    (home / "raw/s-1/t-1_lost%20log.log").unlink()
    (home / "evidence" / "broken.json").write_text("{")
    (home / "evidence" / "renamed.json").write_bytes((home / "evidence/good.json").read_bytes())
    inventory = await files.inventory(names)
    assert inventory.integrity_failures == tuple(names[1:-1])
    assert inventory.missing_evidence_operations == ("never kept",)
    assert inventory.total_evidence_items == 5
    assert str(home / "raw/s-1/t-1_good.log") in inventory.raw_evidence_files
    for name, holds in [("good", True), ("reworded", False), ("swapped log", False)]:
        found = await files.find(name)
        assert found
        assert found.integrity_validated is holds


def reword(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


async def test_an_artifact_is_kept_with_its_hash(files: EvidenceFiles, tmp_path: Path) -> None:
    log = tmp_path / "home" / "runs" / "one.log"
    log.parent.mkdir(parents=True)
    log.write_text("x")
    written = await kept(files, evidence(artifacts=(Artifact(path=str(log)),)))
    assert len(written.artifacts[0].sha256) == 64
    log.write_text("y")
    assert (await files.inventory(["e-1"])).integrity_failures == ("e-1",)


async def test_files_outside_the_home_are_not_read(files: EvidenceFiles, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("x")
    made = evidence(artifacts=(Artifact(path=str(tmp_path / "other")),))
    assert (await kept(files, made)).artifacts[0].sha256 == ""


@pytest.mark.parametrize("name", ["../../up", "a/b", "x" * 400, "日本語", "."])
async def test_any_id_will_do(files: EvidenceFiles, tmp_path: Path, name: str) -> None:
    written = await files.keep(evidence(name), session_id=name, task_id=name, raw="x")
    assert await files.find(name) == written
    assert all(path.is_relative_to(tmp_path / "home") for path in written_at(tmp_path))


async def test_a_full_disk_says_so(files: EvidenceFiles) -> None:
    await kept(files, evidence(), raw="first")
    with files_no_larger_than(20), pytest.raises(Unavailable, match="disk is full"):
        await kept(files, evidence(summary="second"))
    found = await files.find("e-1")
    assert found
    assert found.summary == "passed"


NOW = datetime(2026, 3, 1, tzinfo=UTC)


def put(home: Path, name: str, days: float, size: int = 10) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    return aged(path, days)


def aged(path: Path, days: float) -> Path:
    at = (NOW - timedelta(days=days)).timestamp()
    os.utime(path, (at, at))
    return path


def tidy(home: Path, **bounds: int) -> None:
    OutputLimits(home, lambda: NOW, OutputQuotas(**bounds)).tidy()  # type: ignore[arg-type]


def left(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*.log")}


def test_transcripts_go_after_thirty_days(tmp_path: Path) -> None:
    put(tmp_path, "runs/old.log", 31)
    put(tmp_path, "runs/new.log", 29)
    tidy(tmp_path)
    assert left(tmp_path) == {"runs/new.log"}


def test_where_there_is_no_room_the_oldest_go_but_none_of_today(tmp_path: Path) -> None:
    for days in (3, 2, 0.5, 0.1):
        put(tmp_path, f"runs/{days}.log", days)
    tidy(tmp_path, runs=10)
    assert left(tmp_path) == {"runs/0.5.log", "runs/0.1.log"}


def test_raw_logs_of_a_session_that_is_not_over_stay(tmp_path: Path) -> None:
    put(tmp_path, "sessions/unfinished/one.journal", 0)
    put(tmp_path, "raw/one/t_1.log", 90)
    put(tmp_path, "raw/two/t_1.log", 80)
    put(tmp_path, "raw/two/t_2.log", 70)
    tidy(tmp_path, raw=10)
    assert left(tmp_path) == {"raw/one/t_1.log", "raw/two/t_2.log"}


def test_raw_logs_do_not_go_for_their_age_alone(tmp_path: Path) -> None:
    put(tmp_path, "raw/two/t_1.log", 400)
    tidy(tmp_path)
    assert left(tmp_path) == {"raw/two/t_1.log"}


def test_what_stood_between_the_bot_and_an_agent_goes_after_thirty_days(tmp_path: Path) -> None:
    for name, days in (("old", 31), ("new", 29), ("needed", 90)):
        spool = put(tmp_path, f"spool/run-{name}/exit", days).parent
        (spool / "link").symlink_to(tmp_path / "theirs")
        aged(spool, days)
    put(tmp_path, "theirs/kept.log", 400)
    (tmp_path / "spool" / "run-link").symlink_to(tmp_path / "theirs")
    aged(tmp_path / "theirs", 400)
    put(tmp_path, "sessions/unfinished/one.journal", 0).write_text('{"run": {"id": "needed"}}')
    tidy(tmp_path)
    assert {path.name for path in (tmp_path / "spool").iterdir()} == {
        "run-new",
        "run-needed",
        "run-link",
    }
    assert left(tmp_path) == {"theirs/kept.log"}


async def test_it_is_tidied_at_every_start(tmp_path: Path) -> None:
    put(tmp_path, "runs/old.log", 31)
    await TaskLogFiles(tmp_path, Masker({}), now=lambda: NOW).tidy()
    assert left(tmp_path) == set()


def test_a_home_without_outputs_is_fine(tmp_path: Path) -> None:
    tidy(tmp_path / "nothing")
    assert left(tmp_path) == set()


def test_evidence_goes_where_there_is_no_room_and_never_what_an_open_session_names(
    tmp_path: Path,
) -> None:
    for name, days in (("open", 90), ("old", 80), ("older", 85), ("today", 0.1)):
        put(tmp_path, f"evidence/{name}.json", days)
    journal = put(tmp_path, "sessions/unfinished/one.journal", 0)
    journal.write_text('{"evidence": ["open"], "path": "/of/older-ones.json"}')
    tidy(tmp_path)
    assert len(list((tmp_path / "evidence").iterdir())) == 4
    tidy(tmp_path, evidence=30)
    assert {path.stem for path in (tmp_path / "evidence").iterdir()} == {"open", "old", "today"}
    tidy(tmp_path, evidence=1)
    assert {path.stem for path in (tmp_path / "evidence").iterdir()} == {"open", "today"}
