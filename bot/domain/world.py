"""What the world outside reports: repositories, worktrees, panes, processes, replies. Facts only."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime, Field

from bot.domain.checks import Report
from bot.domain.facts import Fact
from bot.domain.states import Outcome


class Upstream(Fact):
    """The base branch as it stands on its host, compared with the same branch of the checkout."""

    host: str
    """As people call it: GitHub, origin."""
    commit: str = ""
    """Where it stands there; empty: that is not known."""
    local: str = ""
    """Where the checkout's branch stands; empty: there is no such branch any more."""
    ahead: int | None = 0
    """Commits there that the checkout's branch lacks; none: some, but nobody has counted them."""
    unpushed: int = 0
    """Commits of the checkout's branch that are not there."""
    used: bool = False
    """The session builds on the host's branch."""
    missing: bool = False
    """There is no such branch there."""
    problem: str = ""
    """Why it is not known where it stands there."""


class Base(Fact):
    """Where a session starts from: a branch, and the commit it stands at on its host, or in the checkout without one."""

    repository: str
    """The main checkout's top directory, absolute."""
    branch: str
    commit: str
    uncommitted: int = 0
    """How many files of the main checkout have uncommitted changes. They are never touched."""
    under_way: str = ""
    """What a person has begun there and not ended: a merge, a bisect."""
    upstream: Upstream | None = None
    """None: it is hosted nowhere, and has no `origin` that could be asked."""


class Apart(Fact):
    """How two commits differ."""

    ahead: int
    """Commits that only the second one has."""
    behind: int
    """Commits that only the first one has."""
    files: tuple[str, ...] = ()
    """What differs between their trees, the first few thousand."""


class BuildSystem(StrEnum):
    CARGO = "Cargo"
    NPM = "Npm"
    PNPM = "Pnpm"
    YARN = "Yarn"
    BUN = "Bun"
    PYTHON = "Python"
    GO = "Go"
    MAVEN = "Maven"
    GRADLE = "Gradle"
    CMAKE = "CMake"
    MAKE = "Make"
    DOTNET = "DotNet"
    RUBY = "Ruby"
    OTHER = "Other"


class Project(Fact):
    """A directory of the repository that is built and tested by itself."""

    path: str
    """Below the top directory; the top itself is `.`."""
    build_system: BuildSystem = BuildSystem.OTHER
    test_command: str = ""
    """What runs its tests, in that directory. Empty: none was found."""
    set_up: str = ""
    """What its tests need in a new worktree first. Empty: nothing, or what a directory around it has done."""


class Scan(Fact):
    """What the bot read of the repository at one commit, from git objects only."""

    commit: str
    conventions: str = ""
    """CLAUDE.md, AGENTS.md, CONTRIBUTING.md: the rules of the house."""
    directory_tree: str = ""
    build_system: BuildSystem = BuildSystem.OTHER
    test_command: str = ""
    """Empty: none was found, and the person is asked."""
    set_up: str = ""
    """What the tests need in a new worktree first, as lock files tell: `npm ci`. It is told, and not run."""
    has_tests: bool = False
    """There are files of tests, or something that runs them."""
    projects: tuple[Project, ...] = ()
    """The top directory, and what is built and tested by itself below it."""
    project_meta: str = ""
    specs_summary: str = ""
    source_overview: str = ""
    files: int = 0
    truncated: bool = False


class Commit(Fact):
    sha: str
    subject: str


class Work(Fact):
    """What really lies in a worktree, read from git and not from what an agent says."""

    head: str
    commits: tuple[Commit, ...] = ()
    """Those ahead of the commit the task started from, newest first."""
    changed_files: tuple[str, ...] = ()
    created_files: tuple[str, ...] = ()
    deleted_files: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()


class Merged(Fact):
    """A merge was tried. With conflicts nothing was changed: it was aborted."""

    commit: str = ""
    conflicts: tuple[str, ...] = ()


class Removal(Fact):
    """A worktree and its branch were to be removed. Without proof that it is safe nothing is removed."""

    branch: str
    path: str
    worktree_gone: bool
    branch_gone: bool
    reason: str = ""
    """Why something was left."""


class Executed(Fact):
    """A command of the bot's own (the tests, a set-up command) ran to its end or its limit."""

    exit_code: int | None
    """None: it was killed at its time limit."""
    seconds: float
    output: str
    """The last part of it, masked and bounded."""
    output_path: str = ""
    report: Report | None = None
    """Of a test run: what its runner told. None: nothing."""


