"""The decisions of a session, numbered; any of them can be opened again, at any time."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed
from bot.domain.events import Commanded
from bot.domain.intent import Question
from bot.domain.session import Session, Speaker
from bot.domain.sheets import Element, Table, Text
from bot.domain.states import Phase
from bot.flow import change, clarify, replies, revise, telling, testing, wizard


def listed(session: Session) -> Iterator[Element]:
    if not session.intent.clarifications:
        yield Text(text="There are none yet.")
        return
    rows = tuple(
        (q.decision, q.text, q.answer or "still open", q.answered_by or "–")
        for q in session.intent.clarifications
    )
    yield Table(head=("No.", "Question", "Answer", "By"), rows=rows)
    yield Text(text="reopen D1 and a new answer decides anew; reopen D1 alone asks again.")


def reopen(session: Session, event: Commanded) -> Iterator[Deed]:
    """With a new answer it is decided anew; without, it is asked again. What follows depends on how far the work is."""
    question = _named(session, event.command.argument)
    if question is None:
        name = event.command.argument
        yield telling.privately(event, f"There is no decision {name}. decisions lists them.")
        return
    text = event.command.text.strip()
    if session.phase is Phase.EXECUTING and not text:
        wanted = f"Write the new answer behind it: reopen {question.decision} …"
        yield telling.privately(event, wanted)
        return
    match session.phase:
        case Phase.CLARIFYING:
            yield from _while_asking(session, event, question, text)
        case Phase.SPECIFYING | Phase.APPROVING:
            yield from _while_planning(session, event, question, text)
        case Phase.EXECUTING if session.change is None:
            wish, decision = _wish(question, text), _decided(event, question, text)
            yield from change.begin(session, replies.words_of(event, wish), decision)
        case Phase.EXECUTING:
            yield telling.privately(event, "Settle the change that waits first, then reopen this.")
        case _:
            yield telling.privately(
                event, "Nothing is planned now. Say what you would like instead."
            )


def _named(session: Session, name: str) -> Question | None:
    number = name.lstrip("dD")
    return next((q for q in session.intent.clarifications if str(q.number) == number), None)


def _while_asking(
    session: Session, event: Commanded, question: Question, text: str
) -> Iterator[Deed]:
    _open(session, question)
    if text:
        yield from clarify.answer(session, event, {question.number: text})
    else:
        yield telling.questions(session)


def _while_planning(
    session: Session, event: Commanded, question: Question, text: str
) -> Iterator[Deed]:
    if wizard.is_over(session):
        wizard.go_on(session)
    if session.phase is Phase.APPROVING:
        yield telling.approval_wanted(session, telling.decided("Planned again", event))
        session.enter(Phase.SPECIFYING)
    session.say(Speaker.USER, _wish(question, text or "open again"), event.at)
    if text:
        session.intent = session.intent.with_question(_decided(event, question, text))
        testing.answered(session)
        revise.anew(session, _wish(question, text))
        yield telling.news(
            f"revising:{telling.revision(session)}",
            f"{question.decision} has a new answer, and I am planning again with it.",
        )
    else:
        # the plan is made anew when it is answered
        _open(session, question)
        session.enter(Phase.CLARIFYING)
        yield telling.questions(session)


def _wish(question: Question, text: str) -> str:
    before = f" instead of “{question.answer}”" if question.answer else ""
    return f"Decision {question.decision} ({question.text}) is now: {text}{before}"


def _open(session: Session, question: Question) -> None:
    asked = {"answer": None, "answered_by": "", "answered_at": None}
    session.intent = session.intent.with_question(question.model_copy(update=asked))


def _decided(event: Commanded, question: Question, text: str) -> Question:
    decided = {"answer": text, "answered_by": str(event.by), "answered_at": event.at}
    return question.model_copy(update=decided)
