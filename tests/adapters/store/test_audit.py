"""The audit log on disk: what was noted stays, and whoever changes it is found out; a kill is no tampering."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.files import Disk
from adapters.store import AuditFile
from adapters.store.audit import AUDIT_FILE, AUDIT_HEAD, check_audit
from bot.core.errors import Unavailable
from bot.core.masking import Masker
from bot.core.projections.audit import AuditEntry, Decision

AT = datetime(2026, 1, 1, 9, tzinfo=UTC)
SECRET = "correct-horse-battery-staple"  # noqa: S105 - nobody's, made up here
MASKER = Masker({"SHOP_TOKEN": SECRET})


def entry(what: str = "press approve", about: str = "") -> AuditEntry:
    return AuditEntry(
        at=AT, who="slack:T1:U1", where="C1", what=what, about=about, decision=Decision.ALLOWED
    )


def written(home: Path, count: int = 5) -> list[bytes]:
    audit = AuditFile(home, MASKER)
    for number in range(count):
        audit.note(entry(about=str(number)))
    return (home / AUDIT_FILE).read_bytes().splitlines(keepends=True)


def test_each_entry_names_the_one_before_it_by_its_hash(tmp_path: Path) -> None:
    lines = written(tmp_path)
    entries = [AuditEntry.model_validate_json(line) for line in lines]
    assert [one.number for one in entries] == [1, 2, 3, 4, 5]
    assert entries[0].before == ""
    for line, after in zip(lines, entries[1:], strict=False):
        assert after.before == hashlib.sha256(line.rstrip(b"\n")).hexdigest()
    assert check_audit(tmp_path).problems == ()


def test_it_goes_on_where_the_last_life_of_the_bot_ended(tmp_path: Path) -> None:
    first = written(tmp_path, 2)
    both = written(tmp_path, 2)
    assert both[:2] == first
    found = check_audit(tmp_path)
    assert (found.number, found.problems) == (4, ())


def test_it_is_its_owners_alone_and_secrets_are_masked(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        home = tmp_path / "home"
        AuditFile(home, MASKER).note(entry(about=f"use {SECRET}"))
    finally:
        os.umask(before)
    modes = {oct(path.stat().st_mode & 0o777) for path in (home / AUDIT_FILE, home / AUDIT_HEAD)}
    assert modes == {"0o600"}
    assert oct(home.stat().st_mode & 0o777) == "0o700"
    text = (home / AUDIT_FILE).read_text()
    assert SECRET not in text
    assert "[MASKED:SHOP_TOKEN]" in text


TAMPERING: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "changed": lambda lines: [lines[0], lines[1].replace(b"U1", b"U9"), *lines[2:]],
    "a forged last one": lambda lines: [*lines[:-1], lines[-1].replace(b"U1", b"U9")],
    "removed": lambda lines: [*lines[:2], *lines[3:]],
    "swapped": lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
    "cut off": lambda lines: lines[:-1],
    "cut in the middle of a line": lambda lines: [*lines[:-1], lines[-1][:40]],
    "without the beginning": lambda lines: lines[2:],
    "emptied": lambda _: [],
    "spoiled": lambda lines: [lines[0], b"\xff\xfe [[[[\n", *lines[2:]],
}


@pytest.mark.parametrize("tamper", TAMPERING)
def test_tampering_is_found_told_and_itself_noted(tamper: str, tmp_path: Path) -> None:
    lines = TAMPERING[tamper](written(tmp_path))
    (tmp_path / AUDIT_FILE).write_bytes(b"".join(lines))
    assert check_audit(tmp_path).problems
    audit = AuditFile(tmp_path, MASKER)
    assert "is not as it was written" in " ".join(audit.broken)
    last = json.loads((tmp_path / AUDIT_FILE).read_bytes().splitlines()[-1])
    assert (last["what"], last["decision"]) == ("audit log", "refused")
    audit.note(entry("press stop"))
    assert b"press stop" in (tmp_path / AUDIT_FILE).read_bytes()


def test_a_lost_head_is_told(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / AUDIT_HEAD).unlink()
    assert "cannot be told" in check_audit(tmp_path).problems[0]


def test_every_point_of_a_write_at_which_the_bot_may_be_killed_is_no_tampering(
    tmp_path: Path,
) -> None:
    *whole, last = written(tmp_path, 3)
    written(tmp_path / "other", 2)
    head_before = (tmp_path / "other" / AUDIT_HEAD).read_bytes()
    for length in range(len(last) + 1):
        (tmp_path / AUDIT_FILE).write_bytes(b"".join(whole) + last[:length])
        (tmp_path / AUDIT_HEAD).write_bytes(head_before)
        assert check_audit(tmp_path).problems == ()
    (tmp_path / AUDIT_FILE).write_bytes(b"".join(whole) + last[: len(last) // 2])
    AuditFile(tmp_path, MASKER).note(entry("press stop"))
    found = check_audit(tmp_path)
    assert (found.number, found.problems) == (3, ())


class FullDisk(Disk):
    """It takes half, and then no more, until there is room again."""

    room = False

    def write(self, fd: int, path: Path, at: int, data: bytes) -> int:
        if not self.room:
            os.pwrite(fd, data[: len(data) // 2], at)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(fd, path, at, data)


def test_a_full_disk_is_told_and_leaves_the_log_whole(tmp_path: Path) -> None:
    written(tmp_path, 2)
    disk = FullDisk()
    audit = AuditFile(tmp_path, MASKER, disk=disk)
    with pytest.raises(Unavailable, match="full"):
        audit.note(entry())
    assert (check_audit(tmp_path).number, check_audit(tmp_path).problems) == (2, ())
    disk.room = True
    audit.note(entry())
    assert (check_audit(tmp_path).number, check_audit(tmp_path).problems) == (3, ())


@pytest.mark.parametrize("left", [0, 2])
def test_lines_that_go_while_the_bot_runs_are_missed_at_the_next_start(
    left: int, tmp_path: Path
) -> None:
    audit = AuditFile(tmp_path, MASKER)
    for _ in range(5):
        audit.note(entry())
    lines = (tmp_path / AUDIT_FILE).read_bytes().splitlines(keepends=True)
    if left:
        (tmp_path / AUDIT_FILE).write_bytes(b"".join(lines[:left]))
    else:
        (tmp_path / AUDIT_FILE).unlink()
    audit.note(entry("press stop"))
    assert "entry 6 stands where entry 1 should" in check_audit(tmp_path).problems[0]
    kept = list(tmp_path.glob(f"{AUDIT_FILE}.cut-*"))
    assert [one.read_bytes() for one in kept] == ([b"".join(lines[:left])] if left else [])
