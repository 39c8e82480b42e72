"""Asks the model what a message means, whether a session continues, and for a summary of a long conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field

from bot.core.actions import JudgeContinuation, JudgeWords, SummariseTalk
from bot.core.errors import PortError, Refused
from bot.core.events import ContinuationJudged, TalkSummarised, WordsJudged
from bot.core.languages import language_of
from bot.core.llm import ModelRole
from bot.core.session import Message, Session, Speaker
from bot.core.states import Status, TaskState
from bot.core.talk import WordKind, Words
from bot.core.text import cut
from bot.core.world import World
from bot.steps.asking import ModelReply, Prompt, ResultFields, SessionPrompt, json_parser
from bot.steps.looking import Looker
from bot.steps.prompt_data import (
    LAST_MESSAGES,
    LONGEST_REPLY,
    ReplyText,
    Sentence,
    common_data,
    document_excerpts,
    message_data,
    open_questions,
    task_plans,
    task_states,
    token_share,
    waiting_words,
)
from bot.steps.talk.evidence import NO_EVIDENCE, Evidence, evidence_for

LONGEST_SUMMARY = 4000


class WordsReply(ModelReply):
    """`reason` is empty only if the model gave no valid reply."""

    kind: WordKind
    reply: str = ""
    reason: Sentence = ""


class ContinuationReply(ModelReply):
    """`reason` is empty only if the model gave no valid reply."""

    verdict: Literal["continue", "new", "talk"]
    reason: Sentence = ""
    reply: str = ""


class SummaryReply(ModelReply):
    summary: str = Field(min_length=1)


@dataclass(frozen=True)
class WordsPrompt(
    SessionPrompt[WordsReply, JudgeWords, WordsJudged],
    name="words",
    reply=WordsReply,
    asked_by=JudgeWords,
):
    """Talk, a question (answered at once), or a change. Nothing usable: talk, for then nothing happens."""

    session: Session
    words: Words
    evidence: Evidence = NO_EVIDENCE

    @classmethod
    async def about(cls, world: World, session: Session, order: JudgeWords) -> Self:
        words = waiting_words(session, order.words_id)
        return cls(session, words, await evidence_for(world, session, words.text))

    def looker(self) -> Looker | None:
        return self.evidence.looker

    def data(self) -> dict[str, object]:
        session, words = self.session, self.words
        return common_data(session, words.text) | {
            **self.evidence.data(),
            "said": words.text,
            "by": str(words.by),
            "phase": session.phase.value,
            "tasks": task_states(session.tasks),
            "documents": document_excerpts(session, token_share(session, 6)),
            "conversation": _last_messages(session),
        }

    def read(self, text: str) -> WordsReply:
        found = json_parser(WordsReply, text)
        if found.kind is WordKind.QUESTION and not found.reply:
            raise ValueError("reply: a question needs its answer, if only that it is not known")
        reason = found.reason or f"It reads as {found.kind}."
        return found.model_copy(update={"reply": cut(found.reply, LONGEST_REPLY), "reason": reason})

    def fallback(self) -> WordsReply:
        return WordsReply(kind=WordKind.TALK)

    def prose(self, found: WordsReply) -> str:
        return found.reply

    async def event(self, world: World, found: WordsReply, fields: ResultFields) -> WordsJudged:
        return WordsJudged(
            **fields,
            words_id=self.words.id,
            what=found.kind,
            reply=await self.evidence.checked(found.reply),
            reason=found.reason,
        )


@dataclass(frozen=True)
class ContinuePrompt(
    SessionPrompt[ContinuationReply, JudgeContinuation, ContinuationJudged],
    name="continue",
    reply=ContinuationReply,
    asked_by=JudgeContinuation,
):
    """What was said after the end: more of the same, something new, or talk. Nothing usable: talk."""

    session: Session
    words: Words
    evidence: Evidence = NO_EVIDENCE

    @classmethod
    async def about(cls, world: World, session: Session, order: JudgeContinuation) -> Self:
        words = waiting_words(session, order.words_id)
        return cls(session, words, await evidence_for(world, session, words.text))

    def looker(self) -> Looker | None:
        return self.evidence.looker

    def data(self) -> dict[str, object]:
        session, words = self.session, self.words
        return common_data(session, words.text) | {
            **self.evidence.data(),
            "said": words.text,
            "by": str(words.by),
            "may_continue": self._may_continue,
            "session": _ended_session_data(session),
            "conversation": _last_messages(session),
        }

    @property
    def _may_continue(self) -> bool:
        """Whether the session may be continued. A discarded session stays discarded: more of it needs a new one."""
        return self.session.status is not Status.DISCARDED

    def read(self, text: str) -> ContinuationReply:
        found = json_parser(ContinuationReply, text)
        reason = found.reason or f"It reads as {found.verdict}."
        given_up = found.verdict == "continue" and not self._may_continue
        verdict = "new" if given_up else found.verdict
        return ContinuationReply(
            verdict=verdict, reason=reason, reply=cut(found.reply, LONGEST_REPLY)
        )

    def fallback(self) -> ContinuationReply:
        return ContinuationReply(verdict="talk")

    def prose(self, found: ContinuationReply) -> str:
        return f"{found.reason}\n{found.reply}"

    async def event(
        self, world: World, found: ContinuationReply, fields: ResultFields
    ) -> ContinuationJudged:
        return ContinuationJudged(
            **fields,
            words_id=self.words.id,
            what=found.verdict,
            reason=found.reason,
            reply=await self.evidence.checked(found.reply),
        )


class AskReply(ModelReply):
    reply: ReplyText = Field(min_length=1)


@dataclass(frozen=True)
class AskPrompt(Prompt[str], name="ask", reply=AskReply):
    """A question about code, plan or progress, asked with the command `ask`; there may be no session."""

    question: str
    evidence: Evidence
    session: Session | None = None

    def looker(self) -> Looker | None:
        return self.evidence.looker

    def data(self) -> dict[str, object]:
        session = self.session
        standing = _standing_data(session) if session else {}
        language = language_of(self.question)
        data = {"question": self.question, "language": language, "session": standing}
        return data | self.evidence.data()

    def read(self, text: str) -> str:
        return json_parser(AskReply, text).reply

    def fallback(self) -> str:
        return "I do not know."

    def prose(self, found: str) -> str:
        return found


def _standing_data(session: Session) -> dict[str, object]:
    return common_data(session) | {
        "phase": session.phase.value,
        "tasks": task_plans(session, session.tasks, token_share(session, 6)),
        "progress": task_states(session.tasks),
        "documents": document_excerpts(session, token_share(session, 6)),
        "open_questions": open_questions(session),
        "conversation": _last_messages(session),
    }


def _last_messages(session: Session) -> list[dict[str, object]]:
    return message_data(session.conversation[-LAST_MESSAGES:], token_share(session, 6))


def _ended_session_data(session: Session) -> dict[str, object]:
    spec = document_excerpts(session, token_share(session, 4)).get("spec", "")
    return {
        "title": session.title,
        "spec": spec,
        "tasks": task_states(session.tasks),
        "branches": [workspace.branch for workspace in session.workspaces],
        "ended": {
            "status": session.status.value,
            "work": session.ending.choice.value if session.ending.choice else "",
            "merged_commit": session.ending.merged_commit[:12],
        },
    }


@dataclass(frozen=True)
class CompressPrompt(
    SessionPrompt[str, SummariseTalk, TalkSummarised],
    name="compress",
    reply=SummaryReply,
    role=ModelRole.SMALL,
    asked_by=SummariseTalk,
):
    """What stands for old messages. Decisions and open tasks need no place in it: they are always told beside it."""

    session: Session
    messages: Sequence[Message]

    @classmethod
    async def about(cls, world: World, session: Session, order: SummariseTalk) -> Self:
        return cls(session, session.conversation[: order.messages])

    def data(self) -> dict[str, object]:
        session = self.session
        return common_data(session) | {
            "messages": message_data(self.messages, token_share(session, 2)),
            "finished_tasks": task_states(session.in_state(TaskState.COMPLETED)),
        }

    def read(self, text: str) -> str:
        return cut(json_parser(SummaryReply, text).summary, LONGEST_SUMMARY)

    def fallback(self) -> str:
        return plain_summary(self.messages)

    def unasked(self, trouble: PortError) -> str:
        """Failing to summarise must not stop anything."""
        return self.fallback() if isinstance(trouble, Refused) else super().unasked(trouble)

    def prose(self, found: str) -> str:
        return found

    async def event(self, world: World, found: str, fields: ResultFields) -> TalkSummarised:
        return TalkSummarised(**fields, summary=found, messages=len(self.messages))


def plain_summary(messages: Sequence[Message]) -> str:
    """Return the former summary and the beginnings of the last messages."""
    former = [one.content for one in messages if one.role is Speaker.SYSTEM]
    others = [one for one in messages if one.role is not Speaker.SYSTEM]
    lines = [f"- {one.role}: {cut(' '.join(one.content.split()), 80)}" for one in others[-20:]]
    if missing := len(others) - len(lines):
        lines.insert(0, f"- {missing} earlier messages are left out.")
    return "\n".join([cut("\n".join(former), LONGEST_SUMMARY // 2), *lines]).strip()
