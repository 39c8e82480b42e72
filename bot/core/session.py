"""A session: one intent carried out in one thread, with everything that people said in it.

The only aggregate, saved as one record. What it remembers for a step or a subject is a model of its own (`bot/core/session_parts.py`).
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from bot.core.facts import Fact, MutableModel
from bot.core.intent import Intent
from bot.core.llm import Usage, estimate_tokens, token_budget
from bot.core.people import Person, Thread
from bot.core.session_parts import (
    SessionAgents,
    SessionApproval,
    SessionControl,
    SessionEnding,
    SessionExecution,
    SessionLlm,
    SessionPlan,
    SessionPulls,
    SessionQueue,
    SessionRepository,
    SessionRequest,
    SessionTests,
)
from bot.core.states import PHASES, STATUSES, IntentStatus, Phase, Status, TaskState, move
from bot.core.talk import Change, SessionTalk
from bot.core.task import Task, Workspace

SCHEMA = 5
"""The version of the saved form. A newer one is left alone and reported, an older one is migrated (`bot/core/migrations.py`)."""


class Speaker(StrEnum):
    USER = "User"
    ASSISTANT = "Assistant"
    SYSTEM = "System"


class Message(Fact):
    role: Speaker
    content: str
    timestamp: AwareDatetime


class Session(MutableModel):
    schema_version: int = SCHEMA
    id: str
    created_at: AwareDatetime
    updated_at: AwareDatetime
    status: Status = Status.ACTIVE
    phase: Phase = Phase.INTAKE
    thread: Thread
    owner: Person
    intent: Intent = Intent()
    request: SessionRequest = Field(default_factory=SessionRequest)
    repository: SessionRepository
    agents: SessionAgents = Field(default_factory=SessionAgents)
    tests: SessionTests = Field(default_factory=SessionTests)
    plan: SessionPlan = Field(default_factory=SessionPlan)
    approval: SessionApproval = Field(default_factory=SessionApproval)
    tasks: list[Task] = Field(default_factory=list[Task])
    execution: SessionExecution = Field(default_factory=SessionExecution)
    queue: SessionQueue = Field(default_factory=SessionQueue)
    change: Change | None = None
    talk: SessionTalk = Field(default_factory=SessionTalk)
    pulls: SessionPulls = Field(default_factory=SessionPulls)
    ending: SessionEnding = Field(default_factory=SessionEnding)
    control: SessionControl = Field(default_factory=SessionControl)
    usage: Usage = Usage()
    llm: SessionLlm = Field(default_factory=SessionLlm)
    conversation: list[Message] = Field(default_factory=list[Message])

    def become(self, status: Status) -> None:
        self.status = move(STATUSES, self.status, status)

    def enter(self, phase: Phase) -> None:
        self.phase = move(PHASES, self.phase, phase)

    def set_intent_status(self, status: IntentStatus) -> None:
        self.intent = self.intent.become(status)

    def say(self, role: Speaker, content: str, at: AwareDatetime) -> None:
        self.conversation.append(Message(role=role, content=content, timestamp=at))

    def task(self, task_id: str) -> Task | None:
        return next((task for task in self.tasks if task.id == task_id), None)

    def task_of_run(self, run_id: str) -> Task | None:
        """Return the task whose latest run this is. A late event of an earlier run finds none."""
        return next((task for task in self.tasks if task.run and task.run.id == run_id), None)

    def in_state(self, *states: TaskState) -> list[Task]:
        return [task for task in self.tasks if task.state in states]

    @property
    def short(self) -> str:
        return self.id.replace("-", "")[:8]

    @property
    def from_registry(self) -> bool:
        """Whether its intent was in the repository before the session started."""
        return bool(self.intent.id) and self.intent.id != self.short

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


# Which part of a conversation is old enough to be summarised.

KEPT_VERBATIM = 20
"""The latest messages are always kept word for word."""


def messages_to_summarise(session: Session, window: int) -> int:
    """Return how many of the oldest messages to summarise; 0 if the conversation is short enough."""
    talk = session.conversation
    old = talk[:-KEPT_VERBATIM]
    if all(message.role is Speaker.SYSTEM for message in old):
        return 0  # summarising only a summary would never end
    tokens = estimate_tokens(
        "\n".join(message.content for message in talk), session.llm.token_scale
    )
    return len(old) if tokens > token_budget(window) / 2 else 0
