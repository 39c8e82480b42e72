"""A task's log but for its events: drawn from the session as it stands, never remembered."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.domain.results import why_not
from bot.domain.session import Session
from bot.domain.states import TaskState
from bot.domain.tasklog.form import (
    ArtifactList,
    EvidenceSummary,
    LogEntry,
    LogEventType,
    TaskLog,
    TaskLogStatus,
    TaskLogSummary,
    Visibility,
)
from bot.domain.tasklog.indexes import BACKGROUND
from bot.domain.tasklog.statuses import OVER, blocked_run, status_of_log
from bot.domain.tasks import Task

ENDS = (LogEventType.TASK_COMPLETED, LogEventType.TASK_INCOMPLETE, LogEventType.TASK_ERROR)
_FILES, _TEXT, _PROMPT = 1000, 4000, 100


def task_log(
    session: Session, task: Task, events: Sequence[LogEntry] = (), dropped: int = 0
) -> TaskLog:
    """Its texts are as long as they are: `shortened` cuts them when they are masked."""
    status, blocked = status_of_log(session, task), blocked_run(task.run)
    failed = status in (TaskLogStatus.INCOMPLETE, TaskLogStatus.ERROR)
    return TaskLog(
        task_id=task.id,
        session_id=session.id,
        key=task.key,
        name=task.name,
        status=status,
        created_at=task.created_at,
        started_at=task.started_at or (task.runs[0].started_at if task.runs else None),
        ended_at=_ended_at(task, events),
        prompt_summary=session.intent.body or session.intent.title,
        runner_decision=_decision(session, task),
        error_reason=_reason(session, task) if failed else None,
        artifacts=_artifacts(task),
        events=tuple(events),
        dropped=dropped,
        thread_id=BACKGROUND,
        run_id=task.run.id if task.run else None,
        parent_task_id=task.parent,
        executor_summary=task.run.message if task.run and task.run.message else None,
        evidence_summary=_evidence(task) if task.work else None,
        summary=_counted(events, dropped),
        evidence_refs=task.evidence_refs,
        verification_root=task.workspace.path if task.workspace else "",
        verified_files=task.verified_files[:_FILES],
        executor_blocked=blocked is not None,
        blocked_reason=blocked.reason if blocked else None,
        timeout_ms=blocked.milliseconds if blocked else None,
        terminated_by=blocked.by if blocked else None,
    )


def with_events(log: TaskLog, task: Task, events: Sequence[LogEntry]) -> TaskLog:
    """The same log with these events: what is drawn from them is drawn anew."""
    return log.model_copy(
        update={
            "events": tuple(events),
            "ended_at": _ended_at(task, events),
            "summary": _counted(events, log.dropped),
        }
    )


def shortened(log: TaskLog) -> TaskLog:
    """Texts cut to what a log's head holds: once they are masked, for half a secret is not known for one."""
    said = log.executor_summary
    return log.model_copy(
        update={
            "prompt_summary": log.prompt_summary[:_PROMPT],
            "error_reason": log.error_reason and log.error_reason[:_TEXT],
            "executor_summary": said and said[-_TEXT:],
        }
    )


def slim(log: TaskLog) -> TaskLog:
    """What is kept of a log when room is needed: how it began and how it ended."""
    ends = [entry for entry in log.events if entry.event_type in ENDS][-1:]
    kept = tuple(dict.fromkeys(entry.id for entry in (*log.events[:1], *ends)))
    events = tuple(entry for entry in log.events if entry.id in kept)
    dropped = log.dropped + len(log.events) - len(events)
    return log.model_copy(
        update={
            "events": events,
            "dropped": dropped,
            "summary": _counted(events, dropped),
            "artifacts": ArtifactList(),
            "evidence_summary": None,
            "verified_files": (),
            "evidence_refs": log.evidence_refs[:_FILES],
        }
    )


def _reason(session: Session, task: Task) -> str:
    return why_not(session, task) or f"{task.state.value} without a reason"


def _ended_at(task: Task, events: Sequence[LogEntry]) -> datetime | None:
    """Of a task that is over: when that was told."""
    if task.state not in OVER:
        return None
    told = [entry.timestamp for entry in events if entry.event_type in ENDS]
    return told[-1] if told else task.completed_at


def _decision(session: Session, task: Task) -> str:
    if task.state in (TaskState.CANCELLED, TaskState.REPLACED):
        return "reject"
    return "clarify" if session.vague else "accept"


def _artifacts(task: Task) -> ArtifactList:
    work = task.work
    if work is None:
        return ArtifactList(files_expected=task.files[:_FILES])
    touched = dict.fromkeys((*work.created_files, *work.changed_files, *work.deleted_files))
    return ArtifactList(
        files_touched=tuple(touched)[:_FILES],
        files_expected=task.files[:_FILES],
        files_created=work.created_files[:_FILES],
        files_modified=work.changed_files[:_FILES],
        files_deleted=work.deleted_files[:_FILES],
    )


def _evidence(task: Task) -> EvidenceSummary:
    there = tuple(file.path for file in task.verified_files if file.exists)
    missing = tuple(path for path in task.files if path not in there)
    commits = len(task.commits)
    passed = bool(commits) and (bool(there) or not missing)
    found = f"{commits} commit{'' if commits == 1 else 's'}, {len(there)} changed files on disk"
    lacking = f"; not changed although expected: {', '.join(missing[:8])}" if missing else ""
    return EvidenceSummary(
        files_expected=task.files[:_FILES],
        files_verified=there[:_FILES],
        files_missing=missing[:_FILES],
        verification_passed=passed,
        verification_reason=(found if commits else "no commits") + lacking,
        verified_files=task.verified_files[:_FILES],
    )


def _counted(events: Sequence[LogEntry], dropped: int) -> TaskLogSummary:
    summary = sum(entry.visibility_level is Visibility.SUMMARY for entry in events)
    return TaskLogSummary(
        total_events=len(events) + dropped,
        summary_events=summary,
        full_events=len(events) - summary,
        total_tokens_input=_sum(events, "tokens_input"),
        total_tokens_output=_sum(events, "tokens_output"),
        total_latency_ms=_sum(events, "latency_ms"),
    )


def _sum(events: Sequence[LogEntry], name: str) -> int:
    values = (entry.content.get(name) for entry in events)
    return sum(value for value in values if isinstance(value, int))
