"""Everything that can happen to a session. An event is a fact: it carries data and a time, never behaviour.

People's events carry the platform's own id, so that hearing one twice is noticed. A result names the order it
answers, so that the order is not given again while its result still waits to be decided on.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from bot.core.choices import Command, Verb
from bot.core.evidence import Check, EvidenceInventory, TaskLimits, Verdict, VerifiedFile
from bot.core.facts import EXACT, Exact, Fact
from bot.core.forge import Hosted, MergeTried, Pull
from bot.core.git import Base, Checkout, Collision, Removal, Scan, Work
from bot.core.intent import Intent, Question, Risk, Vague
from bot.core.llm import Usage
from bot.core.people import Earlier, Person, Thread
from bot.core.plan import Analysis, Document, Forecast, Policy
from bot.core.runs import AgentReady, Dialog, RunEnd
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.talk import Affected, WordKind
from bot.core.tampering.signs import Flag
from bot.core.task import PullText, SmallerTask, Workspace

# What every event has: an id, a time; who did it, or which order it answers.


class Happening(Fact):
    id: Exact
    at: AwareDatetime


class FromPerson(Happening):
    by: Person
    may_stop: bool = True
    """Whether this one may end agents: the gate says so, whoever delivers it."""


class Result(Happening):
    """What came of an order."""

    answers: Exact
    usage: Usage = Usage()


# What people do, as a chat delivers it.


class Attached(Fact):
    """A file that came with a message, as text; or why it could not be read."""

    name: str
    text: str = ""
    problem: str = ""


class Said(FromPerson):
    kind: Literal["said"] = "said"
    text: str
    mention: bool = True
    files: tuple[Attached, ...] = ()
    repository: str = ""
    """The folder it is about, where whoever runs the bot named one; it counts only where a session begins."""
    copy_of: str = ""
    """What that folder is a temporary copy of."""
    unattended: bool = False
    """A script says it: nobody is there for a question in between."""
    waited: bool = False
    """It was said while its session was paused: it goes on with that session, or goes with it."""
    offered: str | None = None
    """What could be approved when it was heard; none: it was not noted. Times do not tell: the clocks of a platform and
    of this machine differ, and either may be set back."""
    unseen: tuple[str, ...] = ()
    """Keys of cards with buttons that stand after it in its thread, by the platform's own order."""


class Edited(FromPerson):
    """Somebody has edited a message that a session has heard."""

    kind: Literal["edited"] = "edited"
    of: str
    """The id of the event that the message was."""
    text: str
    """What it says now."""


class Pressed(FromPerson):
    kind: Literal["pressed"] = "pressed"
    verb: Verb
    about: str = ""
    text: str = ""
    answers: dict[int, str] = Field(default_factory=dict[int, str])
    """By the number of the question."""


class Commanded(FromPerson):
    kind: Literal["commanded"] = "commanded"
    command: Command
    mention: bool = True


class Opened(FromPerson):
    """Somebody opens the form behind a button. Nothing happens but that they are let, or told why not."""

    kind: Literal["opened"] = "opened"
    verb: Verb


class Visited(FromPerson):
    """Somebody opens the bot's own page, and is shown how everything stands."""

    kind: Literal["visited"] = "visited"


class Configured(FromPerson):
    """Somebody says in a form which model is to be asked."""

    kind: Literal["configured"] = "configured"
    base_url: str = ""
    model: str = ""


class Continued(FromPerson):
    """What somebody asked for in a thread of its own, and then said that it goes on with this finished session."""

    kind: Literal["continued"] = "continued"
    text: str


class Overheard(FromPerson):
    """What somebody who may not ask for anything said to others in the thread: context, and never more."""

    kind: Literal["overheard"] = "overheard"
    text: str


FromPeople = Said | Edited | Pressed | Commanded | Opened | Visited | Configured
"""What a chat delivers."""


# What came of understanding a request, planning it, and judging what people say.


class Surveyed(Result):
    kind: Literal["surveyed"] = "surveyed"
    base: Base
    agent: AgentReady
    agent_flags: Exact = ""
    context_window: int = 0
    most_at_once: int = 10
    limits: TaskLimits = TaskLimits()
    hosted: Hosted | None = None
    unattended: bool = False
    brought: tuple[str, ...] = ()
    """What the repository has agents do."""
    sandboxed: bool = False
    user: str = ""
    """As whom agents run."""
    other_agents: Annotated[dict[str, str], EXACT] = Field(default_factory=dict[str, str])
    """Those that are ready besides, with their flags."""


class Scanned(Result):
    kind: Literal["scanned"] = "scanned"
    scan: Scan


