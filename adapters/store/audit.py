"""The audit log on disk. audit.jsonl is append-only, one entry per line, each with the hash of the previous one;
audit.head has number and hash of the last line, so that removed lines are noticed.

A line is on disk before what it reports takes effect. The head is written without waiting: after a kill it may be one
line behind.
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
"""The previous hash of the first line."""
MOST_TOLD = 5
_HEAD = re.compile(rb"([0-9]{12}) ([0-9a-f]{64})\n", re.ASCII)


@dataclass(frozen=True)
class AuditCheck:
    """The result of a check. `number` and `hash`: those of the last complete line; `size`: where it ends."""

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
    """Implements bot.ports.Audit.

    Problems found at the start are logged as an entry, because the next start may not find them.
    """

    def __init__(self, home: Path, masker: Masker, *, disk: Disk | None = None) -> None:
        self._home = home
        self._path = home / AUDIT_FILE
        self._masker = masker
        self._disk = disk or Disk()
        found = check_audit(home)
        self._number, self._hash, self._at = found.number, found.hash, found.size
        self.broken = (
            (". ".join(describe_problems(home, found.problems)),) if found.problems else ()
        )
        # so that somebody can compare it with a copy kept elsewhere
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
        with suppress(Unavailable):  # the problem is in the program log already
            self.note(entry)

    def _add(self, line: bytes) -> None:
        if not self._disk.append(self._path, self._at, line):
            self._begin(line)
            return
        self._at += len(line)

    def _begin(self, line: bytes) -> None:
        # Writes the first line. If the file was removed or truncated while the bot ran, the rest of it is kept.
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
    """Read the whole log and check the chain of hashes. An incomplete last line is no error."""
    path = home / AUDIT_FILE
    try:
        content = path.read_bytes() if path.exists() else b""
        head = (home / AUDIT_HEAD).read_bytes() if (home / AUDIT_HEAD).exists() else b""
    except OSError as error:
        raise disk_error(error, path) from error
    whole = content[: content.rfind(b"\n") + 1]
    lines = [_AuditLine.of(line) for line in whole.split(b"\n")[:-1]]
    last = lines[-1] if lines else _AuditLine(0, NO_HASH, NO_HASH)
    problems = (*_chain_problems(lines), *_head_problems(_HEAD.fullmatch(head), lines, last.number))
    return AuditCheck(last.number or len(lines), last.hash, len(whole), problems)


def describe_problems(home: Path, problems: Iterable[str]) -> tuple[str, str]:
    """Return what is wrong with the log, and what to do about it."""
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
        # An unreadable line gets number 0, which no entry has.
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


def _chain_problems(lines: list[_AuditLine]) -> list[str]:
    """Return the first few places where the chain is broken."""
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


def _head_problems(head: re.Match[bytes] | None, lines: list[_AuditLine], number: int) -> list[str]:
    """Return what the head records but the log lacks or has changed."""
    if head is None:
        # after a kill right after the first line there is no head
        gone = f"{AUDIT_HEAD} cannot be read, so whether its end was cut off cannot be told"
        return [gone] if number > 1 else []
    known, hashed = int(head[1]), head[2].decode()
    if known > number:
        return [f"it ends with entry {number}, and there were {known}"]
    there = next((line for line in reversed(lines) if line.number == known), None)
    return [] if there and there.hash == hashed else [f"entry {known} was changed"]
