"""A session: one intent carried out in one thread, with everything that people said in it.

The only aggregate, saved as one record.
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
from bot.core.facts import Fact, Living
from bot.core.forge import Hosted
from bot.core.git import Collision, Removal, Scan, Upstream
from bot.core.intent import Intent, Question
from bot.core.llm import Usage, estimate_tokens, token_budget
from bot.core.people import ChosenDestination, Earlier, Part, Person, Thread, Verbosity
from bot.core.plan import Analysis, Difference, Document, DocumentKind, Forecast
from bot.core.runs import StandingAnswer
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.states import PHASES, STATUSES, IntentStatus, Phase, Status, TaskState, move
from bot.core.task import SmallerTask, Step, Task, Workspace

# What people say while a session is under way: words that wait to be judged by the model, and the
# change they may ask for.


class Words(Fact):
    """Something a person said that only the model can judge."""

    id: str
    by: Person
    at: AwareDatetime
    text: str
    mention: bool = False
    """The bot was named: it is looked at before what others merely wrote."""
    may_stop: bool = True
    """Whether this one may end agents."""


class WordKind(StrEnum):
    TALK = "talk"
    """Nothing is asked of the bot."""
    QUESTION = "question"
    CHANGE = "change"


class Affected(Fact):
    """A task that a change touches."""

    task_id: str
    why: str


class ChangeStage(StrEnum):
    JUDGING = "judging"
    """Which tasks does it touch?"""
    DRAFTING = "drafting"
    ANALYSING = "analysing"
    AWAITING = "awaiting"
    """Its difference is shown; a person has to confirm it."""


class Change(Fact):
    """A change of mind while tasks run. It stands beside the phase: what it does not touch goes on."""

    id: str
    text: str
    by: Person
    at: AwareDatetime
    may_stop: bool = True
    """Whether what it touches is held at once; else only when somebody who may approve confirms it."""
    stage: ChangeStage = ChangeStage.JUDGING
    revision: int
    """The one it leads to."""
    reason: str = ""
    affected: tuple[Affected, ...] = ()
    decision: Question | None = None
    """The decision it takes anew, as it will be. Until the change is confirmed the old one holds."""
    held: tuple[str, ...] = ()
    """Ids of the tasks that were held for it."""
    documents: tuple[Document, ...] = ()
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 2
    score: int | None = None
    """Of its tasks, of 100."""
    analysis: Analysis | None = None
    repairs: int = 0
    """How often it was written anew because of critical findings."""
    shown_at: AwareDatetime | None = None


# People who read along in a thread: when they spoke last, and what they thought of the result.


class Spoken(Fact):
    """When somebody spoke last, and what had been used up by then."""

    at: AwareDatetime
    usage: Usage = Usage()


class Feedback(Fact):
    """Whether somebody found the result helpful."""

    by: str
    """The full id."""
    helpful: bool
    at: AwareDatetime


# The session itself.

SCHEMA = 4
"""The version of the saved form. A newer one is left alone and told, an older one is brought up (`bot/core/snapshot.py`)."""


class Speaker(StrEnum):
    USER = "User"
    ASSISTANT = "Assistant"
    SYSTEM = "System"


class Message(Fact):
    role: Speaker
    content: str
    timestamp: AwareDatetime


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
    PULLS = "pulls"
    """It is in pull requests, each merged or declared unneeded."""


class Trouble(Fact):
    """An order that cannot be carried out just now; it is tried again and again."""

    order: str
    reason: str
    since: AwareDatetime | None = None
    """None: of a session that was saved before this was kept."""


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
    request_id: str = ""
    """The event of the message that began it: that message may be edited until the plan is written."""

    repository: str
    base_branch: str = ""
    base_commit: str = ""
    base_uncommitted: int = 0
    upstream: Upstream | None = None
    """Its base branch on the host, as it was seen last."""
    agent: str = ""
    """The agent CLI its tasks use unless they name another."""
    agent_flags: str = ""
    other_agents: dict[str, str] = Field(default_factory=dict[str, str])
    """Agents that could be used instead, with their flags."""
    let_agents: tuple[str, ...] = ()
    """Those of them that somebody who may approve has let work here."""
    test_command: str = ""
    base_check: Check | None = None
    """What the tests came to at the base, with that command. None: they were not run there yet."""
    tests_from: CommandSource | None = None
    """Where that is from. None: nothing is known, or it was begun by an earlier version."""
    tests_accepted: tuple[str, ...] = ()
    """Commands that were found in trees of tasks, and that people let run."""
    tests_refused: tuple[str, ...] = ()
    """Those they did not want."""
    tests_changed: int = 0
    """How often a person has set the command: a check that runs another one is called off."""
    set_up: str = ""
    """What is run in each new worktree first: found in the repository and approved with the plan, or said by a person."""
    set_up_said: bool = False
    """A person has said what is run there, or `none`: it counts instead of what the operator has set."""
    test_problem: str = ""
    """Why the command will not work, as far as is seen without running it."""
    warnings: tuple[str, ...] = ()
    """What whoever approves should know of the repository and its agent."""
    brought: tuple[str, ...] = ()
    """What the repository has its agents do, a sentence for each file."""
    sandboxed: bool = False
    """Its agents were said to be kept to their worktrees."""
    runs_as: str = ""
    """The user of the machine as whom they run."""
    unattended: bool = False
    """Nobody is there who could answer an agent's dialog: it ends the run."""
    hosted: Hosted | None = None
    """Where pull requests are made; none: the work stays on its branches."""
    pulls_problem: str = ""
    """Why nobody looks at its open pull requests any more; a person has to mend it."""
    pulls_problems: int = 0
    """How often that was so."""
    scan: Scan | None = None
    asked: bool = False
    """Whether the questions were put (there may be none)."""

    vague: bool = False
    """The request said too little to be understood; its one question is open."""

    spec: Spec | None = None
    documents: tuple[Document, ...] = ()
    """The current revision's."""
    previous: tuple[Document, ...] = ()
    """The former revision's, while a new one is written."""
    seen: tuple[Document, ...] = ()
    """The revision people were shown last, and its tasks: what a new one is compared with."""
    seen_tasks: tuple[TaskDraft, ...] = ()
    change_request: str = ""
    """What a person wants different from the former revision."""
    documents_shown_at: AwareDatetime | None = None
    """Since when the approval card stands; it expires."""
    recheck: bool = False
    """The approval had expired when somebody gave it: has the base moved?"""
    dry_run: bool = False
    """Only the plan was asked for; whoever says «run it» carries it on."""
    spec_only: bool = False
    """It was begun with `spec`: it is over when its documents are there."""
    analysis: Analysis | None = None
    """Of the current revision, or of the one that is being repaired."""
    score: int | None = None
    """How good its tasks are, of 100; none: nobody could judge it."""
    analysed: bool = False
    """Whether the current documents were analysed."""
    repairs: int = 0
    """How often the plan was written anew because of critical findings."""
    forecast: Forecast | None = None
    difference: Difference | None = None
    """What the current revision changed."""
    alone: bool = False
    """The operator lets it start without a person."""
    approvers: int = 1
    """How many different people must approve."""
    others_approve: bool = False
    """Who asked for it is none of them."""
    approvals: tuple[Approval, ...] = ()
    """Those given for the current revision, while more are wanted."""
    approval: Approval | None = None
    parallelism: int = 2
    limits: TaskLimits = TaskLimits()
    """What a task may use up before a person is asked."""
    standing_answers: tuple[StandingAnswer, ...] = ()
    """Dialogs that are answered without asking again."""
    collisions: tuple[Collision, ...] = ()
    """Branches that were seen to collide; each pair is told once."""
    touched: tuple[str, ...] = ()
    """Files of the main checkout that changed while an agent ran; each is told once."""
    most_at_once: int = 10
    """Agents, whatever the plan says: the operator's limit."""
    tasks: list[Task] = Field(default_factory=list[Task])

    parts: tuple[Part, ...] = ()
    """What is carried out in sessions of their own."""
    earlier: Earlier | None = None
    """A finished session that this request may belong to."""
    going: ChosenDestination | None = None
    """Where a person wants it carried out."""

    words: tuple[Words, ...] = ()
    """What was said and is not judged yet, in the order in which it came."""
    overheard: tuple[Words, ...] = ()
    """What others said in the thread, the last of it: context for the model."""
    change: Change | None = None
    changes: int = 0
    """How many changes were asked for while tasks ran."""
    step: Step | None = None
    """Which task shall start first?"""
    preferred: tuple[str, ...] = ()
    """Ids of tasks that were chosen to start before others."""

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
    inventory: EvidenceInventory | None = None
    """What was really found of the evidence at the end."""
    unlogged: tuple[str, ...] = ()
    """Ids of tasks whose log could not be kept at the end: they do not count as complete."""
    final_verdict: Verdict | None = None
    """On the whole, when all is done."""
    proposed: tuple[SmallerTask, ...] = ()
    """Tasks for what it found missing."""
    result: ExecutionResult | None = None
    summary: str | None = None
    """The end in the model's words; none: it was not asked yet."""
    continues: int = 0
    stops: int = 0
    stopped_by: str = ""
    away: str = ""
    """Why it is paused, where that is because its repository is not where it was."""
    stopped_runs: int = 0
    """How many agents the last stop ended."""
    troubles: tuple[Trouble, ...] = ()
    """What it waits for outside: the LLM is down, tmux is missing …"""
    outages: int = 0
    """How often it had to wait so, each time until everything worked again."""
    failure: str = ""

    verbosity: Verbosity = Verbosity.NORMAL
    spoken: dict[str, Spoken] = Field(default_factory=dict[str, Spoken])
    """By full id: when each person said or pressed something last."""
    feedback: tuple[Feedback, ...] = ()

    usage: Usage = Usage()
    context_window: int = 0
    """Tokens the model can take at once; 0: unknown."""
    token_scale: float = 1.0
    """How many tokens the model counts where three bytes are taken for one."""
    prompts_cut: bool = False
    """It was told that the model's server seems to drop a part of what it is sent."""
    summarised: int = 0
    """How often old talk was summarised."""
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
    def from_registry(self) -> bool:
        """Whether its intent was kept in the repository before it began."""
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
    def trouble(self) -> str:
        """What it waits for outside, in a sentence; empty: nothing."""
        return self.troubles[-1].reason if self.troubles else ""

    @property
    def over(self) -> bool:
        return self.status in (Status.COMPLETED, Status.FAILED, Status.DISCARDED)


# Which part of a conversation is old enough to be summarised.

KEPT_VERBATIM = 20
"""The last messages of a conversation are always told word for word."""


def messages_to_summarise(session: Session, window: int) -> int:
    """How many of the oldest messages one summary shall stand for; 0: the conversation is short enough."""
    talk = session.conversation
    old = talk[:-KEPT_VERBATIM]
    if all(message.role is Speaker.SYSTEM for message in old):
        return 0  # a summary of nothing but a summary would never end
    tokens = estimate_tokens("\n".join(message.content for message in talk), session.token_scale)
    return len(old) if tokens > token_budget(window) / 2 else 0
