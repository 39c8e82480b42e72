"""The stored forms of task logs, one log per task: their states and their size limits.

Names and spellings are those of existing programs, extended by our own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from pydantic import AwareDatetime, BaseModel, Field, JsonValue

from bot.core.evidence import LimitViolation, VerifiedFile
from bot.core.facts import Fact
from bot.core.results import status_of
from bot.core.runs import CompletionSource, DialogKind, Run
from bot.core.session import Session
from bot.core.states import Outcome, OverallStatus, Phase, TaskState
from bot.core.task import Task


class LogEventType(StrEnum):
    USER_INPUT = "USER_INPUT"
    RUNNER_CLARIFICATION = "RUNNER_CLARIFICATION"
    USER_RESPONSE = "USER_RESPONSE"
    TASK_STARTED = "TASK_STARTED"
    TASK_COMPLETED = "TASK_COMPLETED"
    TASK_INCOMPLETE = "TASK_INCOMPLETE"
    TASK_ERROR = "TASK_ERROR"
    EVIDENCE_MISSING = "EVIDENCE_MISSING"
    LLM_MEDIATION_REQUEST = "LLM_MEDIATION_REQUEST"
    LLM_MEDIATION_RESPONSE = "LLM_MEDIATION_RESPONSE"
    EXECUTOR_DISPATCH = "EXECUTOR_DISPATCH"
    EXECUTOR_OUTPUT = "EXECUTOR_OUTPUT"
    EXECUTOR_BLOCKED = "EXECUTOR_BLOCKED"
    FILE_OPERATION = "FILE_OPERATION"
    TEST_EXECUTION = "TEST_EXECUTION"


class Visibility(StrEnum):
    SUMMARY = "summary"
    FULL = "full"


class TaskLogStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    ERROR = "error"


class BlockedReason(StrEnum):
    INTERACTIVE_PROMPT = "INTERACTIVE_PROMPT"
    TIMEOUT = "TIMEOUT"
    STDIN_REQUIRED = "STDIN_REQUIRED"


class TerminatedBy(StrEnum):
    REPL_FAIL_CLOSED = "REPL_FAIL_CLOSED"
    USER = "USER"
    TIMEOUT = "TIMEOUT"


class SessionPhase(StrEnum):
    """The session's progress in the seven terms that runners use."""

    REQUIREMENT_ANALYSIS = "REQUIREMENT_ANALYSIS"
    TASK_DECOMPOSITION = "TASK_DECOMPOSITION"
    PLANNING = "PLANNING"
    EXECUTION = "EXECUTION"
    QA = "QA"
    COMPLETION_VALIDATION = "COMPLETION_VALIDATION"
    REPORT = "REPORT"


class ThreadType(StrEnum):
    MAIN = "main"
    BACKGROUND = "background"
    SYSTEM = "system"


class RunStatus(StrEnum):
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class LogEntry(Fact):
    """One thing that happened to a task."""

    id: str
    """Derived from what happened, so that nothing is written twice."""
    event_type: LogEventType
    timestamp: AwareDatetime
    visibility_level: Visibility
    content: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


class ArtifactList(Fact):
    """The files of a task."""

    files_touched: tuple[str, ...] = ()
    files_expected: tuple[str, ...] = ()
    files_created: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    files_deleted: tuple[str, ...] = ()


class EvidenceSummary(Fact):
    """Which of the files that a task should deliver were found."""

    files_expected: tuple[str, ...] = ()
    files_verified: tuple[str, ...] = ()
    files_missing: tuple[str, ...] = ()
    verification_passed: bool
    verification_reason: str
    verified_files: tuple[VerifiedFile, ...] = ()


class TaskLogSummary(Fact):
    """A log in figures."""

    total_events: int = 0
    """Including events that were dropped for lack of space."""
    summary_events: int = 0
    full_events: int = 0
    total_tokens_input: int = 0
    total_tokens_output: int = 0
    total_latency_ms: int = 0


class TaskLog(Fact):
    """The log of one task."""

    task_id: str
    session_id: str
    key: str
    name: str
    status: TaskLogStatus
    created_at: AwareDatetime
    started_at: AwareDatetime | None = None
    ended_at: AwareDatetime | None = None
    prompt_summary: str = ""
    runner_decision: str = ""
    error_reason: str | None = None
    artifacts: ArtifactList = ArtifactList()
    visibility: Visibility = Visibility.SUMMARY
    masked: bool = True
    events: tuple[LogEntry, ...] = ()
    dropped: int = 0
    """How many events were dropped for lack of space, oldest first."""
    thread_id: str = ""
    run_id: str | None = None
    parent_task_id: str | None = None
    executor_summary: str | None = None
    evidence_summary: EvidenceSummary | None = None
    summary: TaskLogSummary = TaskLogSummary()
    evidence_refs: tuple[str, ...] = ()
    verification_root: str = ""
    verified_files: tuple[VerifiedFile, ...] = ()
    executor_blocked: bool = False
    blocked_reason: BlockedReason | None = None
    timeout_ms: int | None = None
    terminated_by: TerminatedBy | None = None


