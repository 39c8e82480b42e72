"""Every action a session can ask for.

Each is idempotent: after a crash it is done again. Orders follow from the state (see `due`): they run while the state
demands them, and are cancelled when it no longer does. Deeds follow from an event and are done once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from bot.core.cards import Card
from bot.core.facts import Fact
from bot.core.people import Person
from bot.core.plan import DocumentKind


class ActionBase(Fact, ABC):
    @property
    @abstractmethod
    def key(self) -> str:
        """Names the effect. Two actions with the same key never run at the same time."""


# Orders that lead to a plan, and orders that judge what users write.


class Survey(ActionBase):
    """Check that everything is there: repository, branch, tmux, the agent CLI."""

    kind: Literal["survey"] = "survey"

    @property
    def key(self) -> str:
        return "survey"


class ScanRepository(ActionBase):
    kind: Literal["scan_repository"] = "scan_repository"

    @property
    def key(self) -> str:
        return "scan"


class FindQuestions(ActionBase):
    kind: Literal["find_questions"] = "find_questions"

    @property
    def key(self) -> str:
        return "questions"


class ReadAnswers(ActionBase):
    """Ask the model which questions these words answer."""

    kind: Literal["read_answers"] = "read_answers"
    words_id: str

    @property
    def key(self) -> str:
        return f"answers:{self.words_id}"


class WriteDocument(ActionBase):
    kind: Literal["write_document"] = "write_document"
    document: DocumentKind
    revision: int

    @property
    def key(self) -> str:
        return f"write:{self.document}:{self.revision}"


class AnalysePlan(ActionBase):
    """Compare spec, plan and tasks with each other."""

    kind: Literal["analyse_plan"] = "analyse_plan"
    revision: int

    @property
    def key(self) -> str:
        return f"analyse:{self.revision}"


class LookAtBase(ActionBase):
    """Check whether the base branch has moved since the plan was made."""

    kind: Literal["look_at_base"] = "look_at_base"

    @property
    def key(self) -> str:
        return "base"


class CommitDocuments(ActionBase):
    kind: Literal["commit_documents"] = "commit_documents"
    revision: int

    @property
    def key(self) -> str:
        return f"commit:{self.revision}"


class JudgeWords(ActionBase):
    """Ask the model whether a message is talk, a question, or a change."""

    kind: Literal["judge_words"] = "judge_words"
    words_id: str

    @property
    def key(self) -> str:
        return f"words:{self.words_id}"


class JudgeImpact(ActionBase):
    """Ask the model which tasks a change touches."""

    kind: Literal["judge_impact"] = "judge_impact"
    change_id: str
    revision: int

    @property
    def key(self) -> str:
        return f"impact:{self.change_id}:{self.revision}"


class JudgeContinuation(ActionBase):
    """Ask the model whether a request continues an earlier session or is something new."""

    kind: Literal["judge_continuation"] = "judge_continuation"
    words_id: str

    @property
    def key(self) -> str:
        return f"continuation:{self.words_id}"


class ChooseStep(ActionBase):
    """Ask the model which of the legal steps is best."""

    kind: Literal["choose_step"] = "choose_step"
    step_id: str

    @property
    def key(self) -> str:
        return f"step:{self.step_id}"


class OpenSession(ActionBase):
    """Post a root message in the channel and start a session in its thread."""

    kind: Literal["open_session"] = "open_session"
    session: str

    @property
    def key(self) -> str:
        return f"open:{self.session}"


class PassOn(ActionBase):
    """Hand this session's request over to an earlier session."""

    kind: Literal["pass_on"] = "pass_on"
    session: str

    @property
    def key(self) -> str:
        return f"pass_on:{self.session}"


class SummariseTalk(ActionBase):
    """Summarise the conversation: it grows too long for the model."""

    kind: Literal["summarise_talk"] = "summarise_talk"
    number: int
    messages: int
    """How many of the oldest messages to summarise."""

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


# Orders that carry out a plan: agents at work, their questions, and checks of the result.


class HoldPlace(ActionBase):
    """Wait for a slot in the repository's queue, then keep it until this order is cancelled."""

    kind: Literal["hold_place"] = "hold_place"
    since: AwareDatetime
    rework: bool = False
    """The session reworks something that was done before: it goes to the front of the queue."""

    @property
    def key(self) -> str:
        return f"place:{self.since.isoformat()}"


class ListBranches(ActionBase):
    kind: Literal["list_branches"] = "list_branches"

    @property
    def key(self) -> str:
        return "branches"


class PrepareWorkspace(ActionBase):
    """Create the branch and worktree, and merge the work of the task's dependencies into it."""

    kind: Literal["prepare_workspace"] = "prepare_workspace"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"workspace:{self.run_id}"


class StartRun(ActionBase):
    kind: Literal["start_run"] = "start_run"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"start:{self.run_id}"


class AwaitRun(ActionBase):
    kind: Literal["await_run"] = "await_run"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"await:{self.run_id}"


class LookAtWork(ActionBase):
    """Ask git what the run has left behind."""

    kind: Literal["look_at_work"] = "look_at_work"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"look:{self.run_id}"


class AnswerDialog(ActionBase):
    """Type somebody's choice into a pane. It is not repeated after a restart: the pane is read again instead."""

    kind: Literal["answer_dialog"] = "answer_dialog"
    task_id: str
    run_id: str
    number: int

    @property
    def key(self) -> str:
        return f"answer:{self.run_id}:{self.number}"


