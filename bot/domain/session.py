"""A session: one intent carried out in one thread. The only aggregate, one saved record."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from bot.domain.evidence import ExecutionResult, Verdict
from bot.domain.facts import Fact, Living
from bot.domain.intent import Intent
from bot.domain.people import Person, Thread
from bot.domain.states import PHASES, STATUSES, IntentStatus, Phase, Status, TaskState, move
from bot.domain.tasks import Task, Workspace
from bot.domain.world import Removal, Scan, Usage

SCHEMA = 1
"""The version of the saved form. A newer one is left alone and told."""


class Speaker(StrEnum):
    USER = "User"
    ASSISTANT = "Assistant"
    SYSTEM = "System"


class Message(Fact):
    role: Speaker
    content: str
    timestamp: AwareDatetime


class DocumentKind(StrEnum):
    SPEC = "spec"
    PLAN = "plan"
    TASKS = "tasks"

    @property
    def file(self) -> str:
        return f"{self}.md"


class Document(Fact):
    """One of spec.md, plan.md, tasks.md at one revision."""

    kind: DocumentKind
    revision: int
    text: str
    sha256: str


class Spec(Fact):
    """The specification of a session, and the branch its files are committed on."""

    id: str
    revision: int = 1
    workspace: Workspace
    commit: str = ""
    """Of the current revision, on the spec branch; empty until it is committed."""

    @property
    def directory(self) -> str:
        return f"specs/{self.id}"


class Approval(Fact):
    """Who let it run, and what exactly they saw."""

    by: Person
    at: AwareDatetime
    digest: str
    revision: int


class Ending(StrEnum):
    """What becomes of the finished work."""

    MERGE = "merge"
    KEEP = "keep"


class Session(Living):
    schema_version: int = SCHEMA
    id: str
    created_at: AwareDatetime
    updated_at: AwareDatetime
    status: Status = Status.ACTIVE
    phase: Phase = Phase.INTAKE
    thread: Thread
    owner: Person
    intent: Intent = Intent()

    repository: str
    base_branch: str = ""
    base_commit: str = ""
    base_uncommitted: int = 0
    agent: str = ""
    """The agent CLI its tasks use unless they name another."""
    agent_flags: str = ""
    test_command: str = ""
    scan: Scan | None = None
    asked: bool = False
    """Whether the questions were put (there may be none)."""

    spec: Spec | None = None
    documents: tuple[Document, ...] = ()
    """The current revision's."""
    previous: tuple[Document, ...] = ()
    """The former revision's, while a new one is written."""
    change_request: str = ""
    """What a person wants different from the former revision."""
    documents_shown_at: AwareDatetime | None = None
    """Since when the approval card stands; it expires."""
    approval: Approval | None = None
    parallelism: int = 2
    tasks: list[Task] = Field(default_factory=list[Task])

    wants_place_since: AwareDatetime | None = None
    """Since when it waits for (or holds) its repository's place."""
    has_place: bool = False
    queue_position: int | None = None
    queue_waiting: int = 0
    """How many sessions wait for the place, this one counted if it does."""

    ending: Ending | None = None
    ending_by: Person | None = None
    merged_commit: str = ""
    ending_problem: str = ""
    leftovers: tuple[Removal, ...] = ()
    cleaned: bool = False
    final_verdict: Verdict | None = None
    result: ExecutionResult | None = None
    continues: int = 0
    stops: int = 0
    stopped_by: str = ""
    stopped_runs: int = 0
    """How many agents the last stop ended."""
    trouble: str = ""
    """What it waits for outside: the LLM is down, tmux is missing … Empty: nothing."""
    failure: str = ""

    usage: Usage = Usage()
    conversation: list[Message] = Field(default_factory=list[Message])

    def copied(self) -> Session:
        """A copy to decide on: whatever goes wrong with it, the original stands."""
        return self.model_copy(
            update={
                "tasks": [task.copied() for task in self.tasks],
                "conversation": [*self.conversation],
            }
        )

    def become(self, status: Status) -> None:
        self.status = move(STATUSES, self.status, status)

    def enter(self, phase: Phase) -> None:
        self.phase = move(PHASES, self.phase, phase)

    def intend(self, status: IntentStatus) -> None:
        self.intent = self.intent.become(status)

    def say(self, role: Speaker, content: str, at: AwareDatetime) -> None:
        self.conversation.append(Message(role=role, content=content, timestamp=at))

    def task(self, task_id: str) -> Task | None:
        return next((task for task in self.tasks if task.id == task_id), None)

    def task_of_run(self, run_id: str) -> Task | None:
        """The task whose last run this is. A late word about an earlier run finds nothing."""
        return next((task for task in self.tasks if task.run and task.run.id == run_id), None)

    def document(self, kind: DocumentKind) -> Document | None:
        return next((document for document in self.documents if document.kind is kind), None)

    def in_state(self, *states: TaskState) -> list[Task]:
        return [task for task in self.tasks if task.state in states]

    @property
    def short(self) -> str:
        return self.id.replace("-", "")[:8]

    @property
    def title(self) -> str:
        first_line = self.intent.body.strip().partition("\n")[0]
        return self.intent.title or first_line[:72] or self.short

    @property
    def workspaces(self) -> tuple[Workspace, ...]:
        own = {task.workspace.branch: task.workspace for task in self.tasks if task.workspace}
        return tuple(own.values())

    @property
    def over(self) -> bool:
        return self.status in (Status.COMPLETED, Status.FAILED, Status.DISCARDED)
