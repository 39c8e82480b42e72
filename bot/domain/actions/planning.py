"""Orders that lead to a plan, and that judge what people say."""

from __future__ import annotations

from typing import Literal

from bot.domain.actions.wish import Wish
from bot.domain.documents import DocumentKind


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
