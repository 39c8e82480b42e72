"""The audit log on disk: lines are added and never changed, and each names the one before it by its hash.

    audit.jsonl    one entry a line
    audit.head     the number and the hash of the last line, so that lines that were cut off are missed

A line is on disk before anything that it reports takes effect. The head is not waited for: after a kill it may be one behind.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from adapters.files import Disk, make_private, open_private
from adapters.store.disk import disk_error
from bot.core.errors import Unavailable
from bot.core.masking import Masker
from bot.core.projections.audit import AuditEntry, Decision

log = logging.getLogger("bot.audit")

AUDIT_FILE, AUDIT_HEAD = "audit.jsonl", "audit.head"
NO_HASH = ""
"""What stands before the first line."""
MOST_TOLD = 5
_HEAD = re.compile(rb"([0-9]{12}) ([0-9a-f]{64})\n", re.ASCII)


@dataclass(frozen=True)
class AuditCheck:
    """What was found. `number` and `hash` are those of the last whole line, `size` where it ends."""

    number: int
    hash: str
    size: int
    problems: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        return (
            f"{self.number} entries, each as it was written; the last is {self.hash[:12] or 'none'}"
        )


class AuditFile:
    """Implements bot.ports.Audit. What was found wrong at the start becomes an entry itself: the next start may not see it."""

    def __init__(self, home: Path, masker: Masker, *, disk: Disk | None = None) -> None:
        self._home = home
        self._path = home / AUDIT_FILE
        self._masker = masker
        self._disk = disk or Disk()
        found = check_audit(home)
        self._number, self._hash, self._at = found.number, found.hash, found.size
        self.broken = (
            (". ".join(described_problems(home, found.problems)),) if found.problems else ()
        )
        # somebody may hold this against a copy that is kept elsewhere
        log.info("the audit log", extra={"data": {"number": found.number, "hash": found.hash}})
        for problem in found.problems:
            self._tell(problem)

    def note(self, entry: AuditEntry) -> None:
        masked = self._masker.mask_model(entry)
        entry = masked.model_copy(update={"number": self._number + 1, "before": self._hash})
        line = entry.model_dump_json().encode("utf-8", "replace")
        try:
            make_private(self._home)
            self._add(line + b"\n")
        except OSError as error:
            raise disk_error(error, self._path) from error
        self._number, self._hash = entry.number, hashlib.sha256(line).hexdigest()
        self._keep_head()

    def _tell(self, problem: str) -> None:
        log.error("the audit log", extra={"data": {"problem": problem}})
        entry = AuditEntry(
            at=datetime.now(UTC),
            who="bot",
            where="",
            what="audit log",
            decision=Decision.REFUSED,
            why=problem,
        )
        with suppress(Unavailable):  # the log has it
            self.note(entry)

    def _add(self, line: bytes) -> None:
        if not self._disk.append(self._path, self._at, line):
            self._begin(line)
            return
        self._at += len(line)

    def _begin(self, line: bytes) -> None:
        """The first line; or the file went, or became shorter, while the bot ran: what is left of it stays."""
        if self._at and self._path.exists():
            self._path.rename(self._path.with_name(f"{AUDIT_FILE}.cut-{self._number}"))
        self._disk.replace(self._path, line)
        self._at = len(line)

    def _keep_head(self) -> None:
        try:
            file = open_private(self._home / AUDIT_HEAD, os.O_WRONLY)
            try:
                os.pwrite(file, f"{self._number:012} {self._hash}\n".encode(), 0)
            finally:
                os.close(file)
        except OSError as error:
            log.warning("the head of the audit log", extra={"data": {"why": str(error)}})


def check_audit(home: Path) -> AuditCheck:
    """Read it all, and hold every line against the next. The torn end of a write that was never finished is no fault."""
    path = home / AUDIT_FILE
    try:
        content = path.read_bytes() if path.exists() else b""
        head = (home / AUDIT_HEAD).read_bytes() if (home / AUDIT_HEAD).exists() else b""
    except OSError as error:
        raise disk_error(error, path) from error
    whole = content[: content.rfind(b"\n") + 1]
    lines = [_AuditLine.of(line) for line in whole.split(b"\n")[:-1]]
    last = lines[-1] if lines else _AuditLine(0, NO_HASH, NO_HASH)
    problems = (*_links(lines), *_missing(_HEAD.fullmatch(head), lines, last.number))
    return AuditCheck(last.number or len(lines), last.hash, len(whole), problems)


def described_problems(home: Path, problems: Iterable[str]) -> tuple[str, str]:
    """What is wrong with it, and what to do about it."""
    return (
        f"{home / AUDIT_FILE} is not as it was written: {'; '.join(problems)}",
        f"Find out who did that. Then move {AUDIT_FILE} and {AUDIT_HEAD} away together, and a new one begins.",
    )


@dataclass(frozen=True)
class _AuditLine:
    number: int
    before: str
    hash: str

    @classmethod
    def of(cls, line: bytes) -> _AuditLine:
        """What cannot be read has a number that none has."""
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        told = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
        number, before = told.get("number"), told.get("before")
        return cls(
            number if isinstance(number, int) else 0,
            before if isinstance(before, str) else "",
            hashlib.sha256(line).hexdigest(),
        )


def _links(lines: list[_AuditLine]) -> list[str]:
    """Where the chain is broken, the first few."""
    problems: list[str] = []
    before, expected = NO_HASH, 1
    for line in lines:
        if line.number == 0:
            problems.append(f"line {expected} cannot be read")
        elif line.number != expected:
            problems.append(f"entry {line.number} stands where entry {expected} should")
        elif line.before != before:
            problems.append(f"entry {max(expected - 1, 1)} or {expected} was changed")
        before, expected = line.hash, (line.number or expected) + 1
    return problems[:MOST_TOLD]


def _missing(head: re.Match[bytes] | None, lines: list[_AuditLine], number: int) -> list[str]:
    """What the head knows of, and is not there, or otherwise."""
    if head is None:
        # killed after its very first line it has none
        gone = f"{AUDIT_HEAD} cannot be read, so whether its end was cut off cannot be told"
        return [gone] if number > 1 else []
    known, hashed = int(head[1]), head[2].decode()
    if known > number:
        return [f"it ends with entry {number}, and there were {known}"]
    there = next((line for line in reversed(lines) if line.number == known), None)
    return [] if there and there.hash == hashed else [f"entry {known} was changed"]
