"""Evidence of checks in separate files, and the limits on stored output. evidence/<id>.json is the record,
raw/<session>/<task>_<evidence>.log its raw log.

Everything is masked before it is written.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from adapters.files import Disk, make_private
from adapters.store.disk import JOURNAL, disk_error, file_name
from bot.core.evidence import Artifact, Evidence, EvidenceInventory
from bot.core.facts import Fact
from bot.core.masking import Masker
from bot.core.projections.task_logs import TRUNCATED
from bot.core.text import clean

# Each record is masked and stored with its hash, which is checked whenever it is read. Storing the same record twice
# changes nothing; evidence of a lost attempt is replaced by that of the next one.

RAW_LIMIT = 1_000_000
"""Bytes of one raw log, of which beginning and end are kept."""
_SOURCE_LIMIT = 4_000_000


class EvidenceFiles:
    """The Archive port."""

    def __init__(self, home: Path, masker: Masker, *, disk: Disk | None = None) -> None:
        self._home = home
        self._masker = masker
        self._disk = disk or Disk()

    async def keep(
        self, evidence: Evidence, *, session_id: str, task_id: str, raw: str = "", source: str = ""
    ) -> Evidence:
        """Store the evidence with its raw log: the text `raw`, or else the content of the file `source`.

        Return what was stored.
        """
        return await asyncio.to_thread(
            self._keep, evidence, session_id, task_id, lambda: raw or self._read(source)
        )

    async def find(self, evidence_id: str) -> Evidence | None:
        """Return the stored evidence, or None. `integrity_validated` says whether it and its files are unchanged."""
        return await asyncio.to_thread(self._find, evidence_id)

    async def inventory(self, evidence_ids: Iterable[str]) -> EvidenceInventory:
        """Return which of the evidence named by a session exists."""
        return await asyncio.to_thread(self._inventory, evidence_ids)

    def _keep(
        self, evidence: Evidence, session_id: str, task_id: str, read: Callable[[], str]
    ) -> Evidence:
        with self._plainly():
            text = read()
            told = self._masker.mask_model(evidence, personal=True)
            sensitive = evidence.contains_sensitive_data or told != evidence
            artifacts = [
                one.model_copy(update={"sha256": self._hash(one)}) for one in told.artifacts
            ]
            path = ""
            if text:
                path = str(self._raw_path(session_id, task_id, evidence.evidence_id))
                masked, found = self._masked(text)
                sensitive |= found
                artifacts.append(self._keep_raw(Path(path), masked))
            changes = {"artifacts": tuple(artifacts), "raw_logs": path or told.raw_logs}
            told = told.model_copy(update=changes | {"contains_sensitive_data": sensitive})
            return self._write(told)

    def _find(self, evidence_id: str) -> Evidence | None:
        with self._plainly():
            try:
                evidence = Evidence.model_validate_json(self._disk.read(self._path(evidence_id)))
            except (FileNotFoundError, ValidationError):
                return None
            return evidence.model_copy(update={"integrity_validated": self._holds(evidence)})

    def _inventory(self, evidence_ids: Iterable[str]) -> EvidenceInventory:
        found: list[Evidence] = []
        missing: list[str] = []
        changed: list[str] = []
        for name in dict.fromkeys(evidence_ids):
            evidence = self._find(name)
            if evidence is not None:
                found.append(evidence)
            elif self._path(name).exists():
                changed.append(name)
            else:
                missing.append(name)
            if evidence and not (evidence.integrity_validated and evidence.evidence_id == name):
                changed.append(name)
        return EvidenceInventory(
            total_evidence_items=len(found),
            missing_evidence_operations=tuple(missing),
            integrity_failures=tuple(changed),
            raw_evidence_files=tuple(one.raw_logs for one in found if one.raw_logs),
        )

    def _write(self, evidence: Evidence) -> Evidence:
        path = self._path(evidence.evidence_id)
        before = self._find(evidence.evidence_id)
        # the time it was first seen does not change
        same = {"timestamp": before.timestamp if before else evidence.timestamp}
        if (
            before
            and before.integrity_validated
            and before == evidence.model_copy(update=same).sealed()
        ):
            return before
        sealed = evidence.sealed()
        make_private(self._home)
        make_private(path.parent)
        self._disk.replace(path, sealed.model_dump_json(indent=2).encode())
        return sealed

    def _keep_raw(self, path: Path, text: str) -> Artifact:
        content = _bounded(text.encode("utf-8", "replace"))
        for directory in (self._home, path.parent.parent, path.parent):
            make_private(directory)
        if not path.exists() or self._disk.read(path) != content:
            self._disk.replace(path, content)
        return Artifact(path=str(path), sha256=hashlib.sha256(content).hexdigest())

    def _masked(self, text: str) -> tuple[str, bool]:
        """Mask the whole text, because a secret may be split by a line break; also return whether anything was masked."""
        plain = clean(text[:_SOURCE_LIMIT])
        masked = self._masker.mask_personal(plain)
        return masked, masked != plain or "[MASKED:" in text

    def _holds(self, evidence: Evidence) -> bool:
        return evidence.hash == evidence.content_hash and all(
            one.sha256 == self._hash(one) for one in evidence.artifacts
        )

    def _hash(self, artifact: Artifact) -> str:
        """Return the hash of the current file; empty if it is missing or not the bot's own."""
        path = Path(artifact.path)
        if not path.is_relative_to(self._home) or path.is_symlink() or not path.is_file():
            return ""
        return hashlib.sha256(self._disk.read(path)).hexdigest()

    def _read(self, source: str) -> str:
        # A deleted log must not prevent the evidence from being stored.
        path = Path(source)
        if not source or path.is_symlink() or not path.is_file():
            return ""
        return self._disk.read(path).decode("utf-8", "replace")

    def _path(self, evidence_id: str) -> Path:
        return self._home / "evidence" / (file_name(evidence_id) + ".json")

    def _raw_path(self, session_id: str, task_id: str, evidence_id: str) -> Path:
        name = file_name(f"{task_id}_{evidence_id}") + ".log"
        return self._home / "raw" / file_name(session_id) / name

    @contextmanager
    def _plainly(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise disk_error(error, self._home) from error


def _bounded(content: bytes) -> bytes:
    if len(content) <= RAW_LIMIT:
        return content
    mark = f"\n{TRUNCATED}\n".encode()
    half = (RAW_LIMIT - len(mark)) // 2
    return content[:half] + mark + content[-half:]


# Limits on stored output: transcripts, output of checks, evidence and raw logs. Transcripts are removed after some
# time; beyond that the oldest files are removed when space runs out. Evidence of unfinished sessions, its raw logs, and
# anything younger than a day is kept.

_MIN_AGE = timedelta(days=1)
_RUN = "run-"
"""Prefix of the id in the name of a run's folder."""
_NAMES = re.compile(rb"[\w-]+")


class OutputQuotas(Fact):
    """Limits in bytes, for transcripts, raw logs and evidence each."""

    runs: int = 2_000_000_000
    raw: int = 2_000_000_000
    evidence: int = 500_000_000
    age: timedelta = timedelta(days=30)
    """Of transcripts and run folders. Raw logs are kept as long as there is space, because evidence refers to them."""


class _File(NamedTuple):
    path: Path
    bytes: int
    at: datetime


class OutputLimits:
    def __init__(
        self, home: Path, now: Callable[[], datetime], bounds: OutputQuotas | None = None
    ) -> None:
        self._home = home
        self._now = now
        self._bounds = bounds or OutputQuotas()

    def tidy(self) -> None:
        old = self._now() - self._bounds.age
        runs = list(_plain_files((self._home / "runs").glob("*")))
        _remove([file for file in runs if file.at < old])
        self._remove_oldest([file for file in runs if file.at >= old], self._bounds.runs)
        self._remove_spools(old)
        self._remove_oldest(list(_plain_files(self._raw_of_ended())), self._bounds.raw)
        self._remove_oldest_evidence(self._bounds.evidence)

    def _raw_of_ended(self) -> Iterator[Path]:
        unfinished = self._home / "sessions" / "unfinished"
        for folder in (self._home / "raw").glob("*"):
            if not (unfinished / f"{folder.name}{JOURNAL}").exists():
                yield from folder.rglob("*")

    def _remove_oldest_evidence(self, room: int) -> None:
        # Evidence is named in its session's journal; that of unfinished sessions is kept.
        found = list(_plain_files((self._home / "evidence").glob("*.json")))
        if sum(file.bytes for file in found) <= room:
            return
        named = self._ids_in_use(file.path.stem for file in found)
        free = [file for file in found if file.path.stem not in named]
        self._remove_oldest(
            free, room - sum(file.bytes for file in found) + sum(file.bytes for file in free)
        )

    def _ids_in_use(self, ids: Iterable[str]) -> set[str]:
        """Return the ids that appear in the journals of unfinished sessions."""
        wanted = {id.encode() for id in ids}
        named = set[bytes]()
        for path in (self._home / "sessions" / "unfinished").glob(f"*{JOURNAL}"):
            with suppress(FileNotFoundError):  # the session has finished meanwhile
                named |= wanted.intersection(_NAMES.findall(path.read_bytes()))
        return {id.decode() for id in named}

    def _remove_spools(self, old: datetime) -> None:
        # Folders of runs that are no longer needed. Agents can have put anything there.
        spools = (self._home / "spool").glob(f"{_RUN}*")
        found = [path for path in spools if _is_older(path, old)]
        named = self._ids_in_use(path.name.removeprefix(_RUN) for path in found)
        for path in found:
            if path.name.removeprefix(_RUN) not in named:
                shutil.rmtree(path, ignore_errors=True)

    def _remove_oldest(self, files: list[_File], room: int) -> None:
        """Remove the oldest files until the rest fits."""
        fresh = self._now() - _MIN_AGE
        excess = sum(file.bytes for file in files) - room
        for file in sorted(files, key=lambda one: one.at):
            if excess <= 0 or file.at >= fresh:
                return
            _remove([file])
            excess -= file.bytes


def _plain_files(paths: Iterable[Path]) -> Iterator[_File]:
    """Yield the regular files; those removed meanwhile are skipped."""
    for path in paths:
        with suppress(FileNotFoundError):
            if path.is_file() and not path.is_symlink():
                yield _File(path, path.stat().st_size, _changed_at(path))


def _is_older(path: Path, than: datetime) -> bool:
    """Whether the path is older; links and paths removed meanwhile are not."""
    with suppress(FileNotFoundError):
        return not path.is_symlink() and _changed_at(path) < than
    return False


def _changed_at(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _remove(files: Iterable[_File]) -> None:
    for file in files:
        file.path.unlink(missing_ok=True)
