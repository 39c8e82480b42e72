"""The entries of a task's log that follow from a decided event: what changed in the task, and what people and the model
said.

Ids of entries are derived from the event, so that an entry found twice is written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from pydantic import JsonValue

from bot.core.events import Event, FromPerson, Pressed, Result, Said, StepChosen, WorkJudged
from bot.core.evidence import Check
from bot.core.naming import derived_nonce
from bot.core.projections.task_logs import (
    FINISHED_STATES,
    OPENING,
    LogEntry,
    LogEventType,
    TaskLog,
    TaskLogStatus,
    Visibility,
    blocked_run,
    is_logged,
    status_of_log,
)
from bot.core.results import status_of, why_incomplete
from bot.core.runs import Run
from bot.core.session import Session
from bot.core.states import OverallStatus, TaskState
from bot.core.task import Task

# All entries that follow from one decided event.

_MOST = 200


def log_entries(before: Session, event: Event, after: Session) -> dict[str, list[LogEntry]]:
    """Return the new entries by task id. A task without new entries is included if its log must be updated."""
    old = {task.id: task for task in before.tasks if is_logged(before, task)}
    found: dict[str, list[LogEntry]] = {}
    for task in after.tasks:
        if not is_logged(after, task):
            continue
        was = old.get(task.id)
        new = [
            *_event_entries(before, event, was, task),
            *_changed_entries(after, was, task, event.at),
        ]
        if was is None:
            new = [*opening_entries(after, task), *new]
        if new or was is None or status_of_log(before, was) is not status_of_log(after, task):
            found[task.id] = new
    return found


def known_entries(session: Session, task: Task) -> list[LogEntry]:
    """Return every entry that the session itself can reconstruct: what the log must contain at least."""
    known = [
        *opening_entries(session, task),
        *_changed_entries(session, None, task, session.updated_at),
    ]
    return in_order(known)


def missing_entries(
    session: Session, task: Task, log: TaskLog | None, new: Iterable[LogEntry]
) -> list[LogEntry]:
    """Return the entries that a log lacks: of `new`, and of all that the session itself knows."""
    held = {entry.id for entry in log.events} if log else set[str]()
    fresh = {entry.id: entry for entry in new if entry.id not in held}
    since = log.events[-1].timestamp if log and log.events and log.dropped else None
    known = [
        fresh.pop(entry.id, entry)
        for entry in known_entries(session, task)
        if entry.id in fresh or not (since and entry.timestamp < since)
    ]
    return [entry for entry in (*known, *fresh.values()) if entry.id not in held]


def in_order(entries: Iterable[LogEntry]) -> list[LogEntry]:
    """Return the entries by time, the request first."""
    return sorted(entries, key=lambda entry: (entry.id != OPENING, entry.timestamp))


def opening_entries(session: Session, task: Task) -> Iterator[LogEntry]:
    """Yield the request, and the questions and answers about it."""
    intent, began = session.intent, session.created_at
    asked: dict[str, JsonValue] = {"text": intent.body or intent.title, "by": str(session.owner)}
    asked["task"] = f"{task.key} {task.name}"
    yield summary_entry(OPENING, LogEventType.USER_INPUT, began, asked)
    for question in intent.clarifications:
        at = question.answered_at or began
        what: dict[str, JsonValue] = {"question": question.text, "options": [*question.options]}
        id = f"question:{question.number}"
        yield summary_entry(id, LogEventType.RUNNER_CLARIFICATION, at, what)
        if question.answer is not None:
            answer: dict[str, JsonValue] = {"response": question.answer}
            if question.answer in question.options:
                answer["selected_option"] = question.answer
            id = f"answer:{question.number}"
            yield summary_entry(id, LogEventType.USER_RESPONSE, at, answer)


def _changed_entries(
    session: Session, was: Task | None, task: Task, at: datetime
) -> Iterator[LogEntry]:
    yield from run_entries(was, task, at)
    yield from work_entries(was, task, at)
    for check in task.checks[len(was.checks) if was else 0 :]:
        yield check_entries(check)
    if was and task.counters.evidence_asks > was.counters.evidence_asks:
        number = task.counters.evidence_asks
        told: dict[str, JsonValue] = {"error_message": task.next_run.feedback or task.blocked}
        yield summary_entry(f"evidence:{number}", LogEventType.EVIDENCE_MISSING, at, told)
    ended = task.state in (*FINISHED_STATES, TaskState.BLOCKED)
    if ended and (was is None or was.state is not task.state or was.blocked != task.blocked):
        yield _end_entry(session, task, at)


def _end_entry(session: Session, task: Task, at: datetime) -> LogEntry:
    """Return the entry that ends a log: the task is over, or cannot go on without a person."""
    status, log_status = status_of(session, task), status_of_log(session, task)
    content: dict[str, JsonValue] = {"status": status.value, "state": task.state.value}
    there = [file.path for file in task.verified_files if file.exists]
    content["files_modified"] = [*there[:_MOST]]
    if task.evidence_refs:
        content["evidence_ref"] = task.evidence_refs[-1]
    if status is not OverallStatus.COMPLETE:
        content["error_message"] = why_incomplete(session, task)
    elif task.result and task.result.summary:
        content["summary"] = task.result.summary
    done = task.state in (TaskState.COMPLETED, TaskState.FAILED) and task.completed_at
    id = derived_nonce(task.state, str(len(task.runs)), str(len(task.checks)), task.blocked)
    return summary_entry(f"end:{id}", _END_TYPES[log_status], done or at, content)


_END_TYPES = {
    TaskLogStatus.COMPLETE: LogEventType.TASK_COMPLETED,
    TaskLogStatus.ERROR: LogEventType.TASK_ERROR,
    TaskLogStatus.INCOMPLETE: LogEventType.TASK_INCOMPLETE,
}


def _event_entries(
    before: Session, event: Event, was: Task | None, task: Task
) -> Iterator[LogEntry]:
    if isinstance(event, FromPerson):
        if _is_about(event, was, task):
            yield _response(event)
    elif isinstance(event, Result) and event.usage.calls and _concerns(before, event, task):
        mark = derived_nonce(event.id)
        asked = _model(event) | {"prompt_summary": type(event).__name__}
        asked["tokens_input"] = event.usage.prompt_tokens
        yield detail_entry(f"asked:{mark}", LogEventType.LLM_MEDIATION_REQUEST, event.at, asked)
        answer = _model(event) | {"response_type": _answer(event)}
        answer["tokens_output"] = event.usage.reply_tokens
        answer["latency_ms"] = event.usage.milliseconds
        if isinstance(event, WorkJudged):
            answer["reasons"] = [*event.verdict.reasons, *event.verdict.missing]
            answer["criteria"] = [one.described for one in event.verdict.criteria]
        yield detail_entry(f"replied:{mark}", LogEventType.LLM_MEDIATION_RESPONSE, event.at, answer)


def _model(event: Result) -> dict[str, JsonValue]:
    return {"provider": event.usage.provider, "model": event.usage.model}


def _is_about(event: FromPerson, was: Task | None, task: Task) -> bool:
    """Whether the event was pressed on this task's card, or has changed the task."""
    if isinstance(event, Pressed) and event.about.partition(":")[0] == task.id:
        return True
    if was is None:
        return False
    alive = was.run.alive if was.run else False
    return was.state is not task.state or alive != (task.run.alive if task.run else False)


