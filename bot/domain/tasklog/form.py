"""The forms in which logs of tasks are kept: names and spellings are those other programs know, ours stand beside them."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field, JsonValue

from bot.domain.evidence import LimitViolation, VerifiedFile
from bot.domain.facts import Fact
from bot.domain.states import OverallStatus


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
    """How far it is, in the seven words of a runner."""

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
    """Made from what happened, so that nothing is written twice."""
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
    """What was found of the files a task was to bring."""

    files_expected: tuple[str, ...] = ()
    files_verified: tuple[str, ...] = ()
    files_missing: tuple[str, ...] = ()
    verification_passed: bool
    verification_reason: str
    verified_files: tuple[VerifiedFile, ...] = ()


class TaskLogSummary(Fact):
    """A log, counted."""

    total_events: int = 0
    """Those that were dropped for want of room included."""
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
    """How many events had to go for want of room, the oldest first."""
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
    """A line of a session's index: one log of a task."""

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


class Runner(Fact):
    """The program that writes the logs, and how it is set."""

    version: str = ""
    configuration: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Without secrets, and without who may do what."""


class SessionLog(Fact):
    """What the logs say of the session itself."""

    session_id: str
    started_at: AwareDatetime
    target_project: str = ""
    runner_version: str = ""
    configuration: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    current_phase: SessionPhase | None = None
    """None: of a log that was written before this was told."""
    status: OverallStatus | None = None
    continuation_approved: bool = False
    limit_violations: tuple[LimitViolation, ...] = ()
    selected_provider: str | None = None
    selected_model: str | None = None
    threads: tuple[LoggedThread, ...] = ()
    runs: tuple[LoggedRun, ...] = ()
