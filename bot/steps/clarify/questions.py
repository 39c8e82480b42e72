"""Asks the model what a request is, what it leaves open, and which questions a message answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

from pydantic import Field, field_validator

from bot.core.actions import FindQuestions, ReadAnswers
from bot.core.events import AnswersRead, QuestionsFound, WishPart
from bot.core.facts import Fact
from bot.core.intent import Question, Risk, Vague, fixed_question, vague_request
from bot.core.languages import language_of
from bot.core.people import Earlier, Thread
from bot.core.plan import DocumentKind
from bot.core.session import Session
from bot.core.talk import Words
from bot.core.world import World
from bot.steps.asking import ModelReply, ResultFields, SessionPrompt, json_parser
from bot.steps.looking import Looker
from bot.steps.prompt_data import (
    ReplyText,
    Sentence,
    ShortLine,
    document_text,
    finished_sessions,
    open_questions,
    question_data,
    waiting_words,
)
from bot.steps.talk.evidence import NO_EVIDENCE, Evidence, evidence_for

MAX_QUESTIONS = 5
MAX_PARTS = 6
MOST_EARLIER = 10
LONGEST_EXCERPT = 600
"""Characters of an earlier session's specification."""
_TYPES = frozenset({"feature", "fix", "refactor", "test", "docs", "audit"})


class EarlierSession(Fact):
    """A finished session that a request may continue, as the model is told of it."""

    id: str
    title: str
    spec: str = ""


class AskedQuestion(ModelReply):
    text: Sentence = Field(min_length=1)
    why: Sentence = ""
    options: list[ShortLine] = Field(default_factory=list[ShortLine], max_length=8)
    default: ShortLine = Field(min_length=1)


class AskedPart(ModelReply):
    title: ShortLine = Field(min_length=1)
    body: ReplyText = Field(min_length=1)


class RequestUnderstanding(ModelReply):
    """The request as the model understands it."""

    title: str = Field(default="", max_length=120)
    type: str = "feature"
    risk: Risk | None = None
    risk_reasons: list[Sentence] = Field(default_factory=list[Sentence], max_length=10)
    dry_run: bool = False
    vague: Vague | None = None
    questions: list[AskedQuestion]
    parts: list[AskedPart] = Field(default_factory=list[AskedPart])
    continues: str = ""
    continues_reason: Sentence = ""

    @field_validator("type")
    @classmethod
    def _known(cls, type: str) -> str:
        # An unknown type is not worth asking again.
        return type.lower() if type.lower() in _TYPES else "feature"

    @field_validator("risk", mode="before")
    @classmethod
    def _short(cls, risk: object) -> object:
        written = risk.strip().lower() if isinstance(risk, str) else risk
        return "med" if written == "medium" else written or None

    @field_validator("vague", mode="before")
    @classmethod
    def _not_vague(cls, vague: object) -> object:
        return vague or None

    @field_validator("parts")
    @classmethod
    def _several(cls, parts: list[AskedPart]) -> list[AskedPart]:
        # A single part is the whole request.
        return parts[:MAX_PARTS] if len(parts) > 1 else []

    def asked(self, session: Session) -> tuple[Question, ...]:
        """Return the questions, numbered after those answered before, each with its recommended option first.

        A vague request gets only its fixed question.
        """
        if self.vague:
            return (fixed_question(self.vague, language_of(session.intent.body)),)
        first = len(session.intent.clarifications) + 1
        return numbered_questions(self.questions[:MAX_QUESTIONS], first)


class GivenAnswer(ModelReply):
    id: str
    answer: ReplyText


class GivenAnswers(ModelReply):
    answers: list[GivenAnswer]
    defaults: bool = False
    unclear: list[str] = Field(default_factory=list[str])
    reply: ReplyText = ""
    """The answer to what somebody asked instead of answering."""


class AnswersFound(Fact):
    """Answers by number of the question."""

    found: dict[int, str] = Field(default_factory=dict[int, str])
    defaults: bool = False
    unclear: tuple[int, ...] = ()
    reply: str = ""


