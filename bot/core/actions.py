"""Everything a session can want done. Each action is safe to do twice: it is done again after a crash.

Orders follow from the state (see `due`): while the state demands one it is under way, and when the state no longer
does it is called off. Deeds follow from an event, once each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from bot.core.cards import Card
from bot.core.facts import Fact
from bot.core.people import Person
from bot.core.plan import DocumentKind

# What every action has: a key that names its effect.


class Wish(Fact, ABC):
    @property
    @abstractmethod
    def key(self) -> str:
        """Names the effect. The same key is never under way twice."""


# Orders that lead to a plan, and that judge what people say.


class Survey(Wish):
    """Is everything there: repository, branch, tmux, the agent CLI?"""

    kind: Literal["survey"] = "survey"

    @property
    def key(self) -> str:
        return "survey"


class ScanRepository(Wish):
    kind: Literal["scan_repository"] = "scan_repository"

    @property
    def key(self) -> str:
        return "scan"


class FindQuestions(Wish):
    kind: Literal["find_questions"] = "find_questions"

    @property
    def key(self) -> str:
        return "questions"


class ReadAnswers(Wish):
    """Which questions do these words answer?"""

    kind: Literal["read_answers"] = "read_answers"
    words_id: str

    @property
    def key(self) -> str:
        return f"answers:{self.words_id}"


class WriteDocument(Wish):
    kind: Literal["write_document"] = "write_document"
    document: DocumentKind
    revision: int

    @property
    def key(self) -> str:
        return f"write:{self.document}:{self.revision}"


class AnalysePlan(Wish):
    """Spec, plan and tasks are held against each other."""

    kind: Literal["analyse_plan"] = "analyse_plan"
    revision: int

    @property
    def key(self) -> str:
        return f"analyse:{self.revision}"


class LookAtBase(Wish):
    """Has the base moved since the plan was made?"""

    kind: Literal["look_at_base"] = "look_at_base"

    @property
    def key(self) -> str:
        return "base"


class CommitDocuments(Wish):
    kind: Literal["commit_documents"] = "commit_documents"
    revision: int

    @property
    def key(self) -> str:
        return f"commit:{self.revision}"


class JudgeWords(Wish):
    """Talk, a question, or a change?"""

    kind: Literal["judge_words"] = "judge_words"
    words_id: str

    @property
    def key(self) -> str:
        return f"words:{self.words_id}"


class JudgeImpact(Wish):
    """Which tasks does a change touch?"""

    kind: Literal["judge_impact"] = "judge_impact"
    change_id: str
    revision: int

    @property
    def key(self) -> str:
        return f"impact:{self.change_id}:{self.revision}"


class JudgeContinuation(Wish):
    """More of the same, or something new?"""

    kind: Literal["judge_continuation"] = "judge_continuation"
    words_id: str

    @property
    def key(self) -> str:
        return f"continuation:{self.words_id}"


class ChooseStep(Wish):
    """Which of the legal steps is best?"""

    kind: Literal["choose_step"] = "choose_step"
    step_id: str

    @property
    def key(self) -> str:
        return f"step:{self.step_id}"


class OpenSession(Wish):
    """A root message in the channel, and a session that hangs from it."""

    kind: Literal["open_session"] = "open_session"
    session: str

    @property
    def key(self) -> str:
        return f"open:{self.session}"


class PassOn(Wish):
    """Give this session's request to an earlier one."""

    kind: Literal["pass_on"] = "pass_on"
    session: str

    @property
    def key(self) -> str:
        return f"pass_on:{self.session}"


class SummariseTalk(Wish):
    """The conversation grows too long for the model."""

    kind: Literal["summarise_talk"] = "summarise_talk"
    number: int
    messages: int
    """How many of the oldest."""

    @property
    def key(self) -> str:
        return f"summarise:{self.number}"


Planning = (
    Survey
    | ScanRepository
    | FindQuestions
    | ReadAnswers
    | WriteDocument
    | AnalysePlan
    | LookAtBase
    | CommitDocuments
    | JudgeWords
    | JudgeImpact
    | JudgeContinuation
    | ChooseStep
    | OpenSession
    | PassOn
    | SummariseTalk
)


# Orders that carry a plan out: agents at work, what they ask, and whether it is done.


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


# Orders for work that is done: its description, its pull request, the merge, and the end.


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


# Deeds: each follows from an event and is done once.


class Show(Wish):
    """Put a card into the thread: posted, or edited where its key already stands."""

    kind: Literal["show"] = "show"
    card: Card

    @property
    def key(self) -> str:
        return f"show:{self.card.key}"


class Whisper(Wish):
    """Tell one person only."""

    kind: Literal["whisper"] = "whisper"
    to: Person
    card: Card

    @property
    def key(self) -> str:
        return f"whisper:{self.to.id}:{self.card.key}"


class ShowLogs(Wish):
    """What happened to the tasks, from their logs, as the answer to a command."""

    kind: Literal["show_logs"] = "show_logs"
    about: str
    """The command's id."""
    task: str = ""
    level: str = ""
    to: Person | None = None
    """Whom it is shown to; none: everybody in the thread."""

    @property
    def key(self) -> str:
        return f"logs:{self.about}"


class StopRun(Wish):
    kind: Literal["stop_run"] = "stop_run"
    run_id: str

    @property
    def key(self) -> str:
        return f"stop:{self.run_id}"


class Relink(Wish):
    """Take the repository for the session's own where somebody says that it lies now."""

    kind: Literal["relink"] = "relink"
    about: str
    """The command's id."""
    path: str
    by: Person

    @property
    def key(self) -> str:
        return f"relink:{self.about}"


Deed = Show | Whisper | ShowLogs | StopRun | Relink
"""Something to be done once, come what may."""


# Every action, told apart by its `kind`.

Order = Planning | Working | Shipping
"""Work that the state demands."""

Action = Annotated[Order | Deed, Field(discriminator="kind")]