class WishPart(Fact):
    """A part of a wish that is too large for one plan."""

    title: str
    body: str


class QuestionsFound(Result):
    """The request was read: what it is, and what must be settled before it is planned."""

    kind: Literal["questions_found"] = "questions_found"
    title: str
    type: str
    risk: Risk | None = None
    risk_reasons: tuple[str, ...] = ()
    questions: tuple[Question, ...]
    vague: Vague | None = None
    dry_run: bool = False
    parts: tuple[WishPart, ...] = ()
    """It is too large for one plan; these are not."""
    earlier: Earlier | None = None


class AnswersRead(Result):
    """What somebody's words answer."""

    kind: Literal["answers_read"] = "answers_read"
    words_id: Exact
    found: dict[int, str]
    """By the number of the question."""
    defaults: bool = False
    """The rest takes its defaults."""
    unclear: tuple[int, ...] = ()


class DocumentWritten(Result):
    kind: Literal["document_written"] = "document_written"
    document: Document
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 2
    score: int | None = None
    """How good the tasks are, of 100; none: nobody could judge it."""


class PlanAnalysed(Result):
    kind: Literal["plan_analysed"] = "plan_analysed"
    revision: int
    analysis: Analysis
    forecast: Forecast = Forecast()
    policy: Policy = Policy()
    test_problem: str = ""
    """Why the command that runs the tests will not work here, as far as is seen without running it."""


class BaseSeen(Result):
    """Where the base branch stands now."""

    kind: Literal["base_seen"] = "base_seen"
    base: Base
    brought: tuple[str, ...] = ()
    commits: int = 0
    """How many came since the commit the plan was made for."""
    files: tuple[str, ...] = ()
    """What they changed."""
    scan: Scan | None = None
    """Of the new commit, where it is another one."""


class WordsJudged(Result):
    kind: Literal["words_judged"] = "words_judged"
    words_id: Exact
    what: WordKind
    reply: str = ""
    """The answer to a question."""
    reason: str = ""


class ImpactJudged(Result):
    """Which tasks a change touches; the others never notice."""

    kind: Literal["impact_judged"] = "impact_judged"
    change_id: Exact
    affected: tuple[Affected, ...]
    reason: str = ""


class ContinuationJudged(Result):
    """Is what was said after the end more of the same, something new, or nothing to be done?"""

    kind: Literal["continuation_judged"] = "continuation_judged"
    words_id: Exact
    what: Literal["continue", "new", "talk"]
    reason: str = ""
    reply: str = ""


class StepChosen(Result):
    kind: Literal["step_chosen"] = "step_chosen"
    step_id: Exact
    option: str
    """Empty: the model gave no usable answer."""
    reason: str = ""


class SessionOpened(Result):
    """A part of this session's wish has a session of its own."""

    kind: Literal["session_opened"] = "session_opened"
    session: Exact
    thread: Thread


class PassedOn(Result):
    """The request was given to an earlier session."""

    kind: Literal["passed_on"] = "passed_on"
    session: Exact


class TalkSummarised(Result):
    kind: Literal["talk_summarised"] = "talk_summarised"
    summary: str
    messages: int
    """How many of the oldest it stands for."""


class WorkDescribed(Result):
    """Title and body for a pull request, from the diff."""

    kind: Literal["work_described"] = "work_described"
    task_id: Exact
    text: PullText


class DocumentsCommitted(Result):
    kind: Literal["documents_committed"] = "documents_committed"
    workspace: Workspace
    commit: Exact


# What came of running agents, looking at their work, and merging it.


class PlaceGranted(Result):
    kind: Literal["place_granted"] = "place_granted"


class PlaceAwaited(Result):
    kind: Literal["place_awaited"] = "place_awaited"
    position: int
    """How many sessions stand before it; 0: it holds the place."""
    waiting: int = 0
    """How many wait in all."""


class BranchesListed(Result):
    kind: Literal["branches_listed"] = "branches_listed"
    names: Annotated[tuple[str, ...], EXACT]


class WorkspaceReady(Result):
    kind: Literal["workspace_ready"] = "workspace_ready"
    task_id: Exact
    workspace: Workspace
    conflicts: tuple[str, ...] = ()
    """Files in which the predecessor's work collides; the merge was aborted."""
    conflicting: Exact = ""
    """The id of that predecessor."""


class NameTaken(Result):
    """The branch or path belongs to somebody else."""

    kind: Literal["name_taken"] = "name_taken"
    task_id: Exact
    branch: Exact


