"""Every answer is a numbered decision, and any of them can be opened again."""

from __future__ import annotations

import pytest

from bot.core.cards import QuestionsCard
from bot.core.choices import Verb, Word
from bot.core.events import Commanded
from bot.core.session import Session
from bot.core.states import Phase
from bot.steps import messages
from bot.steps.decisions import decide, due
from tests.steps.scenes import (
    asked,
    awaiting_approval,
    cards,
    commanded,
    executing,
    keys,
    press,
    pressed,
    question,
    running,
    whispers,
)


def reopened(argument: str, text: str = "") -> Commanded:
    event = commanded(Word.REOPEN, argument)
    return event.model_copy(update={"command": event.command.model_copy(update={"text": text})})


def decided(session: Session) -> Session:
    """D1 and D2 were answered."""
    answered = {"answer": "first", "answered_by": "Ann"}
    session.intent = session.intent.model_copy(
        update={"clarifications": (question(1, **answered), question(2, **answered))}
    )
    return session


def answers(session: Session) -> list[str | None]:
    return [q.answer for q in session.intent.clarifications]


def test_decisions_are_listed_with_who_took_them() -> None:
    [card] = cards(decide(decided(awaiting_approval()), commanded(Word.DECISIONS)))
    text = card.model_dump_json()
    assert "D1" in text
    assert "Ann" in text


def test_while_questions_are_asked_an_answer_can_be_taken_back() -> None:
    session = asked(question(1), question(2), question(3))
    decide(session, reopened("D1", "second"))
    assert answers(session) == ["second", None, None]
    [card] = cards(decide(session, reopened("D1")))
    assert isinstance(card, QuestionsCard)
    assert answers(session) == [None, None, None]


def test_before_the_approval_a_decision_with_its_new_answer_leads_to_a_new_revision() -> None:
    session = decided(awaiting_approval())
    decide(session, reopened("D2", "second"))
    assert answers(session) == ["first", "second"]
    assert session.phase is Phase.SPECIFYING
    assert session.plan.spec
    assert session.plan.spec.revision == 2
    assert "second" in session.plan.change_request
    assert "instead of “first”" in session.plan.change_request


def test_without_an_answer_it_is_asked_again_and_planned_anew_afterwards() -> None:
    session = decided(awaiting_approval())
    shown = cards(decide(session, reopened("D1")))
    assert isinstance(shown[-1], QuestionsCard)
    assert shown[-1].key != "questions", "a new card, where people look"
    assert session.phase is Phase.CLARIFYING
    assert answers(session) == [None, "first"]
    [answered] = cards(decide(session, pressed(Verb.DEFAULTS)))
    assert answered.key == shown[-1].key
    assert session.phase is Phase.SPECIFYING
    assert session.plan.spec
    assert session.plan.spec.revision == 2, "one new revision, though it took two steps"
    assert "write:spec:" in "".join(keys(list(due(session))))


def test_defaults_are_taken_only_of_what_was_open_on_the_card_that_was_pressed() -> None:
    session = asked(question(1, answer="second"), question(2))
    seen = messages.questions(session).card
    decide(session, reopened("D1"))
    decide(session, press(seen, Verb.DEFAULTS))
    assert answers(session) == [None, "first"]
    assert session.phase is Phase.CLARIFYING


def test_a_late_press_on_the_questions_of_an_earlier_plan_answers_nothing() -> None:
    session = asked(question(1), question(2))
    first = messages.questions(session).card
    session = decided(awaiting_approval())
    decide(session, reopened("D1"))
    assert "no longer current" in whispers(decide(session, press(first, Verb.DEFAULTS)))[0]
    assert answers(session) == [None, "first"]


def test_while_tasks_run_it_is_a_change_that_has_to_be_confirmed() -> None:
    session = decided(executing(running("T001")))
    decide(session, reopened("D1", "second"))
    assert session.change
    assert "D1" in session.change.text
    assert session.tasks[0].run
    assert session.tasks[0].run.alive


def test_while_tasks_run_it_needs_the_new_answer_at_once() -> None:
    session = decided(executing(running("T001")))
    assert "reopen D1" in whispers(decide(session, reopened("D1")))[0]
    assert session.change is None


def test_a_decision_that_is_not_there_is_said_to_be_so() -> None:
    session = decided(awaiting_approval())
    assert "D9" in whispers(decide(session, reopened("D9", "x")))[0]
    assert session.phase is Phase.APPROVING


@pytest.mark.parametrize("text", ["", "second"])
def test_when_nothing_is_planned_any_more_nobody_is_asked_for_an_answer_first(text: str) -> None:
    session = decided(executing(phase=Phase.FINISHING))
    assert whispers(decide(session, reopened("D1", text))) == [
        "Nothing is planned now. Say what you would like instead."
    ]
