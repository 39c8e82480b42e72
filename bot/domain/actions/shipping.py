"""Orders for work that is done: its words, its pull request, the merge, and the end."""

from __future__ import annotations

from typing import Literal

from bot.domain.actions.wish import Wish


class DescribeWork(Wish):
    """Write what a pull request of this task says."""

    kind: Literal["describe_work"] = "describe_work"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"describe:{self.run_id}"


class OpenPull(Wish):
    """The task's branch on the forge, and its pull request: made, or brought up to date."""

    kind: Literal["open_pull"] = "open_pull"
    task_id: str
    commit: str
    number: int
    """Which try it is."""

    @property
    def key(self) -> str:
        return f"pull:{self.task_id}:{self.number}:{self.commit}"


class WatchPulls(Wish):
    """See what becomes of open pull requests, until this is called off."""

    kind: Literal["watch_pulls"] = "watch_pulls"
    numbers: tuple[int, ...]

    @property
    def key(self) -> str:
        return f"watch:{','.join(map(str, self.numbers))}"


class MergePull(Wish):
    """Merge it at that head as soon as its checks have passed there. It goes on until that, or until this is called off."""

    kind: Literal["merge_pull"] = "merge_pull"
    task_id: str
    number: int
    head: str
    anyway: bool = False
    """A person does not want to wait for checks that have not appeared."""

    @property
    def key(self) -> str:
        return f"merge-pull:{self.number}:{self.head}{':anyway' if self.anyway else ''}"


class TakeInBase(Wish):
    """What was merged meanwhile comes into the task's branch; then its pull request is a draft no longer."""

    kind: Literal["take_in_base"] = "take_in_base"
    task_id: str
    number: int
    merged: tuple[str, ...]
    """The merge commits of the base that are to be in it."""

    @property
    def key(self) -> str:
        return f"take-in:{self.number}:{','.join(self.merged)}"


class JudgeWhole(Wish):
    """Is what was asked for there, all of it?"""

    kind: Literal["judge_whole"] = "judge_whole"
    number: int

    @property
    def key(self) -> str:
        return f"judge-whole:{self.number}"


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


Shipping = (
    DescribeWork
    | OpenPull
    | WatchPulls
    | MergePull
    | TakeInBase
    | JudgeWhole
    | MergeLocally
    | CleanUp
    | SumUp
)
