"""The session as a JSON file that other programs can read: gwt's keys and spellings verbatim, ours in addition.

Where gwt has fewer states, its `status` is the nearest one and our `state` the exact one. On reading, ours take
precedence; a file without them (written by gwt itself) is completed from gwt's keys. Pure.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, cast

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from bot.core.errors import BrokenStateError
from bot.core.migrations import migrate_session
from bot.core.runs import CompletionSource, Run
from bot.core.session import SCHEMA, Message, Session
from bot.core.states import IntentStatus, Outcome, Phase, RunState, Status, TaskState
from bot.core.task import Strategy, Task, TaskResult, Workspace

# The form of a saved session: gwt's models, key by key. All other keys in the file are ours.


class NewerSchemaError(BrokenStateError):
    """The file was written by a newer version: it is valid and must be left untouched."""

    def __init__(self, schema: int) -> None:
        super().__init__(
            f"it was written by a newer version (form {schema}, this one knows {SCHEMA})"
        )


class AgentType(StrEnum):
    CLAUDE_CODE = "ClaudeCode"
    CODEX = "Codex"
    GEMINI = "Gemini"
    OPEN_CODE = "OpenCode"
    OTHER = "Other"


class TestStatus(StrEnum):
    __test__ = False  # keeps pytest from collecting this class

    PENDING = "Pending"
    RUNNING = "Running"
    PASSED = "Passed"
    FAILED = "Failed"


class Saved(BaseModel):
    model_config = ConfigDict(extra="allow")


class Version(Saved):
    schema_version: int = Field(default=SCHEMA, ge=1)


class SavedWorktree(Saved):
    branch_name: str
    path: str
    created_at: AwareDatetime
    task_ids: tuple[str, ...] = ()


class SavedAgent(Saved):
    id: str
    agent_type: AgentType
    pane_id: str
    pid: int
    status: str
    started_at: AwareDatetime
    completed_at: AwareDatetime | None = None
    completion_source: str | None = None
    auto_mode_flag: str | None = None


class SavedTest(Saved):
    status: TestStatus
    test_command: str
    attempt: int
    last_output: str | None = None


class SavedPullRequest(Saved):
    number: int
    url: str


class SavedTask(Saved):
    id: str = Field(min_length=1)
    name: str
    description: str
    status: str
    dependencies: tuple[str, ...] = ()
    worktree_strategy: Strategy = Strategy.NEW
    assigned_worktree: SavedWorktree | None = None
    sub_agent: SavedAgent | None = None
    created_at: AwareDatetime
    started_at: AwareDatetime | None = None
    completed_at: AwareDatetime | None = None
    test_status: SavedTest | None = None
    retry_count: int = 0
    pull_request: SavedPullRequest | None = None
    result: TaskResult | None = None


class SavedConversation(Saved):
    messages: tuple[Message, ...] = ()


class SavedSession(Saved):
    id: str = Field(min_length=1)
    created_at: AwareDatetime
    updated_at: AwareDatetime
    status: str
    repository_path: str
    base_branch: str = ""
    spec_id: str | None = None
    queue_position: int | None = None
    llm_call_count: int = 0
    estimated_tokens: int = 0
    conversation: SavedConversation = SavedConversation()
    tasks: tuple[SavedTask, ...] = ()
    worktrees: tuple[SavedWorktree, ...] = ()


AGENTS = {
    "claude": AgentType.CLAUDE_CODE,
    "codex": AgentType.CODEX,
    "gemini": AgentType.GEMINI,
    "opencode": AgentType.OPEN_CODE,
    "claude-print": AgentType.CLAUDE_CODE,
}
"""On reading, the first of several names for a type is used."""

# Fields that gwt's keys cover already.
GWT_SESSION_FIELDS = {
    **dict.fromkeys(("id", "created_at", "updated_at", "status", "conversation", "tasks"), True),
    "repository": {"path", "base_branch"},
    "queue": {"position"},
}
GWT_TASK_FIELDS = {
    *("id", "name", "description", "dependencies", "worktree_strategy", "workspace"),
    *("created_at", "started_at", "completed_at", "pull_request", "result"),
}


# Reading: our own keys where present, else values derived from gwt's keys.


def restore(data: bytes) -> Session:
    """Return the session of a file. Raises pydantic's ValidationError, or NewerSchemaError."""
    written_by = Version.model_validate_json(data).schema_version
    if written_by > SCHEMA:
        raise NewerSchemaError(written_by)
    saved = SavedSession.model_validate_json(data)
    if written_by < SCHEMA:
        saved = _migrated(saved, written_by)
    values = _derived_fields(saved) | _own_fields(saved, Session)
    values |= {
        "id": saved.id,
        "created_at": saved.created_at,
        "updated_at": saved.updated_at,
        "status": _unknown_keys(saved).get("state", saved.status),
        "repository": _with_fields(
            values.get("repository"), path=saved.repository_path, base_branch=saved.base_branch
        ),
        "queue": _with_fields(values.get("queue"), position=saved.queue_position),
        "conversation": list(saved.conversation.messages),
        "tasks": [_task(task, number) for number, task in enumerate(saved.tasks, start=1)],
    }
    return Session.model_validate(values)


def _with_fields(part: Any, **fields: Any) -> Any:
    """Add `fields` to a saved part. A part that is no object stays: the model refuses it."""
    if part is None:
        return fields
    return {**cast("dict[str, Any]", part), **fields} if isinstance(part, dict) else part