def _response(event: FromPerson) -> LogEntry:
    content: dict[str, JsonValue] = {"by": str(event.by)}
    if isinstance(event, Pressed):
        content |= {"response": event.text or event.verb.value, "selected_option": event.verb.value}
    elif isinstance(event, Said):
        content["response"] = event.text
    else:
        content["response"] = getattr(event, "text", "") or type(event).__name__
    return summary_entry(
        f"said:{derived_nonce(event.id)}", LogEventType.USER_RESPONSE, event.at, content
    )


def _concerns(before: Session, event: Result, task: Task) -> bool:
    """Whether this reply of the model is about this task."""
    if isinstance(event, StepChosen):
        was = before.task(task.id)
        return bool(was and was.choice and was.choice.id == event.step_id)
    return getattr(event, "task_id", "") == task.id


def _answer(event: Result) -> str:
    if isinstance(event, StepChosen):
        return event.option
    return event.verdict.outcome.value if isinstance(event, WorkJudged) else "text"


# Entries for a task's runs, what git showed of its work, and its tests.

_BEFORE_A_RUN = (TaskState.PENDING, TaskState.READY)

LogContent = dict[str, JsonValue]


def summary_entry(id: str, type: LogEventType, at: datetime, content: LogContent) -> LogEntry:
    """Return an entry that is shown in every view."""
    return LogEntry(
        id=id,
        event_type=type,
        timestamp=at,
        visibility_level=Visibility.SUMMARY,
        content=content,
    )


def detail_entry(id: str, type: LogEventType, at: datetime, content: LogContent) -> LogEntry:
    """Return an entry that is shown only in the full view."""
    return LogEntry(
        id=id, event_type=type, timestamp=at, visibility_level=Visibility.FULL, content=content
    )


