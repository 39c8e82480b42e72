"""A person works in an agent's pane: until it is handed back nothing is typed there, and nothing that ends there is judged."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed, StopRun
from bot.core.choices import Verb, Word
from bot.core.events import DialogAnswered, ImpactJudged, OrderFailed, Woken
from bot.core.session import Session
from bot.core.states import Outcome, RunState, Status, TaskState
from bot.core.talk import Affected, Change, ChangeStage
from bot.core.task import Task
from bot.steps import plan
from bot.steps.decisions import decide
from tests.steps.dialogs.test_dialogs import MENU, asks, ordered
from tests.steps.scenes import (
    ANN,
    by_default,
    commanded,
    ended,
    executing,
    gets_place,
    kinds,
    later,
    looked,
    needs,
    out_of_tokens,
    press,
    pressed,
    running,
    task,
    tick,
    titles,
    whispers,
    work,
)


def attached(key: str = "T001", *dependencies: str) -> Task:
    made = running(key, dependencies=dependencies)
    made.update_run(made.runs[0].model_copy(update={"attach": f"tmux attach -t {key}"}))
    return made


def taken(*others: Task) -> Session:
    session = executing(attached(), *others)
    decide(session, commanded(Word.TAKEOVER, "T001"))
    return session


@pytest.mark.covers("O-X5")
def test_taking_over_says_how_to_attach_and_how_to_hand_back() -> None:
    session = executing(attached())
    shown = decide(session, commanded(Word.TAKEOVER, "t001"))
    told = "".join(deed.model_dump_json() for deed in shown)
    assert "tmux attach -t T001" in told
    assert "handback T001" in told


def test_a_pane_in_which_nobody_is_left_is_not_taken_over() -> None:
    session = executing(attached())
    decide(session, ended("T001-r1", Outcome.FAILED))
    assert session.tasks[0].choice
    told = whispers(decide(session, commanded(Word.TAKEOVER, "T001")))
    assert told == ["T001 cannot be taken over: Its agent is not at work."]
    by_default(session)
    assert session.tasks[0].run
    assert (session.tasks[0].run.number, session.tasks[0].taken_by) == (2, "")


@pytest.mark.covers("O-X5")
def test_what_a_person_works_on_is_neither_awaited_nor_judged() -> None:
    session = taken()
    assert kinds(session) == []
    decide(session, ended("T001-r1"))
    assert session.tasks[0].state is TaskState.RUNNING


@pytest.mark.covers("O-X5")
def test_handed_back_it_goes_on_from_what_is_there() -> None:
    session = taken()
    decide(session, commanded(Word.HANDBACK, "T001"))
    gets_place(session)
    assert kinds(session) == ["await_run"]
    decide(session, ended("T001-r1"))
    assert session.tasks[0].state is TaskState.VERIFYING


def test_the_next_run_is_told_that_a_person_has_worked_there() -> None:
    session = taken()
    decide(session, commanded(Word.HANDBACK, "T001"))
    gets_place(session)
    decide(session, ended("T001-r1"))
    looked(session, work())
    by_default(session)
    assert "A person has worked in your worktree" in session.tasks[0].runs[-1].feedback
    assert session.tasks[0].next_run.instructions == ""


def test_nobody_takes_over_what_nobody_works_on() -> None:
    session = executing(attached(), task("T002"))
    session.tasks[1].dependencies = ("id-T001",)
    assert whispers(decide(session, commanded(Word.TAKEOVER, "T002")))
    assert whispers(decide(session, commanded(Word.TAKEOVER, "T009")))
    assert whispers(decide(session, commanded(Word.HANDBACK, "T001")))
    assert not any(one.taken_by for one in session.tasks)


def test_the_second_one_is_told_who_was_first() -> None:
    session = taken()
    [told] = whispers(decide(session, commanded(Word.TAKEOVER, "T001")))
    assert "Ann has it already" in told


def test_the_repositorys_place_is_not_held_for_a_person() -> None:
    session = taken()
    assert not session.queue.has_place
    assert not plan.can_move(session)
    decide(session, commanded(Word.HANDBACK, "T001"))
    assert session.status is Status.QUEUED


def test_the_others_go_on_meanwhile() -> None:
    session = taken(running("T002"))
    assert session.queue.has_place
    assert [ordered(session, "await_run", "T002-r1").kind] == ["await_run"]


def test_a_question_that_stands_there_is_the_persons_to_answer_in_the_pane() -> None:
    session = executing(attached())
    [card] = needs(asks(session))
    [gone] = needs(decide(session, commanded(Word.TAKEOVER, "T001")))
    assert (gone.key, gone.choices) == (card.key, ())
    assert whispers(decide(session, press(card, Verb.REPLY)))
    assert not session.tasks[0].runs[0].reply


def test_what_is_just_being_typed_is_called_off() -> None:
    session = executing(attached(), running("T002"))
    [card] = needs(asks(session))
    decide(session, press(card, Verb.REPLY))
    key = ordered(session, "answer_dialog").key
    decide(session, commanded(Word.TAKEOVER, "T001"))
    assert kinds(session) == ["await_run"], "that of the other one"
    late = DialogAnswered(
        id="a", at=later(), answers=key, run_id="T001-r1", dialog_id="d1", moved=False
    )
    assert not needs(decide(session, late))


def test_standing_answers_are_not_typed_while_a_person_is_there_and_asked_again_afterwards() -> (
    None
):
    session = executing(attached())
    [card] = needs(asks(session))
    decide(session, press(card, Verb.ALWAYS))
    decide(session, commanded(Word.TAKEOVER, "T001"))
    assert kinds(session) == []
    decide(session, commanded(Word.HANDBACK, "T001"))
    gets_place(session)
    asks(session, MENU.model_copy(update={"id": "d9"}))
    assert ordered(session, "answer_dialog")


def test_time_a_person_spends_there_holds_nobody_up() -> None:
    session = taken()
    session.agents.limits = session.agents.limits.model_copy(update={"max_seconds": 1})
    decide(session, tick(later(9_000)))
    assert session.tasks[0].state is TaskState.RUNNING


def test_a_restart_leaves_the_person_at_the_wheel() -> None:
    session = taken()
    decide(session, Woken(id="w", at=later(), restarted=True))
    assert session.tasks[0].taken_by == "Ann"
    assert kinds(session) == []


def test_a_stop_ends_what_was_taken_over_too() -> None:
    session = taken()
    deeds = decide(session, commanded(Word.STOP))
    assert any(isinstance(deed, StopRun) for deed in deeds)
    assert not session.tasks[0].taken_by
    assert session.tasks[0].state is TaskState.NEEDS_CONTINUATION


def changing(session: Session, stage: ChangeStage) -> None:
    change = Change(id="c1", text="wider", by=ANN, at=later(), revision=2, stage=stage)
    session.change = change


def impact() -> ImpactJudged:
    touched = (Affected(task_id="id-T001", why="w"),)
    return ImpactJudged(id="i", at=later(), answers="impact:c1:2", change_id="c1", affected=touched)


def stopped(deeds: list[Deed]) -> bool:
    return any(isinstance(deed, StopRun) for deed in deeds)


def test_a_change_closes_nobodys_pane_before_it_is_confirmed() -> None:
    session = taken()
    changing(session, ChangeStage.JUDGING)
    event = impact()
    event = event.model_copy(update={"answers": ordered(session, "judge_impact").key})
    assert not stopped(decide(session, event))
    assert session.tasks[0].taken_by
    assert session.tasks[0].runs[0].state is RunState.RUNNING


def test_a_change_holds_an_agent_nobody_has_taken_over_at_once() -> None:
    session = executing(attached())
    changing(session, ChangeStage.JUDGING)
    event = impact().model_copy(update={"answers": ordered(session, "judge_impact").key})
    assert stopped(decide(session, event))
    assert session.tasks[0].state is TaskState.BLOCKED


def test_what_waits_for_its_account_is_nobodys_pane() -> None:
    session = executing(attached())
    decide(session, out_of_tokens("T001-r1", later()))
    assert whispers(decide(session, commanded(Word.TAKEOVER, "T001")))


def test_a_refused_start_leaves_nothing_taken_over() -> None:
    session = executing(attached())
    decide(session, commanded(Word.TAKEOVER, "T001"))
    decide(session, commanded(Word.HANDBACK, "T001"))
    gets_place(session)
    order = ordered(session, "await_run")
    refused = OrderFailed(
        id="f", at=later(), answers=order.key, what="await_run", task_id="id-T001", reason="gone"
    )
    assert "T001 is blocked" in titles(decide(session, refused))
    assert not session.tasks[0].taken_by


def test_give_up_on_what_it_depends_on_ends_the_pane_too() -> None:
    session = executing(
        task("T000", TaskState.FAILED, times_asked=1, blocked="x"),
        attached("T001", "id-T000"),
    )
    decide(session, commanded(Word.TAKEOVER, "T001"))
    deeds = decide(session, pressed(Verb.GIVE_UP, "id-T000:0"))
    assert stopped(deeds)
    assert session.tasks[1].state is TaskState.CANCELLED


def test_whose_worktree_is_lost_is_nobodys_any_more() -> None:
    session = taken()
    lost = OrderFailed(
        id="lost",
        at=later(),
        answers="observe",
        what="observe",
        task_id="id-T001",
        reason="gone",
        lost=True,
    )
    [card] = needs(decide(session, lost))
    assert session.tasks[0].taken_by == ""
    decide(session, press(card, Verb.RETRY))
    gets_place(session)
    assert "prepare_workspace" in kinds(session)
