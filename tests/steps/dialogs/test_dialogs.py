"""What a program in a pane asks becomes a card with its own options; what is chosen is typed once, and by nobody else."""

from __future__ import annotations

import pytest

from bot.core.actions import AnswerDialog, Deed, StopRun
from bot.core.choices import Verb, Word
from bot.core.events import DialogAnswered, DialogClosed, DialogOpened, OrderFailed, Woken
from bot.core.projections.task_log_views import task_log
from bot.core.projections.task_logs import BlockedReason, TaskLogStatus, TerminatedBy
from bot.core.runs import Dialog, DialogKind, DialogOption, Run
from bot.core.session import Session
from bot.core.states import RunState, Status, TaskState
from bot.steps.decisions import decide, due
from bot.steps.dialogs.rules import MOST_IGNORED
from tests.steps.scenes import (
    cards,
    commanded,
    ended,
    executing,
    kinds,
    later,
    needs,
    ordered,
    press,
    pressed,
    running,
    titles,
    verbs,
    whispers,
)

YES = DialogOption(id="1", label="Yes")
NO = DialogOption(id="2", label="No")
MENU = Dialog(
    id="d1",
    kind=DialogKind.MENU,
    title="Run `make`?",
    text="Bash command: make",
    options=(YES, NO),
    topic="Allow Bash",
)
OTHER = MENU.model_copy(update={"id": "d2", "title": "Run `ls`?"})
NAME = Dialog(id="d3", kind=DialogKind.WORDS, title="What is it called?")


def asks(session: Session, dialog: Dialog = MENU, key: str = "T001") -> list[Deed]:
    order = ordered(session, "await_run", f"{key}-r1")
    event = DialogOpened(
        id=f"o:{dialog.id}", at=later(), answers=order.key, run_id=f"{key}-r1", dialog=dialog
    )
    return decide(session, event)


def closes(session: Session) -> list[Deed]:
    order = ordered(session, "await_run")
    return decide(session, DialogClosed(id="x", at=later(), answers=order.key, run_id="T001-r1"))


def typed(session: Session, *, moved: bool = True) -> list[Deed]:
    order = ordered(session, "answer_dialog")
    event = DialogAnswered(
        id="a", at=later(), answers=order.key, run_id="T001-r1", dialog_id="d1", moved=moved
    )
    return decide(session, event)


def run_of(session: Session, task: int = 0) -> Run:
    run = session.tasks[task].run
    assert run
    return run


def at_work(**changes: object) -> Session:
    return executing(running("T001"), **changes)


@pytest.mark.covers("G-MOVE-RUN-4", "O-C12")
def test_a_dialog_is_shown_with_its_own_options_as_buttons() -> None:
    session = at_work()
    [card] = needs(asks(session))
    assert card.reason == "Run `make`?"
    assert [choice.label for choice in card.choices[:2]] == ["Yes", "No"]
    assert run_of(session).state is RunState.WAITING_INPUT
    assert kinds(session) == ["await_run"], "nobody types before somebody has chosen"


@pytest.mark.covers("O-C12")
def test_what_is_chosen_is_typed_and_the_card_says_by_whom() -> None:
    session = at_work()
    [card] = needs(asks(session))
    [answered] = needs(decide(session, press(card, Verb.REPLY)))
    assert answered.key == card.key
    assert answered.choices == ()
    assert answered.decided
    assert answered.decided.what == "Answered with “Yes”"
    order = ordered(session, "answer_dialog")
    assert isinstance(order, AnswerDialog)
    typed(session)
    assert run_of(session).state is RunState.RUNNING
    assert kinds(session) == ["await_run"]


def test_a_second_press_types_nothing_and_is_told_in_private() -> None:
    session = at_work()
    [card] = needs(asks(session))
    decide(session, press(card, Verb.REPLY))
    before = session.copied()
    again = decide(session, press(card, Verb.REPLY))
    assert whispers(again)
    assert session.tasks == before.tasks


