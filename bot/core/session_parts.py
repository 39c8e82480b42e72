"""What a session remembers for each step or subject: a model each, which changes with the session.

What people say has a module of its own (`bot/core/talk.py`).
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from bot.core.evidence import (
    Check,
    CommandSource,
    EvidenceInventory,
    ExecutionResult,
    TaskLimits,
    Verdict,
)
from bot.core.facts import Fact, MutableModel
from bot.core.forge import Hosted
from bot.core.git import Collision, Removal, Scan, Upstream
from bot.core.llm import ModelRole, Usage, corrected_scale
from bot.core.looks import SeenLook
from bot.core.people import ChosenDestination, Earlier, Part, Person
from bot.core.plan import Analysis, Difference, Document, DocumentKind, Forecast
from bot.core.runs import StandingAnswer
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.task import SmallerTask, Step, Workspace


class SessionRequest(MutableModel):
    """What was asked for, and how much of it is wanted."""

    event_id: str = ""
    """The message that began it: it may be edited until the plan is written."""
    vague: bool = False
    """The request was too vague to be understood; its one question is open."""
    questions_asked: bool = False
    """Whether the questions were put (there may be none)."""
    rounds_while_planning: int = 0
    """How often planning found choices that only a person could make."""
    dry_run: bool = False
    """Only the plan was asked for; it goes on when somebody says "run it"."""
    spec_only: bool = False
    """It was begun with `spec`: it is over when its documents are written."""
    unattended: bool = False
    """Nobody is there to answer an agent's dialog, so a dialog ends the run."""
    parts: tuple[Part, ...] = ()
    """Parts that are carried out in sessions of their own."""
    earlier: Earlier | None = None
    """A finished session that this request may belong to."""
    destination: ChosenDestination | None = None
    """Where a person wants it carried out."""


class SessionRepository(MutableModel):
    """The repository it works on, as it was read, and the base that its plan stands on."""

    path: str
    """The top folder of the main checkout."""
    base_branch: str = ""
    """The branch that was current when it began."""
    base_commit: str = ""
    """The commit that the current revision of the plan stands on."""
    uncommitted: int = 0
    """How many uncommitted files people had there."""
    upstream: Upstream | None = None
    """The base branch on its host, as it was seen last."""
    scan: Scan | None = None
    """What was read of it."""
    looks: tuple[SeenLook, ...] = ()
    """What the model has looked at there, the last ones."""
    warnings: tuple[str, ...] = ()
    """What whoever approves should know of it and of its agent."""
    agent_settings: tuple[str, ...] = ()
    """What it tells agents to run or obey, a sentence for each file."""
    set_up: str = ""
    """The command that is run first in each new worktree: found there and approved with the plan, or said by a person."""
    set_up_by_person: bool = False
    """A person has set that command, or `none`: it counts instead of the operator's setting."""
    touched_files: tuple[str, ...] = ()
    """Files of the main checkout that changed while an agent ran; each is reported once."""


class SessionAgents(MutableModel):
    """Which agents work on its tasks, and within which limits."""

    default: str = ""
    """The agent CLI its tasks use unless they name another."""
    flags: str = ""
    """The flags that CLI is started with."""
    others: dict[str, str] = Field(default_factory=dict[str, str])
    """Agents that could be used instead, with their flags."""
    allowed: tuple[str, ...] = ()
    """Those of the others that somebody who may approve has allowed here."""
    sandboxed: bool = False
    """Whether agents are kept to their worktrees."""
    runs_as: str = ""
    """The machine's user account that agents run as."""
    standing_answers: tuple[StandingAnswer, ...] = ()
    """Answers given to dialogs without asking again."""
    limits: TaskLimits = TaskLimits()
    """What a task may use before a person is asked."""
    most_at_once: int = 10
    """How many may run at once, whatever the plan says: the operator's limit."""


class SessionTests(MutableModel):
    """How its tests are run."""

    command: str = ""
    source: CommandSource | None = None
    """Where the command is from. None: nothing is known, or an earlier version began the session."""
    problem: str = ""
    """Why the command will not work, as far as can be seen without running it."""
    base_check: Check | None = None
    """The result of that command at the base. None: it was not run there yet."""
    accepted: tuple[str, ...] = ()
    """Commands found in trees of tasks that people allowed."""
    refused: tuple[str, ...] = ()
    """Commands found in trees of tasks that people did not want."""
    times_set: int = 0
    """How often a person has set the command: a check that runs another one is called off."""


class Spec(Fact):
    """The specification of a session, and the branch its files are committed on."""

    id: str
    revision: int = 1
    workspace: Workspace
    commit: str = ""
    """The commit of the current revision on the spec branch; empty until it is committed."""

    @property
    def directory(self) -> str:
        return f"specs/{self.id}"


class SessionPlan(MutableModel):
    """The plan at its current revision, and what is known of it."""

    spec: Spec | None = None
    documents: tuple[Document, ...] = ()
    """Those of the current revision."""
    previous_documents: tuple[Document, ...] = ()
    """Those of the former revision, while a new one is written."""
    shown_documents: tuple[Document, ...] = ()
    """The revision people were shown last: a new one is compared with it."""
    shown_tasks: tuple[TaskDraft, ...] = ()
    """The tasks of that revision."""
    shown_at: AwareDatetime | None = None
    """Since when the approval card is there; it expires."""
    change_request: str = ""
    """What a person wants to be different from the former revision."""
    changes: int = 0
    """How many changes were asked for while tasks ran."""
    analysis: Analysis | None = None
    """The analysis of the current revision, or of the one being repaired."""
    analysed: bool = False
    """Whether the current documents were analysed."""
    score: int | None = None
    """How good its tasks are, of 100; none: nobody could judge that."""
    repairs: int = 0
    """How often the plan was rewritten because of critical findings."""
    forecast: Forecast | None = None
    """What it may take, by what finished sessions took."""
    difference: Difference | None = None
    """What the current revision changed."""
    parallelism: int = 2
    """How many agents run at once."""

    def document(self, kind: DocumentKind) -> Document | None:
        return next((document for document in self.documents if document.kind is kind), None)


