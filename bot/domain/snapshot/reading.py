"""A session read back: ours where it is written, else what gwt's keys tell."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bot.domain.session import SCHEMA, Session
from bot.domain.snapshot.form import (
    AGENTS,
    SAID_OF_TASK,
    NewerSchemaError,
    Saved,
    SavedAgent,
    SavedSession,
    SavedTask,
    SavedWorktree,
    TestStatus,
    Version,
)
from bot.domain.snapshot.forms import file_of_today
from bot.domain.states import IntentStatus, Outcome, Phase, RunState, Status, TaskState
from bot.domain.tasks import Task


def restore(data: bytes) -> Session:
    """The session of a file. Raises pydantic's ValidationError, or NewerSchemaError."""
    written_by = Version.model_validate_json(data).schema_version
    if written_by > SCHEMA:
        raise NewerSchemaError(written_by)
    saved = SavedSession.model_validate_json(data)
    if written_by < SCHEMA:
        older = saved.model_dump(mode="json")
        saved = SavedSession.model_validate(file_of_today(older, written_by))
    values = _completed(saved) | _ours(saved, Session)
    values |= {
        "id": saved.id,
        "created_at": saved.created_at,
        "updated_at": saved.updated_at,
        "status": _beside(saved).get("state", saved.status),
        "repository": saved.repository_path,
        "base_branch": saved.base_branch,
        "queue_position": saved.queue_position,
        "conversation": list(saved.conversation.messages),
        "tasks": [_task(task, number) for number, task in enumerate(saved.tasks, start=1)],
    }
    return Session.model_validate(values)


def _completed(saved: SavedSession) -> dict[str, object]:
    """What gwt's keys tell of the things it has no keys for."""
    asked = next((said.content for said in saved.conversation.messages), "")
    tests = [task.test_status.test_command for task in saved.tasks if task.test_status]
    done = saved.status == Status.COMPLETED
    values: dict[str, object] = {
        "thread": {"platform": "gwt", "channel": "", "root": saved.id},
        "owner": {"platform": "gwt", "id": "gwt"},
        "intent": {"body": asked, "status": IntentStatus.DONE if done else IntentStatus.EXECUTING},
        "phase": Phase.DONE if done else Phase.EXECUTING if saved.tasks else Phase.INTAKE,
        "usage": {"calls": saved.llm_call_count, "prompt_tokens": saved.estimated_tokens},
        "test_command": next(iter(tests), ""),
    }
    if saved.spec_id:
        branch = f"agent/{saved.spec_id.lower()}"
        path = f"{saved.repository_path}/.worktrees/{branch.replace('/', '-')}"
        workspace = {"branch": branch, "path": path, "created_at": saved.created_at}
        values["spec"] = {"id": saved.spec_id, "workspace": workspace}
    return values


def _task(saved: SavedTask, number: int) -> Task:
    checking = saved.test_status is not None and saved.test_status.status is TestStatus.RUNNING
    values: dict[str, object] = {
        "key": f"T{number:03}",
        "number": number,
        "state": TaskState.VERIFYING if checking else saved.status,
        "runs": [_run(saved.sub_agent)] if saved.sub_agent else [],
        "checks": _checks(saved),
        "counters": {"failed_checks": saved.retry_count},
    }
    same = SAID_OF_TASK - {"workspace", "pull_request", "result"}
    values |= _ours(saved, Task) | saved.model_dump(include=same)
    values |= {
        "workspace": _workspace(saved.assigned_worktree) if saved.assigned_worktree else None,
        "pull_request": saved.pull_request.model_dump() if saved.pull_request else None,
        "result": saved.result,
    }
    return Task.model_validate(values)


def _workspace(saved: SavedWorktree) -> dict[str, object]:
    values = saved.model_dump()
    return {"branch": values.pop("branch_name"), **values}


def _run(saved: SavedAgent) -> dict[str, object]:
    """gwt remembers one agent per task, and how it ended."""
    ended = saved.status in ("Completed", "Error")
    outcome = Outcome.FINISHED if saved.status == "Completed" else Outcome.FAILED
    return {
        "id": saved.id,
        "number": 1,
        "agent": next((name for name, kind in AGENTS.items() if kind is saved.agent_type), "other"),
        "conversation": "",
        "state": RunState.ENDED if ended else saved.status,
        "outcome": outcome if ended else None,
        "pane_id": saved.pane_id,
        "pid": saved.pid,
        "started_at": saved.started_at,
        "ended_at": saved.completed_at,
        "ended_by": saved.completion_source,
        "auto_flag": saved.auto_mode_flag,
    }


def _checks(saved: SavedTask) -> list[dict[str, object]]:
    test = saved.test_status
    if test is None or test.status not in (TestStatus.PASSED, TestStatus.FAILED):
        return []
    check: dict[str, object] = {
        "number": test.attempt,
        "command": test.test_command,
        "commit": "",
        "exit_code": 0 if test.status is TestStatus.PASSED else 1,
        "seconds": 0.0,
        "output": test.last_output or "",
        "at": saved.completed_at or saved.started_at or saved.created_at,
    }
    return [check]


def _beside(saved: Saved) -> dict[str, Any]:
    return saved.model_extra or {}


def _ours(saved: Saved, kind: type[BaseModel]) -> dict[str, Any]:
    return {name: value for name, value in _beside(saved).items() if name in kind.model_fields}