def test_the_same_dialog_told_twice_is_one_card() -> None:
    session = at_work()
    asks(session)
    assert not needs(asks(session))
    assert run_of(session).dialogs == 1


def test_the_same_question_asked_again_is_a_new_card_and_the_old_button_is_dead() -> None:
    session = at_work()
    [first] = needs(asks(session))
    decide(session, press(first, Verb.REPLY))
    typed(session)
    [second] = needs(asks(session))
    assert second.key != first.key
    assert whispers(decide(session, press(first, Verb.REPLY)))
    assert not run_of(session).reply


def test_another_question_takes_the_place_of_the_one_before() -> None:
    session = at_work()
    [first] = needs(asks(session))
    over, now = needs(asks(session, OTHER))
    assert (over.key, over.choices) == (first.key, ())
    assert now.choices


def test_the_next_question_leaves_the_answer_to_the_last_one_on_its_card() -> None:
    session = at_work()
    [first] = needs(asks(session))
    decide(session, press(first, Verb.REPLY))
    [now] = needs(asks(session, OTHER))
    assert now.key != first.key
    assert kinds(session) == ["await_run"]


def test_words_are_asked_for_and_typed_as_they_were_said() -> None:
    session = at_work()
    [card] = needs(asks(session, NAME))
    assert verbs(card) == [Verb.REPLY]
    assert card.choices[0].asks == "What is it called?"
    decide(session, press(card, Verb.REPLY, "Basket"))
    assert run_of(session).reply == "Basket"


def test_no_words_are_no_answer() -> None:
    session = at_work()
    [card] = needs(asks(session, NAME))
    assert whispers(decide(session, press(card, Verb.REPLY, "  ")))
    assert kinds(session) == ["await_run"]


@pytest.mark.parametrize("title", ["Password:", "Enter your API key", "Paste the token"])
def test_a_secret_is_never_asked_for_in_the_thread(title: str) -> None:
    session = at_work()
    [card] = needs(asks(session, NAME.model_copy(update={"title": title})))
    assert card.choices == ()
    about = f"{run_of(session).id}:1:"
    assert whispers(decide(session, pressed(Verb.REPLY, about, "hunter2")))
    assert not run_of(session).reply


def test_an_option_that_was_not_offered_is_not_typed() -> None:
    session = at_work()
    asks(session)
    assert whispers(decide(session, pressed(Verb.REPLY, f"{run_of(session).id}:1:9")))
    assert not run_of(session).reply


def test_what_was_answered_in_the_pane_takes_the_buttons_away() -> None:
    session = at_work()
    [card] = needs(asks(session))
    [gone] = needs(closes(session))
    assert (gone.key, gone.choices) == (card.key, ())
    assert run_of(session).state is RunState.RUNNING
    assert whispers(decide(session, press(card, Verb.REPLY)))


@pytest.mark.covers("O-C12")
def test_an_answer_that_did_not_move_the_screen_is_asked_for_again_on_a_new_card() -> None:
    session = at_work()
    [card] = needs(asks(session))
    decide(session, press(card, Verb.REPLY))
    shown = typed(session, moved=False)
    assert needs(shown)[0].key != card.key
    assert "T001: the answer did not arrive" in titles(shown)
    decide(session, press(needs(shown)[0], Verb.REPLY))
    assert ordered(session, "answer_dialog").key.endswith(":2")


def test_an_answer_to_what_is_not_asked_any_more_leaves_no_buttons() -> None:
    session = at_work()
    [card] = needs(asks(session))
    decide(session, press(card, Verb.REPLY))
    order = ordered(session, "answer_dialog")
    refused = OrderFailed(
        id="f",
        at=later(),
        answers=order.key,
        what="answer_dialog",
        task_id="id-T001",
        reason="it is not asked any more",
    )
    assert not needs(decide(session, refused))
    assert run_of(session).state is RunState.RUNNING
    assert needs(asks(session)), "if it is asked all the same, it is told anew"


