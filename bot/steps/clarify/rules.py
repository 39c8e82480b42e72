"""Questions about a request: one batch, each with a default, answered by button or in words.

Every answer is a numbered decision. A question that nobody answers stays visibly open.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from pydantic import AwareDatetime

from bot.core.actions import Deed
from bot.core.choices import Verb
from bot.core.events import (
    AnswersRead,
    ChoicesFound,
    Event,
    FromPerson,
    OrderFailed,
    Pressed,
    QuestionsFound,
    Said,
)
from bot.core.intent import Intent, Question
from bot.core.people import Person
from bot.core.session import Session, Speaker
from bot.core.sheets import Text
from bot.core.states import Phase
from bot.steps import messages, plan
from bot.steps.intents import rules as intents
from bot.steps.talk import rules as talk
from bot.steps.verify import test_command

_NUMBERED = re.compile(
    r"(?:(?:^|(?<![\s,;、。])[\s,;、。]+)[DQ]|(?:^|[\n,;、][^\S\n]*))(\d{1,2})\s*[:=.)：）]",
    re.IGNORECASE,
)
"""D1 anywhere; a bare number only at the beginning of a line or of a part of one.

Starts to match only at the first separator, so that a long run of blanks is scanned once.
"""
_SEPARATORS = " \t\r\n\u3000\xa0,;、"
"""Separators between answers."""
_ACCEPT_DEFAULTS = frozenset(
    {"yes", "y", "ok", "okay", "defaults", "default", "recommended", "suggested", "はい"}
)
UNCLEAR = "Which question does that answer? Write for instance «D1: yes, D2: the second one»."


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case Pressed(verb=Verb.DEFAULTS):
            yield from _defaults_taken(session, event)
        case Pressed(verb=Verb.ANSWER, answers=answers) if answers:
            yield from _record_answers(session, answers, event.by, event.at)
        case Pressed(verb=Verb.ANSWER):
            yield messages.private_reply(
                event, "I cannot read those answers; write them here: D1: …"
            )
        case Said(text=text):
            session.say(Speaker.USER, text, event.at)
            yield from _said(session, event, text)
        case AnswersRead():
            yield from _read(session, event)
        case OrderFailed(what="read_answers"):
            yield from talk.words_not_judged(session, event)
        case Pressed():
            yield messages.stale_press(session, event)
        case _:
            pass


def _defaults_taken(session: Session, event: Pressed) -> Iterator[Deed]:
    # Defaults apply to the questions on the pressed card only: nobody has seen later ones there.
    key, _, names = event.about.partition("#")
    if key and key != messages.questions(session).card.key:
        yield messages.stale_press(session, event)
        return
    shown = [q.number for q in session.intent.open_questions if q.decision in names.split(",")]
    defaults = shown if key else _open_numbers(session)
    yield from _record_answers(session, {}, event.by, event.at, defaults=defaults)


def take_questions(session: Session, event: QuestionsFound) -> None:
    """Take over what the model understood of the request. Questions answered before keep their numbers."""
    session.request.questions_asked = True
    session.request.dry_run = session.request.dry_run or event.dry_run
    settled = session.intent.clarifications
    asked = tuple(
        question.model_copy(update={"number": number})
        for number, question in enumerate(event.questions, len(settled) + 1)
    )
    kept = session.intent if session.from_registry else Intent(type="")
    session.intent = session.intent.model_copy(
        update={
            "title": kept.title or event.title or session.title,
            "type": kept.type or event.type,
            "risk": intents.higher_risk(kept.risk, event.risk),
            "risk_reasons": event.risk_reasons,
            "clarifications": (*settled, *asked),
        }
    )
    session.request.vague = event.vague is not None and not settled


def begin(session: Session, at: AwareDatetime) -> Iterator[Deed]:
    """Ask the questions; without any, start planning."""
    known = session.intent.clarifications
    ask = (
        None
        if session.request.vague
        else test_command.question_for_command(session, len(known) + 1)
    )
    if ask:
        session.intent = session.intent.model_copy(update={"clarifications": (*known, ask)})
    questions = session.intent.open_questions
    if not questions:
        session.enter(Phase.SPECIFYING)
        yield messages.news("no-questions", "I have no questions, so I am writing the plan.")
        return
    texts = "\n".join(_question_text(question) for question in questions)
    session.say(Speaker.ASSISTANT, texts, at)
    if not session.request.vague:
        session.enter(Phase.CLARIFYING)
    yield messages.questions(session)


def ask_while_planning(session: Session, event: ChoicesFound) -> Iterator[Deed]:
    """Ask what planning found, numbered after what was asked before. The plan is written anew with the answers."""
    session.request.rounds_while_planning += 1
    settled = session.intent.clarifications
    asked = tuple(
        question.model_copy(update={"number": number})
        for number, question in enumerate(event.questions, len(settled) + 1)
    )
    session.intent = session.intent.model_copy(update={"clarifications": (*settled, *asked)})
    session.say(Speaker.ASSISTANT, "\n".join(map(_question_text, asked)), event.at)
    session.enter(Phase.CLARIFYING)
    yield messages.questions(session)


def _question_text(question: Question) -> str:
    default = f" (default: {question.default})" if question.default else ""
    return f"{question.decision} {question.text}{default}"


def answer(session: Session, event: FromPerson, answers: Mapping[int, str]) -> Iterator[Deed]:
    yield from _record_answers(session, answers, event.by, event.at)


def add_details(session: Session, event: FromPerson, text: str) -> Iterator[Deed]:
    """Add the answer to a vague request and have it read again."""
    if not text.strip():
        yield messages.private_reply(event, UNCLEAR)
        return
    session.say(Speaker.USER, text, event.at)
    questions = _answered(
        session, dict.fromkeys(_open_numbers(session), text.strip()), event.by, event.at
    )
    body = f"{session.intent.body}\n\n{text.strip()}"
    session.intent = session.intent.model_copy(update={"clarifications": questions, "body": body})
    session.request.questions_asked = session.request.vague = False
    yield messages.questions(session, messages.decided("Answered", event))


def _open_numbers(session: Session) -> list[int]:
    return [question.number for question in session.intent.open_questions]


def _said(session: Session, event: Said, text: str) -> Iterator[Deed]:
    """Parse plain answers here; leave anything else to the model."""
    questions = session.intent.open_questions
    if text.strip().lower().rstrip(".!。") in _ACCEPT_DEFAULTS and _have_defaults(questions):
        yield from _record_answers(session, {}, event.by, event.at, defaults=_open_numbers(session))
        return
    answers = numbered_answers(text, questions) or _only_option(text, questions)
    if answers:
        yield from _record_answers(session, answers, event.by, event.at)
    else:
        yield from talk.queue_words(session, event, text)


def _have_defaults(questions: tuple[Question, ...]) -> bool:
    return all(question.default for question in questions)


def _only_option(text: str, questions: tuple[Question, ...]) -> dict[int, str]:
    """Return the answer to the only open question, if the text is one of its options or that option's letter."""
    if len(questions) != 1 or not questions[0].options:
        return {}
    said, question = text.strip(), questions[0]
    picked = _picked_option(question, said)
    option = next((o for o in question.options if o.casefold() == picked.casefold()), None)
    return {question.number: option} if option else {}


