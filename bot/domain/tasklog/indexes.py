"""What the logs of a session are listed in, and what they say of the session itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.domain.results import overall
from bot.domain.session import Session
from bot.domain.tasklog.form import (
    IndexEntry,
    LoggedRun,
    LoggedThread,
    Runner,
    SessionLog,
    TaskLog,
    TaskLogIndex,
    ThreadType,
)
from bot.domain.tasklog.statuses import is_logged, phase_of, run_status
from bot.domain.tasks import Task

MAIN, BACKGROUND, SYSTEM = "thr_001", "thr_002", "thr_003"


def unlogged(session: Session, logs: Iterable[TaskLog | IndexEntry]) -> tuple[str, ...]:
    """Keys of the tasks that should have a log and have none."""
    there = {log.task_id if isinstance(log, TaskLog) else log.external_task_id for log in logs}
    return tuple(t.key for t in session.tasks if is_logged(session, t) and t.id not in there)


def index_entry(session: Session, task: Task, log: TaskLog, number: str, file: str) -> IndexEntry:
    until = log.ended_at or session.updated_at
    spent = until - log.started_at if log.started_at else None
    return IndexEntry(
        task_id=number,
        external_task_id=task.id,
        key=task.key,
        thread_id=log.thread_id,
        run_id=log.run_id,
        parent_task_id=task.parent,
        status=log.status,
        started_at=log.started_at,
        completed_at=log.ended_at,
        duration_ms=max(0, int(spent.total_seconds() * 1000)) if spent else 0,
        files_modified_count=sum(file.exists for file in task.verified_files),
        tests_run_count=len(task.checks),
        log_file=file,
    )


def index(session: Session, entries: Sequence[IndexEntry]) -> TaskLogIndex:
    return TaskLogIndex(
        session_id=session.id,
        created_at=session.created_at,
        updated_at=session.updated_at,
        entries=tuple(entries),
    )


def session_log(session: Session, runner: Runner | None = None) -> SessionLog:
    """Its thread in the chat, the work of the agents, and what the bot does by itself."""
    kinds = (
        (MAIN, ThreadType.MAIN),
        (BACKGROUND, ThreadType.BACKGROUND),
        (SYSTEM, ThreadType.SYSTEM),
    )
    runner = runner or Runner()
    return SessionLog(
        session_id=session.id,
        started_at=session.created_at,
        target_project=session.repository,
        runner_version=runner.version,
        configuration=runner.configuration,
        current_phase=phase_of(session),
        status=session.result.overall_status if session.result else overall(session),
        continuation_approved=session.approval is not None,
        limit_violations=tuple(one for task in session.tasks for one in task.violations),
        selected_provider=session.usage.provider or None,
        selected_model=session.usage.model or None,
        threads=tuple(LoggedThread(thread_id=name, thread_type=kind) for name, kind in kinds),
        runs=tuple(
            LoggedRun(run_id=run.id, thread_id=BACKGROUND, status=run_status(run))
            for task in session.tasks
            for run in task.runs
        ),
    )