def test_a_late_word_that_something_was_typed_changes_nothing() -> None:
    session = at_work()
    [card] = needs(asks(session))
    decide(session, press(card, Verb.REPLY))
    key = ordered(session, "answer_dialog").key
    asks(session, OTHER)
    late = DialogAnswered(
        id="a", at=later(), answers=key, run_id="T001-r1", dialog_id="d1", moved=True
    )
    decide(session, late)
    assert run_of(session).dialog == OTHER


def test_always_answers_the_same_topic_by_itself_from_then_on() -> None:
    session = at_work()
    [card] = needs(asks(session))
    decide(session, press(card, Verb.ALWAYS))
    typed(session)
    assert not needs(asks(session, OTHER))
    assert run_of(session).reply == "1"
    assert ordered(session, "answer_dialog")


@pytest.mark.parametrize(
    "dialog",
    [
        OTHER.model_copy(update={"topic": "Allow WebFetch"}),
        OTHER.model_copy(update={"topic": ""}),
        OTHER.model_copy(update={"options": (NO, YES.model_copy(update={"label": "Yes, all"}))}),
    ],
)
def test_a_standing_answer_holds_for_its_topic_and_its_very_words_only(dialog: Dialog) -> None:
    session = at_work()
    [card] = needs(asks(session))
    decide(session, press(card, Verb.ALWAYS))
    typed(session)
    assert needs(asks(session, dialog))
    assert not run_of(session).reply


def test_a_standing_answer_chooses_by_the_label_wherever_it_stands() -> None:
    session = at_work()
    [card] = needs(asks(session))
    decide(session, press(card, Verb.ALWAYS))
    typed(session)
    turned = OTHER.model_copy(
        update={"options": (NO.model_copy(update={"id": "1"}), YES.model_copy(update={"id": "2"}))}
    )
    asks(session, turned)
    assert run_of(session).reply == "2"


def test_a_standing_answer_is_for_one_agent_only() -> None:
    session = executing(running("T001"), running("T002"))
    second = session.tasks[1].runs[0].model_copy(update={"agent": "codex"})
    session.tasks[1].update_run(second)
    [card] = needs(asks(session))
    decide(session, press(card, Verb.ALWAYS))
    assert needs(asks(session, OTHER, "T002"))
    assert not run_of(session, 1).reply


def test_a_standing_answer_that_does_not_arrive_is_a_persons() -> None:
    session = at_work()
    [card] = needs(asks(session))
    decide(session, press(card, Verb.ALWAYS))
    typed(session)
    asks(session, OTHER)
    assert needs(typed(session, moved=False))
    assert kinds(session) == ["await_run"]


def test_nothing_is_offered_for_always_where_the_topic_is_not_known() -> None:
    session = at_work()
    [card] = needs(asks(session, MENU.model_copy(update={"topic": ""})))
    assert Verb.ALWAYS not in verbs(card)


def test_after_a_restart_nothing_is_typed_again_and_what_still_stands_is_asked_anew() -> None:
    session = at_work()
    [card] = needs(asks(session))
    decide(session, press(card, Verb.REPLY))
    decide(session, Woken(id="w", at=later(), restarted=True))
    assert kinds(session) == ["await_run"]
    [again] = needs(asks(session))
    assert again.key != card.key
    assert again.choices


def test_after_a_restart_the_card_that_nobody_has_answered_is_shown_again() -> None:
    session = at_work()
    [card] = needs(asks(session))
    [again] = needs(decide(session, Woken(id="w", at=later(), restarted=True)))
    assert again == card
    assert not needs(asks(session)), "it is the same question"


def test_a_stop_ends_the_agent_that_asks_and_takes_its_buttons_away() -> None:
    session = at_work()
    [card] = needs(asks(session))
    deeds = decide(session, commanded(Word.STOP))
    assert any(isinstance(deed, StopRun) for deed in deeds)
    assert (needs(deeds)[0].key, needs(deeds)[0].choices) == (card.key, ())
    assert session.control.stopped_runs == 1
    assert session.status is Status.PAUSED
    assert list(due(session)) == []


