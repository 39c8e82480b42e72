"""From a request to answered questions: one batch, a default for each, answered by button or in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.choices import Verb
from bot.domain.events import Event, FromPerson, OrderFailed, Pressed, QuestionsFound, Said, Scanned
from bot.domain.intent import Question
from bot.domain.session import Session, Speaker
from bot.domain.states import Phase
from bot.flow import mishaps, replies, telling

_NUMBERED = re.compile(
    r"(?:(?:^|[\s,;、。]+)[DQ]|(?:^|[\n,;、]\s*))(\d{1,2})\s*[:=.)：）]\s*", re.IGNORECASE
)
"""D1 wherever it stands; a bare number only where a line or a part of it begins."""
_AGREED = frozenset(
    {"yes", "y", "ok", "okay", "defaults", "default", "recommended", "suggested", "はい"}
)


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case Scanned(scan=scan):
            session.scan = scan
            session.test_command = session.test_command or scan.test_command
        case QuestionsFound():
            yield from _ask(session, event)
        case Pressed(verb=Verb.DEFAULTS) if session.asked:
            yield from _settle(session, event, {}, "All defaults taken")
        case Pressed(verb=Verb.ANSWER, answers=answers) if session.asked and answers:
            yield from _settle(session, event, answers, "Answered")
        case Pressed(verb=Verb.ANSWER) if session.asked:
            yield telling.privately(event, "I cannot read those answers; write them here: D1: …")
        case Said(text=text) if session.asked:
            session.say(Speaker.USER, text, event.at)
            yield from _answered(session, event, text)
        case Said(text=text):
            yield from replies.noted(session, event, text)
        case OrderFailed():
            yield from mishaps.give_way(session, event)
        case Pressed():
            yield telling.stale(session, event)
        case _:
            pass


def _ask(session: Session, event: QuestionsFound) -> Iterator[Deed]:
    session.asked = True
    session.intent = session.intent.model_copy(
        update={
            "title": event.title or session.title,
            "type": event.type,
            "risk": event.risk,
            "clarifications": event.questions,
        }
    )
    if not event.questions:
        session.enter(Phase.SPECIFYING)
        yield telling.news(
            "no-questions", "No questions: the request says it all. Writing the plan."
        )
        return
    texts = "\n".join(f"{q.decision} {q.text} (default: {q.default})" for q in event.questions)
    session.say(Speaker.ASSISTANT, texts, event.at)
    yield telling.questions(session)


def _answered(session: Session, event: Said, text: str) -> Iterator[Deed]:
    """Answers in plain words: numbered ones go to their questions, one open question takes the whole text."""
    open_questions = session.intent.open_questions
    if text.strip().lower().rstrip(".!。") in _AGREED:
        yield from _settle(session, event, {}, "All defaults taken")
        return
    answers = numbered_answers(text, open_questions)
    if not answers and len(open_questions) == 1:
        answers = {open_questions[0].number: text.strip()}
    if not answers:
        yield telling.privately(
            event,
            "Which question does that answer? Write for instance «D1: yes, D2: the second one».",
        )
        return
    yield from _settle(session, event, answers, "Answered; defaults for the rest")


def numbered_answers(text: str, questions: tuple[Question, ...]) -> dict[int, str]:
    """`D1: yes, D2: 2` → answers by number. A bare number or letter picks that option."""
    marks = list(_NUMBERED.finditer(text))
    found: dict[int, str] = {}
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        number = int(mark.group(1))
        said = text[mark.end() : following.start() if following else len(text)].strip(" \n,;、")
        question = next((q for q in questions if q.number == number), None)
        if question and said:
            found[number] = _picked(question, said)
    return found


def _picked(question: Question, said: str) -> str:
    options = question.options
    if len(said) == 1 and said.isascii() and said.isalnum() and options:
        index = int(said) - 1 if said.isdigit() else ord(said.lower()) - ord("a")
        if 0 <= index < len(options):
            return options[index]
    return said


def _settle(
    session: Session, event: FromPerson, answers: dict[int, str], what: str
) -> Iterator[Deed]:
    """Every question gets its answer or its default, with the name of who decided it."""
    settled = tuple(
        q
        if q.answer is not None
        else q.model_copy(
            update={
                "answer": answers.get(q.number, q.default),
                "answered_by": str(event.by),
                "answered_at": event.at,
            }
        )
        for q in session.intent.clarifications
    )
    session.intent = session.intent.model_copy(update={"clarifications": settled})
    session.enter(Phase.SPECIFYING)
    yield telling.questions(session, telling.decided(what, event))
