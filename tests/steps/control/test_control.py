"""Stop, resume, discard, trouble, restarts: legal wherever the session stands."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core import approval
from bot.core.actions import Deed, HoldPlace, ShowLogs, StopRun
from bot.core.cards import ApprovalCard, ProblemCard, QuestionsCard, StoppedCard
from bot.core.choices import Verb, Word
from bot.core.events import (
    Broke,
    CleanedUp,
    OrderFailed,
    PlaceGranted,
    RunStopped,
    Scanned,
    Ticked,
    TroubleBegan,
    TroubleEnded,
    Woken,
)
from bot.core.git import Removal, Scan
from bot.core.llm import AI_SETTINGS_REQUIRED
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.states import Outcome, Phase, RunState, Status, TaskState
from bot.steps.decisions import decide, due, is_held_back
from bot.steps.finish import afterwards
from tests.steps.scenes import (
    asked,
    awaiting_approval,
    cards,
    commanded,
    executing,
    fresh,
    later,
    pressed,
    question,
    run,
    running,
    said,
    surveyed,
    task,
    verbs,
    verifying,
    whispers,
)


def test_whoever_spoke_and_was_not_heard_is_told_when_the_session_is_discarded() -> None:
    session = executing(running("T001"))
    decide(session, said("the receipt shall be wider"))
    assert whispers(decide(session, pressed(Verb.DISCARD))) == [afterwards.GIVEN_UP]
    assert session.talk.waiting == ()


@pytest.mark.covers(
    "G-RULE-APPROVAL-5",
    "G-RULE-STOP-4",
    "G-EVENT-InterruptRequested",
    "G-MOVE-TASK-5",
    "G-MOVE-SESSION-1",
    "B-STATE-NEEDS_CONTINUATION",
    "B-OP-releaseTask",
)
def test_stop_ends_every_run_and_keeps_what_was_reached() -> None:
    session = executing(running("T001"), verifying("T002"), task("T003"))

    deeds = decide(session, commanded(Word.STOP))

    assert [d.run_id for d in deeds if isinstance(d, StopRun)] == ["T001-r1"]
    assert session.status is Status.PAUSED
    assert session.phase is Phase.EXECUTING
    assert [t.state for t in session.tasks] == [
        TaskState.NEEDS_CONTINUATION,
        TaskState.VERIFYING,
        TaskState.PENDING,
    ]
    assert session.tasks[0].run
    assert session.tasks[0].run.outcome is Outcome.KILLED
    assert list(due(session)) == []


@pytest.mark.covers("G-RULE-STOP-5", "G-RULE-STOP-6", "G-MOVE-SESSION-4")
@pytest.mark.parametrize(
    "session",
    [
        fresh(),
        surveyed(),
        asked(),
        awaiting_approval(),
        executing(running("T001", RunState.STARTING)),
    ],
    ids=["intake", "clarifying", "asked", "approving", "starting"],
)
def test_stop_and_resume_are_legal_in_every_phase(session: Session) -> None:
    before = [order.key for order in due(session)]
    phase = session.phase

    shown = cards(decide(session, pressed(Verb.STOP)))
    assert any(isinstance(card, StoppedCard) for card in shown)
    assert list(due(session)) == []

    decide(session, pressed(Verb.RESUME))
    assert session.phase is phase
    if phase is not Phase.EXECUTING:
        assert [order.key for order in due(session)] == before


@pytest.mark.covers("G-MOVE-SESSION-4")
def test_a_resumed_execution_stands_in_line_again_and_goes_on_with_the_same_conversation() -> None:
    session = executing(running("T001"))
    decide(session, pressed(Verb.STOP))
    decide(session, pressed(Verb.RESUME))
    assert session.status is Status.QUEUED
    assert [order.kind for order in due(session)] == ["hold_place"]


def test_while_paused_everything_but_control_waits() -> None:
    session = asked()
    decide(session, pressed(Verb.STOP))
    assert is_held_back(session, said("D1: yes"))
    assert is_held_back(session, pressed(Verb.DEFAULTS))
    assert not is_held_back(session, pressed(Verb.RESUME))
    assert not is_held_back(session, commanded(Word.STATUS))
    assert not is_held_back(session, Ticked(id="t", at=later()))


def test_a_second_stop_says_that_there_is_nothing_to_stop() -> None:
    session = asked()
    decide(session, pressed(Verb.STOP))
    assert whispers(decide(session, pressed(Verb.STOP))) == [
        "Nothing to stop: this session is paused."
    ]


def test_processes_that_will_not_end_are_named() -> None:
    session = executing(running("T001"))
    decide(session, pressed(Verb.STOP))
    stopped = RunStopped(id="r", at=later(), answers="s", run_id="T001-r1", survivors=(42,))
    [card] = cards(decide(session, stopped))
    assert "42" in str(card)


def test_a_resumed_session_shows_the_card_it_waits_on_again() -> None:
    session = asked()
    decide(session, pressed(Verb.STOP))
    shown = cards(decide(session, pressed(Verb.RESUME)))
    assert any(isinstance(card, QuestionsCard) for card in shown)


def test_discard_ends_agents_cleans_up_and_lists_what_stays() -> None:
    session = executing(running("T001"), task("T002"))
    deeds = decide(session, pressed(Verb.DISCARD))
    assert any(isinstance(deed, StopRun) for deed in deeds)
    assert session.status is Status.DISCARDED
    assert [order.kind for order in due(session)] == ["clean_up"]

    removal = Removal(branch="agent/t001", path="/w", worktree_gone=True, branch_gone=False)
    [card] = cards(
        decide(session, CleanedUp(id="c", at=later(), answers="clean", removals=(removal,)))
    )
    assert "agent/t001" in str(card)
    assert list(due(session)) == []


@pytest.mark.covers("G-US1.3", "G-RULE-AI-3", "G-RULE-LLMDOWN-2")
def test_trouble_is_told_once_and_its_end_too() -> None:
    session = surveyed()
    [card] = cards(decide(session, trouble("scan")))
    assert isinstance(card, ProblemCard)
    assert card.retrying
    assert session.control.trouble

    [card] = cards(decide(session, TroubleEnded(id="u", at=later(), order="scan")))
    assert isinstance(card, ProblemCard)
    assert card.over
    assert session.control.trouble == ""


@pytest.mark.covers("G-RULE-AI-4")
def test_where_settings_of_the_model_lack_the_card_leads_to_where_they_are_entered() -> None:
    session = surveyed()
    lacks = trouble("scan").model_copy(
        update={"reason": AI_SETTINGS_REQUIRED, "remedy": "Set OPENAI_MODEL."}
    )
    [card] = cards(decide(session, lacks))
    assert isinstance(card, ProblemCard)
    assert [choice.verb for choice in card.choices] == [Verb.SETTINGS]
    [card] = cards(decide(session, TroubleEnded(id="u", at=later(), order="scan")))
    assert isinstance(card, ProblemCard)
    assert card.choices == ()
    [card] = cards(decide(session, trouble("scan")))
    assert isinstance(card, ProblemCard)
    assert card.choices == ()


def trouble(order: str) -> TroubleBegan:
    return TroubleBegan(id=f"t:{order}", at=later(), order=order, reason="The model is down.")


def troubles(deeds: list[Deed]) -> list[tuple[str, bool]]:
    found = [card for card in cards(deeds) if isinstance(card, ProblemCard)]
    return [(card.key, card.over) for card in found]


def test_an_outage_that_holds_two_things_up_is_told_once_and_over_when_both_go_on() -> None:
    session = executing(running("T001"))
    decide(session, said("use cents"))
    decide(session, said("and euros"))
    words, place = "words:said:use cents", next(order.key for order in due(session))
    assert troubles(decide(session, trouble(words))) == [("trouble:1", False)]
    assert troubles(decide(session, trouble(place))) == []
    assert troubles(decide(session, TroubleEnded(id="u", at=later(), order=words))) == []
    assert session.control.trouble
    ended = TroubleEnded(id="v", at=later(), order=place)
    assert troubles(decide(session, ended)) == [("trouble:1", True)]


def test_the_next_outage_is_told_anew_where_people_look() -> None:
    session = surveyed()
    for number in (1, 2):
        assert troubles(decide(session, trouble("scan"))) == [(f"trouble:{number}", False)]
        decide(session, TroubleEnded(id="u", at=later(), order="scan"))


def test_nobody_is_told_to_wait_for_what_is_not_wanted_any_more() -> None:
    session = surveyed()
    decide(session, trouble("scan"))
    scanned = Scanned(id="s", at=later(), answers="scan", scan=Scan(commit="b" * 40))
    assert troubles(decide(session, scanned)) == [("trouble:1", True)]
    assert session.control.trouble == ""


@pytest.mark.covers("G-MOVE-SESSION-3")
def test_a_bug_ends_the_session_with_a_clear_word_and_its_agents_too() -> None:
    session = executing(running("T001"))
    deeds = decide(session, Broke(id="b", at=later(), reason="deciding failed"))
    assert session.status is Status.FAILED
    assert any(isinstance(deed, StopRun) for deed in deeds)


@pytest.mark.covers("G-MOVE-SESSION-1", "O-P3")
def test_after_a_restart_the_status_is_shown_and_nothing_is_asked() -> None:
    session = executing(running("T001"))
    shown = cards(decide(session, Woken(id="w", at=later(), restarted=True)))
    assert [card.key for card in shown] == ["status"]
    assert session.status is Status.ACTIVE


@pytest.mark.covers("O-P3")
def test_an_operator_who_wants_to_be_asked_finds_the_session_paused() -> None:
    session = executing(running("T001"))
    shown = cards(decide(session, Woken(id="w", at=later(), restarted=True, hold=True)))
    assert session.status is Status.PAUSED
    assert any(isinstance(card, StoppedCard) for card in shown)


@pytest.mark.parametrize("word", [Word.STATUS, Word.TASKS, Word.USAGE, Word.INFO])
def test_every_command_is_answered_and_changes_nothing(word: Word) -> None:
    session = executing(running("T001"), verifying("T002"))
    before = session.copied()
    assert len(cards(decide(session, commanded(word)))) == 1
    assert session.tasks == before.tasks
    assert session.status is before.status


def test_logs_are_read_for_whoever_asks_and_change_nothing() -> None:
    session = executing(running("T001"))
    before = session.copied()
    asked = commanded(Word.LOGS, "T001")
    [deed] = [deed for deed in decide(session, asked) if isinstance(deed, ShowLogs)]
    assert (deed.about, deed.task, deed.level) == (asked.id, "T001", "")
    assert session.tasks == before.tasks


def test_a_stopped_repair_is_still_told_what_it_was_to_mend_however_often_it_is_stopped() -> None:
    mending = run("T001", 2).model_copy(update={"why": Why.CHECK_FAILED, "feedback": "3 != 4"})
    session = executing(running("T001", runs=[run("T001", 1, RunState.ENDED), mending]))
    for _ in range(3):
        decide(session, pressed(Verb.STOP))
        decide(session, pressed(Verb.RESUME))
        since = session.queue.since
        assert since
        decide(session, PlaceGranted(id="g", at=later(), answers=HoldPlace(since=since).key))
    last = session.tasks[0].runs[-1]
    assert last.why is Why.RESUMED
    assert last.feedback.count("3 != 4") == 1
    assert last.feedback.count("You were stopped") == 1


def test_new_words_after_a_failed_survey_are_the_new_request() -> None:
    session = fresh(status=Status.FAILED, control__failure="no commits")
    decide(session, said("add receipts"))
    assert session.intent.body == "add receipts"
    assert [order.kind for order in due(session)] == ["survey"]


def test_words_after_a_later_failure_do_not_start_anything() -> None:
    session = executing(running("T001"), status=Status.FAILED)
    assert whispers(decide(session, said("add receipts")))
    assert session.status is Status.FAILED


@pytest.mark.parametrize("session", [asked(), awaiting_approval()], ids=["asked", "approving"])
def test_a_discard_closes_the_card_that_waited_for_an_answer(session: Session) -> None:
    shown = cards(decide(session, pressed(Verb.DISCARD)))
    closed = [card for card in shown if isinstance(card, QuestionsCard | ApprovalCard)]
    assert [card.decided.what for card in closed if card.decided] == ["Discarded"]


def discarded() -> Session:
    session = executing(running("T001"))
    decide(session, pressed(Verb.DISCARD))
    return session


def test_a_late_refusal_does_not_count_as_the_clean_up_of_a_discarded_session() -> None:
    session = discarded()
    late = OrderFailed(id="o", at=later(), answers="start", what="start_run", reason="no room")
    decide(session, late)
    assert [order.key for order in due(session)] == ["clean"]


def test_branches_that_never_came_to_be_are_not_listed_as_kept() -> None:
    session = discarded()
    never = Removal(branch="agent/never", path="/x", worktree_gone=True, branch_gone=True)
    deeds = decide(session, CleanedUp(id="c", at=later(), answers="clean", removals=(never,)))
    assert "agent/never" not in str(cards(deeds))


@pytest.mark.parametrize("how", ["restart", "stop", "discard"])
def test_trouble_is_not_said_to_go_on_when_nobody_tries_any_more(how: str) -> None:
    session = surveyed()
    decide(session, trouble("scan"))
    event = {
        "restart": Woken(id="w", at=later(), restarted=True),
        "stop": pressed(Verb.STOP),
        "discard": pressed(Verb.DISCARD),
    }[how]
    shown = [card for card in cards(decide(session, event)) if isinstance(card, ProblemCard)]
    assert [(card.key, card.over) for card in shown] == [("trouble:1", True)]
    assert session.control.trouble == ""


@pytest.mark.parametrize("told", [{"offered": ""}, {"unseen": ("approval:1",)}])
def test_a_yes_from_before_the_plan_was_shown_approves_nothing(told: dict[str, Any]) -> None:
    session = awaiting_approval()
    deeds = decide(session, said("yes").model_copy(update=told))
    assert session.phase is Phase.APPROVING
    assert whispers(deeds)


def test_a_yes_to_the_plan_counts_though_the_clock_was_set_back_since_it_was_shown() -> None:
    session = awaiting_approval()
    session.plan.shown_at = later(120)
    offered = approval.open_offer(session)
    decide(session, said("yes", at=later(60)).model_copy(update={"offered": offered}))
    assert session.phase is Phase.EXECUTING


@pytest.mark.parametrize("status", [Status.PAUSED, Status.FAILED, Status.DISCARDED])
def test_a_decision_is_not_opened_again_where_nothing_would_follow_from_it(status: Status) -> None:
    session = awaiting_approval()
    session.status = status
    answered = question(1, answer="first")
    session.intent = session.intent.model_copy(update={"clarifications": (answered,)})
    assert whispers(decide(session, commanded(Word.REOPEN, "D1")))
    assert session.phase is Phase.APPROVING
    assert session.intent.clarifications == (answered,)


def test_who_tries_again_is_shown_what_waits_for_a_person() -> None:
    session = awaiting_approval()
    decide(session, Broke(id="b", at=later(), reason="a bug"))
    shown = cards(decide(session, pressed(Verb.TRY_AGAIN)))
    assert [card.kind for card in shown] == ["problem", "approval"]


def test_what_has_failed_is_tried_again_with_resume_too() -> None:
    session = asked()
    decide(session, Broke(id="b", at=later(), reason="x"))
    told = whispers(decide(session, said("and now?")))
    assert "Write resume" in told[0]
    shown = cards(decide(session, commanded(Word.RESUME)))
    assert session.status is Status.ACTIVE
    assert [type(card) for card in shown] == [ProblemCard, QuestionsCard]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (Status.ACTIVE, "it goes on by itself"),
        (Status.PAUSED, "it is paused. Write resume"),
        (Status.FAILED, "it has failed. Write resume"),
        (Status.DISCARDED, "it was discarded"),
    ],
)
def test_who_wants_more_of_what_is_not_finished_is_told_how_it_goes_on(
    status: Status, told: str
) -> None:
    session = executing(running("T001"), status=status)
    assert told in whispers(decide(session, commanded(Word.CONTINUE)))[0]


def test_a_failure_that_is_discarded_has_no_buttons_any_more() -> None:
    session = awaiting_approval()
    [card] = cards(decide(session, Broke(id="b", at=later(), reason="a bug")))
    assert verbs(card) == [Verb.TRY_AGAIN, Verb.DISCARD]
    first, *_ = cards(decide(session, pressed(Verb.DISCARD)))
    assert first.key == card.key
    assert verbs(first) == []
