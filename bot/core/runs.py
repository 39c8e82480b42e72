"""A run: one start of an agent CLI on a task, and why it was started; its dialogs, and how adapters report its pane,
its usage and its end.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime, Field

from bot.core.checks import Report
from bot.core.facts import Exact, Fact
from bot.core.git import Checkout
from bot.core.states import RUNS, Outcome, RunState, move

# A dialog of a program in a pane, and how it can be answered.

_SECRET = re.compile(
    r"pass ?(?:word|phrase|code)|token|secret|api[ _-]?key|credential|\b(?:otp|pin|2fa)\b",
    re.IGNORECASE,
)


class DialogKind(StrEnum):
    MENU = "menu"
    """One of several lines is to be chosen."""
    YES_NO = "yes_no"
    WORDS = "words"
    """A line of text is wanted; there is nothing to choose from."""


class DialogOption(Fact):
    id: str
    """Identifies the option in a press: 1, 2, y, n."""
    label: str
    keys: tuple[str, ...] = ()
    """The keys to press for it, in this order."""


class Dialog(Fact):
    """A dialog that stays on the screen until somebody answers it."""

    id: str
    """Derived from its text: the same question has the same id when it is asked again."""
    kind: DialogKind
    title: str
    """The question itself, on one line."""
    text: str = ""
    """The text around it."""
    options: tuple[DialogOption, ...] = ()
    topic: str = ""
    """Its subject without what differs each time, e.g. «Allow Bash»; a standing answer applies to the topic."""

    @property
    def is_secret(self) -> bool:
        """Whether the answer is a secret, which must not go through a chat."""
        return self.kind is DialogKind.WORDS and bool(_SECRET.search(f"{self.title} {self.text}"))

    def option(self, id: str) -> DialogOption | None:
        return next((option for option in self.options if option.id == id), None)


class StandingAnswer(Fact):
    """An answer that a person gave for the rest of the session."""

    agent: str
    topic: str
    label: str
    by: str


# What adapters report about agents and the bot's own commands: how they start, where they run, how they end.


class Executed(Fact):
    """The result of one of the bot's own commands (tests, set-up)."""

    exit_code: int | None
    """`None` if it was killed at its time limit."""
    seconds: float
    output: str
    """The end of its output, masked and limited in size."""
    output_path: str = ""
    report: Report | None = None
    """For a test run: the runner's report, or `None` without one."""


class CompletionSource(StrEnum):
    """What revealed that a run was over."""

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
    """When the process started; pids are reused."""


class AgentUsage(Fact):
    """The usage that an agent itself reports."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """In US dollars; `None` if it reports none."""

    def __add__(self, other: AgentUsage) -> AgentUsage:
        costs = [one for one in (self.cost, other.cost) if one is not None]
        return AgentUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=sum(costs) if costs else None,
        )


class Limit(Fact):
    """An agent's account has reached its limit."""

    says: str
    resets_at: AwareDatetime | None = None
    """`None` if unknown."""


class RunEnd(Fact):
    """How a run ended, and what noticed it."""

    outcome: Outcome
    source: CompletionSource
    exit_code: int | None = None
    message: str = ""
    """The last message of the agent, if any."""
    conversation: str = ""
    """The id with which its conversation can be resumed, if the CLI chose the id itself."""
    usage: AgentUsage | None = None
    limit: Limit | None = None


class Launch(Fact):
    """How to start an agent CLI on one instruction. Nothing in it passes through a shell unquoted."""

    argv: tuple[str, ...]
    env: dict[str, str] = Field(default_factory=dict[str, str])
    """Added to the pane's allow-listed environment."""
    files: dict[str, str] = Field(default_factory=dict[str, str])
    """Files to write beside the prompt before the start: name → content."""
    marker: str = ""
    """The line that the agent prints when it is done; empty if its process ends instead."""
    stdin: Literal["terminal", "prompt", "nothing"] = "terminal"
    """Where the agent's input comes from: its pane, the prompt file, or nothing (a headless CLI that would wait for
    more).
    """


