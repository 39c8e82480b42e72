"""One log of events per task: what goes into it, how it is kept within bounds, and how it is told."""

from bot.domain.tasklog.bounds import TRUNCATED, Bounds, size, truncated, within
from bot.domain.tasklog.drawn import shortened, slim, task_log, with_events
from bot.domain.tasklog.entries import entries, in_order, missing, whole
from bot.domain.tasklog.form import (
    ArtifactList,
    BlockedReason,
    EvidenceSummary,
    IndexEntry,
    LogEntry,
    LogEventType,
    LoggedRun,
    LoggedThread,
    RunStatus,
    SessionLog,
    TaskLog,
    TaskLogIndex,
    TaskLogStatus,
    TaskLogSummary,
    TerminatedBy,
    ThreadType,
    Visibility,
)
from bot.domain.tasklog.indexes import index, index_entry, session_log, unlogged
from bot.domain.tasklog.statuses import is_logged, status_of_log
from bot.domain.tasklog.telling import named, told
from bot.domain.tasklog.turns import RunTrigger, SessionPhase, Turn, phase_of, turns

__all__ = [
    "TRUNCATED",
    "ArtifactList",
    "BlockedReason",
    "Bounds",
    "EvidenceSummary",
    "IndexEntry",
    "LogEntry",
    "LogEventType",
    "LoggedRun",
    "LoggedThread",
    "RunStatus",
    "RunTrigger",
    "SessionLog",
    "SessionPhase",
    "TaskLog",
    "TaskLogIndex",
    "TaskLogStatus",
    "TaskLogSummary",
    "TerminatedBy",
    "ThreadType",
    "Turn",
    "Visibility",
    "entries",
    "in_order",
    "index",
    "index_entry",
    "is_logged",
    "missing",
    "named",
    "phase_of",
    "session_log",
    "shortened",
    "size",
    "slim",
    "status_of_log",
    "task_log",
    "told",
    "truncated",
    "turns",
    "unlogged",
    "whole",
    "with_events",
    "within",
]
