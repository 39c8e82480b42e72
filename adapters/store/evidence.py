"""Evidence in files of its own: each record masked, sealed with its hash, and held against it whenever it is read.

    evidence/<id>.json                      the record
    raw/<session>/<task>_<evidence>.log     the raw log it was drawn from, masked

Keeping the same thing twice changes nothing. What was kept by an attempt that was lost gives way to what the next found.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from adapters.store.disk import Disk, make_private, unavailable
from adapters.store.folder import file_name
from bot.domain.evidence import Artifact, Evidence, EvidenceInventory
from bot.domain.masking import Masker, clean
from bot.domain.tasklog import TRUNCATED

RAW_LIMIT = 1_000_000
"""Bytes of one raw log. Its beginning and its end are kept."""
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
        """Write it down, with its raw log: the text `raw`, else what the file `source` holds. What was written."""
        return await asyncio.to_thread(
            self._keep, evidence, session_id, task_id, lambda: raw or self._read(source)
        )

    async def find(self, evidence_id: str) -> Evidence | None:
        """As it was kept; `integrity_validated` says whether it and all it names are unchanged. None: not there."""
        return await asyncio.to_thread(self._find, evidence_id)

    async def inventory(self, evidence_ids: Iterable[str]) -> EvidenceInventory:
        """What is there of the evidence that a session names."""
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
        # when it was first seen does not change by seeing it again
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
        """As a whole: a secret that a line break parts is known by both of its halves. And whether it hid anything."""
        plain = clean(text[:_SOURCE_LIMIT])
        masked = self._masker.mask_personal(plain)
        return masked, masked != plain or "[MASKED:" in text

    def _holds(self, evidence: Evidence) -> bool:
        return evidence.hash == evidence.content_hash and all(
            one.sha256 == self._hash(one) for one in evidence.artifacts
        )

    def _hash(self, artifact: Artifact) -> str:
        """Of the file as it is now; empty: there is none, or it is no file of the bot's own."""
        path = Path(artifact.path)
        if not path.is_relative_to(self._home) or path.is_symlink() or not path.is_file():
            return ""
        return hashlib.sha256(self._disk.read(path)).hexdigest()

    def _read(self, source: str) -> str:
        """A log that somebody has tidied away is no reason not to keep what it proved."""
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
            raise unavailable(error, self._home) from error


def _bounded(content: bytes) -> bytes:
    if len(content) <= RAW_LIMIT:
        return content
    mark = f"\n{TRUNCATED}\n".encode()
    half = (RAW_LIMIT - len(mark)) // 2
    return content[:half] + mark + content[-half:]
