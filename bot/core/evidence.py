"""What is known to have happened: checks, verdicts, evidence, violated limits. Claims of agents do not count."""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime

from bot.core.checks import Comparison
from bot.core.facts import EXACT, Exact, Fact
from bot.core.states import OverallStatus


class CommandSource(StrEnum):
    """Where the test command comes from."""

    FOUND = "found"
    """Found in the repository and confirmed by a person."""
    SETTINGS = "settings"
    PERSON = "person"
    EARLIER = "earlier"
    """Given by a person in an earlier session of the repository."""


class Check(Fact):
    """One execution of the test command by the bot, on a commit."""

    number: int
    command: Exact
    commit: Exact
    exit_code: int | None
    """`None` if the command was ended at its time limit."""
    seconds: float
    output: str = ""
    output_path: Exact = ""
    at: AwareDatetime
    tests: Comparison | None = None
    """What the runner reported, compared with the base. `None` if it was not asked to report."""
    restored: tuple[str, ...] = ()
    """Files that decide how tests are run, restored to their state before the task."""

    @property
    def passed(self) -> bool:
        """Whether the check passed, judged by the runner's report. Tests that also fail at the base do not count."""
        tests = self.tests
        if tests is None or not tests.seen:
            return self.exit_code == 0
        if tests.new_failures or self.exit_code is None:
            return False
        return self.exit_code == 0 or (tests.known_failures > 0 and tests.complete)

    @property
    def result(self) -> str:
        """Return the result in words, with what it proves."""
        if self.exit_code is None:
            return "ended at its time limit"
        tests = self.tests
        if self.passed:
            return f"passed{tests.told if tests else ''}"
        if tests and tests.new_failures:
            return f"failed: {tests.failing}"
        return f"failed with {self.exit_code}"


class Judgement(StrEnum):
    DONE = "done"
    CONTINUE = "continue"
    REPLAN = "replan"
    BLOCKED = "blocked"


class CriterionResult(Fact):
    """Whether a criterion is met, and by what. A claim that does not hold meets nothing."""

    criterion: str
    """The id of an acceptance criterion or of a requirement."""
    met: bool = False
    evidence: tuple[str, ...] = ()
    """Places (`path:line`) and tests. If `proven`, the bot has found each of them at the commit."""
    proven: bool = False

    @property
    def described(self) -> str:
        """Return the result on one line."""
        named = ", ".join(self.evidence)
        if self.met:
            return f"✓ {self.criterion} {named}"
        return f"✗ {self.criterion}{f' unproven: {named}' if named else ''}"


class Verdict(Fact):
    """A judgement on a run or on the whole session."""

    outcome: Judgement
    reasons: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    """What would improve the work and is not required; in a verdict on the whole session, the proposed tasks."""
    score: float | None = None
    criteria: tuple[CriterionResult, ...] = ()
    unseen: tuple[str, ...] = ()
    """What nobody was shown of the changes, with the reason."""
    at: AwareDatetime


class Detection(StrEnum):
    DIFF = "diff"
    EXECUTOR_CLAIM = "executor_claim"


class VerifiedFile(Fact):
    """A changed file that was checked to be where it should be."""

    path: str
    exists: bool
    detected_at: AwareDatetime
    detection_method: Detection = Detection.DIFF


class Artifact(Fact):
    path: str
    sha256: str = ""


class Evidence(Fact):
    """One hashed, masked record that something really happened."""

    evidence_id: str
    timestamp: AwareDatetime
    operation_type: str
    executor_id: str | None = None
    artifacts: tuple[Artifact, ...] = ()
    hash: str = ""
    raw_logs: str = ""
    atomic_operation: bool = True
    raw_evidence_refs: tuple[str, ...] = ()
    integrity_validated: bool = False
    contains_sensitive_data: bool = False
    """Whether something had to be masked in it or in its raw log."""
    summary: str = ""

    @property
    def content_hash(self) -> str:
        """Return the SHA-256 over all its data as canonical JSON."""
        said = self.model_dump(mode="json", exclude={"hash", "integrity_validated"})
        canonical = json.dumps(said, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def sealed(self) -> Evidence:
        """Return a copy with its hash, so that later changes can be detected."""
        return self.model_copy(update={"hash": self.content_hash, "integrity_validated": True})


class LimitViolation(Fact):
    """A task exceeded one of its limits. The work is kept, and a person is asked."""

    limit_type: str
    limit_value: float
    actual_value: float
    timestamp: AwareDatetime
    resolution_required: bool = True


class TaskLimits(Fact):
    max_files: int | None = None
    max_tests: int | None = None
    max_seconds: int | None = None
    quiet_seconds: int | None = None
    """After this long without new output, first the agent is asked whether it is done, then a person."""
    long_seconds: int | None = None
    """A run that takes longer is reported to a person, who decides. It is not ended."""


class EvidenceInventory(Fact):
    total_evidence_items: int = 0
    missing_evidence_operations: Annotated[tuple[str, ...], EXACT] = ()
    integrity_failures: Annotated[tuple[str, ...], EXACT] = ()
    raw_evidence_files: Annotated[tuple[str, ...], EXACT] = ()


class ExecutionResult(Fact):
    """How a session ended."""

    overall_status: OverallStatus
    session_id: str
    tasks: tuple[str, ...] = ()
    evidence_summary: str = ""
    next_action: bool = False
    next_action_reason: str | None = None
    violations: tuple[LimitViolation, ...] = ()
    incomplete_task_reasons: tuple[str, ...] = ()
    evidence_inventory: EvidenceInventory = EvidenceInventory()
    speculative_language_detected: bool = False
    selected_provider: str | None = None
    selected_model: str | None = None
