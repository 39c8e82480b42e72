"""What came of running agents, looking at their work, and merging it."""

from __future__ import annotations

from typing import Literal

from bot.domain.dialogs import Dialog
from bot.domain.events.happening import Happening, Result
from bot.domain.evidence import Check, EvidenceInventory, Verdict, VerifiedFile
from bot.domain.hosting import MergeTried, Pull
from bot.domain.replanned import Smaller
from bot.domain.tampering import Flag
from bot.domain.tasks import Workspace
from bot.domain.world import Checkout, Collision, Removal, RunEnd, Work


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
    attach: str = ""
    before: Checkout | None = None


class SettingsChanged(Result):
    """A run was not started: what its agent obeys is not what it was when somebody approved."""

    kind: Literal["settings_changed"] = "settings_changed"
    run_id: str
    files: tuple[str, ...]
    mark: str
    """Of how they look now."""


class DialogOpened(Result):
    """A program in a pane asks a person something."""

    kind: Literal["dialog_opened"] = "dialog_opened"
    run_id: str
    dialog: Dialog


class DialogClosed(Result):
    """It no longer asks: it was answered, perhaps in the pane itself."""

    kind: Literal["dialog_closed"] = "dialog_closed"
    run_id: str


class DialogAnswered(Result):
    """What somebody chose was typed."""

    kind: Literal["dialog_answered"] = "dialog_answered"
    run_id: str
    dialog_id: str
    moved: bool
    """Whether the screen has moved on."""


class LookedIn(Result):
    """What git says of a run that does not come to an end."""

    kind: Literal["looked_in"] = "looked_in"
    run_id: str
    asked: bool
    """Whether its agent was asked if it is done."""
    why: str = ""
    """Why not."""
    commits: int = 0
    uncommitted: int = 0


class RunEnded(Result):
    kind: Literal["run_ended"] = "run_ended"
    run_id: str
    end: RunEnd
    log_path: str = ""
    evidence: str = ""
    report: str = ""
    """What its agent has written down as its result."""
    report_evidence: str = ""
    noticed: tuple[str, ...] = ()
    """Ids of observations that its agent has made."""


class RunStopped(Result):
    """A stopped run was looked after: who is still alive?"""

    kind: Literal["run_stopped"] = "run_stopped"
    run_id: str
    survivors: tuple[int, ...] = ()


class WorkSeen(Result):
    kind: Literal["work_seen"] = "work_seen"
    task_id: str
    work: Work
    unmerged: tuple[str, ...] = ()
    """Branches of predecessors that should be in it, and are not."""
    flags: tuple[Flag, ...] = ()
    touched: tuple[str, ...] = ()
    """Files of the main checkout that changed while the run lasted."""
    verified_files: tuple[VerifiedFile, ...] = ()
    evidence: str = ""
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
    task_id: str
    check: Check
    evidence: str = ""
    problem: str = ""
    """Why the command cannot be run at all; empty: it was run."""


class WorkJudged(Result):
    kind: Literal["work_judged"] = "work_judged"
    task_id: str
    commit: str
    verdict: Verdict


class TaskReplanned(Result):
    """Smaller tasks in place of one; none: nobody knows how to cut it."""

    kind: Literal["task_replanned"] = "task_replanned"
    task_id: str
    smaller: tuple[Smaller, ...] = ()


class TimeCame(Result):
    kind: Literal["time_came"] = "time_came"
    task_id: str


class PullOpened(Result):
    kind: Literal["pull_opened"] = "pull_opened"
    task_id: str
    commit: str
    pull: Pull
    evidence: str = ""


class PullsSeen(Result):
    """Pull requests that look otherwise than when they were last told of."""

    kind: Literal["pulls_seen"] = "pulls_seen"
    pulls: tuple[Pull, ...]


class PullMergeTried(Result):
    kind: Literal["pull_merge_tried"] = "pull_merge_tried"
    task_id: str
    tried: MergeTried
    overdue: bool = False
    """Checks that have not appeared were waited for as long as they are."""


class BaseTakenIn(Result):
    """What the base holds now is merged into a task's branch, or collides with it."""

    kind: Literal["base_taken_in"] = "base_taken_in"
    task_id: str
    base: str
    """The base's commit."""
    head: str = ""
    conflicts: tuple[str, ...] = ()
    pull: Pull | None = None


class CollisionsSeen(Happening):
    """Branches at work that would not merge with each other."""

    kind: Literal["collisions_seen"] = "collisions_seen"
    collisions: tuple[Collision, ...]


class WholeJudged(Result):
    kind: Literal["whole_judged"] = "whole_judged"
    verdict: Verdict
    proposed: tuple[Smaller, ...] = ()


class MergedLocally(Result):
    kind: Literal["merged_locally"] = "merged_locally"
    commit: str = ""
    check: Check | None = None
    problem: str = ""
    """Why the base was left where it is. Empty: it was moved."""
    conflicts: tuple[str, ...] = ()
    """Files in which the branches collide with each other or with the base."""


class CleanedUp(Result):
    kind: Literal["cleaned_up"] = "cleaned_up"
    removals: tuple[Removal, ...]
    evidence: EvidenceInventory | None = None
    unlogged: tuple[str, ...] = ()
    """Ids of tasks that are over, and whose log cannot be kept."""
    unlogged_because: str = ""
    unlogged_remedy: str = ""


class SummedUp(Result):
    kind: Literal["summed_up"] = "summed_up"
    text: str