class LookIn(ActionBase):
    """Find out what an agent is doing whose run does not end.

    `ask`: also ask the agent; asking twice after a crash does no harm.
    """

    kind: Literal["look_in"] = "look_in"
    task_id: str
    run_id: str
    number: int
    ask: bool

    @property
    def key(self) -> str:
        return f"look-in:{self.run_id}:{self.number}"


class WaitUntil(ActionBase):
    """Wait until the agent's account has quota again."""

    kind: Literal["wait_until"] = "wait_until"
    task_id: str
    at: AwareDatetime

    @property
    def key(self) -> str:
        return f"wait:{self.task_id}:{self.at.isoformat()}"


class CheckBase(ActionBase):
    """Run the tests on the base commit before any agent starts: once per commit and command."""

    kind: Literal["check_base"] = "check_base"
    commit: str
    command: str

    @property
    def key(self) -> str:
        return f"base:{self.commit[:12]}:{self.command}"


class RunCheck(ActionBase):
    kind: Literal["run_check"] = "run_check"
    task_id: str
    commit: str
    number: int
    restored: tuple[str, ...] = ()
    """Files that decide how tests are run: they are restored to their state before the task."""
    changed: int = 0
    """How often a person has changed the command."""

    @property
    def key(self) -> str:
        again = f".{self.changed}" if self.changed else ""
        return f"check:{self.task_id}:{self.number}{again}"


class JudgeWork(ActionBase):
    """Ask the model whether the task is done, judging by its diff and its checks."""

    kind: Literal["judge_work"] = "judge_work"
    task_id: str
    commit: str
    number: int

    @property
    def key(self) -> str:
        return f"judge:{self.task_id}:{self.number}"


class ReplanTask(ActionBase):
    """Split a task into smaller ones."""

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


# Orders for finished work: its description, its pull request, the merge, and the end of the session.


class DescribeWork(ActionBase):
    """Write the description of this task's pull request."""

    kind: Literal["describe_work"] = "describe_work"
    task_id: str
    run_id: str

    @property
    def key(self) -> str:
        return f"describe:{self.run_id}"


class OpenPull(ActionBase):
    """Push the task's branch and create or update its pull request."""

    kind: Literal["open_pull"] = "open_pull"
    task_id: str
    commit: str
    number: int
    """Counts the attempts."""

    @property
    def key(self) -> str:
        return f"pull:{self.task_id}:{self.number}:{self.commit}"


class WatchPulls(ActionBase):
    """Watch the open pull requests until this order is cancelled."""

    kind: Literal["watch_pulls"] = "watch_pulls"
    numbers: tuple[int, ...]

    @property
    def key(self) -> str:
        return f"watch:{','.join(map(str, self.numbers))}"


class MergePull(ActionBase):
    """Merge the pull request at this head as soon as its checks have passed.

    Waits until then, or until this order is cancelled.
    """

    kind: Literal["merge_pull"] = "merge_pull"
    task_id: str
    number: int
    head: str
    anyway: bool = False
    """Merge without waiting for checks that have not appeared; a person asked for it."""

    @property
    def key(self) -> str:
        return f"merge-pull:{self.number}:{self.head}{':anyway' if self.anyway else ''}"


class TakeInBase(ActionBase):
    """Merge the moved base into the task's branch; then its pull request is no longer a draft."""

    kind: Literal["take_in_base"] = "take_in_base"
    task_id: str
    number: int
    merged: tuple[str, ...]
    """The merge commits of the base that the branch must contain."""

    @property
    def key(self) -> str:
        return f"take-in:{self.number}:{','.join(self.merged)}"


class JudgeWhole(ActionBase):
    """Ask the model whether everything that was asked for is there."""

    kind: Literal["judge_whole"] = "judge_whole"
    number: int

    @property
    def key(self) -> str:
        return f"judge-whole:{self.number}"


class MergeLocally(ActionBase):
    kind: Literal["merge_locally"] = "merge_locally"

    @property
    def key(self) -> str:
        return "merge"


class CleanUp(ActionBase):
    kind: Literal["clean_up"] = "clean_up"

    @property
    def key(self) -> str:
        return "clean"


class SumUp(ActionBase):
    """Summarise the session in a few sentences."""

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


class Show(ActionBase):
    """Post a card to the thread, or edit the card that has the same key."""

    kind: Literal["show"] = "show"
    card: Card

    @property
    def key(self) -> str:
        return f"show:{self.card.key}"


class Whisper(ActionBase):
    """Show a message to one person only."""

    kind: Literal["whisper"] = "whisper"
    to: Person
    card: Card

    @property
    def key(self) -> str:
        return f"whisper:{self.to.id}:{self.card.key}"


class ShowLogs(ActionBase):
    """Show what happened to the tasks, from their logs, in reply to a command."""

    kind: Literal["show_logs"] = "show_logs"
    about: str
    """The id of the command."""
    task: str = ""
    level: str = ""
    to: Person | None = None
    """Who sees it; `None`: everybody in the thread."""

    @property
    def key(self) -> str:
        return f"logs:{self.about}"


class StopRun(ActionBase):
    kind: Literal["stop_run"] = "stop_run"
    run_id: str

    @property
    def key(self) -> str:
        return f"stop:{self.run_id}"


class Relink(ActionBase):
    """Accept the path a user names as the new location of the session's repository."""

    kind: Literal["relink"] = "relink"
    about: str
    """The id of the command."""
    path: str
    by: Person

    @property
    def key(self) -> str:
        return f"relink:{self.about}"


Deed = Show | Whisper | ShowLogs | StopRun | Relink
"""An action to be done once, whatever the state is later."""


# Unions of all actions, distinguished by `kind`.

Order = Planning | Working | Shipping
"""An action that the state demands."""

Action = Annotated[Order | Deed, Field(discriminator="kind")]