class CompletionSource(StrEnum):
    """What told that a run was over."""

    HOOK = "Hook"
    PROCESS_EXIT = "ProcessExit"
    OUTPUT_PATTERN = "OutputPattern"
    STATUS_QUERY = "StatusQuery"
    SWEEP = "Sweep"
    STOPPED = "Stopped"


class Pane(Fact):
    """Where a run lives: a tmux session named after it, with one pane."""

    name: str
    pane_id: str
    pid: int
    boot_time: float = 0.0
    """When the process started: pids are used again."""


class AgentUsage(Fact):
    """What an agent says it has used itself."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """In US dollars; none: it does not say."""

    def __add__(self, other: AgentUsage) -> AgentUsage:
        costs = [one for one in (self.cost, other.cost) if one is not None]
        return AgentUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=sum(costs) if costs else None,
        )


class Limit(Fact):
    """An agent's account has nothing left for now."""

    says: str
    resets_at: AwareDatetime | None = None
    """None: it does not say."""


class RunEnd(Fact):
    """How a run ended, and who noticed."""

    outcome: Outcome
    source: CompletionSource
    exit_code: int | None = None
    message: str = ""
    """What the agent said last, if it said anything."""
    conversation: str = ""
    """The id under which its conversation can be taken up again, where the CLI chose one itself."""
    usage: AgentUsage | None = None
    limit: Limit | None = None


class Checkout(Fact):
    """How the main checkout looks: agents have no business there."""

    branch: str
    commit: str
    changed: tuple[str, ...] = ()
    """Files with uncommitted changes, each as `path:mark`; the mark is another one when the file is."""

    def touched_since(self, before: Checkout) -> tuple[str, ...]:
        """The files whose uncommitted changes are not what they were. Whether its commit moved is told by `commit`."""
        entries = set(self.changed) ^ set(before.changed)
        return tuple(sorted({entry.rpartition(":")[0] for entry in entries}))


class Collision(Fact):
    """Two branches that would not merge with each other."""

    one: str
    other: str
    files: tuple[str, ...]


class Launch(Fact):
    """How to start an agent CLI on one instruction: nothing in it goes through a shell unquoted."""

    argv: tuple[str, ...]
    env: dict[str, str] = Field(default_factory=dict[str, str])
    """Added to the pane's allow-listed environment."""
    files: dict[str, str] = Field(default_factory=dict[str, str])
    """Files to write beside the prompt before the start: name → content."""
    marker: str = ""
    """The line the agent prints when it is done; empty: its process ends instead."""
    stdin: Literal["terminal", "prompt", "nothing"] = "terminal"
    """What the agent reads: its pane, the prompt file, or nothing (a headless CLI that would wait for more)."""


class Lent(Fact):
    """What an agent in a sandbox is lent beside its worktree, as absolute paths. What is not there is not lent."""

    spool: str = ""
    """Its run's folder."""
    folders: tuple[str, ...] = ()
    """Folders of its CLI. Where one does not lie in the home folder, the worktree has one of its own in its place."""
    copies: tuple[str, ...] = ()
    """Files it gets copies of: what it changes there changes nothing elsewhere."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    """Files that are changed in place: logins that are renewed."""


class AgentReady(Fact):
    """The answer to «can this agent CLI run here, unattended?»"""

    agent: str
    ok: bool
    version: str = ""
    problem: str = ""
    remedy: str = ""
    warnings: tuple[str, ...] = ()
    """What whoever approves should know: settings of the repository that run code, a question that will be asked."""


AI_SETTINGS = "AI settings are required"
"""What is said where nobody has set which model is asked."""


class ModelChoice(Fact):
    """Which model is asked, as the settings tell. Never a key."""

    provider: str
    base_url: str = ""
    model: str = ""
    key_set: bool = False
    missing: str = ""
    """What is still to be set, in a sentence; empty: it can be asked."""


class Usage(Fact):
    """What the master LLM has cost so far."""

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: int = 0
    """The prompts' tokens as they were estimated: held against the endpoint's own figures."""
    milliseconds: int = 0
    """Waited for answers."""
    provider: str = ""
    """Who answered last, and which model that was."""
    model: str = ""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            reply_tokens=self.reply_tokens + other.reply_tokens,
            estimated=self.estimated + other.estimated,
            milliseconds=self.milliseconds + other.milliseconds,
            provider=other.provider or self.provider,
            model=other.model or self.model,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.reply_tokens


class Reply(Fact):
    """One answer of the LLM, as text, with what it cost."""

    text: str
    usage: Usage
    model: str = ""
    finish_reason: str = "stop"