def _migrated(saved: SavedSession, form: int) -> SavedSession:
    """Migrate the bot's own keys; those of the exported form have never changed."""
    older = saved.model_dump(mode="json")
    gwts = {name: older.pop(name) for name in SavedSession.model_fields if name != "tasks"}
    return SavedSession.model_validate(gwts | migrate_session(older, form))


def _derived_fields(saved: SavedSession) -> dict[str, Any]:
    """Return values derived from gwt's keys for the fields that gwt does not have."""
    asked = next((said.content for said in saved.conversation.messages), "")
    tests = [task.test_status.test_command for task in saved.tasks if task.test_status]
    done = saved.status == Status.COMPLETED
    values: dict[str, Any] = {
        "thread": {"platform": "gwt", "channel": "", "root": saved.id},
        "owner": {"platform": "gwt", "id": "gwt"},
        "intent": {"body": asked, "status": IntentStatus.DONE if done else IntentStatus.EXECUTING},
        "phase": Phase.DONE if done else Phase.EXECUTING if saved.tasks else Phase.INTAKE,
        "usage": {"calls": saved.llm_call_count, "prompt_tokens": saved.estimated_tokens},
        "tests": {"command": next(iter(tests), "")},
    }
    if saved.spec_id:
        branch = f"agent/{saved.spec_id.lower()}"
        path = f"{saved.repository_path}/.worktrees/{branch.replace('/', '-')}"
        workspace = {"branch": branch, "path": path, "created_at": saved.created_at}
        values["plan"] = {"spec": {"id": saved.spec_id, "workspace": workspace}}
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
    same = GWT_TASK_FIELDS - {"workspace", "pull_request", "result"}
    values |= _own_fields(saved, Task) | saved.model_dump(include=same)
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
    # gwt keeps one agent per task, and how it ended.
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


def _unknown_keys(saved: Saved) -> dict[str, Any]:
    return saved.model_extra or {}


def _own_fields(saved: Saved, kind: type[BaseModel]) -> dict[str, Any]:
    return {
        name: value for name, value in _unknown_keys(saved).items() if name in kind.model_fields
    }


# Writing: where gwt has fewer states, the nearest of them.

_STATUS = {Status.QUEUED: "Active", Status.DISCARDED: "Failed"}
_TASK_STATUS = {
    TaskState.VERIFYING: "Running",
    TaskState.NEEDS_CONTINUATION: "Running",
    TaskState.INTEGRATING: "Running",
    TaskState.BLOCKED: "Failed",
    TaskState.REPLACED: "Cancelled",
}
_SOURCES = {CompletionSource.SWEEP: "StatusQuery", CompletionSource.STOPPED: "ProcessExit"}


def export(session: Session) -> dict[str, object]:
    """Return the session as plain JSON values."""
    saved = SavedSession(
        id=session.id,
        created_at=session.created_at,
        updated_at=session.updated_at,
        status=_STATUS.get(session.status, session.status.value),
        repository_path=session.repository.path,
        base_branch=session.repository.base_branch,
        spec_id=session.plan.spec.id if session.plan.spec else None,
        queue_position=session.queue.position,
        llm_call_count=session.usage.calls,
        estimated_tokens=session.usage.tokens,
        conversation=SavedConversation(messages=tuple(session.conversation)),
        tasks=tuple(_saved_task(task, session) for task in session.tasks),
        worktrees=tuple(_saved_worktree(workspace) for workspace in session.workspaces),
    )
    ours = session.model_dump(mode="json", exclude=GWT_SESSION_FIELDS)
    return saved.model_dump(mode="json") | {"state": session.status.value} | ours


def _saved_task(task: Task, session: Session) -> SavedTask:
    pull_request = task.pull_request
    saved = SavedTask(
        id=task.id,
        name=task.name,
        description=task.description,
        status=_TASK_STATUS.get(task.state, task.state.value),
        dependencies=task.dependencies,
        worktree_strategy=task.worktree_strategy,
        assigned_worktree=_saved_worktree(task.workspace) if task.workspace else None,
        sub_agent=_saved_agent(task.run) if task.run else None,
        created_at=task.created_at,
        started_at=task.started_at,
        completed_at=task.completed_at,
        test_status=_saved_test(task, session.tests.command),
        retry_count=task.counters.failed_checks,
        pull_request=SavedPullRequest(**pull_request.model_dump()) if pull_request else None,
        result=task.result,
    )
    return saved.model_copy(update=task.model_dump(mode="json", exclude=GWT_TASK_FIELDS))


def _saved_worktree(workspace: Workspace) -> SavedWorktree:
    values = workspace.model_dump(exclude={"branch"})
    return SavedWorktree(branch_name=workspace.branch, **values)


def _saved_agent(run: Run) -> SavedAgent:
    ended = "Completed" if run.outcome is Outcome.FINISHED else "Error"
    return SavedAgent(
        id=run.id,
        agent_type=AGENTS.get(run.agent, AgentType.OTHER),
        pane_id=run.pane_id,
        pid=run.pid,
        status=run.state.value if run.alive else ended,
        started_at=run.started_at,
        completed_at=run.ended_at,
        completion_source=_SOURCES.get(run.ended_by, run.ended_by.value) if run.ended_by else None,
        auto_mode_flag=run.auto_flag,
    )


def _saved_test(task: Task, command: str) -> SavedTest | None:
    last = task.check
    attempt = last.number if last else 0
    if task.state is TaskState.VERIFYING:
        return SavedTest(status=TestStatus.RUNNING, test_command=command, attempt=attempt + 1)
    if last is None:
        return None
    return SavedTest(
        status=TestStatus.PASSED if last.passed else TestStatus.FAILED,
        test_command=last.command,
        attempt=attempt,
        last_output=last.output or None,
    )