class IndexEntry(Fact):
    """One log in a session's index."""

    task_id: str
    """The log's own number: task-001."""
    external_task_id: str
    """The task's id."""
    key: str
    thread_id: str = ""
    run_id: str | None = None
    parent_task_id: str | None = None
    status: TaskLogStatus
    started_at: AwareDatetime | None = None
    completed_at: AwareDatetime | None = None
    duration_ms: int = 0
    files_modified_count: int = 0
    tests_run_count: int = 0
    log_file: str


class TaskLogIndex(Fact):
    """All logs of a session."""

    session_id: str
    created_at: AwareDatetime
    updated_at: AwareDatetime
    entries: tuple[IndexEntry, ...] = ()


class LoggedThread(Fact):
    thread_id: str
    thread_type: ThreadType


class LoggedRun(Fact):
    run_id: str
    thread_id: str
    status: RunStatus


class LoggedRunner(Fact):
    """The program that writes the logs, and its settings."""

    version: str = ""
    configuration: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Without secrets and permissions."""


class SessionLog(Fact):
    """The logs' view of the session itself."""

    session_id: str
    started_at: AwareDatetime
    target_project: str = ""
    runner_version: str = ""
    configuration: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    current_phase: SessionPhase | None = None
    """`None` in logs written before this field existed."""
    status: OverallStatus | None = None
    continuation_approved: bool = False
    limit_violations: tuple[LimitViolation, ...] = ()
    selected_provider: str | None = None
    selected_model: str | None = None
    threads: tuple[LoggedThread, ...] = ()
    runs: tuple[LoggedRun, ...] = ()


# The states of a task and its run in the terms of the logs.

FINISHED_STATES = (TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELLED, TaskState.REPLACED)
_CARRIED_OUT = (Phase.EXECUTING, Phase.FINISHING, Phase.DONE)
_QUEUED = (TaskState.PENDING, TaskState.READY)
_PHASES = {
    Phase.INTAKE: SessionPhase.REQUIREMENT_ANALYSIS,
    Phase.CLARIFYING: SessionPhase.REQUIREMENT_ANALYSIS,
    Phase.SPECIFYING: SessionPhase.TASK_DECOMPOSITION,
    Phase.APPROVING: SessionPhase.PLANNING,
    Phase.EXECUTING: SessionPhase.EXECUTION,
    Phase.FINISHING: SessionPhase.COMPLETION_VALIDATION,
    Phase.DONE: SessionPhase.REPORT,
}
_AT_WORK = (TaskState.READY, TaskState.RUNNING, TaskState.NEEDS_CONTINUATION)


class BlockedRun(NamedTuple):
    """Why an agent is blocked."""

    reason: BlockedReason
    by: TerminatedBy | None
    """Who ended it; `None` if nobody did."""
    milliseconds: int


def is_logged(session: Session, task: Task) -> bool:
    """Whether the task has a log: not before its plan is approved, but always once it is over."""
    return session.phase in _CARRIED_OUT or task.state is not TaskState.PENDING or bool(task.runs)


def status_of_log(session: Session, task: Task) -> TaskLogStatus:
    """Return the task's status in its log. Complete means verified; work that is only claimed is incomplete."""
    if task.state in _QUEUED:
        return TaskLogStatus.QUEUED
    if task.state not in (*FINISHED_STATES, TaskState.BLOCKED):
        return TaskLogStatus.RUNNING
    match status_of(session, task):
        case OverallStatus.COMPLETE if task.state is TaskState.COMPLETED:
            return TaskLogStatus.COMPLETE
        case OverallStatus.ERROR | OverallStatus.INVALID if task.state is not TaskState.REPLACED:
            return TaskLogStatus.ERROR
        case _:
            return TaskLogStatus.INCOMPLETE


def phase_of(session: Session) -> SessionPhase:
    """Return the session's phase in its logs. It is QA while everything under way is being tested."""
    if session.phase is Phase.EXECUTING and not session.in_state(*_AT_WORK):
        tested = session.in_state(TaskState.VERIFYING, TaskState.INTEGRATING)
        return SessionPhase.QA if tested else SessionPhase.EXECUTION
    return _PHASES[session.phase]


