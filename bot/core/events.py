"""Every event that can happen to a session.

An event is a fact: it has data and a time, never behaviour. Events from people carry the platform's own id, so that
duplicates are noticed. A result names the order it answers, so that the order is not given again while its result waits
to be decided on.
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
from bot.core.looks import SeenLook
from bot.core.people import Earlier, Person, Thread
from bot.core.plan import Analysis, Document, Forecast, Policy
from bot.core.runs import AgentReady, Dialog, RunEnd
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.talk import Affected, WordKind
from bot.core.tampering.signs import Flag
from bot.core.task import PullText, SmallerTask, Workspace

# What every event has: an id and a time, and who caused it or which order it answers.


class EventBase(Fact):
    id: Exact
    at: AwareDatetime


class FromPerson(EventBase):
    by: Person
    may_stop: bool = True
    """Whether this person may end agents. Set by the gate, whatever the chat delivers."""


class Result(EventBase):
    """The result of an order."""

    answers: Exact
    usage: Usage = Usage()
    looks: tuple[SeenLook, ...] = ()
    """What the model looked at in the repository before it answered."""


# What people do, as a chat delivers it.


class Attached(Fact):
    """A file that came with a message, as text, or why it could not be read."""

    name: str
    text: str = ""
    problem: str = ""


class Said(FromPerson):
    kind: Literal["said"] = "said"
    text: str
    mention: bool = True
    files: tuple[Attached, ...] = ()
    repository: str = ""
    """The folder to work in, if the operator named one. It counts only when it starts a session."""
    copy_of: str = ""
    """The project that the folder is a temporary copy of."""
    unattended: bool = False
    """Sent by a script: nobody can answer a question in between."""
    waited: bool = False
    """It was received while the session was paused: it is handled when the session resumes, or dropped with it."""
    offered: str | None = None
    """The offer that was open for approval when this was received; `None` if that was not recorded.

    Times cannot be compared instead: the clocks of the platform and of this machine differ, and either may be set back.
    """
    unseen: tuple[str, ...] = ()
    """The keys of cards with buttons that stand below it in its thread, in the platform's own order."""


class Edited(FromPerson):
    """Somebody edited a message that a session has heard."""

    kind: Literal["edited"] = "edited"
    of: str
    """The id of the event that the original message caused."""
    text: str
    """The new text."""


class Pressed(FromPerson):
    kind: Literal["pressed"] = "pressed"
    verb: Verb
    about: str = ""
    text: str = ""
    answers: dict[int, str] = Field(default_factory=dict[int, str])
    """Answers by number of the question."""


class Commanded(FromPerson):
    kind: Literal["commanded"] = "commanded"
    command: Command
    mention: bool = True


class Opened(FromPerson):
    """Somebody opens the form behind a button. It is only checked whether they may; if not, they are told why."""

    kind: Literal["opened"] = "opened"
    verb: Verb


class Visited(FromPerson):
    """Somebody opens the bot's home page."""

    kind: Literal["visited"] = "visited"


class Configured(FromPerson):
    """Somebody chooses the model in a form."""

    kind: Literal["configured"] = "configured"
    base_url: str = ""
    model: str = ""


class Continued(FromPerson):
    """A request made in a thread of its own, which its author then declared to continue this finished session."""

    kind: Literal["continued"] = "continued"
    text: str


class Overheard(FromPerson):
    """What somebody without permission wrote to others in the thread: context, never a request."""

    kind: Literal["overheard"] = "overheard"
    text: str


FromPeople = Said | Edited | Pressed | Commanded | Opened | Visited | Configured
"""The events that a chat delivers."""


# Results of understanding a request, of planning it, and of judging what people write.


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
    """What the repository's own configuration makes agents do."""
    sandboxed: bool = False
    user: str = ""
    """The user account that agents run as."""
    other_agents: Annotated[dict[str, str], EXACT] = Field(default_factory=dict[str, str])
    """Other agents that are ready, with their flags."""