class SandboxPaths(Fact):
    """What a sandboxed agent may use besides its worktree, as absolute paths. Missing paths are ignored."""

    spool: str = ""
    """The run's folder."""
    folders: tuple[str, ...] = ()
    """Folders of its CLI. One that is outside the home folder is replaced by a private folder of the worktree."""
    copies: tuple[str, ...] = ()
    """Files that it gets copies of: its changes stay in the copies."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    """Files that are changed in place, such as logins that are renewed."""


class AgentReady(Fact):
    """The answer to «can this agent CLI run here, unattended?»"""

    agent: Exact
    ok: bool
    version: str = ""
    problem: str = ""
    remedy: str = ""
    warnings: tuple[str, ...] = ()
    """What an approver should know: repository settings that run code, or a dialog that will appear."""


# A run, and what was done about one that does not end.


class Why(StrEnum):
    """Why a run was started."""

    FIRST = "first"
    RESUMED = "resumed"
    """It had been stopped or had vanished; its work continues."""
    CHECK_FAILED = "check_failed"
    NO_EVIDENCE = "no_evidence"
    CONFLICT = "conflict"
    JUDGED = "judged"
    """The model's verdict found something missing."""
    FLAGGED = "flagged"
    """A person sent it back because of how its tests were changed."""
    CI_FAILED = "ci_failed"
    REVIEW = "review"
    LIMITED = "limited"
    """Its account's limit has been reset."""
    RETRY = "retry"
    FEEDBACK = "feedback"
    CHANGED = "changed"
    """Somebody changed what the task shall do."""


class LookFor(StrEnum):
    """Why the bot looks in on an agent that does not end."""

    ASK = "ask"
    """To ask the agent whether it is done."""
    NUDGE = "nudge"
    """The same, but a person wants it."""
    DECIDE = "decide"
    """It was asked and stays silent: a person decides."""
    LONG = "long"
    """It has worked for very long: a person decides."""


class Quiet(Fact):
    """What was done about an agent that does not end."""

    look: LookFor | None = None
    """Why the bot is looking in on it now."""
    looks: int = 0
    asked: bool = False
    """It was asked whether it is done, or could not be asked."""
    unasked: str = ""
    """Why it could not be asked."""
    cards: int = 0
    """How often a person was asked."""
    shown: AwareDatetime | None = None
    """Since when a person is being asked."""
    about_time: bool = False
    """Asked because of its long run time, not because of silence."""
    times_long: int = 0
    commits: int = 0
    """Commits on its branch when the bot looked."""
    uncommitted: int = 0
    """Uncommitted files at that time."""
    stopping: bool = False
    """Taken as done: its work is examined once it has been stopped."""


class Run(Fact):
    """One start of one agent CLI on one task: one process in one pane. Feedback starts a new run."""

    id: str
    number: int
    agent: str
    conversation: str
    """The CLI's own conversation id, chosen before the launch so that the conversation can be resumed."""
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
    """The usage that the agent reports."""
    attach: str = ""
    """The command with which a person can view its pane."""
    dialog: Dialog | None = None
    """The dialog that is open now."""
    dialogs: int = 0
    """How many dialogs it has opened."""
    ignored: int = 0
    """How many dialogs went away without an answer from the bot."""
    reply: str = ""
    """The chosen option while it is being typed."""
    screen: str = ""
    """A digest of the pane's last content."""
    silent_since: AwareDatetime | None = None
    """Since when that digest has not changed."""
    quiet: Quiet = Quiet()
    waited: float = 0
    """Seconds it has waited for a person."""
    before: Checkout | None = None
    """The state of the main checkout when the run began."""
    report: str = ""
    """The result that the agent wrote down, for an investigation."""
    noticed: tuple[str, ...] = ()
    """Ids of observations that its agent made."""

    @property
    def name(self) -> str:
        """The name of its pane. tmux refuses a second one of that name."""
        return f"run-{self.id}"

    @property
    def alive(self) -> bool:
        return self.state is not RunState.ENDED

    def become(self, state: RunState, **changes: object) -> Run:
        return self.model_copy(update={"state": move(RUNS, self.state, state), **changes})

    def end(self, outcome: Outcome, at: AwareDatetime, **changes: object) -> Run:
        return self.become(RunState.ENDED, outcome=outcome, ended_at=at, **changes)