def run_status(run: Run) -> RunStatus:
    if run.outcome is None:
        return RunStatus.RUNNING
    told = {Outcome.FINISHED: RunStatus.COMPLETED, Outcome.KILLED: RunStatus.CANCELLED}
    return told.get(run.outcome, RunStatus.FAILED)


def blocked_run(run: Run | None) -> BlockedRun | None:
    """Return why an agent is blocked: it waits for a person, or was ended because nobody answered."""
    if run is None:
        return None
    stood = int(((run.ended_at or run.started_at) - run.started_at).total_seconds() * 1000)
    if run.outcome is Outcome.TIMED_OUT:
        return BlockedRun(BlockedReason.TIMEOUT, TerminatedBy.TIMEOUT, max(0, stood))
    waits = run.alive and run.dialog is not None
    if run.outcome is not Outcome.BLOCKED and not waits:
        return None
    words = run.dialog is not None and run.dialog.kind is DialogKind.WORDS
    reason = BlockedReason.STDIN_REQUIRED if words else BlockedReason.INTERACTIVE_PROMPT
    stopped = run.ended_by is CompletionSource.STOPPED
    by = TerminatedBy.USER if stopped else TerminatedBy.REPL_FAIL_CLOSED
    return BlockedRun(reason, None if waits else by, max(0, stood))


# Size limits of logs. What is too large is cut and marked; the oldest entry goes first, but never the request itself.

TRUNCATED = "[TRUNCATED]"
OPENING = "input"
"""The id of the first entry of every log."""
_MARK = len(TRUNCATED) + 13
"""Bytes reserved with every value for the truncation mark."""


class LogBounds(Fact):
    """Limits in bytes as written."""

    entry: int = 1_000_000
    task: int = 10_000_000
    session: int = 100_000_000
    all: int = 1_000_000_000
    age: timedelta = timedelta(days=30)


def entry_size(value: JsonValue | BaseModel) -> int:
    """Return the size as JSON, in bytes."""
    if isinstance(value, BaseModel):
        return len(value.model_dump_json().encode("utf-8", "replace"))
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def truncated_entry(entry: LogEntry, limit: int) -> LogEntry:
    """Return the entry if it fits, or else a copy with texts cut and lists shortened until it does."""
    if entry_size(entry) <= limit:
        return entry
    frame = entry_size(entry.model_copy(update={"content": {}}))
    room = _ByteBudget(limit - frame - _MARK)
    return entry.model_copy(update={"content": room.mapping(entry.content)})


def entries_within(entries: Iterable[LogEntry], limit: int) -> tuple[tuple[LogEntry, ...], int]:
    """Return the entries that fit and how many were dropped: details before summary entries, oldest first."""
    kept = list(entries)
    sizes = {entry.id: entry_size(entry) + 1 for entry in kept}
    excess, gone = sum(sizes.values()) - limit, set[str]()
    oldest_details_first = sorted(
        kept, key=lambda entry: entry.visibility_level is not Visibility.FULL
    )
    for entry in oldest_details_first:
        if excess > 0 and entry.id != OPENING:
            gone.add(entry.id)
            excess -= sizes[entry.id]
    return tuple(entry for entry in kept if entry.id not in gone), len(gone)


class _ByteBudget:
    """The bytes left for an entry while its content is copied."""

    def __init__(self, left: int) -> None:
        self._left = left

    def mapping(self, values: dict[str, JsonValue]) -> dict[str, JsonValue]:
        shown: dict[str, JsonValue] = {}
        for key, value in values.items():
            if not self._take(entry_size(key) + _MARK):
                shown[TRUNCATED] = True
                break
            shown[key] = self._shown(value)
        return shown

    def _shown(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return self.mapping(value)
        if isinstance(value, list):
            return self._sequence(value)
        return value if self._take(entry_size(value)) else TRUNCATED

    def _sequence(self, values: list[JsonValue]) -> list[JsonValue]:
        shown: list[JsonValue] = []
        for value in values:
            if not self._take(_MARK):
                shown.append(TRUNCATED)
                break
            shown.append(self._shown(value))
        return shown

    def _text(self, text: str) -> str:
        if self._take(entry_size(text)):
            return text
        cut = text[: max(0, self._left)]
        while cut and entry_size(cut) + len(TRUNCATED) > self._left:
            cut = cut[: len(cut) * self._left // (entry_size(cut) + len(TRUNCATED) + 1)]
        self._left -= entry_size(cut)
        return cut + TRUNCATED

    def _take(self, much: int) -> bool:
        if much > self._left:
            return False
        self._left -= much
        return True
