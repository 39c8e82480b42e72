"""A task: a unit of work that one agent can finish, its workspace, its pull request, and how it is made from a draft.

A task changes only through its methods; the values in it are replaced, never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, Field

from bot.core.evidence import Check, LimitViolation, TaskLimits, Verdict, VerifiedFile
from bot.core.facts import EXACT, Exact, Fact, MutableModel
from bot.core.forge import Pull
from bot.core.git import Commit, Work
from bot.core.people import Person
from bot.core.runs import AgentUsage, Run, Why
from bot.core.spec_kit.drafts import TaskDraft, TaskType, WorktreeStrategy
from bot.core.states import TASKS, TaskState, move
from bot.core.tampering.signs import Flag

# What a task is before it has started: its type, its acceptance criteria, where it is worked on.


class Strategy(StrEnum):
    """A worktree of its own, or the dependency's."""

    NEW = "New"
    SHARED = "Shared"


class Acceptance(Fact):
    """A criterion that must be fulfilled when a task (or the whole session) is done."""

    id: str
    text: str


class Workspace(Fact):
    """Branch and worktree of a task. The names are saved before either exists."""

    branch: Exact
    path: Exact
    created_at: AwareDatetime
    task_ids: Annotated[tuple[str, ...], EXACT] = ()
    start: Exact = ""
    """The commit its own work began from, with dependencies merged in; empty until then."""
    ready: bool = False
    """Whether the worktree exists, as far as is known."""
    merged: Annotated[tuple[str, ...], EXACT] = ()
    """Ids of the dependencies whose branches are merged into it."""


# Results of a task: the text of its pull request, the pull request itself, and the outcome.


class PullText(Fact):
    """Title (Conventional Commits) and body of a pull request, written from the diff."""

    title: str
    body: str


class PullRequest(Fact):
    """The pull request of a task, or of all tasks that share its branch."""

    number: int
    url: str
    merged: bool = False
    seen: Pull | None = None
    """Its state as last seen on the forge."""
    head: str = ""
    """The commit that the bot pushed last."""
    delivered: tuple[str, ...] = ()
    """Keys of failed checks and comments that its agent was already told of."""
    wanted_by: Person | None = None
    """The person who wants the bot to merge it."""
    problem: str = ""
    """Why it is not merged yet, although somebody wants it."""
    checks: tuple[str, ...] = ()
    """The names of all checks that its heads have had so far."""
    checks_since: AwareDatetime | None = None
    """Since when the bot waits for checks of its head."""
    unchecked: str = ""
    """The head for which a person was asked because checks have not appeared; empty if nobody is asked."""
    times_asked: int = 0
    """How often that happened."""
    without_checks: str = ""
    """The head that a person wants merged although checks have not appeared."""
    unneeded: bool = False
    """A person said that the session need not wait for it."""
    taken_in: tuple[str, ...] = ()
    """Merge commits of the base that its branch already contains."""

    @property
    def open(self) -> bool:
        return not self.merged and (self.seen is None or self.seen.open)


class TaskResult(Fact):
    success: bool
    summary: str = ""
    error: str | None = None


# A choice between next steps: the bot says which are legal, the model picks one, and any other
# answer counts as the default.


class Option(Fact):
    """One legal step."""

    id: str
    says: str
    """What the step means, for the model and for people."""


class Step(Fact):
    """What happened, and which steps are legal now. It stays open until an option is chosen."""

    id: str
    happened: str
    options: tuple[Option, ...]
    default: str
    """The option that is taken if the model gives no valid one."""

    def option(self, id: str) -> Option | None:
        return next((option for option in self.options if option.id == id), None)


# The task itself.


class Hold(StrEnum):
    """Reasons for which a task waits for a person, who may let it pass."""

    EVIDENCE = "evidence"
    FLAGS = "flags"
    """There are signs that its tests were made to pass, or that it touches more than its plan says."""
    LIMIT = "limit"
    SETTINGS = "settings"
    """The settings that its agent obeys have changed."""
    LOST = "lost"
    """Its worktree or branch was removed by hand: it is created again, or replaced by another one."""
    VERDICT = "verdict"
    TESTS = "tests"
    """Nobody has confirmed the test command, or this machine cannot run it."""


class Counters(Fact):
    """Counts repetitions. Every loop has a limit."""

    failed_checks: int = 0
    judge_continues: int = 0
    evidence_asks: int = 0
    failed_runs: int = 0
    conflict_rounds: int = 0
    review_rounds: int = 0
    replans: int = 0

    def plus(self, name: str) -> Counters:
        return self.model_copy(update={name: getattr(self, name) + 1})