def numbered_answers(text: str, questions: tuple[Question, ...]) -> dict[int, str]:
    """Parse `D1: yes, D2: 2` into answers by number. A bare number or letter picks that option."""
    marks = list(_NUMBERED.finditer(text))
    found: dict[int, str] = {}
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        number = int(mark.group(1))
        said = text[mark.end() : following.start() if following else len(text)].strip(_SEPARATORS)
        question = next((q for q in questions if q.number == number), None)
        if question and said:
            found[number] = _picked_option(question, said)
    return found


def _picked_option(question: Question, said: str) -> str:
    options = question.options
    if len(said) == 1 and said.isascii() and said.isalnum() and options:
        index = int(said) - 1 if said.isdigit() else ord(said.lower()) - ord("a")
        if 0 <= index < len(options):
            return options[index]
    return said


def _read(session: Session, event: AnswersRead) -> Iterator[Deed]:
    words = talk.take_words(session, event.words_id)
    if words is None:
        return
    wanted = {question.number for question in session.intent.open_questions}
    found = {number: text for number, text in event.found.items() if number in wanted and text}
    if event.reply:
        session.say(Speaker.ASSISTANT, event.reply, event.at)
        yield messages.answer_card(f"reply:{words.id}", f"To {words.by}", Text(text=event.reply))
    if not found and not event.defaults:
        if not event.reply:
            yield messages.whisper_to(words.by, words.id, UNCLEAR)
        return
    unclear = sorted(wanted & set(event.unclear) - set(found))
    if unclear and not event.defaults and not event.reply:
        names = ", ".join(f"D{number}" for number in unclear)
        yield messages.whisper_to(
            words.by, words.id, f"I cannot tell what {names} shall be; it stays open."
        )
    defaults = _open_numbers(session) if event.defaults else ()
    yield from _record_answers(session, found, words.by, event.at, defaults=defaults)


def _record_answers(
    session: Session,
    answers: Mapping[int, str],
    by: Person,
    at: AwareDatetime,
    *,
    defaults: Collection[int] = (),
) -> Iterator[Deed]:
    """Record answers with the name of who decided, and show what is still open.

    `defaults`: numbers of questions that take their default.
    """
    rest = {q.number: q.default for q in session.intent.open_questions if q.number in defaults}
    answers = {**rest, **answers}
    answers = {number: text for number, text in answers.items() if text.strip()}
    questions = _answered(session, answers, by, at)
    session.intent = session.intent.model_copy(update={"clarifications": questions})
    test_command.take_answer(session)
    if session.intent.open_questions:
        yield messages.questions(session)
        return
    session.enter(Phase.SPECIFYING)
    what = "All defaults taken" if defaults and len(answers) == len(questions) else "Answered"
    yield messages.questions(session, messages.decided_by(what, by, at))
    if session.plan.documents or session.plan.previous_documents:
        plan.revise(session, "Decisions were taken anew; the decisions given here count.")


def _answered(
    session: Session, answers: Mapping[int, str], by: Person, at: AwareDatetime
) -> tuple[Question, ...]:
    return tuple(
        question.model_copy(
            update={
                "answer": answers[question.number],
                "answered_by": str(by),
                "answered_at": at,
            }
        )
        if question.answer is None and question.number in answers
        else question
        for question in session.intent.clarifications
    )
