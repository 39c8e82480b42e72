"""Asks the model what a request is, what it leaves open, and which questions somebody's words answer."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field, field_validator

from bot.core.facts import Fact
from bot.core.intent import Question, Risk, Vague, fixed_question, vague_request
from bot.core.llm import Usage
from bot.core.session import Session, Words
from bot.core.text import language_of
from bot.ports import Llm
from bot.steps.asking import Answer, ask, parsed
from bot.steps.prompt_data import ReplyText, Sentence, ShortLine, open_questions, question_data

MAX_QUESTIONS = 5
MAX_PARTS = 6
_TYPES = frozenset({"feature", "fix", "refactor", "test", "docs", "audit"})


class EarlierSession(Fact):
    """A finished session that a request may go on with, as the model is told of it."""

    id: str
    title: str
    spec: str = ""


class AskedQuestion(Answer):
    text: Sentence = Field(min_length=1)
    why: Sentence = ""
    options: list[ShortLine] = Field(default_factory=list[ShortLine], max_length=8)
    default: ShortLine = Field(min_length=1)


class AskedPart(Answer):
    title: ShortLine = Field(min_length=1)
    body: ReplyText = Field(min_length=1)


class Understood(Answer):
    """What the request is, as the model reads it."""

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
        """A word nobody knows is not worth another question."""
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
        """One part is the whole."""
        return parts[:MAX_PARTS] if len(parts) > 1 else []

    def asked(self, session: Session) -> tuple[Question, ...]:
        """The questions, numbered after those that were answered before. A vague request gets its one fixed question.

        The recommended option stands first, whether the model put it there or not.
        """
        if self.vague:
            return (fixed_question(self.vague, language_of(session.intent.body)),)
        first = len(session.intent.clarifications) + 1
        return tuple(
            Question(number=n, text=q.text, why=q.why, options=_options(q), default=q.default)
            for n, q in enumerate(self.questions[:MAX_QUESTIONS], first)
        )


class GivenAnswer(Answer):
    id: str
    answer: ReplyText


class GivenAnswers(Answer):
    answers: list[GivenAnswer]
    defaults: bool = False
    unclear: list[str] = Field(default_factory=list[str])


class AnswersFound(Fact):
    """By the numbers of the questions."""

    found: dict[int, str] = Field(default_factory=dict[int, str])
    defaults: bool = False
    unclear: tuple[int, ...] = ()


async def understand(
    llm: Llm, session: Session, earlier: Sequence[EarlierSession] = ()
) -> tuple[Understood, Usage]:
    """What the request is and leaves open. Nothing usable: no questions, and planning goes on.

    A request that says nothing at all is not worth the model's time.
    """
    settled = bool(session.intent.clarifications)
    empty = None if settled else vague_request(session.intent.body)
    if empty:
        return Understood(vague=empty, questions=[]), Usage()
    data = question_data(session, "clarify", earlier=[one.model_dump() for one in earlier])
    found, usage = await ask(
        llm,
        "clarify",
        data,
        parsed(Understood),
        lambda: Understood(questions=[]),
        Understood,
        prose=_read_by_people,
    )
    return _without_what_is_settled(found, session, earlier, settled=settled), usage


def _without_what_is_settled(
    found: Understood, session: Session, earlier: Sequence[EarlierSession], *, settled: bool
) -> Understood:
    """Asked for more than once, split twice, or going on with what is not there: none of that is heard."""
    elsewhere = any(one.id == found.continues for one in earlier)
    whole = session.intent.parent is not None or session.going is not None
    return found.model_copy(
        update={
            "vague": None if settled else found.vague,
            "continues": found.continues if elsewhere else "",
            "parts": [] if whole else found.parts,
        }
    )


def _read_by_people(found: Understood) -> str:
    texts = [found.title, *found.risk_reasons, found.continues_reason]
    texts += [text for q in found.questions for text in (q.text, q.why)]
    return "\n".join([*texts, *(text for part in found.parts for text in (part.title, part.body))])


async def read_answers(llm: Llm, session: Session, words: Words) -> tuple[AnswersFound, Usage]:
    """Which open questions these words answer. Nothing usable: all of them stay open."""
    data = question_data(session, "answers", questions=open_questions(session), said=words.text)
    data.pop("open_questions")
    questions = {q.decision: q for q in session.intent.open_questions}
    nothing = GivenAnswers(answers=[], unclear=list(questions))
    given, usage = await ask(
        llm, "answers", data, parsed(GivenAnswers), lambda: nothing, GivenAnswers
    )
    answers = {_decision_id(one.id): one.answer for one in given.answers if one.answer}
    found = {q.number: _option(q, answers[id]) for id, q in questions.items() if id in answers}
    open_ids = {_decision_id(id) for id in given.unclear}
    unclear = tuple(q.number for id, q in questions.items() if id in open_ids)
    return AnswersFound(
        found=found,
        defaults=given.defaults,
        unclear=tuple(number for number in unclear if number not in found),
    ), usage


def _decision_id(written: str) -> str:
    """D1, also where it was written d1 or 1."""
    return f"D{written.strip().upper().removeprefix('D')}"


def _option(question: Question, answer: str) -> str:
    """The option as it was offered, if it is one."""
    same = (option for option in question.options if option.casefold() == answer.casefold())
    return next(same, answer)


def _options(question: AskedQuestion) -> tuple[str, ...]:
    others = [option for option in question.options if option != question.default]
    return (question.default, *dict.fromkeys(others)) if question.options else ()
