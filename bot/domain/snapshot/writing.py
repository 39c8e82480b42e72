"""A session written down: where gwt has fewer states, the nearest of its own."""

from __future__ import annotations

from bot.domain.session import Session
from bot.domain.snapshot.form import (
    AGENTS,
    SAID_OF_SESSION,
    SAID_OF_TASK,
    AgentType,
    SavedAgent,
    SavedConversation,
    SavedPullRequest,
    SavedSession,
    SavedTask,
    SavedTest,
    SavedWorktree,
    TestStatus,
)
from bot.domain.states import Outcome, Status, TaskState
from bot.domain.tasks import Run, Task, Workspace
from bot.domain.world import CompletionSource

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
    """The session as plain JSON values."""
    saved = SavedSession(
        id=session.id,
        created_at=session.created_at,
        updated_at=session.updated_at,
        status=_STATUS.get(session.status, session.status.value),
        repository_path=session.repository,
        base_branch=session.base_branch,
        spec_id=session.spec.id if session.spec else None,
        queue_position=session.queue_position,
        llm_call_count=session.usage.calls,
        estimated_tokens=session.usage.tokens,
        conversation=SavedConversation(messages=tuple(session.conversation)),
        tasks=tuple(_saved_task(task, session) for task in session.tasks),
        worktrees=tuple(_saved_worktree(workspace) for workspace in session.workspaces),
    )
    ours = session.model_dump(mode="json", exclude=SAID_OF_SESSION)
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
        test_status=_saved_test(task, session.test_command),
        retry_count=task.counters.failed_checks,
        pull_request=SavedPullRequest(**pull_request.model_dump()) if pull_request else None,
        result=task.result,
    )
    return saved.model_copy(update=task.model_dump(mode="json", exclude=SAID_OF_TASK))


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
