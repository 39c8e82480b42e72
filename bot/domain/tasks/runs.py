"""One start of one agent CLI on one task, and why there was one."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from bot.domain.dialogs import Dialog
from bot.domain.facts import Fact
from bot.domain.states import RUNS, Outcome, RunState, move
from bot.domain.world import AgentUsage, Checkout, CompletionSource


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