class Approval(Fact):
    """Who approved the plan, and what exactly they saw."""

    by: Person
    at: AwareDatetime
    digest: str
    revision: int


class SessionApproval(MutableModel):
    """Who has to approve the plan, and who has."""

    automatic: bool = False
    """The operator lets it start without a person."""
    required: int = 1
    """How many different people must approve."""
    others_only: bool = False
    """Whoever asked for it cannot approve it."""
    given: tuple[Approval, ...] = ()
    """Those given for the current revision, while more are wanted."""
    granted: Approval | None = None
    """The one that let it run."""
    checking_base: bool = False
    """The approval card had expired when somebody approved: has the base moved?"""


class SessionExecution(MutableModel):
    """Which task starts next, and which tasks get in each other's way."""

    choice: Step | None = None
    """Which task shall start first, while that is not chosen."""
    preferred: tuple[str, ...] = ()
    """Ids of tasks chosen to start before others."""
    collisions: tuple[Collision, ...] = ()
    """Branches that were seen to collide; each pair is reported once."""


class SessionQueue(MutableModel):
    """Its place in the queue of its repository."""

    since: AwareDatetime | None = None
    """Since when it waits for its repository's place, or holds it."""
    has_place: bool = False
    """Whether it holds the place."""
    position: int | None = None
    """How many sessions are before it; none while it executes."""
    waiting: int = 0
    """How many sessions wait for the place, this one included."""


class SessionPulls(MutableModel):
    """Where its pull requests are made, and whether they can be looked at."""

    host: Hosted | None = None
    """Where pull requests are made; none: the work stays on its branches."""
    problem: str = ""
    """Why its open pull requests are not looked at any more, until a person has mended it."""
    problems: int = 0
    """How often that was so."""


class Ending(StrEnum):
    """What becomes of the finished work."""

    MERGE = "merge"
    KEEP = "keep"
    PULLS = "pulls"
    """It is in pull requests, each merged or declared unneeded."""


class SessionEnding(MutableModel):
    """What becomes of the finished work."""

    choice: Ending | None = None
    chosen_by: Person | None = None
    verdict: Verdict | None = None
    """The model's verdict on the whole."""
    proposed: tuple[SmallerTask, ...] = ()
    """Tasks for what the verdict found missing."""
    rounds: int = 0
    """How often it was continued with more tasks."""
    merged_commit: str = ""
    """The commit to which the base was moved."""
    problem: str = ""
    """Why the last try to merge did not work."""
    leftovers: tuple[Removal, ...] = ()
    """What became of its worktrees and branches in the clean-up."""
    cleaned: bool = False
    """Whether the clean-up is done."""
    evidence: EvidenceInventory | None = None
    """The evidence that was found at the end; none: nobody has looked."""
    missing_logs: tuple[str, ...] = ()
    """Ids of tasks whose log could not be kept: they do not count as complete."""
    result: ExecutionResult | None = None
    summary: str | None = None
    """The model's summary of the session; `None` if it was not asked yet."""


class Trouble(Fact):
    """An order that cannot be carried out at the moment; it is retried."""

    order: str
    reason: str
    since: AwareDatetime | None = None
    """`None` in sessions saved before this field existed."""


class SessionControl(MutableModel):
    """What holds it up: people who stop it, and what does not work outside."""

    stops: int = 0
    """How often people stopped it."""
    stopped_by: str = ""
    """Who stopped it last."""
    stopped_runs: int = 0
    """How many agents the last stop ended."""
    repository_missing: str = ""
    """Why it is paused, where its repository is not where it was."""
    troubles: tuple[Trouble, ...] = ()
    """What it waits for outside: the model does not answer, tmux is missing …"""
    outages: int = 0
    """How often it had to wait for such problems, each time until everything worked again."""
    failure: str = ""
    """The error that ended it."""

    @property
    def trouble(self) -> str:
        """The latest outside problem it waits for, in a sentence; empty if none."""
        return self.troubles[-1].reason if self.troubles else ""


_MAIN = ("", ModelRole.MAIN)


class SessionLlm(MutableModel):
    """What is known of the model's limits."""

    context_window: int = 0
    """Tokens of the model's context window; 0 if unknown."""
    token_scale: float = 1.0
    """Correction of the estimate of one token per three bytes, for the main model."""
    other_scales: dict[str, float] = Field(default_factory=dict[str, float])
    """The same for the other models of the settings, as they count differently: by their role, or the fallback's name."""
    prompts_cut: bool = False
    """Users were told that the model's server seems to drop a part of the prompts."""
    fallback_told: bool = False
    """Users were told that another model answers in place of the one that was away."""

    def scale_of(self, setting: str) -> float:
        return self.token_scale if setting in _MAIN else self.other_scales.get(setting, 1.0)

    def learn_scale(self, usage: Usage) -> None:
        scale = corrected_scale(usage, self.scale_of(usage.setting))
        if usage.setting in _MAIN:
            self.token_scale = scale
        elif scale != self.scale_of(usage.setting):
            self.other_scales = {**self.other_scales, usage.setting: scale}