class RunStarted(Result):
    kind: Literal["run_started"] = "run_started"
    run_id: Exact
    pane_id: Exact
    pid: int
    attach: str = ""
    before: Checkout | None = None


class SettingsChanged(Result):
    """A run was not started: what its agent obeys is not what it was when somebody approved."""

    kind: Literal["settings_changed"] = "settings_changed"
    run_id: Exact
    files: tuple[str, ...]
    mark: Exact
    """Of how they look now."""


class DialogOpened(Result):
    """A program in a pane asks a person something."""

    kind: Literal["dialog_opened"] = "dialog_opened"
    run_id: Exact
    dialog: Dialog


class DialogClosed(Result):
    """It no longer asks: it was answered, perhaps in the pane itself."""

    kind: Literal["dialog_closed"] = "dialog_closed"
    run_id: Exact


class DialogAnswered(Result):
    """What somebody chose was typed."""

    kind: Literal["dialog_answered"] = "dialog_answered"
    run_id: Exact
    dialog_id: Exact
    moved: bool
    """Whether the screen has moved on."""


class LookedIn(Result):
    """What git says of a run that does not come to an end."""

    kind: Literal["looked_in"] = "looked_in"
    run_id: Exact
    asked: bool
    """Whether its agent was asked if it is done."""
    why: str = ""
    """Why not."""
    commits: int = 0
    uncommitted: int = 0


class RunEnded(Result):
    kind: Literal["run_ended"] = "run_ended"
    run_id: Exact
    end: RunEnd
    log_path: Exact = ""
    evidence: Exact = ""
    report: str = ""
    """What its agent has written down as its result."""
    report_evidence: Exact = ""
    noticed: Annotated[tuple[str, ...], EXACT] = ()
    """Ids of observations that its agent has made."""


class RunStopped(Result):
    """A stopped run was looked after: who is still alive?"""

    kind: Literal["run_stopped"] = "run_stopped"
    run_id: Exact
    survivors: tuple[int, ...] = ()


class WorkSeen(Result):
    kind: Literal["work_seen"] = "work_seen"
    task_id: Exact
    work: Work
    unmerged: tuple[str, ...] = ()
    """Branches of predecessors that should be in it, and are not."""
    flags: tuple[Flag, ...] = ()
    touched: tuple[str, ...] = ()
    """Files of the main checkout that changed while the run lasted."""
    verified_files: tuple[VerifiedFile, ...] = ()
    evidence: Exact = ""
    tests_found: str = ""
    """What runs the tests, as the tree looks at its head."""
    tests_problem: str = ""
    """Why that will not work here."""


class BaseChecked(Result):
    """The tests were run at the base, or could not be."""

    kind: Literal["base_checked"] = "base_checked"
    check: Check
    problem: str = ""


class CheckRan(Result):
    kind: Literal["check_ran"] = "check_ran"
    task_id: Exact
    check: Check
    evidence: Exact = ""
    problem: str = ""
    """Why the command cannot be run at all; empty: it was run."""


class WorkJudged(Result):
    kind: Literal["work_judged"] = "work_judged"
    task_id: Exact
    commit: Exact
    verdict: Verdict


class TaskReplanned(Result):
    """Smaller tasks in place of one; none: nobody knows how to cut it."""

    kind: Literal["task_replanned"] = "task_replanned"
    task_id: Exact
    smaller: tuple[SmallerTask, ...] = ()


class TimeCame(Result):
    kind: Literal["time_came"] = "time_came"
    task_id: Exact


class PullOpened(Result):
    kind: Literal["pull_opened"] = "pull_opened"
    task_id: Exact
    commit: Exact
    pull: Pull
    evidence: Exact = ""


class PullsSeen(Result):
    """Pull requests that look otherwise than when they were last told of."""

    kind: Literal["pulls_seen"] = "pulls_seen"
    pulls: tuple[Pull, ...]


class PullMergeTried(Result):
    kind: Literal["pull_merge_tried"] = "pull_merge_tried"
    task_id: Exact
    tried: MergeTried
    overdue: bool = False
    """Checks that have not appeared were waited for as long as they are."""


class BaseTakenIn(Result):
    """What the base holds now is merged into a task's branch, or collides with it."""

    kind: Literal["base_taken_in"] = "base_taken_in"
    task_id: Exact
    base: Exact
    """The base's commit."""
    head: Exact = ""
    conflicts: tuple[str, ...] = ()
    pull: Pull | None = None


class CollisionsSeen(Happening):
    """Branches at work that would not merge with each other."""

    kind: Literal["collisions_seen"] = "collisions_seen"
    collisions: tuple[Collision, ...]


