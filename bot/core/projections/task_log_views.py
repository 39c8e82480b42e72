"""Task logs as they are shown and listed: the head of a log, the index of a session, tables for a card, and a session
as turns.

All computed from the session and its entries, never stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import AwareDatetime, JsonValue

from bot.core.choices import Verb, Word
from bot.core.events import (
    Begun,
    Broke,
    Commanded,
    Continued,
    Event,
    FromPerson,
    Pressed,
    RunEnded,
    RunStarted,
    Said,
    Woken,
)
from bot.core.facts import Fact
from bot.core.projections.records import DecidedEvent, SessionStates
from bot.core.projections.task_logs import (
    FINISHED_STATES,
    ArtifactList,
    EvidenceSummary,
    IndexEntry,
    LogEntry,
    LogEventType,
    LoggedRun,
    LoggedRunner,
    LoggedThread,
    RunStatus,
    SessionLog,
    TaskLog,
    TaskLogIndex,
    TaskLogStatus,
    TaskLogSummary,
    ThreadType,
    Visibility,
    blocked_run,
    is_logged,
    phase_of,
    run_status,
    status_of_log,
)
from bot.core.results import overall_status, why_incomplete
from bot.core.session import Session
from bot.core.sheets import Element, Fields, Table, Text
from bot.core.states import Status, TaskState
from bot.core.task import Task
from bot.core.text import counted, cut

# The head of a task's log, computed from the session's state.

ENDS = (LogEventType.TASK_COMPLETED, LogEventType.TASK_INCOMPLETE, LogEventType.TASK_ERROR)
_FILES, _TEXT, _PROMPT = 1000, 4000, 100


def task_log(
    session: Session, task: Task, events: Sequence[LogEntry] = (), dropped: int = 0
) -> TaskLog:
    """Return the log of a task with texts of full length; `shortened_log` cuts them after masking."""
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
        thread_id=BACKGROUND_THREAD,
        run_id=task.run.id if task.run else None,
        parent_task_id=task.parent,
        executor_summary=task.run.message if task.run and task.run.message else None,
        evidence_summary=_evidence(task) if task.work else None,
        summary=_summary_of(events, dropped),
        evidence_refs=task.evidence_refs,
        verification_root=task.workspace.path if task.workspace else "",
        verified_files=task.verified_files[:_FILES],
        executor_blocked=blocked is not None,
        blocked_reason=blocked.reason if blocked else None,
        timeout_ms=blocked.milliseconds if blocked else None,
        terminated_by=blocked.by if blocked else None,
    )


def with_events(log: TaskLog, task: Task, events: Sequence[LogEntry]) -> TaskLog:
    """Return the log with these events, and everything that is computed from them updated."""
    return log.model_copy(
        update={
            "events": tuple(events),
            "ended_at": _ended_at(task, events),
            "summary": _summary_of(events, log.dropped),
        }
    )


def shortened_log(log: TaskLog) -> TaskLog:
    """Cut the texts to their limits. Call it after masking only: half a secret would not be recognised."""
    said = log.executor_summary
    return log.model_copy(
        update={
            "prompt_summary": log.prompt_summary[:_PROMPT],
            "error_reason": log.error_reason and log.error_reason[:_TEXT],
            "executor_summary": said and said[-_TEXT:],
        }
    )


def minimal_log(log: TaskLog) -> TaskLog:
    """Return the log reduced to its beginning and end, for when space is needed."""
    ends = [entry for entry in log.events if entry.event_type in ENDS][-1:]
    kept = tuple(dict.fromkeys(entry.id for entry in (*log.events[:1], *ends)))
    events = tuple(entry for entry in log.events if entry.id in kept)
    dropped = log.dropped + len(log.events) - len(events)
    return log.model_copy(
        update={
            "events": events,
            "dropped": dropped,
            "summary": _summary_of(events, dropped),
            "artifacts": ArtifactList(),
            "evidence_summary": None,
            "verified_files": (),
            "evidence_refs": log.evidence_refs[:_FILES],
        }
    )


def _reason(session: Session, task: Task) -> str:
    return why_incomplete(session, task) or f"{task.state.value} without a reason"


def _ended_at(task: Task, events: Sequence[LogEntry]) -> datetime | None:
    """Return when the end of a finished task was logged."""
    if task.state not in FINISHED_STATES:
        return None
    told = [entry.timestamp for entry in events if entry.event_type in ENDS]
    return told[-1] if told else task.completed_at


def _decision(session: Session, task: Task) -> str:
    if task.state in (TaskState.CANCELLED, TaskState.REPLACED):
        return "reject"
    return "clarify" if session.request.vague else "accept"


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


def _summary_of(events: Sequence[LogEntry], dropped: int) -> TaskLogSummary:
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


# The index of a session's logs, and the logs' view of the session itself.

MAIN_THREAD, BACKGROUND_THREAD, SYSTEM_THREAD = "thr_001", "thr_002", "thr_003"


def tasks_without_log(session: Session, logs: Iterable[TaskLog | IndexEntry]) -> tuple[str, ...]:
    """Return the keys of tasks that should have a log and have none."""
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


def task_log_index(session: Session, entries: Sequence[IndexEntry]) -> TaskLogIndex:
    return TaskLogIndex(
        session_id=session.id,
        created_at=session.created_at,
        updated_at=session.updated_at,
        entries=tuple(entries),
    )


def session_log(session: Session, runner: LoggedRunner | None = None) -> SessionLog:
    """Return the session with its three threads: the chat, the agents' work, and what the bot does by itself."""
    kinds = (
        (MAIN_THREAD, ThreadType.MAIN),
        (BACKGROUND_THREAD, ThreadType.BACKGROUND),
        (SYSTEM_THREAD, ThreadType.SYSTEM),
    )
    runner = runner or LoggedRunner()
    return SessionLog(
        session_id=session.id,
        started_at=session.created_at,
        target_project=session.repository.path,
        runner_version=runner.version,
        configuration=runner.configuration,
        current_phase=phase_of(session),
        status=session.ending.result.overall_status
        if session.ending.result
        else overall_status(session),
        continuation_approved=session.approval.granted is not None,
        limit_violations=tuple(one for task in session.tasks for one in task.violations),
        selected_provider=session.usage.provider or None,
        selected_model=session.usage.model or None,
        threads=tuple(LoggedThread(thread_id=name, thread_type=kind) for name, kind in kinds),
        runs=tuple(
            LoggedRun(run_id=run.id, thread_id=BACKGROUND_THREAD, status=run_status(run))
            for task in session.tasks
            for run in task.runs
        ),
    )