@dataclass(frozen=True)
class ClarifyPrompt(
    SessionPrompt[RequestUnderstanding, FindQuestions, QuestionsFound],
    name="clarify",
    reply=RequestUnderstanding,
    asked_by=FindQuestions,
):
    """Reads the request and finds what is open. Without a valid reply nothing is asked, and planning goes on."""

    session: Session
    earlier: Sequence[EarlierSession] = ()
    repository: Looker | None = None

    @classmethod
    async def about(cls, world: World, session: Session, order: FindQuestions) -> Self:
        return cls(session, _earlier_sessions(world, session), Looker.of(world, session))

    def looker(self) -> Looker | None:
        return self.repository

    @property
    def _settled(self) -> bool:
        return bool(self.session.intent.clarifications)

    def known(self) -> RequestUnderstanding | None:
        """Return the fixed question for a request without content; the model is not asked about it."""
        empty = None if self._settled else vague_request(self.session.intent.body)
        return RequestUnderstanding(vague=empty, questions=[]) if empty else None

    def data(self) -> dict[str, object]:
        earlier = [one.model_dump() for one in self.earlier]
        looks = self.repository is not None
        return question_data(self.session, "clarify", looks=looks, earlier=earlier)

    def read(self, text: str) -> RequestUnderstanding:
        """Asked for more than once, split twice, or going on with what is not there: none of that is heard."""
        found, session = json_parser(RequestUnderstanding, text), self.session
        elsewhere = any(one.id == found.continues for one in self.earlier)
        whole = session.intent.parent is not None or session.request.destination is not None
        return found.model_copy(
            update={
                "vague": None if self._settled else found.vague,
                "continues": found.continues if elsewhere else "",
                "parts": [] if whole else found.parts,
            }
        )

    def fallback(self) -> RequestUnderstanding:
        return RequestUnderstanding(questions=[])

    def prose(self, found: RequestUnderstanding) -> str:
        texts = [found.title, *found.risk_reasons, found.continues_reason]
        texts += [text for q in found.questions for text in (q.text, q.why)]
        texts += [text for part in found.parts for text in (part.title, part.body)]
        return "\n".join(texts)

    async def event(
        self, world: World, found: RequestUnderstanding, fields: ResultFields
    ) -> QuestionsFound:
        there = next((one for one in self.earlier if one.id == found.continues), None)
        return QuestionsFound(
            **fields,
            title=found.title,
            type=found.type,
            risk=found.risk,
            risk_reasons=tuple(found.risk_reasons),
            questions=found.asked(self.session),
            vague=found.vague,
            dry_run=found.dry_run,
            parts=tuple(WishPart(title=part.title, body=part.body) for part in found.parts),
            earlier=Earlier(session=there.id, title=there.title, reason=found.continues_reason)
            if there
            else None,
        )


def _earlier_sessions(world: World, session: Session) -> tuple[EarlierSession, ...]:
    """Return finished sessions that the request may continue.

    None if it is a part, or if its destination is already chosen.
    """
    if session.request.destination is not None or session.intent.parent is not None:
        return ()
    same = finished_sessions(world, session, lambda thread: _is_near(thread, session.thread))
    known = (past for past in same if past.plan.documents and _is_known(past, session))
    return tuple(
        EarlierSession(
            id=past.id,
            title=past.title,
            spec=document_text(past, DocumentKind.SPEC)[:LONGEST_EXCERPT],
        )
        for past in islice(known, MOST_EARLIER)
    )


def _is_near(there: Thread, here: Thread) -> bool:
    return (there.platform, there.workspace) == (here.platform, here.workspace)


def _is_known(past: Session, session: Session) -> bool:
    # What was written in one channel is shown in no other. A direct conversation may know all sessions of that person.
    here, there = session.thread, past.thread
    if here.direct:
        return past.owner.id == session.owner.id
    return here.place == there.place and not there.direct


@dataclass(frozen=True)
class AnswersPrompt(
    SessionPrompt[AnswersFound, ReadAnswers, AnswersRead],
    name="answers",
    reply=GivenAnswers,
    asked_by=ReadAnswers,
):
    """Which open questions these words answer. Nothing usable: all of them stay open."""

    session: Session
    words: Words
    evidence: Evidence = NO_EVIDENCE

    @classmethod
    async def about(cls, world: World, session: Session, order: ReadAnswers) -> Self:
        words = waiting_words(session, order.words_id)
        return cls(session, words, await evidence_for(world, session, words.text))

    def looker(self) -> Looker | None:
        return self.evidence.looker

    def data(self) -> dict[str, object]:
        asked, looks = open_questions(self.session), self.evidence.looker is not None
        more = {"questions": asked, "said": self.words.text, "code": self.evidence.code}
        data = question_data(self.session, "answers", looks=looks, **more)
        data.pop("open_questions")
        return data

    def read(self, text: str) -> AnswersFound:
        given, questions = json_parser(GivenAnswers, text), self.session.intent.open_questions
        answers = {_decision_id(one.id): one.answer for one in given.answers if one.answer}
        found = {
            q.number: _option(q, answers[q.decision]) for q in questions if q.decision in answers
        }
        open_ids = {_decision_id(id) for id in given.unclear}
        unclear = tuple(
            q.number for q in questions if q.decision in open_ids and q.number not in found
        )
        return AnswersFound(
            found=found, defaults=given.defaults, unclear=unclear, reply=given.reply
        )

    def fallback(self) -> AnswersFound:
        return AnswersFound(unclear=tuple(q.number for q in self.session.intent.open_questions))

    def prose(self, found: AnswersFound) -> str:
        return found.reply

    async def event(self, world: World, found: AnswersFound, fields: ResultFields) -> AnswersRead:
        return AnswersRead(
            **fields,
            words_id=self.words.id,
            found=found.found,
            defaults=found.defaults,
            unclear=found.unclear,
            reply=await self.evidence.checked(found.reply),
        )


def _decision_id(written: str) -> str:
    # The model may write D1 as d1 or 1.
    return f"D{written.strip().upper().removeprefix('D')}"


def _option(question: Question, answer: str) -> str:
    """Return the offered option that the answer matches, or else the answer itself."""
    same = (option for option in question.options if option.casefold() == answer.casefold())
    return next(same, answer)


def numbered_questions(asked: Sequence[AskedQuestion], first: int) -> tuple[Question, ...]:
    return tuple(
        Question(number=n, text=q.text, why=q.why, options=_options(q), default=q.default)
        for n, q in enumerate(asked, first)
    )


def _options(question: AskedQuestion) -> tuple[str, ...]:
    others = [option for option in question.options if option != question.default]
    return (question.default, *dict.fromkeys(others)) if question.options else ()