class WholeJudged(Result):
    kind: Literal["whole_judged"] = "whole_judged"
    verdict: Verdict
    proposed: tuple[SmallerTask, ...] = ()


class MergedLocally(Result):
    kind: Literal["merged_locally"] = "merged_locally"
    commit: Exact = ""
    check: Check | None = None
    problem: str = ""
    """Why the base was left where it is. Empty: it was moved."""
    conflicts: tuple[str, ...] = ()
    """Files in which the branches collide with each other or with the base."""


class CleanedUp(Result):
    kind: Literal["cleaned_up"] = "cleaned_up"
    removals: tuple[Removal, ...]
    evidence: EvidenceInventory | None = None
    unlogged: Annotated[tuple[str, ...], EXACT] = ()
    """Ids of tasks that are over, and whose log cannot be kept."""
    unlogged_because: str = ""
    unlogged_remedy: str = ""


class SummedUp(Result):
    kind: Literal["summed_up"] = "summed_up"
    text: str


# What the bot itself notices: refusals, trouble outside, time, its own return and its own bugs.


class OrderFailed(Result):
    """The world refused an order for good. `what` is the order's kind."""

    kind: Literal["order_failed"] = "order_failed"
    what: Exact
    task_id: Exact = ""
    reason: str
    remedy: str = ""
    lost: bool = False
    """Its worktree or branch is gone, or was moved by hand."""
    away: bool = False
    """The repository itself is not where it was."""


class Relinked(Happening):
    """Somebody has said where the repository lies now."""

    kind: Literal["relinked"] = "relinked"
    by: Person
    path: Exact = ""
    """Where it was found; empty: it is not the session's."""
    problem: str = ""
    """Why not."""


class Begun(Happening):
    """A session that another one opened; this is its first event, in place of somebody's words."""

    kind: Literal["begun"] = "begun"
    by: Person
    text: str
    intent: Intent | None = None
    """As it is kept in the repository, where it is."""
    path: str = ""
    """Of that repository."""
    title: str = ""
    parent: str | None = None
    """The intent it is a part of."""
    origin: Thread | None = None
    """Where it comes from."""
    origin_title: str = ""


class TroubleBegan(Happening):
    """Something outside does not answer; the bot goes on trying by itself."""

    kind: Literal["trouble_began"] = "trouble_began"
    order: Exact = ""
    """The key of what cannot be done just now."""
    reason: str
    remedy: str = ""


class TroubleEnded(Happening):
    kind: Literal["trouble_ended"] = "trouble_ended"
    order: Exact = ""


class Ticked(Happening):
    """It is time to say how things stand. The tails are what the panes show, by run id."""

    kind: Literal["ticked"] = "ticked"
    tails: dict[str, str] = Field(default_factory=dict[str, str])
    anew: bool = False
    """The operator wants it said at the end of the thread each time (PROGRESS=post)."""


class Woken(Happening):
    """The bot is back, or looks around: whatever the states demand is ordered again."""

    kind: Literal["woken"] = "woken"
    restarted: bool = False
    hold: bool = False
    """The operator wants to be asked before anything goes on (ON_RESTART=ask)."""


class Broke(Happening):
    """A bug: this session cannot go on. The others live."""

    kind: Literal["broke"] = "broke"
    reason: str


# Every event, told apart by its `kind`.

Event = Annotated[
    Said
    | Edited
    | Pressed
    | Commanded
    | Overheard
    | Continued
    | Surveyed
    | Scanned
    | Begun
    | QuestionsFound
    | AnswersRead
    | PlanAnalysed
    | BaseSeen
    | WordsJudged
    | ImpactJudged
    | ContinuationJudged
    | StepChosen
    | SessionOpened
    | PassedOn
    | TalkSummarised
    | WorkDescribed
    | DocumentWritten
    | DocumentsCommitted
    | PlaceGranted
    | PlaceAwaited
    | BranchesListed
    | WorkspaceReady
    | NameTaken
    | RunStarted
    | SettingsChanged
    | RunEnded
    | RunStopped
    | WorkSeen
    | DialogOpened
    | DialogClosed
    | DialogAnswered
    | LookedIn
    | WorkJudged
    | TaskReplanned
    | TimeCame
    | PullOpened
    | PullsSeen
    | PullMergeTried
    | BaseTakenIn
    | CollisionsSeen
    | WholeJudged
    | BaseChecked
    | CheckRan
    | MergedLocally
    | CleanedUp
    | SummedUp
    | OrderFailed
    | Relinked
    | TroubleBegan
    | TroubleEnded
    | Ticked
    | Woken
    | Broke,
    Field(discriminator="kind"),
]
