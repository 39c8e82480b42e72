"""What a task is held for is let pass by a person who has seen it, once and for that only; or it goes back with their words."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed
from bot.core.choices import Verb, Word
from bot.core.evidence import Judgement
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.states import RunState, TaskState
from bot.core.task import Hold
from bot.steps.decisions import decide
from tests.steps.scenes import (
    by_default,
    cards,
    commanded,
    ended,
    executing,
    gets_place,
    judge_says,
    kinds,
    looked,
    needs,
    press,
    pressed,
    ran_tests,
    verbs,
    verifying,
    whispers,
    work,
)
from tests.steps.verify.test_verify import FLAG


def flagged() -> tuple[Session, list[Deed]]:
    session = executing(verifying("T001"))
    return session, looked(session, work("feat: x"), FLAG)


def doubted(outcome: Judgement = Judgement.BLOCKED) -> tuple[Session, list[Deed]]:
    session = executing(verifying("T001"))
    looked(session, work("feat: x"))
    ran_tests(session)
    return session, judge_says(session, outcome)


@pytest.mark.parametrize("scene", [flagged, doubted])
def test_it_can_be_accepted_sent_back_tried_again_or_given_up(scene: object) -> None:
    _, shown = flagged() if scene is flagged else doubted()
    assert verbs(needs(shown)[0]) == [
        Verb.ACCEPT,
        Verb.SEND_BACK,
        Verb.RETRY,
        Verb.HINT,
        Verb.LOG,
        Verb.SKIP,
        Verb.GIVE_UP,
    ]


def test_flags_that_were_accepted_let_the_tests_be_run() -> None:
    session, shown = flagged()
    [answered] = needs(decide(session, press(needs(shown)[0], Verb.ACCEPT)))
    assert answered.choices == ()
    gets_place(session)
    assert kinds(session) == ["run_check"]
    ran_tests(session)
    judge_says(session)
    assert session.tasks[0].state is TaskState.COMPLETED


@pytest.mark.covers("O-X11")
def test_flags_are_accepted_for_the_commit_that_was_seen_and_no_other() -> None:
    session, shown = flagged()
    decide(session, press(needs(shown)[0], Verb.ACCEPT))
    gets_place(session)
    ran_tests(session, 1, "E")
    by_default(session)
    run = session.tasks[0].runs[-1]
    session.tasks[0].update_run(run.become(RunState.RUNNING))
    decide(session, ended(run.id))
    [card] = needs(looked(session, work("feat: x", "test: gone"), FLAG))
    assert session.tasks[0].hold is Hold.FLAGS
    assert card.key != needs(shown)[0].key


def test_a_verdict_that_is_accepted_ships_the_work_as_it_is() -> None:
    session, shown = doubted()
    decide(session, press(needs(shown)[0], Verb.ACCEPT))
    assert session.tasks[0].state is TaskState.COMPLETED


def test_what_is_sent_back_goes_with_the_persons_words_and_what_was_noticed() -> None:
    session, shown = flagged()
    decide(session, press(needs(shown)[0], Verb.SEND_BACK, "Bring the test back."))
    gets_place(session)
    run = session.tasks[0].runs[-1]
    assert run.why is Why.FLAGGED
    assert "Bring the test back." in run.feedback
    assert "A test is gone." in run.feedback


def test_a_verdict_is_sent_back_as_feedback_and_every_bound_begins_anew() -> None:
    session, shown = doubted()
    one = session.tasks[0]
    for _ in range(3):
        one.count("judge_continues")
    decide(session, press(needs(shown)[0], Verb.SEND_BACK, "In euros."))
    gets_place(session)
    assert one.runs[-1].why is Why.FEEDBACK
    assert one.counters.judge_continues == 0
    assert one.runs[-1].resumes


def test_nothing_is_sent_back_without_a_word() -> None:
    session, shown = flagged()
    assert whispers(decide(session, press(needs(shown)[0], Verb.SEND_BACK, " ")))
    assert session.tasks[0].state is TaskState.BLOCKED


def test_a_second_press_and_a_press_on_an_earlier_card_do_nothing() -> None:
    session, shown = flagged()
    accept = press(needs(shown)[0], Verb.ACCEPT)
    decide(session, accept)
    gets_place(session)
    ran_tests(session)
    judge_says(session, Judgement.BLOCKED)
    assert session.tasks[0].hold is Hold.VERDICT
    assert whispers(decide(session, accept))
    assert session.tasks[0].state is TaskState.BLOCKED


def test_what_has_failed_cannot_be_accepted() -> None:
    session = executing(verifying("T001"))
    session.tasks[0].counters = session.tasks[0].counters.model_copy(update={"failed_checks": 3})
    looked(session, work("feat: x"))
    [card] = needs(ran_tests(session, 1, "E"))
    assert Verb.ACCEPT not in verbs(card)
    about = card.choices[0].about
    assert whispers(decide(session, pressed(Verb.ACCEPT, about)))
    assert session.tasks[0].state is TaskState.FAILED


def test_missing_evidence_cannot_be_accepted() -> None:
    session = executing(verifying("T001"))
    session.tasks[0].counters = session.tasks[0].counters.model_copy(update={"evidence_asks": 2})
    [card] = needs(looked(session, work()))
    assert session.tasks[0].hold is Hold.EVIDENCE
    assert Verb.ACCEPT not in verbs(card)
    assert whispers(decide(session, pressed(Verb.ACCEPT, card.choices[0].about)))


def test_stopped_and_resumed_the_same_card_stands_and_still_counts() -> None:
    session, shown = flagged()
    decide(session, commanded(Word.STOP))
    again = needs(decide(session, commanded(Word.RESUME)))
    assert again == needs(shown)
    decide(session, press(again[0], Verb.ACCEPT))
    assert session.tasks[0].state is TaskState.VERIFYING
    assert cards(gets_place(session))
