"""What happened to a task, as entries of its log: its runs, what git showed of its work, its tests."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pydantic import JsonValue

from bot.domain.evidence import Check
from bot.domain.states import TaskState
from bot.domain.tasklog.form import LogEntry, LogEventType, Visibility
from bot.domain.tasklog.statuses import blocked_run
from bot.domain.tasks import Run, Task

_MOST = 200
_BEFORE_A_RUN = (TaskState.PENDING, TaskState.READY)

Content = dict[str, JsonValue]


def headline(id: str, type: LogEventType, at: datetime, content: Content) -> LogEntry:
    """What everybody wants to know."""
    return LogEntry(
        id=id,
        event_type=type,
        timestamp=at,
        visibility_level=Visibility.SUMMARY,
        content=content,
    )


def detail(id: str, type: LogEventType, at: datetime, content: Content) -> LogEntry:
    """What is told to who asks for all of it."""
    return LogEntry(
        id=id, event_type=type, timestamp=at, visibility_level=Visibility.FULL, content=content
    )


def runs(was: Task | None, task: Task, at: datetime) -> Iterator[LogEntry]:
    known = was.runs if was else []
    for place, run in enumerate(task.runs):
        old = known[place] if place < len(known) else None
        if old is run:
            continue
        if old is None:
            yield from _begun(was, task, run, first=place == 0)
        if run.dialog and (old is None or old.dialog != run.dialog):
            yield _asking(run, at)
        if not run.alive and (old is None or old.alive):
            yield _ended(run, at)


def _begun(was: Task | None, task: Task, run: Run, *, first: bool) -> Iterator[LogEntry]:
    if first or (was is not None and was.state in _BEFORE_A_RUN):
        content: Content = {"action": run.why.value, "task": f"{task.key} {task.name}"}
        yield headline(f"started:{run.id}", LogEventType.TASK_STARTED, run.started_at, content)
    content = {"executor": run.agent, "task_summary": task.name, "run_id": run.id}
    content |= {"number": run.number, "why": run.why.value, "told": run.feedback}
    yield detail(f"dispatch:{run.id}", LogEventType.EXECUTOR_DISPATCH, run.started_at, content)


def _asking(run: Run, at: datetime) -> LogEntry:
    """The program in its pane waits for a person."""
    content = _blocked(run)
    if run.dialog:
        content |= {"detected_pattern": run.dialog.title}
        content["options"] = [option.label for option in run.dialog.options]
    id = f"dialog:{run.id}:{run.dialogs}"
    return headline(id, LogEventType.EXECUTOR_BLOCKED, at, content)


def _ended(run: Run, at: datetime) -> LogEntry:
    ended_at = run.ended_at or at
    if blocked_run(run):
        content = _blocked(run) | {"output_summary": run.message, "raw_output_ref": run.log_path}
        content["exit_code"] = run.exit_code
        return headline(f"output:{run.id}", LogEventType.EXECUTOR_BLOCKED, ended_at, content)
    content: Content = {"executor": run.agent, "run_id": run.id, "exit_code": run.exit_code}
    content["outcome"] = run.outcome.value if run.outcome else None
    content["noticed_by"] = run.ended_by.value if run.ended_by else None
    content |= {"output_summary": run.message, "raw_output_ref": run.log_path}
    if run.usage:
        content["agent_tokens"] = run.usage.input_tokens + run.usage.output_tokens
    return detail(f"output:{run.id}", LogEventType.EXECUTOR_OUTPUT, ended_at, content)


def _blocked(run: Run) -> Content:
    content: Content = {"executor": run.agent, "run_id": run.id}
    if blocked := blocked_run(run):
        content |= {"blocked_reason": blocked.reason.value, "timeout_ms": blocked.milliseconds}
        content["terminated_by"] = blocked.by.value if blocked.by else None
        # what it is asked to end with; what lives on five seconds later is killed
        content["termination_signal"] = "SIGTERM" if blocked.by else None
    return content


def work(was: Task | None, task: Task, at: datetime) -> Iterator[LogEntry]:
    """What git says lies there, each time it looks otherwise."""
    found = task.work
    if found is None or (was is not None and was.work == found and was.work_of == task.work_of):
        return
    seen = task.verified_files[0].detected_at if task.verified_files else at
    content: Content = {"commit": found.head, "verification_root": _root(task)}
    content["commits"] = [f"{one.sha[:12]} {one.subject}" for one in found.commits[:_MOST]]
    content["files_created"] = [*found.created_files[:_MOST]]
    content["files_modified"] = [*found.changed_files[:_MOST]]
    content["files_deleted"] = [*found.deleted_files[:_MOST]]
    content["uncommitted"] = [*found.uncommitted[:_MOST]]
    id = f"work:{task.work_of}:{found.head}"
    yield detail(id, LogEventType.FILE_OPERATION, seen, content)


def _root(task: Task) -> str:
    return task.workspace.path if task.workspace else ""


def tested(check: Check) -> LogEntry:
    content: Content = {"command": check.command, "commit": check.commit}
    content |= {"exit_code": check.exit_code, "duration_ms": int(check.seconds * 1000)}
    content |= {"number": check.number, "output_summary": check.output}
    content["raw_output_ref"] = check.output_path
    return headline(f"test:{check.number}", LogEventType.TEST_EXECUTION, check.at, content)
