"""What must be under way follows from the state alone."""

from __future__ import annotations

import pytest

from bot.core.git import Scan
from bot.core.session import Session
from bot.core.session_parts import Ending
from bot.core.states import Phase, RunState, Status, TaskState
from bot.steps.decisions import due
from tests.steps.scenes import (
    T0,
    asked,
    awaiting_approval,
    executing,
    fresh,
    run,
    running,
    surveyed,
    task,
    verifying,
    work,
    workspace,
)


def orders(session: Session) -> list[str]:
    return [order.key for order in due(session)]


def test_a_new_session_is_surveyed() -> None:
    assert orders(fresh()) == ["survey"]


@pytest.mark.covers("G-RULE-FLOW-1", "G-RULE-SCAN-1", "G-RULE-SCAN-8", "G-RULE-QUESTIONS-1")
def test_the_repository_is_scanned_before_questions_are_sought() -> None:
    assert orders(surveyed()) == ["scan"]
    assert orders(surveyed(repository__scan=Scan(commit="b"))) == ["questions"]


@pytest.mark.covers("G-RULE-LOOP-1", "G-RULE-LOOP-12")
def test_nothing_is_due_while_a_person_is_waited_for() -> None:
    assert orders(asked()) == []
    assert orders(awaiting_approval()) == []
    assert orders(executing(phase=Phase.FINISHING)) == []


@pytest.mark.covers(
    "G-RULE-SPECKIT-5", "G-RULE-FLOW-2", "G-RULE-FLOW-3", "G-RULE-FLOW-4", "G-RULE-QUESTIONS-5"
)
def test_documents_are_written_one_after_the_other_then_committed() -> None:
    session = awaiting_approval()
    session.phase = Phase.SPECIFYING
    documents = session.plan.documents
    session.plan.documents, session.plan.analysed = (), False
    assert orders(session) == ["write:spec:1"]
    session.plan.documents = documents[:1]
    assert orders(session) == ["write:plan:1"]
    session.plan.documents = documents[:2]
    assert orders(session) == ["write:tasks:1"]
    session.plan.documents = documents
    assert orders(session) == ["analyse:1"]
    session.plan.analysed = True
    assert orders(session) == ["commit:1"]


def test_nothing_starts_without_the_place() -> None:
    session = executing(running("T001", RunState.STARTING), queue__has_place=False)
    assert orders(session) == [f"place:{T0.isoformat()}"]


@pytest.mark.covers("G-US3.1", "G-RULE-MERGE-5", "G-OUT-4", "B-ENTITY-Operations")
def test_a_starting_run_gets_its_worktree_first_then_its_pane_then_is_awaited() -> None:
    place = f"place:{T0.isoformat()}"
    unready = workspace("agent/t001", ready=False)
    session = executing(running("T001", RunState.STARTING, workspace=unready))
    assert orders(session) == [place, "workspace:T001-r1"]
    assert orders(executing(running("T001", RunState.STARTING))) == [place, "start:T001-r1"]
    assert orders(executing(running("T001"))) == [place, "await:T001-r1"]


@pytest.mark.covers("G-RULE-TASKS-4", "G-RULE-LOOP-10", "G-RULE-MERGE-1")
def test_a_predecessor_is_merged_before_the_successor_starts() -> None:
    done = task("T001", TaskState.COMPLETED, runs=[run("T001", 1, RunState.ENDED)])
    waiting = running("T002", RunState.STARTING, dependencies=("id-T001",))
    assert orders(executing(done, waiting))[1:] == ["workspace:T002-r1"]
    waiting.workspace = workspace("agent/t002", merged=("id-T001",))
    assert orders(executing(done, waiting))[1:] == ["start:T002-r1"]


@pytest.mark.covers(
    "G-US5.1", "G-RULE-LOOP-7", "G-RULE-VERIFY-1", "G-FR-008a", "G-EVENT-SubAgentCompleted"
)
def test_the_work_is_looked_at_then_checked() -> None:
    session = executing(verifying("T001"))
    assert orders(session)[1:] == ["look:T001-r1"]
    session.tasks[0].work, session.tasks[0].work_run = work("feat: x"), "T001-r1"
    assert orders(session)[1:] == ["check:id-T001:1"]


def test_tasks_without_names_get_them_from_the_list_of_branches() -> None:
    session = executing(task("T001", workspace=None))
    assert orders(session)[1:] == ["branches"]


def test_the_merge_comes_before_the_clean_up() -> None:
    session = executing(phase=Phase.FINISHING, ending__choice=Ending.MERGE)
    assert orders(session) == ["merge"]
    session.ending.merged_commit = "d" * 40
    assert orders(session) == ["clean"]
    session.ending.cleaned = True
    assert orders(session) == []


@pytest.mark.parametrize("status", [Status.PAUSED, Status.FAILED, Status.COMPLETED])
@pytest.mark.parametrize("phase", list(Phase))
def test_a_session_that_is_not_active_has_nothing_under_way(status: Status, phase: Phase) -> None:
    assert orders(executing(running("T001"), status=status, phase=phase)) == []


def test_a_discarded_session_is_cleaned_up() -> None:
    assert orders(executing(status=Status.DISCARDED)) == ["clean"]
