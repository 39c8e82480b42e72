"""Orders that carry a plan out: agents at work, what they ask, and whether it is done."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from bot.domain.actions.wish import Wish


class HoldPlace(Wish):
    """Wait for the repository's place, then keep it until this is called off."""

    kind: Literal["hold_place"] = "hold_place"
    since: AwareDatetime
    rework: bool = False
    """Something came back about work that was done: that goes first."""

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


class AnswerDialog(Wish):
    """Type into a pane what somebody chose. It is never done again after a restart: the pane is read anew."""

    kind: Literal["answer_dialog"] = "answer_dialog"
    task_id: str
    run_id: str
    number: int

    @property
    def key(self) -> str:
        return f"answer:{self.run_id}:{self.number}"


class LookIn(Wish):
    """What has an agent done that does not come to an end? `ask`: it is asked, too. Asked twice after a crash it loses nothing."""

    kind: Literal["look_in"] = "look_in"
    task_id: str
    run_id: str
    number: int
    ask: bool

    @property
    def key(self) -> str:
        return f"look-in:{self.run_id}:{self.number}"


class WaitUntil(Wish):
    """Until an agent's account has something left again."""

    kind: Literal["wait_until"] = "wait_until"
    task_id: str
    at: AwareDatetime

    @property
    def key(self) -> str:
        return f"wait:{self.task_id}:{self.at.isoformat()}"


class CheckBase(Wish):
    """Run the tests at the base before any agent starts: once for each commit and command."""

    kind: Literal["check_base"] = "check_base"
    commit: str
    command: str

    @property
    def key(self) -> str:
        return f"base:{self.commit[:12]}:{self.command}"


class RunCheck(Wish):
    kind: Literal["run_check"] = "run_check"
    task_id: str
    commit: str
    number: int
    restored: tuple[str, ...] = ()
    """Files that decide how tests are run: they are taken as they were before the task."""
    changed: int = 0
    """How often a person had set the command."""

    @property
    def key(self) -> str:
        again = f".{self.changed}" if self.changed else ""
        return f"check:{self.task_id}:{self.number}{again}"


class JudgeWork(Wish):
    """Is the task done, as its diff and its checks show it?"""

    kind: Literal["judge_work"] = "judge_work"
    task_id: str
    commit: str
    number: int

    @property
    def key(self) -> str:
        return f"judge:{self.task_id}:{self.number}"


class ReplanTask(Wish):
    """Smaller tasks in place of one."""

    kind: Literal["replan_task"] = "replan_task"
    task_id: str
    number: int

    @property
    def key(self) -> str:
        return f"replan:{self.task_id}:{self.number}"


Working = (
    HoldPlace
    | ListBranches
    | PrepareWorkspace
    | StartRun
    | AwaitRun
    | AnswerDialog
    | LookIn
    | WaitUntil
    | LookAtWork
    | CheckBase
    | RunCheck
    | JudgeWork
    | ReplanTask
)
