"""One start of one agent CLI on one task, and why it was started; what its program asks a person, and how
adapters report its pane, its usage and its end.
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

# What a program in a pane asks a person, and how it can be answered.

_SECRET = re.compile(
    r"pass ?(?:word|phrase|code)|token|secret|api[ _-]?key|credential|\b(?:otp|pin|2fa)\b",
    re.IGNORECASE,
)


class DialogKind(StrEnum):
    MENU = "menu"
    """One of several lines is chosen."""
    YES_NO = "yes_no"
    WORDS = "words"
    """A line of text is wanted; there is nothing to choose from."""


class DialogOption(Fact):
    id: str
    """What names it in a press: 1, 2, y, n."""
    label: str
    keys: tuple[str, ...] = ()
    """What is pressed for it, one after the other."""


class Dialog(Fact):
    """It stands on the screen until somebody answers."""

    id: str
    """Of what it says: the same question asked again has the same."""
    kind: DialogKind
    title: str
    """The question itself, in a line."""
    text: str = ""
    """What is written around it."""
    options: tuple[DialogOption, ...] = ()
    topic: str = ""
    """What it is about, without what differs each time: «Allow Bash»; an answer given once for all holds for that."""

    @property
    def is_secret(self) -> bool:
        """What is wanted belongs into no chat."""
        return self.kind is DialogKind.WORDS and bool(_SECRET.search(f"{self.title} {self.text}"))

    def option(self, id: str) -> DialogOption | None:
        return next((option for option in self.options if option.id == id), None)


class StandingAnswer(Fact):
    """A person said: always so, in this session."""

    agent: str
    topic: str
    label: str
    by: str


# What adapters report of agents and of the bot's own commands: how they are started, where they
# live, how they end.


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


class SandboxPaths(Fact):
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

    agent: Exact
    ok: bool
    version: str = ""
    problem: str = ""
    remedy: str = ""
    warnings: tuple[str, ...] = ()
    """What whoever approves should know: settings of the repository that run code, a question that will be asked."""


# One run, and what was done about one that does not come to an end.


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


class LookFor(StrEnum):
    """What an agent that does not come to an end is looked in on for."""

    ASK = "ask"
    """To ask it whether it is done."""
    NUDGE = "nudge"
    """The same, because a person wants it."""
    DECIDE = "decide"
    """It was asked and stays silent: a person decides."""
    LONG = "long"
    """It has worked for very long: a person decides."""


class Quiet(Fact):
    """What was done about an agent that does not come to an end."""

    look: LookFor | None = None
    """What it is being looked in on for."""
    looks: int = 0
    asked: bool = False
    """It was asked whether it is done, or could not be."""
    unasked: str = ""
    """Why it could not be."""
    cards: int = 0
    """How often a person was asked."""
    shown: AwareDatetime | None = None
    """Since when a person is being asked."""
    about_time: bool = False
    """Not because of silence, but because it has worked for so long."""
    times_long: int = 0
    commits: int = 0
    """On its branch, when it was looked in on."""
    uncommitted: int = 0
    """Files."""
    stopping: bool = False
    """Taken as done: its work is looked at once it has been stopped."""


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
    ignored: int = 0
    """How many of these questions went away without an answer of the bot's."""
    reply: str = ""
    """The option that somebody has chosen, while it is being typed."""
    screen: str = ""
    """A digest of what its pane showed last."""
    silent_since: AwareDatetime | None = None
    """Since when that has not changed."""
    quiet: Quiet = Quiet()
    waited: float = 0
    """Seconds in which it waited for a person."""
    before: Checkout | None = None
    """How the main checkout looked when it began."""
    report: str = ""
    """What its agent has written down as the result of its task: that of an investigation."""
    noticed: tuple[str, ...] = ()
    """Ids of observations its agent has made."""

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
