"""Everything that can happen to a session. An event is a fact: it carries data and a time, never behaviour.

People's events carry the platform's own id, so that hearing one twice is noticed. A result names the order it
answers, so that the order is not given again while its result still waits to be decided on.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from bot.domain.choices import Command, Verb
from bot.domain.evidence import Check, VerifiedFile
from bot.domain.facts import Fact
from bot.domain.intent import Question, Risk
from bot.domain.people import Person
from bot.domain.session import Document
from bot.domain.spec_kit import TaskDraft
from bot.domain.tasks import Workspace
from bot.domain.world import AgentReady, Base, Removal, RunEnd, Scan, Usage, Work


class Happening(Fact):
    id: str
    at: AwareDatetime


class FromPerson(Happening):
    by: Person


class Said(FromPerson):
    kind: Literal["said"] = "said"
    text: str
    mention: bool = True


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


FromPeople = Said | Pressed | Commanded | Opened
"""What a chat delivers."""


class Result(Happening):
    """What came of an order."""

    answers: str
    usage: Usage = Usage()


class Surveyed(Result):
    kind: Literal["surveyed"] = "surveyed"
    base: Base
    agent: AgentReady
    agent_flags: str = ""


class Scanned(Result):
    kind: Literal["scanned"] = "scanned"
    scan: Scan


class QuestionsFound(Result):
    kind: Literal["questions_found"] = "questions_found"
    title: str
    type: str
    risk: Risk | None = None
    questions: tuple[Question, ...]


class DocumentWritten(Result):
    kind: Literal["document_written"] = "document_written"
    document: Document
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 2


class DocumentsCommitted(Result):
    kind: Literal["documents_committed"] = "documents_committed"
    workspace: Workspace
    commit: str


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
    names: tuple[str, ...]


class WorkspaceReady(Result):
    kind: Literal["workspace_ready"] = "workspace_ready"
    task_id: str
    workspace: Workspace
    conflicts: tuple[str, ...] = ()
    """Files in which the predecessor's work collides; the merge was aborted."""
    conflicting: str = ""
    """The id of that predecessor."""


class NameTaken(Result):
    """The branch or path belongs to somebody else."""

    kind: Literal["name_taken"] = "name_taken"
    task_id: str
    branch: str


class RunStarted(Result):
    kind: Literal["run_started"] = "run_started"
    run_id: str
    pane_id: str
    pid: int


class RunEnded(Result):
    kind: Literal["run_ended"] = "run_ended"
    run_id: str
    end: RunEnd
    log_path: str = ""


class WorkSeen(Result):
    kind: Literal["work_seen"] = "work_seen"
    task_id: str
    work: Work
    unmerged: tuple[str, ...] = ()
    """Branches of predecessors that should be in it, and are not."""
    verified_files: tuple[VerifiedFile, ...] = ()
    evidence: str = ""


class CheckRan(Result):
    kind: Literal["check_ran"] = "check_ran"
    task_id: str
    check: Check
    evidence: str = ""


class MergedLocally(Result):
    kind: Literal["merged_locally"] = "merged_locally"
    commit: str = ""
    check: Check | None = None
    problem: str = ""
    """Why the base was left where it is. Empty: it was moved."""


class CleanedUp(Result):
    kind: Literal["cleaned_up"] = "cleaned_up"
    removals: tuple[Removal, ...]


class OrderFailed(Result):
    """The world refused an order for good. `what` is the order's kind."""

    kind: Literal["order_failed"] = "order_failed"
    what: str
    task_id: str = ""
    reason: str
    remedy: str = ""


class TroubleBegan(Happening):
    """Something outside does not answer; the bot goes on trying by itself."""

    kind: Literal["trouble_began"] = "trouble_began"
    reason: str
    remedy: str = ""


class TroubleEnded(Happening):
    kind: Literal["trouble_ended"] = "trouble_ended"


class RunStopped(Result):
    """A stopped run was looked after: who is still alive?"""

    kind: Literal["run_stopped"] = "run_stopped"
    run_id: str
    survivors: tuple[int, ...] = ()


class Ticked(Happening):
    """It is time to say how things stand. The tails are what the panes show, by run id."""

    kind: Literal["ticked"] = "ticked"
    tails: dict[str, str] = Field(default_factory=dict[str, str])


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


Event = Annotated[
    Said
    | Pressed
    | Commanded
    | Surveyed
    | Scanned
    | QuestionsFound
    | DocumentWritten
    | DocumentsCommitted
    | PlaceGranted
    | PlaceAwaited
    | BranchesListed
    | WorkspaceReady
    | NameTaken
    | RunStarted
    | RunEnded
    | RunStopped
    | WorkSeen
    | CheckRan
    | MergedLocally
    | CleanedUp
    | OrderFailed
    | TroubleBegan
    | TroubleEnded
    | Ticked
    | Woken
    | Broke,
    Field(discriminator="kind"),
]