class NextRun(MutableModel):
    """What is known of the next run of a task before it starts."""

    why: Why = Why.FIRST
    """The reason for the next run."""
    feedback: str = ""
    """What the agent is told about that reason."""
    instructions: str = ""
    """Further instructions for the agent."""
    to_merge: str = ""
    """What the agent must merge first. Each run is told so until git confirms the merge."""
    not_before: AwareDatetime | None = None
    """When its agent's account has quota again."""


class Task(MutableModel):
    """A unit of work that one agent can finish."""

    id: str
    key: str
    """Spec Kit's T001."""
    number: int = 0
    """The n of the label task-<session>-<n>."""
    name: str
    description: str = ""
    story: str = ""
    """US1; empty if it serves all stories."""
    parallel: bool = False
    """Spec Kit's [P]."""
    type: TaskType = TaskType.IMPLEMENTATION
    state: TaskState = TaskState.PENDING
    blocked: str = ""
    """Why it is Blocked or Failed, in a sentence."""
    blocked_from: TaskState | None = None
    """Its state before it was blocked; a retry continues there."""
    choice: Step | None = None
    """The choice of the next step that the task waits for."""
    past_choices: tuple[str, ...] = ()
    """What happened to it and which step was chosen, the last ones: `check_failed>again`."""
    next_run: NextRun = Field(default_factory=NextRun)
    dependencies: tuple[str, ...] = ()
    """Ids of tasks that must be Completed first."""
    requirements: tuple[str, ...] = ()
    acceptance: tuple[Acceptance, ...] = ()
    files: tuple[str, ...] = ()
    """Files it declared it would touch."""
    read_first: tuple[str, ...] = ()
    """The places in the code that its agent reads before it begins."""
    complexity: str = ""
    tests_first: bool = True
    worktree_strategy: Strategy = Strategy.NEW
    agent: str = ""
    workspace: Workspace | None = None
    former_workspaces: tuple[Workspace, ...] = ()
    """Earlier workspaces that were lost. Their names are not used again, and they are cleaned up at the end."""
    runs: list[Run] = Field(default_factory=list[Run])
    checks: list[Check] = Field(default_factory=list[Check])
    verdicts: list[Verdict] = Field(default_factory=list[Verdict])
    work: Work | None = None
    """What git showed in its worktree at the last look."""
    work_run: str = ""
    """The run after which that was."""
    found_command: str = ""
    """What runs the tests, as its tree looks; it counts once a person has seen it."""
    found_problem: str = ""
    """Why that command will not work here."""
    flags: tuple[Flag, ...] = ()
    """Signs in its latest work that its tests were made to pass, or that it touches more than its plan says."""
    accepted: tuple[str, ...] = ()
    """What people have accepted: commits whose flags or verdict they have seen, names of limits, marks of settings."""
    settings_mark: str = ""
    """The hash of the settings that its agent obeys, as of when a person was asked about them."""
    checked_run: str = ""
    """The run after which the last check was."""
    judged_run: str = ""
    """The run that the last verdict is about."""
    times_asked: int = 0
    """How often a person had to decide about it."""
    hold: Hold | None = None
    """What kind of reason it is blocked for; none: whatever the sentence says."""
    base_to_merge: tuple[str, ...] = ()
    """Commits of the base that are to be merged into its branch before it goes on."""
    taken_by: str = ""
    """The person who works in its pane; the bot does nothing with it until they hand it back."""
    pull_tries: int = 0
    """How often a pull request of it was tried to be made."""
    pull_problem: str = ""
    """Why its pull request cannot be made."""
    verified_files: tuple[VerifiedFile, ...] = ()
    evidence_refs: tuple[str, ...] = ()
    counters: Counters = Counters()
    limits: TaskLimits = TaskLimits()
    violations: tuple[LimitViolation, ...] = ()
    pull_text: PullText | None = None
    """The text of its pull request."""
    pull_request: PullRequest | None = None
    result: TaskResult | None = None
    parent: str | None = None
    original: str | None = None
    replaced_by: tuple[str, ...] = ()
    replan_reason: str = ""
    created_at: AwareDatetime
    started_at: AwareDatetime | None = None
    idle_seconds: float = 0
    """Seconds since its start in which nobody worked on it: it waited for a person, an account, its turn, a review."""
    idle_since: AwareDatetime | None = None
    """Since when the task waits like this."""
    completed_at: AwareDatetime | None = None

    def become(self, state: TaskState, why: str = "") -> None:
        """Change the state and close any open choice. `why` is for Blocked and Failed; every other state clears it."""
        old, self.state = self.state, move(TASKS, self.state, state)
        self.blocked, self.choice, self.hold = why, None, None
        self.blocked_from = old if state is TaskState.BLOCKED else None
        if state is TaskState.NEEDS_CONTINUATION:
            # it is worked on again: a pending split or pull request of the former work is obsolete
            self.replan_reason = self.pull_problem = ""

    @property
    def run(self) -> Run | None:
        """The current run, i.e. the last one."""
        return self.runs[-1] if self.runs else None

    def update_run(self, run: Run) -> None:
        self.runs[-1] = run

    def go_on(self, told: str) -> None:
        """Have the interrupted run resumed, and repeat the feedback it was started for."""
        interrupted = (Why.RESUMED, Why.LIMITED)
        cause = next((run for run in reversed(self.runs) if run.why not in interrupted), None)
        unmet = cause.feedback if cause else ""
        self.next_run.why = Why.RESUMED
        self.next_run.feedback = (
            f"{told}\n\nWhat that run was for still holds: {unmet}" if unmet else told
        )

    def require_merge(self, told: str) -> None:
        """Add a conflict that its agent has to settle, keeping one that is still open."""
        self.next_run.to_merge = "\n\n".join(
            dict.fromkeys(one for one in (self.next_run.to_merge, told) if one)
        )

    def note_evidence(self, id: str) -> None:
        # Each id once: an action that is repeated after a crash adds nothing.
        if id and id not in self.evidence_refs:
            self.evidence_refs = (*self.evidence_refs, id)

    def invalidate_verification(self) -> None:
        # Looks, checks and verdicts made before no longer count.
        self.work_run = self.checked_run = self.judged_run = ""

    def count(self, name: str) -> int:
        self.counters = self.counters.plus(name)
        return getattr(self.counters, name)

    @property
    def commits(self) -> tuple[Commit, ...]:
        return self.work.commits if self.work else ()

    @property
    def asking(self) -> str:
        """Identifies the current question to a person, so that a press on an earlier card does nothing."""
        return (
            f"{len(self.runs)}" if self.times_asked <= 1 else f"{len(self.runs)}.{self.times_asked}"
        )

    @property
    def report(self) -> str:
        """The result that its agent wrote down, or else its last message."""
        return (self.run.report or self.run.message) if self.run else ""

    @property
    def usage(self) -> AgentUsage:
        """The usage of all its runs, as far as they report it."""
        return sum((run.usage for run in self.runs if run.usage), AgentUsage())

    @property
    def check(self) -> Check | None:
        return self.checks[-1] if self.checks else None


