"""The form of a saved session: gwt's models, key by key. Whatever else stands in the file is ours."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from bot.domain.session import SCHEMA, Message
from bot.domain.tasks import Strategy, TaskResult
from bot.errors import BrokenStateError


class NewerSchemaError(BrokenStateError):
    """It was written by a newer version: nothing is wrong with it, and it must be left as it is."""

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
    __test__ = False  # it is no test

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
"""Of several names for one, the first is taken on reading."""

# What gwt's keys say already needs no second place.
SAID_OF_SESSION = {
    *("id", "created_at", "updated_at", "status", "repository", "base_branch"),
    *("queue_position", "conversation", "tasks"),
}
SAID_OF_TASK = {
    *("id", "name", "description", "dependencies", "worktree_strategy", "workspace"),
    *("created_at", "started_at", "completed_at", "pull_request", "result"),
}
