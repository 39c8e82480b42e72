"""A task, its runs and its workspace. Tasks change by their methods only; everything they hold is replaced."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from bot.domain.dialogs import Dialog
from bot.domain.evidence import Check, LimitViolation, TaskLimits, Verdict, VerifiedFile
from bot.domain.facts import Fact, Living
from bot.domain.hosting import Pull
from bot.domain.people import Person
from bot.domain.states import RUNS, TASKS, Outcome, RunState, TaskState, move
from bot.domain.steps import Step
from bot.domain.tampering import Flag
from bot.domain.world import AgentUsage, Checkout, Commit, CompletionSource, Work


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
    """Of a task, or of all tasks that share its branch."""

    number: int
    url: str
    merged: bool = False
    seen: Pull | None = None
    """As the forge showed it last."""
    head: str = ""
    """The commit the bot has put there last."""
    delivered: tuple[str, ...] = ()
    """Keys of failed checks and of notes that its agent was told already."""
    wanted_by: Person | None = None
    """Who wants it merged by the bot."""
    problem: str = ""
    """Why the last try to merge it did not work."""
    unneeded: bool = False
    """A person said that the session need not wait for it."""
    taken_in: tuple[str, ...] = ()
    """Merge commits of the base that are in its branch again."""

    @property
    def open(self) -> bool:
        return not self.merged and (self.seen is None or self.seen.open)


class TaskResult(Fact):
    success: bool
    summary: str = ""
    error: str | None = None


class Hold(StrEnum):
    """Reasons for which a task waits for a person, who may let it pass."""

    EVIDENCE = "evidence"
    FLAGS = "flags"
    """Its tests look as if they had been made to pass."""
    LIMIT = "limit"
    VERDICT = "verdict"


class Why(StrEnum):
    """Why a run was started."""

    FIRST = "first"
    RESUMED = "resumed"
    """It had been stopped, or had vanished; its work goes on."""
    CHECK_FAILED = "check_failed"
    NO_EVIDENCE = "no_evidence"
    CONFLICT = "conflict"
    JUDGED = "judged"
    """The judge found something missing."""
    FLAGGED = "flagged"
    """A person sent it back because of how its tests were changed."""
    CI_FAILED = "ci_failed"
    REVIEW = "review"
    LIMITED = "limited"
    """Its account had nothing left, and has again."""
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
    usage: AgentUsage | None = None
    """What the agent says it has used."""
    attach: str = ""
    """The command with which a person looks at its pane."""
    dialog: Dialog | None = None
    """What it asks a person just now."""
    dialogs: int = 0
    """How often it has asked."""
    reply: str = ""
    """The option that somebody has chosen, while it is being typed."""
    before: Checkout | None = None
    """How the main checkout looked when it began."""

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
    flags: tuple[Flag, ...] = ()
    """Signs that its tests were made to pass, in the work as last looked at."""
    accepted: tuple[str, ...] = ()
    """What a person let pass: commits whose flags, limits or verdict they have seen."""
    checked_of: str = ""
    """The run after which the last check was."""
    judged_of: str = ""
    """The run that the last verdict is about."""
    holds: int = 0
    """How often a person had to decide about it."""
    held: Hold | None = None
    """What kind of reason it is blocked for; none: whatever the sentence says."""
    taking_in: tuple[str, ...] = ()
    """Commits of the base that are to be merged into its branch before it goes on."""
    not_before: AwareDatetime | None = None
    """When its agent's account has something left again."""
    taken_by: str = ""
    """Who works in its pane themselves; the bot keeps its hands off until they hand it back."""
    told: str = ""
    """What its next run is told besides what it is started for."""
    tries: int = 0
    """How often a pull request of it was tried to be made."""
    problem: str = ""
    """Why its pull request cannot be made."""
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
        self.blocked, self.step, self.held = why, None, None
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

    def note_evidence(self, id: str) -> None:
        """Each piece once: what is done again after a crash leaves the same."""
        if id and id not in self.evidence_refs:
            self.evidence_refs = (*self.evidence_refs, id)

    def look_again(self) -> None:
        """What was seen, tested and judged before is no reason to believe it now."""
        self.work_of = self.checked_of = self.judged_of = ""

    def count(self, name: str) -> int:
        self.counters = self.counters.plus(name)
        return getattr(self.counters, name)

    @property
    def commits(self) -> tuple[Commit, ...]:
        return self.work.commits if self.work else ()

    @property
    def asking(self) -> str:
        """Which time it is that a person is asked: a press on an earlier card does nothing."""
        return f"{len(self.runs)}" if self.holds <= 1 else f"{len(self.runs)}.{self.holds}"

    @property
    def report(self) -> str:
        """What its agent said at the end."""
        return self.run.message if self.run else ""

    @property
    def usage(self) -> AgentUsage:
        """What all its runs have used, as far as they say."""
        return sum((run.usage for run in self.runs if run.usage), AgentUsage())

    @property
    def check(self) -> Check | None:
        return self.checks[-1] if self.checks else None