def test_the_end_of_a_run_takes_its_buttons_away() -> None:
    session = at_work()
    [card] = needs(asks(session))
    [gone] = needs(decide(session, ended("T001-r1")))
    assert (gone.key, gone.choices) == (card.key, ())
    assert session.tasks[0].state is TaskState.VERIFYING
    assert run_of(session).dialog is None


@pytest.mark.covers(
    "R-ENUM-BlockedReason", "R-ENUM-TerminatedBy", "R-PROPERTY-34", "R-PROPERTY-35", "O-X6"
)
def test_where_nobody_is_there_to_answer_a_dialog_ends_the_run_and_keeps_the_work() -> None:
    session = at_work(request__unattended=True)
    deeds = asks(session)
    assert any(isinstance(deed, StopRun) for deed in deeds)
    assert session.tasks[0].state is TaskState.BLOCKED
    assert "INTERACTIVE_PROMPT" in session.tasks[0].blocked
    [card] = needs(deeds)
    assert "--project-mode fixed" in card.reason
    assert "claude-print" in card.reason
    assert not run_of(session).alive
    log = task_log(session, session.tasks[0])
    assert (log.executor_blocked, log.status) == (True, TaskLogStatus.INCOMPLETE)
    assert (log.blocked_reason, log.terminated_by) == (
        BlockedReason.INTERACTIVE_PROMPT,
        TerminatedBy.REPL_FAIL_CLOSED,
    )
    assert log.timeout_ms is not None


@pytest.mark.covers("R-ENUM-BlockedReason", "R-PROPERTY-35")
def test_a_line_that_is_wanted_where_nobody_is_there_says_so() -> None:
    session = at_work(request__unattended=True)
    asks(session, NAME)
    assert "STDIN_REQUIRED" in session.tasks[0].blocked
    assert task_log(session, session.tasks[0]).blocked_reason is BlockedReason.STDIN_REQUIRED


def test_a_discarded_session_leaves_no_dialog_to_answer() -> None:
    session = at_work()
    [card] = needs(asks(session))
    shown = needs(decide(session, commanded(Word.DISCARD)))
    assert [(one.key, one.choices) for one in shown] == [(card.key, ())]
    assert cards(decide(session, press(card, Verb.REPLY))) == []


@pytest.mark.parametrize("goes", [True, False], ids=["goes away", "gives way to the next"])
def test_a_program_that_asks_and_goes_on_without_an_answer_is_ended_at_last(goes: bool) -> None:
    session = executing(running("T001"))
    shown, deeds = 0, list[Deed]()
    for number in range(MOST_IGNORED + 1):
        assert session.tasks[0].state is TaskState.RUNNING
        deeds = asks(session, MENU.model_copy(update={"id": f"d{number}"}))
        shown += sum(card.decided is None for card in needs(deeds))
        if goes and session.tasks[0].state is TaskState.RUNNING:
            closes(session)
    assert session.tasks[0].state is TaskState.BLOCKED
    assert [deed.run_id for deed in deeds if isinstance(deed, StopRun)] == ["T001-r1"]
    assert shown == MOST_IGNORED + 1  # the last one says why


def test_answers_however_many_end_nothing() -> None:
    session = executing(running("T001"))
    for number in range(MOST_IGNORED + 10):
        (card,) = needs(asks(session, MENU.model_copy(update={"id": f"d{number}"})))
        decide(session, press(card, Verb.REPLY))
        typed(session)
    assert session.tasks[0].state is TaskState.RUNNING


def test_whoever_works_in_the_pane_is_asked_as_often_as_they_like() -> None:
    session = executing(running("T001"))
    session.tasks[0].taken_by = "Ann"
    run = session.tasks[0].run
    assert run
    for number in range(MOST_IGNORED + 10):
        dialog = MENU.model_copy(update={"id": f"d{number}"})
        event = DialogOpened(
            id=f"o{number}", at=later(), answers="await", run_id=run.id, dialog=dialog
        )
        decide(session, event)
    assert session.tasks[0].state is TaskState.RUNNING
