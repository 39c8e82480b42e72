"""Work that passed everything goes into a pull request of its branch; what cannot be made stays, says why, and can be tried again."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed, OpenPull
from bot.core.choices import Verb, Word
from bot.core.events import OrderFailed, PullOpened, WorkDescribed
from bot.core.forge import Pull
from bot.core.session import Session
from bot.core.session_parts import Ending
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import Phase, TaskState
from bot.core.task import PullText
from bot.steps.decisions import decide, due
from bot.steps.ship import rules as ship
from tests.steps.scenes import (
    HEAD,
    commanded,
    delivering,
    executing,
    gets_place,
    is_verified,
    judge_says,
    kinds,
    later,
    looked,
    needs,
    ordered,
    press,
    pressed,
    pull,
    ran_tests,
    shipped,
    task,
    titles,
    verbs,
    verifying,
    whispers,
    work,
)


def described(session: Session) -> list[Deed]:
    order = ordered(session, "describe_work")
    text = PullText(title="feat: discounts", body="What: discounts")
    return decide(
        session,
        WorkDescribed(id="d", at=later(), answers=order.key, task_id="id-T001", text=text),
    )


def opened(session: Session, made: Pull) -> list[Deed]:
    order = ordered(session, "open_pull")
    assert isinstance(order, OpenPull)
    event = PullOpened(
        id="p",
        at=later(),
        answers=order.key,
        task_id=order.task_id,
        commit=order.commit,
        pull=made,
        evidence="ev-pull",
    )
    return decide(session, event)


def refused(session: Session) -> list[Deed]:
    order = ordered(session, "open_pull")
    event = OrderFailed(
        id="f",
        at=later(),
        answers=order.key,
        what="open_pull",
        task_id="id-T001",
        reason="The token may not write.",
        remedy="Give it that right.",
    )
    return decide(session, event)


def passed() -> Session:
    """T001 has passed everything."""
    session = delivering(verifying("T001"))
    is_verified(session, work("feat: x"))
    return session


def ready_to_open() -> Session:
    session = passed()
    described(session)
    return session


@pytest.mark.covers("G-US5.2", "G-RULE-LOOP-8", "B-FLOW-RUN-16")
def test_it_is_described_first_then_opened_then_done() -> None:
    session = passed()
    assert session.tasks[0].state is TaskState.INTEGRATING
    assert kinds(session) == ["describe_work"]
    described(session)
    assert kinds(session) == ["open_pull"]
    shown = titles(opened(session, pull(7)))
    [one] = session.tasks
    assert one.state is TaskState.COMPLETED
    assert one.pull_request
    assert (one.pull_request.number, one.pull_request.head) == (7, HEAD)
    assert "ev-pull" in one.evidence_refs
    assert "T001: pull request #7 is open" in shown


@pytest.mark.covers("G-US5.2", "G-RULE-PR-4")
def test_what_is_opened_is_the_very_commit_that_was_tested() -> None:
    session = ready_to_open()
    order = ordered(session, "open_pull")
    assert isinstance(order, OpenPull)
    assert order.commit == HEAD


def test_dependents_start_as_soon_as_it_is_open_and_do_not_wait_for_people_to_merge() -> None:
    session = delivering(verifying("T001"), task("T002", dependencies=("id-T001",)))
    is_verified(session, work("feat: x"))
    described(session)
    assert session.tasks[1].state is TaskState.PENDING
    opened(session, pull(7))
    assert session.tasks[1].state is TaskState.RUNNING


@pytest.mark.covers("B-FLOW-RUN-16")
def test_without_a_forge_its_branch_is_all_there_is() -> None:
    session = executing(verifying("T001"))
    is_verified(session, work("feat: x"))
    assert session.tasks[0].state is TaskState.COMPLETED
    assert session.tasks[0].pull_request is None


def test_an_investigation_makes_no_pull_request_and_nothing_is_offered_to_be_merged() -> None:
    session = delivering(verifying("T001", type=TaskType.INVESTIGATION))
    run = session.tasks[0].runs[0].model_copy(update={"message": "It is the cache."})
    session.tasks[0].update_run(run)
    looked(session, work())
    shown = titles(judge_says(session))
    assert session.tasks[0].state is TaskState.COMPLETED
    assert session.phase is Phase.FINISHING
    assert session.ending.choice is Ending.KEEP
    assert "Everything is built" not in shown


@pytest.mark.covers("G-RULE-PR-8")
def test_a_pull_request_that_cannot_be_made_leaves_the_task_where_it_is_with_the_reason() -> None:
    session = ready_to_open()
    [card] = needs(refused(session))
    assert session.tasks[0].state is TaskState.INTEGRATING
    assert "The token may not write. Give it that right." in card.reason
    assert verbs(card) == [Verb.SHIP_AGAIN, Verb.KEEP]
    assert kinds(session) == [], "it does not go round and round"
    assert not session.queue.has_place


@pytest.mark.covers("G-RULE-PR-8")
def test_a_button_tries_again_after_another_look() -> None:
    session = ready_to_open()
    [card] = needs(refused(session))
    [answered] = needs(decide(session, press(card, Verb.SHIP_AGAIN)))
    assert answered.choices == ()
    gets_place(session)
    assert kinds(session) == ["look_at_work"]
    looked(session, work("feat: x"))
    assert kinds(session) == ["open_pull"], "nothing has changed, so nothing is tested again"
    opened(session, pull(7))
    assert session.tasks[0].state is TaskState.COMPLETED


@pytest.mark.covers("G-RULE-PR-1")
def test_what_was_mended_by_hand_meanwhile_is_tested_and_judged_before_it_goes_out() -> None:
    session = ready_to_open()
    [card] = needs(refused(session))
    decide(session, press(card, Verb.SHIP_AGAIN))
    gets_place(session)
    looked(session, work("feat: x", "fix: by hand"))
    assert kinds(session) == ["run_check"]
    ran_tests(session)
    judge_says(session)
    order = ordered(session, "open_pull")
    assert isinstance(order, OpenPull)
    assert order.commit == work("feat: x", "fix: by hand").head


def test_a_second_refusal_is_a_new_card_and_the_first_ones_button_is_dead() -> None:
    session = ready_to_open()
    [first] = needs(refused(session))
    decide(session, press(first, Verb.SHIP_AGAIN))
    gets_place(session)
    looked(session, work("feat: x"))
    [second] = needs(refused(session))
    assert second.key != first.key
    assert whispers(decide(session, press(first, Verb.SHIP_AGAIN)))
    assert whispers(decide(session, press(first, Verb.KEEP)))
    assert session.tasks[0].state is TaskState.INTEGRATING


def test_who_leaves_it_on_its_branch_has_it_done_without_one() -> None:
    session = ready_to_open()
    [card] = needs(refused(session))
    decide(session, press(card, Verb.KEEP))
    assert session.tasks[0].state is TaskState.COMPLETED
    assert session.tasks[0].pull_request is None
    assert session.ending.choice is Ending.KEEP


def test_a_second_press_on_leave_it_does_not_end_the_session() -> None:
    session = ready_to_open()
    [card] = needs(refused(session))
    keep = press(card, Verb.KEEP)
    decide(session, keep)
    session.ending.choice, session.pulls.host = None, None
    assert whispers(decide(session, keep))
    assert session.ending.choice is None


def test_stopped_and_resumed_the_card_stands_again() -> None:
    session = ready_to_open()
    [card] = needs(refused(session))
    decide(session, commanded(Word.STOP))
    assert list(due(session)) == []
    assert needs(decide(session, commanded(Word.RESUME))) == [card]
    assert kinds(session) == []


def test_stopped_while_it_is_being_opened_it_is_opened_after_the_resume() -> None:
    session = ready_to_open()
    decide(session, commanded(Word.STOP))
    decide(session, commanded(Word.RESUME))
    gets_place(session)
    assert kinds(session) == ["open_pull"]


def test_discarded_its_card_has_no_buttons() -> None:
    session = ready_to_open()
    [card] = needs(refused(session))
    [gone] = needs(decide(session, commanded(Word.DISCARD)))
    assert (gone.key, gone.choices) == (card.key, ())


def test_an_answer_that_comes_twice_makes_one_pull_request() -> None:
    session = ready_to_open()
    order = ordered(session, "open_pull")
    event = PullOpened(
        id="p", at=later(), answers=order.key, task_id="id-T001", commit=HEAD, pull=pull(7)
    )
    decide(session, event)
    before = session.copied()
    decide(session, event.model_copy(update={"pull": pull(8)}))
    assert session.tasks == before.tasks


def test_brought_up_to_date_it_keeps_what_was_delivered_and_is_not_announced_again() -> None:
    done = shipped("T001", 7, state=TaskState.INTEGRATING)
    former = done.pull_request
    assert former
    done.pull_request = former.model_copy(update={"delivered": ("ci:1",), "taken_in": ("m",)})
    session = delivering(done)
    shown = titles(opened(session, pull(7)))
    now = session.tasks[0].pull_request
    assert now
    assert (now.delivered, now.taken_in) == (("ci:1",), ("m",))
    assert "T001: pull request #7 is open" not in shown


def test_work_after_a_merge_goes_into_a_new_pull_request_that_is_announced() -> None:
    done = shipped("T001", 7, state=TaskState.INTEGRATING)
    former = done.pull_request
    assert former
    done.pull_request = former.model_copy(update={"merged": True, "delivered": ("ci:1",)})
    session = delivering(done)
    shown = titles(opened(session, pull(9)))
    now = session.tasks[0].pull_request
    assert now
    assert (now.number, now.merged, now.delivered) == (9, False, ())
    assert "T001: pull request #9 is open" in shown


def stacked() -> Session:
    return delivering(
        shipped("T001", 7),
        task("T002", TaskState.COMPLETED, dependencies=("id-T001",)),
        shipped("T003", 9, dependencies=("id-T002",)),
    )


@pytest.mark.covers("O-I1a")
def test_a_dependent_depends_on_the_open_pull_requests_below_it_however_far() -> None:
    session = stacked()
    assert ship.open_dependency_pulls(session, session.tasks[2]) == (7,)
    assert ship.open_dependency_pulls(session, session.tasks[0]) == ()


@pytest.mark.parametrize(
    "changes",
    [{"merged": True}, {"unneeded": True}, {"seen": pull(7, open=False)}],
    ids=["merged", "unneeded", "closed"],
)
def test_what_nobody_waits_for_any_more_holds_no_dependent(changes: dict[str, object]) -> None:
    session = stacked()
    first = session.tasks[0]
    assert first.pull_request
    first.pull_request = first.pull_request.model_copy(update=changes)
    assert ship.open_dependency_pulls(session, session.tasks[2]) == ()


def test_a_draft_is_called_one() -> None:
    session = ready_to_open()
    shown = titles(opened(session, pull(7, draft=True)))
    assert "T001: pull request #7 is open as a draft" in shown


def test_a_press_about_a_task_that_is_unknown_is_answered_in_private() -> None:
    session = ready_to_open()
    assert whispers(decide(session, pressed(Verb.SHIP_AGAIN, "nobody:1")))
    assert whispers(decide(session, pressed(Verb.KEEP, "")))
    assert session.tasks[0].state is TaskState.INTEGRATING


def test_an_investigation_that_left_commits_makes_no_pull_request_either() -> None:
    session = delivering(verifying("T001", type=TaskType.INVESTIGATION))
    is_verified(session, work("chore: notes"))
    assert session.tasks[0].state is TaskState.COMPLETED
    assert "open_pull" not in kinds(session)


def test_what_was_done_is_told_with_its_commits_its_branch_and_its_tests() -> None:
    session = executing(verifying("T001"))
    is_verified(session, work("feat: x", "fix: y"))
    result = session.tasks[0].result
    assert result
    assert result.summary == "2 commits on agent/t001; `python3 -m unittest` passed in 1 s"