# Logs on a card: all logs of a session as a table, or one task's log in summary or in full.

_ROWS = {Visibility.SUMMARY: 40, Visibility.FULL: 80}
_LINE = {Visibility.SUMMARY: 160, Visibility.FULL: 400}
_NOT_SAID = frozenset({"run_id", "number", "verification_root", "status", "state", "task"})


def log_blocks(logs: Sequence[TaskLog], task: str = "", level: str = "") -> tuple[Element, ...]:
    """Lay out the logs. `task` is a key, an id or a log's number; an unknown `level` means the summary."""
    if not logs:
        return (Text(text="There is nothing to show yet."),)
    if not task:
        return tuple(_log_table(logs))
    log = find_log(logs, task)
    if log is None:
        known = ", ".join(one.key for one in logs[:40])
        return (Text(text=f"There is no log of {task}. There are: {known}."),)
    full = level.strip().lower() == Visibility.FULL
    return tuple(_task_log_blocks(log, Visibility.FULL if full else Visibility.SUMMARY))


def find_log(logs: Sequence[TaskLog], name: str) -> TaskLog | None:
    """Return the log with this task key, task id or log number."""
    wanted = name.strip().lower()
    for number, log in enumerate(logs, 1):
        if wanted in (log.key.lower(), log.task_id.lower(), f"task-{number:03d}"):
            return log
    begun = [log for log in logs if len(wanted) >= 4 and log.task_id.lower().startswith(wanted)]
    return begun[0] if len(begun) == 1 else None


def _log_table(logs: Sequence[TaskLog]) -> Iterator[Element]:
    rows = tuple(
        (log.key, log.name, log.status, str(log.summary.total_events), _when(log))
        for log in logs[:100]
    )
    yield Table(head=("Task", "What", "Status", "Events", "Ended"), rows=rows)
    yield Text(text="logs T001 shows one of them, logs T001 full all of it.")


def _when(log: TaskLog) -> str:
    return f"{log.ended_at:%Y-%m-%d %H:%M}" if log.ended_at else "–"


def _task_log_blocks(log: TaskLog, level: Visibility) -> Iterator[Element]:
    yield Fields(pairs=tuple(_head(log)))
    shown = [
        entry
        for entry in log.events
        if level is Visibility.FULL or entry.visibility_level is Visibility.SUMMARY
    ]
    last = shown[-_ROWS[level] :]
    if left := len(shown) - len(last) + log.dropped:
        yield Text(text=f"{counted(left, 'earlier event')} not shown.")
    rows = tuple(_row(entry, _LINE[level]) for entry in last)
    yield Table(head=("Time", "Event", "Details"), rows=rows)