class Scanned(Result):
    kind: Literal["scanned"] = "scanned"
    scan: Scan


class WishPart(Fact):
    """One part of a request that is too large for one plan."""

    title: str
    body: str


class QuestionsFound(Result):
    """The request was read: what it is, and which questions must be answered before planning."""

    kind: Literal["questions_found"] = "questions_found"
    title: str
    type: str
    risk: Risk | None = None
    risk_reasons: tuple[str, ...] = ()
    questions: tuple[Question, ...]
    vague: Vague | None = None
    dry_run: bool = False
    parts: tuple[WishPart, ...] = ()
    """The parts into which a request too large for one plan is split."""
    earlier: Earlier | None = None


class AnswersRead(Result):
    """Which questions a message answers."""

    kind: Literal["answers_read"] = "answers_read"
    words_id: Exact
    found: dict[int, str]
    """Answers by number of the question."""
    defaults: bool = False
    """The remaining questions take their defaults."""
    unclear: tuple[int, ...] = ()
    reply: str = ""
    """The answer to what was asked instead of answering."""


class DocumentWritten(Result):
    kind: Literal["document_written"] = "document_written"
    document: Document
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 2
    score: int | None = None
    """The quality of the tasks, 0 to 100; `None` if nothing could judge it."""


class ChoicesFound(Result):
    """Planning found choices that only a person can make."""

    kind: Literal["choices_found"] = "choices_found"
    revision: int
    questions: tuple[Question, ...]


class PlanAnalysed(Result):
    kind: Literal["plan_analysed"] = "plan_analysed"
    revision: int
    analysis: Analysis
    forecast: Forecast = Forecast()
    policy: Policy = Policy()
    test_problem: str = ""
    """Why the test command will not work here, as far as can be seen without running it."""


class BaseSeen(Result):
    """Where the base branch stands now."""

    kind: Literal["base_seen"] = "base_seen"
    base: Base
    brought: tuple[str, ...] = ()
    commits: int = 0
    """How many commits were added since the commit of the plan."""
    files: tuple[str, ...] = ()
    """The files that those commits changed."""
    scan: Scan | None = None
    """The scan of the new commit, if the base has moved."""


class WordsJudged(Result):
    kind: Literal["words_judged"] = "words_judged"
    words_id: Exact
    what: WordKind
    reply: str = ""
    """The answer, if the message is a question."""
    reason: str = ""


class ImpactJudged(Result):
    """Which tasks a change touches; the others are not affected."""

    kind: Literal["impact_judged"] = "impact_judged"
    change_id: Exact
    affected: tuple[Affected, ...]
    reason: str = ""


class ContinuationJudged(Result):
    """Whether a message after the end continues the session, is a new request, or needs nothing."""

    kind: Literal["continuation_judged"] = "continuation_judged"
    words_id: Exact
    what: Literal["continue", "new", "talk"]
    reason: str = ""
    reply: str = ""


class StepChosen(Result):
    kind: Literal["step_chosen"] = "step_chosen"
    step_id: Exact
    option: str
    """Empty if the model gave no usable answer."""
    reason: str = ""


class SessionOpened(Result):
    """A part of this session's request has a session of its own now."""

    kind: Literal["session_opened"] = "session_opened"
    session: Exact
    thread: Thread


class PassedOn(Result):
    """The request was handed over to an earlier session."""

    kind: Literal["passed_on"] = "passed_on"
    session: Exact


class TalkSummarised(Result):
    kind: Literal["talk_summarised"] = "talk_summarised"
    summary: str
    messages: int
    """How many of the oldest messages the summary replaces."""


class WorkDescribed(Result):
    """Title and body of a pull request, written from the diff."""

    kind: Literal["work_described"] = "work_described"
    task_id: Exact
    text: PullText


class DocumentsCommitted(Result):
    kind: Literal["documents_committed"] = "documents_committed"
    workspace: Workspace
    commit: Exact


