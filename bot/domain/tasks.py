"""A task, its runs and its workspace. Tasks change by their methods only; everything they hold is replaced."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from bot.domain.evidence import Check, LimitViolation, TaskLimits, Verdict, VerifiedFile
from bot.domain.facts import Fact, Living
from bot.domain.states import RUNS, TASKS, Outcome, RunState, TaskState, move
from bot.domain.steps import Step
from bot.domain.world import Commit, CompletionSource, Usage, Work


class TaskType(StrEnum):
    IMPLEMENTATION = "implementation"
    DOCUMENTATION = "documentation"
    INVESTIGATION = "investigation"
    INTEGRATION = "integration"


class Strategy(StrEnum):
    """A worktree of its own, or the predecessor's."""

    NEW = "New"
    SHARED = "Shared"


class Acceptance(Fact):
    """One thing that must be so when a task (or the whole) is done."""

    id: str
    text: str


class Workspace(Fact):
    """Branch and worktree of a task. The names are saved before anything of it exists."""

    branch: str
    path: str
    created_at: AwareDatetime
    task_ids: tuple[str, ...] = ()
    start: str = ""
    """The commit its own work began from, the predecessors' merged in; empty before."""
    ready: bool = False
    """Whether the worktree stands, as far as is known."""
    merged: tuple[str, ...] = ()
    """Ids of the predecessors whose branches are merged into it."""


class PullText(Fact):
    """Title (Conventional Commits) and body of a pull request, written from the diff."""

    title: str
    body: str


class PullRequest(Fact):
    number: int
    url: str
    merged: bool = False


class TaskResult(Fact):
    success: bool
    summary: str = ""
    error: str | None = None


class Why(StrEnum):
    """Why a run was started."""

    FIRST = "first"
    RESUMED = "resumed"
    """It had been stopped, or had vanished; its work goes on."""
    CHECK_FAILED = "check_failed"
    NO_EVIDENCE = "no_evidence"
    CONFLICT = "conflict"
    RETRY = "retry"
    FEEDBACK = "feedback"
    CHANGED = "changed"
    """Somebody wants something else of the task than before."""


class Run(Fact):
    """One start of one agent CLI on one task: one process in one pane. Feedback is a new run."""

    id: str
    number: int
    agent: str
    conversation: str
    """The CLI's own conversation id, chosen before the launch so that it can be resumed."""
    resumes: bool = False
    why: Why = Why.FIRST
    feedback: str = ""
    """What this run is told beyond its task: the failed check's output, the conflicting files …"""
    state: RunState = RunState.STARTING
    outcome: Outcome | None = None
    nonce: str = ""
    pane_id: str = ""
    pid: int = 0
    started_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    exit_code: int | None = None
    ended_by: CompletionSource | None = None
    message: str = ""
    auto_flag: str | None = None
    log_path: str = ""
    usage: Usage | None = None

    @property
    def name(self) -> str:
        """The name of its pane. tmux refuses a second one."""
        return f"run-{self.id}"

    @property
    def alive(self) -> bool:
        return self.state is not RunState.ENDED

    def become(self, state: RunState, **changes: object) -> Run:
        return self.model_copy(update={"state": move(RUNS, self.state, state), **changes})

    def end(self, outcome: Outcome, at: AwareDatetime, **changes: object) -> Run:
        return self.become(RunState.ENDED, outcome=outcome, ended_at=at, **changes)


class Counters(Fact):
    """Every loop has its bound; these count towards them."""

    failed_checks: int = 0
    judge_continues: int = 0
    evidence_asks: int = 0
    failed_runs: int = 0
    conflict_rounds: int = 0
    review_rounds: int = 0
    replans: int = 0

    def plus(self, name: str) -> Counters:
        return self.model_copy(update={name: getattr(self, name) + 1})


class Task(Living):
    """A unit one agent can finish."""

    id: str
    key: str
    """Spec Kit's T001."""
    number: int = 0
    """n of the label task-<session>-<n>."""
    name: str
    description: str = ""
    story: str = ""
    """US1; empty: it serves all stories."""
    parallel: bool = False
    """Spec Kit's [P]."""
    type: TaskType = TaskType.IMPLEMENTATION
    state: TaskState = TaskState.PENDING
    blocked: str = ""
    """Why it is Blocked or Failed, in a sentence."""
    blocked_from: TaskState | None = None
    """What it was doing before; a retry goes on there."""
    step: Step | None = None
    """What shall be done about it? It waits for that choice."""
    past: tuple[str, ...] = ()
    """What happened to it and which step was chosen, the last ones: `check_failed>again`."""
    next_why: Why = Why.FIRST
    next_feedback: str = ""
    """What its next run is started for, and is told."""
    dependencies: tuple[str, ...] = ()
    """Ids of tasks that must be Completed first."""
    requirements: tuple[str, ...] = ()
    acceptance: tuple[Acceptance, ...] = ()
    files: tuple[str, ...] = ()
    """Files it declared it would touch."""
    steps: tuple[str, ...] = ()
    complexity: str = ""
    tests_first: bool = True
    worktree_strategy: Strategy = Strategy.NEW
    agent: str = ""
    workspace: Workspace | None = None
    runs: list[Run] = Field(default_factory=list[Run])
    checks: list[Check] = Field(default_factory=list[Check])
    verdicts: list[Verdict] = Field(default_factory=list[Verdict])
    work: Work | None = None
    """What git says lies in its worktree, as last looked at."""
    work_of: str = ""
    """The run after which that was."""
    verified_files: tuple[VerifiedFile, ...] = ()
    evidence_refs: tuple[str, ...] = ()
    counters: Counters = Counters()
    limits: TaskLimits = TaskLimits()
    violations: tuple[LimitViolation, ...] = ()
    pull_text: PullText | None = None
    """What a pull request of it says."""
    pull_request: PullRequest | None = None
    result: TaskResult | None = None
    parent: str | None = None
    original: str | None = None
    replaced_by: tuple[str, ...] = ()
    replan_reason: str = ""
    created_at: AwareDatetime
    started_at: AwareDatetime | None = None
    completed_at: AwareDatetime | None = None

    def become(self, state: TaskState, why: str = "") -> None:
        """Change state. `why` belongs to Blocked and Failed; every other state clears it. What was to be chosen is past."""
        old, self.state = self.state, move(TASKS, self.state, state)
        self.blocked, self.step = why, None
        self.blocked_from = old if state is TaskState.BLOCKED else None

    def copied(self) -> Task:
        """A copy whose lists are its own; the facts in them are shared."""
        return self.model_copy(
            update={"runs": [*self.runs], "checks": [*self.checks], "verdicts": [*self.verdicts]}
        )

    @property
    def run(self) -> Run | None:
        """The run that counts: the last one."""
        return self.runs[-1] if self.runs else None

    def update_run(self, run: Run) -> None:
        self.runs[-1] = run

    def go_on(self, told: str) -> None:
        """An interrupted run is to be resumed. What it was to mend is not forgotten over that."""
        cause = next((run for run in reversed(self.runs) if run.why is not Why.RESUMED), None)
        unmet = cause.feedback if cause else ""
        self.next_why = Why.RESUMED
        self.next_feedback = (
            f"{told}\n\nWhat that run was for still holds: {unmet}" if unmet else told
        )

    def count(self, name: str) -> int:
        self.counters = self.counters.plus(name)
        return getattr(self.counters, name)

    @property
    def commits(self) -> tuple[Commit, ...]:
        return self.work.commits if self.work else ()

    @property
    def check(self) -> Check | None:
        return self.checks[-1] if self.checks else None
