"""What people say while the work goes on: it is judged first, and only a change changes anything."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed, SummariseTalk
from bot.core.cards import ReceivedCard
from bot.core.events import Edited, OrderFailed, TalkSummarised
from bot.core.session import KEPT_VERBATIM, Session, Speaker
from bot.core.states import Phase, Status
from bot.core.talk import ChangeStage, WordKind
from bot.steps.decisions import decide, due
from bot.steps.intake import rules as intake
from bot.steps.talk.rules import MOST_WAITING
from tests.steps.scenes import (
    ANN,
    asked,
    awaiting_approval,
    cards,
    executing,
    judged,
    later,
    running,
    said,
    surveyed,
    whispers,
)


def planning() -> Session:
    session = awaiting_approval()
    session.phase, session.plan.documents, session.plan.shown_at = Phase.SPECIFYING, (), None
    return session


def waits(session: Session) -> list[str]:
    return [order.key for order in due(session) if order.kind == "judge_words"]


@pytest.mark.covers("G-RULE-LOOP-4", "G-RULE-APPROVAL-5", "G-EVENT-UserInput")
@pytest.mark.parametrize(
    "session",
    [planning(), awaiting_approval(), executing(running("T001")), executing(phase=Phase.FINISHING)],
    ids=lambda session: session.phase,
)
def test_words_wait_for_the_models_judgement_and_change_nothing_by_themselves(
    session: Session,
) -> None:
    before = session.copied()
    deeds = decide(session, said("use cents, please"))
    assert not deeds
    assert waits(session) == ["words:said:use cents, please"]
    assert (session.phase, session.plan.spec, session.change) == (
        before.phase,
        before.plan.spec,
        None,
    )
    assert [task.state for task in session.tasks] == [task.state for task in before.tasks]


def test_a_question_is_answered_for_everybody_and_talk_is_let_be() -> None:
    session = executing(running("T001"))
    decide(session, said("how far?"))
    shown = cards(decide(session, judged("how far?", WordKind.QUESTION, "T001 is being built.")))
    assert "T001 is being built." in shown[0].model_dump_json()
    assert not session.talk.waiting
    decide(session, said("nice"))
    told = decide(session, judged("nice", WordKind.TALK, "You are welcome."))
    assert [card.key for card in cards(told)] == ["status"]
    assert not session.talk.waiting


def test_who_names_the_bot_is_heard_before_those_who_merely_wrote() -> None:
    session = executing(running("T001"))
    decide(session, said("first").model_copy(update={"mention": False}))
    decide(session, said("second"))
    assert waits(session) == ["words:said:second"]
    decide(session, judged("second", WordKind.TALK))
    assert waits(session) == ["words:said:first"]


def test_a_plain_reply_waits_while_a_change_is_drafted_and_a_mention_does_not() -> None:
    session = executing(running("T001"))
    decide(session, said("wider"))
    decide(session, judged("wider", WordKind.CHANGE))
    assert session.change
    assert session.change.stage is ChangeStage.JUDGING
    decide(session, said("and bolder").model_copy(update={"mention": False}))
    assert waits(session) == []
    decide(session, said("stay with cents"))
    assert waits(session) == ["words:said:stay with cents"]


def test_words_that_ask_for_a_change_while_the_plan_is_written_begin_it_anew() -> None:
    session = planning()
    assert session.plan.spec
    decide(session, said("use cents"))
    decide(session, judged("use cents", WordKind.CHANGE))
    assert session.plan.spec.revision == 2
    assert session.plan.change_request == "use cents"
    decide(session, said("and a receipt"))
    decide(session, judged("and a receipt", WordKind.CHANGE))
    assert session.plan.change_request == "use cents\n\nand a receipt"


@pytest.mark.covers("G-ENTITY-4", "B-WHY-2")
def test_before_the_plan_words_are_kept_for_it() -> None:
    session = surveyed()
    assert whispers(decide(session, said("in euros"))) == [
        "Noted. I will take it into account in the plan."
    ]
    assert session.conversation[-1].content == "in euros"


def test_a_model_that_refuses_for_good_ends_nothing_that_is_under_way() -> None:
    session = executing(running("T001"))
    decide(session, said("use cents"))
    refusal = OrderFailed(
        id="f",
        at=later(),
        answers="words:said:use cents",
        what="judge_words",
        reason="the key is refused",
        remedy="Set another.",
    )
    [told] = whispers(decide(session, refusal))
    assert "the key is refused" in told
    assert not session.talk.waiting
    assert session.status is Status.ACTIVE
    assert session.tasks[0].run
    assert session.tasks[0].run.alive


def test_nobody_piles_up_words_without_end_while_the_model_is_away() -> None:
    session = executing(running("T001"))
    for number in range(MOST_WAITING):
        assert not whispers(decide(session, said(f"word {number}")))
    assert whispers(decide(session, said("one more")))
    assert len(session.talk.waiting) == MOST_WAITING


def test_words_that_were_judged_already_are_not_judged_again() -> None:
    session = asked()
    session.phase = Phase.APPROVING
    session.plan.shown_at = None
    assert decide(session, judged("never said", WordKind.CHANGE)) == []
    assert session.phase is Phase.APPROVING


@pytest.mark.covers("G-US8.1", "G-RULE-CONTEXT-1", "G-RULE-CONTEXT-4", "G-FR-012")
def test_old_talk_becomes_one_message_of_the_system_and_the_last_stay_word_for_word() -> None:
    session = executing(running("T001"))
    for number in range(KEPT_VERBATIM + 5):
        session.say(Speaker.USER, f"{number} " + "x" * 900, later(number))
    last, tasks = session.conversation[-KEPT_VERBATIM:], list(session.tasks)
    [order] = [order for order in due(session) if isinstance(order, SummariseTalk)]
    assert (order.number, order.messages) == (1, 5)

    summary = TalkSummarised(id="t", at=later(), answers=order.key, summary="So far.", messages=5)
    decide(session, summary)

    first, *others = session.conversation
    assert (first.role, first.content) == (Speaker.SYSTEM, "So far.")
    assert others == last
    assert session.tasks == tasks
    assert not [order for order in due(session) if isinstance(order, SummariseTalk)]


# edits


def edited(session: Session, text: str, of: str = "request") -> list[Deed]:
    return decide(session, Edited(id="edit", at=later(), by=ANN, of=of, text=text))


def test_a_request_that_is_edited_before_it_is_planned_is_planned_as_it_says_now() -> None:
    session = asked()
    session.request.event_id = "request"
    deeds = edited(session, "Add vouchers")
    assert session.intent.body == "Add vouchers"
    assert "Add vouchers" in session.conversation[-1].content
    assert whispers(deeds) == [intake.EDITED]
    assert [card.request for card in cards(deeds) if isinstance(card, ReceivedCard)] == [
        "Add vouchers"
    ]


@pytest.mark.parametrize("of", ["request", "another message"])
def test_whoever_edits_later_learns_how_to_ask_for_a_change(of: str) -> None:
    session = awaiting_approval()
    session.request.event_id = "request"
    before = session.intent
    assert whispers(edited(session, "Add vouchers", of)) == [intake.EDITED_LATER]
    assert session.intent == before
