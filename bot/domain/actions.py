"""Everything a session can want done. Each action is safe to do twice: it is done again after a crash.

Orders follow from the state (`bot/flow/due.py`): while the state demands one it is under way, and when the state
no longer does it is called off. Deeds follow from an event, once each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from bot.domain.cards import Card
from bot.domain.facts import Fact
from bot.domain.people import Person
from bot.domain.session import DocumentKind


class Wish(Fact, ABC):
    @property
    @abstractmethod
    def key(self) -> str:
        """Names the effect. The same key is never under way twice."""


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


class WriteDocument(Wish):
    kind: Literal["write_document"] = "write_document"
    document: DocumentKind
    revision: int

    @property
    def key(self) -> str:
        return f"write:{self.document}:{self.revision}"


class CommitDocuments(Wish):
    kind: Literal["commit_documents"] = "commit_documents"
    revision: int

    @property
    def key(self) -> str:
        return f"commit:{self.revision}"


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


class StopRun(Wish):
    kind: Literal["stop_run"] = "stop_run"
    run_id: str

    @property
    def key(self) -> str:
        return f"stop:{self.run_id}"


Order = (
    Survey
    | ScanRepository
    | FindQuestions
    | WriteDocument
    | CommitDocuments
    | HoldPlace
    | ListBranches
    | PrepareWorkspace
    | StartRun
    | AwaitRun
    | LookAtWork
    | RunCheck
    | MergeLocally
    | CleanUp
)
"""Work that the state demands."""

Deed = Show | Whisper | StopRun
"""Something to be done once, come what may."""

Action = Annotated[Order | Deed, Field(discriminator="kind")]