def run_entries(was: Task | None, task: Task, at: datetime) -> Iterator[LogEntry]:
    known = was.runs if was else []
    for place, run in enumerate(task.runs):
        old = known[place] if place < len(known) else None
        if old is run:
            continue
        if old is None:
            yield from _start_entries(was, task, run, first=place == 0)
        if run.dialog and (old is None or old.dialog != run.dialog):
            yield _dialog_entry(run, at)
        if not run.alive and (old is None or old.alive):
            yield _run_end_entry(run, at)


def _start_entries(was: Task | None, task: Task, run: Run, *, first: bool) -> Iterator[LogEntry]:
    if first or (was is not None and was.state in _BEFORE_A_RUN):
        content: LogContent = {"action": run.why.value, "task": f"{task.key} {task.name}"}
        yield summary_entry(f"started:{run.id}", LogEventType.TASK_STARTED, run.started_at, content)
    content = {"executor": run.agent, "task_summary": task.name, "run_id": run.id}
    content |= {"number": run.number, "why": run.why.value, "told": run.feedback}
    yield detail_entry(
        f"dispatch:{run.id}", LogEventType.EXECUTOR_DISPATCH, run.started_at, content
    )


def _dialog_entry(run: Run, at: datetime) -> LogEntry:
    """Return the entry for a program in the pane that waits for a person."""
    content = _blocked(run)
    if run.dialog:
        content |= {"detected_pattern": run.dialog.title}
        content["options"] = [option.label for option in run.dialog.options]
    id = f"dialog:{run.id}:{run.dialogs}"
    return summary_entry(id, LogEventType.EXECUTOR_BLOCKED, at, content)


def _run_end_entry(run: Run, at: datetime) -> LogEntry:
    ended_at = run.ended_at or at
    if blocked_run(run):
        content = _blocked(run) | {"output_summary": run.message, "raw_output_ref": run.log_path}
        content["exit_code"] = run.exit_code
        return summary_entry(f"output:{run.id}", LogEventType.EXECUTOR_BLOCKED, ended_at, content)
    content: LogContent = {"executor": run.agent, "run_id": run.id, "exit_code": run.exit_code}
    content["outcome"] = run.outcome.value if run.outcome else None
    content["noticed_by"] = run.ended_by.value if run.ended_by else None
    content |= {"output_summary": run.message, "raw_output_ref": run.log_path}
    if run.usage:
        content["agent_tokens"] = run.usage.input_tokens + run.usage.output_tokens
    return detail_entry(f"output:{run.id}", LogEventType.EXECUTOR_OUTPUT, ended_at, content)


def _blocked(run: Run) -> LogContent:
    content: LogContent = {"executor": run.agent, "run_id": run.id}
    if blocked := blocked_run(run):
        content |= {"blocked_reason": blocked.reason.value, "timeout_ms": blocked.milliseconds}
        content["terminated_by"] = blocked.by.value if blocked.by else None
        # the process group gets SIGTERM; what is still alive five seconds later is killed
        content["termination_signal"] = "SIGTERM" if blocked.by else None
    return content


def work_entries(was: Task | None, task: Task, at: datetime) -> Iterator[LogEntry]:
    """Yield an entry each time git shows a different state of the work."""
    found = task.work
    if found is None or (was is not None and was.work == found and was.work_run == task.work_run):
        return
    seen = task.verified_files[0].detected_at if task.verified_files else at
    content: LogContent = {"commit": found.head, "verification_root": _root(task)}
    content["commits"] = [f"{one.sha[:12]} {one.subject}" for one in found.commits[:_MOST]]
    content["files_created"] = [*found.created_files[:_MOST]]
    content["files_modified"] = [*found.changed_files[:_MOST]]
    content["files_deleted"] = [*found.deleted_files[:_MOST]]
    content["uncommitted"] = [*found.uncommitted[:_MOST]]
    id = f"work:{task.work_run}:{found.head}"
    yield detail_entry(id, LogEventType.FILE_OPERATION, seen, content)


def _root(task: Task) -> str:
    return task.workspace.path if task.workspace else ""


def check_entries(check: Check) -> LogEntry:
    content: LogContent = {"command": check.command, "commit": check.commit}
    content |= {"exit_code": check.exit_code, "duration_ms": int(check.seconds * 1000)}
    content |= {"number": check.number, "output_summary": check.output}
    content["raw_output_ref"] = check.output_path
    return summary_entry(f"test:{check.number}", LogEventType.TEST_EXECUTION, check.at, content)