def _head(log: TaskLog) -> Iterator[tuple[str, str]]:
    yield ("Task", f"{log.key} {log.name}")
    yield ("Status", log.status.value)
    if log.error_reason:
        yield ("Because", log.error_reason[: _LINE[Visibility.FULL]])
    if log.evidence_summary:
        yield ("Evidence", log.evidence_summary.verification_reason)
    if log.verification_root:
        yield ("Worktree", log.verification_root)


def _row(entry: LogEntry, longest: int) -> tuple[str, ...]:
    at = f"{entry.timestamp:%m-%d %H:%M:%S}"
    return (at, entry.event_type.value, entry_details(entry, longest))


def entry_details(entry: LogEntry, longest: int) -> str:
    """Return what an entry says, on one line."""
    parts = [
        f"{key.replace('_', ' ')}: {text}"
        for key, value in entry.content.items()
        if key not in _NOT_SAID and (text := _on_one_line(value))
    ]
    return cut(" · ".join(parts), longest)


def _on_one_line(value: JsonValue) -> str:
    """Return the value on a single line of limited length."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_on_one_line, value[:20])))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_on_one_line(inner)}" for key, inner in value.items())
    return "" if value is None else " ".join(str(value)[: _LINE[Visibility.FULL]].split())


# A session as turns, a format of other programs: what started each turn, and how it ended.


class RunTrigger(StrEnum):
    USER_INPUT = "USER_INPUT"
    USER_RESPONSE = "USER_RESPONSE"
    CONTINUATION = "CONTINUATION"
    EXECUTOR = "EXECUTOR"


class Turn(Fact):
    run_id: str
    """run_001, run_002 …"""
    thread_id: str
    session_id: str
    started_at: AwareDatetime
    completed_at: AwareDatetime | None = None
    status: RunStatus
    trigger: RunTrigger


_THREADS = {
    RunTrigger.USER_INPUT: MAIN_THREAD,
    RunTrigger.USER_RESPONSE: MAIN_THREAD,
    RunTrigger.CONTINUATION: SYSTEM_THREAD,
    RunTrigger.EXECUTOR: BACKGROUND_THREAD,
}


def session_turns(session_id: str, steps: Sequence[DecidedEvent]) -> tuple[Turn, ...]:
    """Return the turns of a session. A turn lasts until the next trigger."""
    begun = [(at, trigger) for at, step in enumerate(steps) if (trigger := _trigger(step.event))]
    ends = [at for at, _ in begun[1:]] + [len(steps)]
    return tuple(_turns(session_id, steps, list(zip(begun, ends, strict=True))))


def _turns(
    session_id: str,
    steps: Sequence[DecidedEvent],
    parts: Sequence[tuple[tuple[int, RunTrigger], int]],
) -> Iterator[Turn]:
    for number, ((begin, trigger), end) in enumerate(parts, 1):
        status = _status(steps[begin:end], last=end == len(steps))
        running = status is RunStatus.RUNNING
        yield Turn(
            run_id=f"run_{number:03d}",
            thread_id=_THREADS[trigger],
            session_id=session_id,
            started_at=steps[begin].event.at,
            completed_at=None if running else steps[end - 1].event.at,
            status=status,
            trigger=trigger,
        )


def _trigger(event: Event) -> RunTrigger | None:
    """Return what the event starts, or `None` if it belongs to the current turn."""
    match event:
        case Pressed(verb=Verb.MORE) | Continued() | Begun():
            return RunTrigger.CONTINUATION
        case Woken(restarted=True):
            return RunTrigger.CONTINUATION
        case Pressed():
            return RunTrigger.USER_RESPONSE
        case Said() | Commanded():
            return RunTrigger.USER_INPUT
        case RunStarted() | RunEnded():
            return RunTrigger.EXECUTOR
        case _:
            return None


def _status(steps: Sequence[DecidedEvent], *, last: bool) -> RunStatus:
    stand = steps[-1].stand
    if any(isinstance(step.event, Broke) for step in steps) or stand.status == Status.FAILED:
        return RunStatus.FAILED
    if _called_off(steps[0].event, stand):
        return RunStatus.CANCELLED
    over = stand.status == Status.COMPLETED
    return RunStatus.RUNNING if last and not over else RunStatus.COMPLETED


def _called_off(event: Event, stand: SessionStates) -> bool:
    stops = (isinstance(event, Pressed) and event.verb in (Verb.STOP, Verb.DISCARD)) or (
        isinstance(event, Commanded) and event.command.word in (Word.STOP, Word.DISCARD)
    )
    return isinstance(event, FromPerson) and stops and stand.status != Status.ACTIVE