# Smaller tasks that the model proposes, in place of one that was too large or for what is missing at the end.


class SmallerTask(Fact):
    name: str
    description: str = ""
    acceptance: tuple[Acceptance, ...] = ()
    files: tuple[str, ...] = ()
    type: TaskType = TaskType.IMPLEMENTATION
    after: tuple[int, ...] = ()
    """Which of the others come first, by their position."""


# Tasks made from drafts, and drafts made from tasks, for planning, showing and comparing them.


def drafts_of(tasks: Sequence[Task]) -> tuple[TaskDraft, ...]:
    """Return the tasks as drafts."""
    keys = {task.id: task.key for task in tasks}
    return tuple(_draft_of(task, keys) for task in tasks)


def _draft_of(task: Task, keys: Mapping[str, str]) -> TaskDraft:
    return TaskDraft(
        key=task.key,
        title=task.name,
        description=task.description,
        story=task.story,
        parallel=task.parallel,
        depends_on=tuple(keys[id] for id in task.dependencies if id in keys),
        files=task.files,
        read_first=task.read_first,
        acceptance=tuple(acceptance.text for acceptance in task.acceptance),
        requirements=task.requirements,
        type=task.type,
        worktree=WorktreeStrategy.SHARED
        if task.worktree_strategy is Strategy.SHARED
        else WorktreeStrategy.NEW,
        complexity=task.complexity,
        agent=task.agent,
    )


def task_from(
    draft: TaskDraft, *, id: str, number: int, dependencies: tuple[str, ...], at: AwareDatetime
) -> Task:
    task = Task(id=id, key=draft.key, number=number, name=draft.title, created_at=at)
    apply_draft(draft, task, dependencies)
    return task


def apply_draft(draft: TaskDraft, task: Task, dependencies: tuple[str, ...]) -> None:
    """Update the task from the draft; its state, runs and branch stay."""
    task.name, task.description = draft.title, draft.description
    task.story, task.parallel = draft.story, draft.parallel
    task.type = TaskType(draft.type)
    task.dependencies, task.requirements = dependencies, draft.requirements
    task.acceptance = tuple(
        Acceptance(id=f"{draft.key}-A{n}", text=text) for n, text in enumerate(draft.acceptance, 1)
    )
    task.files, task.complexity, task.agent = draft.files, draft.complexity, draft.agent
    task.read_first = draft.read_first
    shared = draft.worktree is WorktreeStrategy.SHARED
    task.worktree_strategy = Strategy.SHARED if shared else Strategy.NEW