# Results of running agents, looking at their work, and merging it.


class PlaceGranted(Result):
    kind: Literal["place_granted"] = "place_granted"


class PlaceAwaited(Result):
    kind: Literal["place_awaited"] = "place_awaited"
    position: int
    """How many sessions are ahead in the queue; 0 if it holds the slot."""
    waiting: int = 0
    """How many sessions wait in total."""


class BranchesListed(Result):
    kind: Literal["branches_listed"] = "branches_listed"
    names: Annotated[tuple[str, ...], EXACT]


class WorkspaceReady(Result):
    kind: Literal["workspace_ready"] = "workspace_ready"
    task_id: Exact
    workspace: Workspace
    conflicts: tuple[str, ...] = ()
    """Files that conflict with the work of a dependency; the merge was aborted."""
    conflicting: Exact = ""
    """The id of the task whose work conflicts."""


class NameTaken(Result):
    """The branch or path is already used by somebody else."""

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
    """A run was not started: the settings that its agent obeys have changed since the approval."""

    kind: Literal["settings_changed"] = "settings_changed"
    run_id: Exact
    files: tuple[str, ...]
    mark: Exact
    """A hash of the settings as they are now."""


class DialogOpened(Result):
    """A program in a pane asks a person something."""

    kind: Literal["dialog_opened"] = "dialog_opened"
    run_id: Exact
    dialog: Dialog


class DialogClosed(Result):
    """The dialog is gone: it was answered, perhaps in the pane itself."""

    kind: Literal["dialog_closed"] = "dialog_closed"
    run_id: Exact


class DialogAnswered(Result):
    """The chosen answer was typed into the pane."""

    kind: Literal["dialog_answered"] = "dialog_answered"
    run_id: Exact
    dialog_id: Exact
    moved: bool
    """Whether the screen has changed since."""


class LookedIn(Result):
    """What git shows of a run that does not end."""

    kind: Literal["looked_in"] = "looked_in"
    run_id: Exact
    asked: bool
    """Whether the agent was asked if it is done."""
    why: str = ""
    """Why the agent was not asked."""
    commits: int = 0
    uncommitted: int = 0


class RunEnded(Result):
    kind: Literal["run_ended"] = "run_ended"
    run_id: Exact
    end: RunEnd
    log_path: Exact = ""
    evidence: Exact = ""
    report: str = ""
    """The result that the agent wrote down."""
    report_evidence: Exact = ""
    noticed: Annotated[tuple[str, ...], EXACT] = ()
    """Ids of the observations that the agent made."""


class RunStopped(Result):
    """A stopped run was checked for processes that are still alive."""

    kind: Literal["run_stopped"] = "run_stopped"
    run_id: Exact
    survivors: tuple[int, ...] = ()


class WorkSeen(Result):
    kind: Literal["work_seen"] = "work_seen"
    task_id: Exact
    work: Work
    unmerged: tuple[str, ...] = ()
    """Branches of dependencies that should be merged in and are not."""
    flags: tuple[Flag, ...] = ()
    touched: tuple[str, ...] = ()
    """Files of the main checkout that changed during the run."""
    verified_files: tuple[VerifiedFile, ...] = ()
    evidence: Exact = ""
    tests_found: str = ""
    """The test command that the tree's own files suggest at its head."""
    tests_problem: str = ""
    """Why that test command will not work here."""


class BaseChecked(Result):
    """The tests were run on the base, or could not be."""

    kind: Literal["base_checked"] = "base_checked"
    check: Check
    problem: str = ""


class CheckRan(Result):
    kind: Literal["check_ran"] = "check_ran"
    task_id: Exact
    check: Check
    evidence: Exact = ""
    problem: str = ""
    """Why the command cannot be run at all; empty if it was run."""


class WorkJudged(Result):
    kind: Literal["work_judged"] = "work_judged"
    task_id: Exact
    commit: Exact
    verdict: Verdict


