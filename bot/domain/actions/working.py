"""Orders that carry a plan out."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from bot.domain.actions.wish import Wish


class HoldPlace(Wish):
    """Wait for the repository's place, then keep it until this is called off."""

    kind: Literal["hold_place"] = "hold_place"
    since: AwareDatetime

    @property
    def key(self) -> str:
        return f"place:{self.since.isoformat()}"


class ListBranches(Wish):
    kind: Literal["list_branches"] = "list_branches"

    @property
    def key(self) -> str:
        return "branches"


class PrepareWorkspace(Wish):
    """Branch, worktree, and the predecessors' work merged into it."""

    kind: Literal["prepare_workspace"] = "prepare_workspace"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"workspace:{self.run_id}"


class StartRun(Wish):
    kind: Literal["start_run"] = "start_run"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"start:{self.run_id}"


class AwaitRun(Wish):
    kind: Literal["await_run"] = "await_run"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"await:{self.run_id}"


class LookAtWork(Wish):
    """What does git say the run has left?"""

    kind: Literal["look_at_work"] = "look_at_work"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"look:{self.run_id}"


class RunCheck(Wish):
    kind: Literal["run_check"] = "run_check"
    task_id: str
    commit: str
    number: int

    @property
    def key(self) -> str:
        return f"check:{self.task_id}:{self.number}"


class DescribeWork(Wish):
    """Write what a pull request of this task says."""

    kind: Literal["describe_work"] = "describe_work"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"describe:{self.run_id}"


class MergeLocally(Wish):
    kind: Literal["merge_locally"] = "merge_locally"

    @property
    def key(self) -> str:
        return "merge"


class CleanUp(Wish):
    kind: Literal["clean_up"] = "clean_up"

    @property
    def key(self) -> str:
        return "clean"


class SumUp(Wish):
    """How it went, in a few sentences."""

    kind: Literal["sum_up"] = "sum_up"
    number: int

    @property
    def key(self) -> str:
        return f"sum_up:{self.number}"


Working = (
    HoldPlace
    | ListBranches
    | PrepareWorkspace
    | StartRun
    | AwaitRun
    | LookAtWork
    | RunCheck
    | DescribeWork
    | MergeLocally
    | CleanUp
    | SumUp
)
