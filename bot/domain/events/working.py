"""What came of running agents, looking at their work, and merging it."""

from __future__ import annotations

from typing import Literal

from bot.domain.events.happening import Result
from bot.domain.evidence import Check, VerifiedFile
from bot.domain.tasks import Workspace
from bot.domain.world import Removal, RunEnd, Work


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


class SummedUp(Result):
    kind: Literal["summed_up"] = "summed_up"
    text: str