class TaskReplanned(Result):
    """The smaller tasks that replace one; empty if no split was found."""

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
    """Pull requests that have changed since they were last reported."""

    kind: Literal["pulls_seen"] = "pulls_seen"
    pulls: tuple[Pull, ...]


class PullMergeTried(Result):
    kind: Literal["pull_merge_tried"] = "pull_merge_tried"
    task_id: Exact
    tried: MergeTried
    overdue: bool = False
    """Missing checks have been waited for as long as the settings allow."""


class BaseTakenIn(Result):
    """The current base was merged into a task's branch, or conflicts with it."""

    kind: Literal["base_taken_in"] = "base_taken_in"
    task_id: Exact
    base: Exact
    """The commit of the base."""
    head: Exact = ""
    conflicts: tuple[str, ...] = ()
    pull: Pull | None = None


class CollisionsSeen(EventBase):
    """Task branches that would conflict with each other when merged."""

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
    """Why the base was not moved. Empty if it was."""
    conflicts: tuple[str, ...] = ()
    """Files in which the branches conflict with each other or with the base."""


class CleanedUp(Result):
    kind: Literal["cleaned_up"] = "cleaned_up"
    removals: tuple[Removal, ...]
    evidence: EvidenceInventory | None = None
    unlogged: Annotated[tuple[str, ...], EXACT] = ()
    """Ids of finished tasks whose log cannot be stored."""
    unlogged_because: str = ""
    unlogged_remedy: str = ""


class SummedUp(Result):
    kind: Literal["summed_up"] = "summed_up"
    text: str


# What the bot itself notices: refusals, problems outside, the time, its own restart and its own bugs.


class OrderFailed(Result):
    """An order was refused for good. `what` is the order's kind."""

    kind: Literal["order_failed"] = "order_failed"
    what: Exact
    task_id: Exact = ""
    reason: str
    remedy: str = ""
    lost: bool = False
    """The worktree or branch is gone or was changed by hand."""
    away: bool = False
    """The repository itself is not where it was."""


class Relinked(EventBase):
    """Somebody named the repository's new location."""

    kind: Literal["relinked"] = "relinked"
    by: Person
    path: Exact = ""
    """The path that was found; empty if it is not the session's repository."""
    problem: str = ""
    """Why it is not the session's repository."""


class Begun(EventBase):
    """The first event of a session that another session opened, in place of a user's message."""

    kind: Literal["begun"] = "begun"
    by: Person
    text: str
    intent: Intent | None = None
    """The intent as it is kept in the repository, if it is."""
    path: str = ""
    """The path of that repository."""
    title: str = ""
    parent: str | None = None
    """The intent that it is a part of."""
    origin: Thread | None = None
    """The thread in which the session was asked for."""
    origin_title: str = ""


class TroubleBegan(EventBase):
    """Something outside does not answer; the bot keeps retrying."""

    kind: Literal["trouble_began"] = "trouble_began"
    order: Exact = ""
    """The key of the order that cannot be done at the moment."""
    reason: str
    remedy: str = ""


class TroubleEnded(EventBase):
    kind: Literal["trouble_ended"] = "trouble_ended"
    order: Exact = ""


class Ticked(EventBase):
    """Time to report progress. `tails` holds what the panes show, by run id."""

    kind: Literal["ticked"] = "ticked"
    tails: dict[str, str] = Field(default_factory=dict[str, str])
    anew: bool = False
    """The operator wants the report posted at the end of the thread each time (PROGRESS=post)."""


class Woken(EventBase):
    """The bot was restarted, or looks around: whatever the state demands is ordered again."""

    kind: Literal["woken"] = "woken"
    restarted: bool = False
    hold: bool = False
    """The operator wants to be asked before anything continues (ON_RESTART=ask)."""


class Broke(EventBase):
    """A bug: this session cannot go on. The others do."""

    kind: Literal["broke"] = "broke"
    reason: str


# The union of all events, distinguished by `kind`.

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
    | ChoicesFound
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
