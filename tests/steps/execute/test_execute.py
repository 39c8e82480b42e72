"""Agents at work: who starts when, what is believed, what is asked about."""

from __future__ import annotations

from datetime import datetime

import pytest

from bot.core.actions import HoldPlace, StopRun
from bot.core.cards import NeedsYouCard
from bot.core.choices import Verb
from bot.core.events import (
    BranchesListed,
    CheckRan,
    NameTaken,
    OrderFailed,
    PlaceAwaited,
    PlaceGranted,
    RunEnded,
    RunStarted,
    Ticked,
    WorkSeen,
    WorkspaceReady,
)
from bot.core.git import Work
from bot.core.runs import CompletionSource, RunEnd, Why
from bot.core.session import Session
from bot.core.states import Outcome, Phase, RunState, Status, TaskState
from bot.core.task import Task
from bot.steps.decisions import decide, due
from tests.steps.scenes import (
    T0,
    awaiting_approval,
    by_default,
    cards,
    check,
    executing,
    later,
    pressed,
    run,
    running,
    task,
    verdict,
    verifying,
    whispers,
    work,
    workspace,
)


def granted() -> PlaceGranted:
    return granted_since(T0)


def granted_since(since: datetime | None) -> PlaceGranted:
    assert since
    return PlaceGranted(id="g", at=later(), answers=HoldPlace(since=since).key)


def queued(*tasks: Task) -> Session:
    return executing(*tasks, status=Status.QUEUED, queue__has_place=False)


def ended(run_id: str, outcome: Outcome = Outcome.FINISHED, exit_code: int | None = 0) -> RunEnded:
    end = RunEnd(outcome=outcome, source=CompletionSource.PROCESS_EXIT, exit_code=exit_code)
    return RunEnded(
        id=f"ended:{run_id}", at=later(), answers=f"await:{run_id}", run_id=run_id, end=end
    )


def ends(
    session: Session, outcome: Outcome = Outcome.FINISHED, exit_code: int | None = 0, task: int = 0
) -> str:
    """The last run of a task, started as it should be; its id."""
    chosen = session.tasks[task]
    assert chosen.run
    if chosen.run.state is RunState.STARTING:
        chosen.update_run(chosen.run.become(RunState.RUNNING))
    decide(session, ended(chosen.run.id, outcome, exit_code))
    return chosen.run.id


def seen(key: str, what: Work, run_id: str = "") -> WorkSeen:
    look = f"look:{run_id or key + '-r1'}"
    return WorkSeen(
        id="s", at=later(), answers=look, task_id=f"id-{key}", work=what, evidence="ev-1"
    )


def checked(key: str, number: int, exit_code: int | None, output: str = "") -> CheckRan:
    return CheckRan(
        id=f"c{number}",
        at=later(),
        answers=f"check:id-{key}:{number}",
        task_id=f"id-{key}",
        check=check(number, exit_code, output),
    )


@pytest.mark.covers(
    "G-RULE-TASKS-2",
    "G-RULE-TASKS-3",
    "G-RULE-MERGE-5",
    "G-MOVE-TASK-2",
    "B-STATE-READY",
    "B-MOVE-1",
    "B-FLOW-RUN-7",
    "F-TASK-1",
)
def test_the_place_lets_independent_tasks_start_together_and_the_dependent_wait() -> None:
    first, second = task("T001"), task("T002")
    third = task("T003", dependencies=("id-T001",))
    session = queued(first, second, third)

    decide(session, granted())

    assert session.status is Status.ACTIVE
    assert [t.state for t in session.tasks] == [
        TaskState.RUNNING,
        TaskState.RUNNING,
        TaskState.PENDING,
    ]


@pytest.mark.covers("G-RULE-PARALLEL-1", "B-STATE-READY", "B-FLOW-RUN-7")
def test_no_more_agents_work_at_once_than_the_plan_says() -> None:
    session = queued(task("T001"), task("T002"), task("T003"))
    session.plan.parallelism = 2

    decide(session, granted())
    by_default(session)

    assert len(session.in_state(TaskState.RUNNING)) == 2
    assert len(session.in_state(TaskState.READY)) == 1


@pytest.mark.covers("G-DATA-SessionQueue")
def test_who_waits_for_the_place_knows_how_many_stand_before() -> None:
    session = queued(task("T001"))
    decide(session, PlaceAwaited(id="p", at=later(), answers=HoldPlace(since=T0).key, position=2))
    assert (session.status, session.queue.position) == (Status.QUEUED, 2)


@pytest.mark.covers("G-US2.2", "G-US2.4", "G-RULE-TASKS-3")
def test_branches_are_named_after_tasks_and_never_like_one_that_exists() -> None:
    session = executing(
        task("T001", name="Add discounts", workspace=None),
        task("T002", name="Add discounts", workspace=None),
        task("T003", name="割引を追加する", workspace=None),
        queue__has_place=True,
    )
    names = ("main", "agent/add-discounts")
    decide(session, BranchesListed(id="b", at=later(), answers="branches", names=names))
    branches = [t.workspace.branch for t in session.tasks if t.workspace]
    assert branches == ["agent/add-discounts-2", "agent/add-discounts-3", "agent/7682b3a8-t003"]


@pytest.mark.covers("G-RULE-BRANCH-7")
def test_a_name_that_was_taken_meanwhile_is_replaced() -> None:
    named = workspace("agent/task-t001", ready=False, start="")
    session = executing(running("T001", RunState.STARTING, workspace=named))
    decide(
        session,
        NameTaken(
            id="n",
            at=later(),
            answers="workspace:T001-r1",
            task_id="id-T001",
            branch="agent/task-t001",
        ),
    )
    assert session.tasks[0].workspace
    assert session.tasks[0].workspace.branch == "agent/task-t001-2"


@pytest.mark.covers("B-FLOW-RUN-8", "B-FLOW-RUN-11", "B-ID-5")
def test_a_run_has_all_its_names_before_it_starts_and_they_are_its_own() -> None:
    session = queued(task("T001"), task("T002"))
    decide(session, granted())
    runs = [t.run for t in session.tasks if t.run]
    assert len({r.id for r in runs}) == len({r.conversation for r in runs}) == 2
    assert len({r.nonce for r in runs}) == 2
    assert all(r.state is RunState.STARTING for r in runs)


@pytest.mark.covers("G-MOVE-RUN-1")
def test_a_started_run_is_running() -> None:
    session = executing(running("T001", RunState.STARTING))
    decide(
        session,
        RunStarted(
            id="s", at=later(), answers="start:T001-r1", run_id="T001-r1", pane_id="%1", pid=7
        ),
    )
    assert session.tasks[0].run
    assert session.tasks[0].run.state is RunState.RUNNING
    assert session.tasks[0].run.pid == 7


@pytest.mark.covers("G-US5.5", "G-EDGE-6", "G-RULE-MERGE-4", "G-FR-009", "B-SPECIAL-3")
def test_a_collision_of_predecessors_is_handed_to_the_tasks_own_agent() -> None:
    session = executing(
        task("T001", TaskState.COMPLETED),
        running("T002", RunState.STARTING, dependencies=("id-T001",)),
    )
    ready = WorkspaceReady(
        id="w",
        at=later(),
        answers="workspace:T002-r1",
        task_id="id-T002",
        workspace=workspace("agent/t002", merged=("id-T001",)),
        conflicts=("a.py",),
        conflicting="id-T001",
    )
    decide(session, ready)
    started = session.tasks[1].run
    assert started
    assert started.why is Why.CONFLICT
    assert "git merge agent/t001" in started.feedback
    assert "a.py" in started.feedback


@pytest.mark.covers(
    "G-RULE-LOOP-2",
    "G-RULE-TRUST-3",
    "G-LIMIT-2",
    "G-EVENT-SubAgentCompleted",
    "G-MOVE-RUN-2",
    "B-STATE-RUNNING",
)
def test_when_a_run_ends_its_work_is_looked_at_and_not_believed() -> None:
    session = executing(running("T001"))
    decide(session, ended("T001-r1"))
    assert session.tasks[0].state is TaskState.VERIFYING


@pytest.mark.covers("G-US4.4")
def test_a_late_word_about_an_earlier_run_changes_nothing() -> None:
    runs = [run("T001", 1, RunState.ENDED), run("T001", 2)]
    session = executing(running("T001", runs=runs))
    decide(session, ended("T001-r1", Outcome.FAILED, 1))
    assert session.tasks[0].state is TaskState.RUNNING
    assert session.tasks[0].run == runs[1]


@pytest.mark.covers("G-US6.2", "B-FLOW-RUN-12", "R-LOG-VERIFIED-2", "O-X8")
def test_an_end_without_commits_is_sent_back_twice_then_a_person_is_asked() -> None:
    session = executing(running("T001"))
    for number in (1, 2, 3):
        run_id = ends(session)
        deeds = [*decide(session, seen("T001", work(), run_id)), *by_default(session)]
        if number < 3:
            assert session.tasks[0].state is TaskState.RUNNING
            assert session.tasks[0].runs[-1].why is Why.NO_EVIDENCE
        else:
            assert session.tasks[0].state is TaskState.BLOCKED
            assert session.tasks[0].blocked.startswith(
                "Nothing proves that it is done: there are no commits"
            )
            assert any(isinstance(card, NeedsYouCard) for card in cards(deeds))


@pytest.mark.covers(
    "G-RULE-MERGE-2", "B-FLOW-RUN-12", "R-ENTITY-VerifiedFile", "R-PROPERTY-31", "O-X8"
)
def test_uncommitted_work_is_sent_back() -> None:
    session = executing(verifying("T001"))
    decide(session, seen("T001", work("feat: x", uncommitted=("b.py",))))
    by_default(session)
    assert session.tasks[0].runs[-1].feedback.startswith("You reported the end, but these changes")


@pytest.mark.covers(
    "G-RULE-FLOW-6",
    "G-RULE-APPROVAL-2",
    "G-RULE-VERIFY-3",
    "G-FR-008a",
    "G-EVENT-TestPassed",
    "G-MOVE-TASK-1",
    "G-MOVE-TASK-3",
    "B-STATE-DONE",
    "B-MOVE-2",
    "B-OP-markTaskAsCompleted",
    "R-ENTITY-TaskResult",
)
def test_passing_tests_complete_the_task_and_free_what_waits_for_it() -> None:
    session = executing(verifying("T001"), task("T002", dependencies=("id-T001",)))
    decide(session, seen("T001", work("feat: x")))
    decide(session, checked("T001", 1, 0))
    assert session.tasks[0].state is TaskState.VERIFYING
    decide(session, verdict("T001"))
    assert [t.state for t in session.tasks] == [TaskState.COMPLETED, TaskState.RUNNING]
    assert session.tasks[0].evidence_refs == ("ev-1",)


@pytest.mark.covers(
    "G-RULE-LOOP-3",
    "G-RULE-TRUST-3",
    "G-RULE-VERIFY-3",
    "G-RULE-VERIFY-4",
    "G-EVENT-TestFailed",
    "B-REL-2",
    "B-STATE-NEEDS_CONTINUATION",
    "B-MOVE-3",
    "B-OP-markTaskForContinuation",
)
@pytest.mark.parametrize("exit_code", [1, None])
def test_failing_tests_go_back_to_the_same_conversation(exit_code: int | None) -> None:
    session = executing(verifying("T001"))
    decide(session, seen("T001", work("feat: x")))
    decide(session, checked("T001", 1, exit_code, "AssertionError: 3 != 4"))
    by_default(session)
    again = session.tasks[0].runs[-1]
    assert (again.number, again.resumes, again.why) == (2, True, Why.CHECK_FAILED)
    assert again.conversation == session.tasks[0].runs[0].conversation
    assert "AssertionError: 3 != 4" in again.feedback


def failed_too_often() -> Session:
    session = executing(running("T001"), task("T002", dependencies=("id-T001",)), task("T003"))
    session.plan.parallelism = 1
    for number in (1, 2, 3, 4):
        decide(session, seen("T001", work("feat: x"), ends(session)))
        decide(session, checked("T001", number, 1, f"failure {number}"))
        by_default(session)
    return session


@pytest.mark.covers(
    "G-EDGE-5", "G-RULE-VERIFY-4", "G-RULE-VERIFY-5", "G-MOVE-TASK-4", "B-STATE-BLOCKED"
)
def test_a_failure_after_three_repairs_ends_the_task_and_holds_its_dependents_but_not_the_others() -> (
    None
):
    session = failed_too_often()
    assert [t.state for t in session.tasks] == [
        TaskState.FAILED,
        TaskState.BLOCKED,
        TaskState.RUNNING,
    ]
    assert session.tasks[1].blocked == "waits for T001"


def choice(session: Session, verb: Verb) -> None:
    runs = len(session.tasks[0].runs)
    deeds = decide(session, pressed(verb, f"id-T001:{runs}"))
    assert not whispers(deeds)


@pytest.mark.covers("G-US6.3", "G-MOVE-TASK-6")
def test_retry_starts_anew_with_fresh_counters() -> None:
    session = failed_too_often()
    session.plan.parallelism = 2
    choice(session, Verb.RETRY)
    assert [t.state for t in session.tasks[:2]] == [TaskState.RUNNING, TaskState.PENDING]
    assert session.tasks[0].counters.failed_checks == 0
    assert session.tasks[0].runs[-1].resumes is False


@pytest.mark.covers("B-STATE-CANCELLED")
def test_skip_lets_the_dependents_go_on_without_it() -> None:
    session = failed_too_often()
    session.plan.parallelism = 2
    choice(session, Verb.SKIP)
    assert [t.state for t in session.tasks[:2]] == [TaskState.CANCELLED, TaskState.RUNNING]
    assert session.tasks[1].dependencies == ()


@pytest.mark.covers("G-US6.3", "G-MOVE-TASK-5", "B-STATE-CANCELLED", "F-MOVE-7")
def test_give_up_takes_the_dependents_along() -> None:
    session = failed_too_often()
    choice(session, Verb.GIVE_UP)
    assert [t.state for t in session.tasks[:2]] == [TaskState.CANCELLED, TaskState.CANCELLED]


def test_a_press_for_an_earlier_failure_is_stale() -> None:
    session = failed_too_often()
    assert whispers(decide(session, pressed(Verb.RETRY, "id-T001:1")))
    assert session.tasks[0].state is TaskState.FAILED


@pytest.mark.covers(
    "G-US6.1",
    "G-RULE-LOOP-3",
    "G-EVENT-SubAgentFailed",
    "G-MOVE-TASK-4",
    "G-MOVE-RUN-3",
    "B-MOVE-4",
    "B-RUNSTATUS",
)
@pytest.mark.parametrize(
    ("outcome", "exit_code"),
    [(Outcome.FAILED, 2), (Outcome.VANISHED, None), (Outcome.TIMED_OUT, None)],
)
def test_a_run_that_fails_is_tried_three_times(outcome: Outcome, exit_code: int | None) -> None:
    session = executing(running("T001"))
    for number in (1, 2, 3):
        assert session.tasks[0].state is TaskState.RUNNING
        assert len(session.tasks[0].runs) == number
        ends(session, outcome, exit_code)
        by_default(session)
    assert session.tasks[0].state is TaskState.FAILED


def refused(what: str, order: str) -> OrderFailed:
    return OrderFailed(
        id="f",
        at=later(),
        answers=order,
        what=what,
        task_id="id-T001",
        reason="it is gone.",
        remedy="Retry.",
    )


@pytest.mark.covers("B-STATE-BLOCKED", "B-MOVE-4", "B-OP-markTaskAsBlocked")
def test_a_worktree_that_is_gone_blocks_the_task_and_retry_makes_it_again() -> None:
    session = executing(running("T001", RunState.STARTING))
    decide(session, refused("start_run", "start:T001-r1"))
    assert session.tasks[0].state is TaskState.BLOCKED
    assert session.tasks[0].blocked == "it is gone. Retry."
    assert session.queue.has_place is False

    decide(session, pressed(Verb.RETRY, "id-T001:1"))

    assert session.tasks[0].state is TaskState.NEEDS_CONTINUATION
    assert session.tasks[0].workspace
    assert not session.tasks[0].workspace.ready
    assert session.status is Status.QUEUED


def test_a_check_that_cannot_run_is_tried_again_without_a_new_agent() -> None:
    session = executing(verifying("T001"))
    decide(session, refused("run_check", "look:T001-r1"))
    assert session.tasks[0].state is TaskState.BLOCKED
    decide(session, pressed(Verb.RETRY, "id-T001:1"))
    assert session.tasks[0].state is TaskState.VERIFYING
    assert len(session.tasks[0].runs) == 1


@pytest.mark.covers("G-RULE-FINISH-1")
def test_the_place_is_let_go_when_only_people_can_go_on() -> None:
    session = failed_too_often()
    decide(session, seen("T003", work("feat: x"), ends(session, task=2)))
    decide(session, checked("T003", 1, 0))
    decide(session, verdict("T003"))
    assert session.queue.has_place is False
    assert session.queue.since is None
    assert session.phase is Phase.EXECUTING


@pytest.mark.covers("G-ENUM-BuildSystem-Other")
def test_without_a_test_command_the_work_counts_but_is_called_untested() -> None:
    session = executing(verifying("T001"))
    session.tests.command = ""
    decide(session, seen("T001", work("feat: x")))
    decide(session, verdict("T001"))
    assert session.tasks[0].result
    assert "nothing was tested" in session.tasks[0].result.summary


@pytest.mark.covers(
    "G-RULE-LOOP-1",
    "G-RULE-LOOP-12",
    "G-RULE-PROGRESS-1",
    "G-RULE-PROGRESS-2",
    "G-RULE-PROGRESS-3",
    "G-FR-023",
    "G-EVENT-ProgressTick",
)
def test_a_tick_shows_how_the_panes_look_and_changes_nothing() -> None:
    session = executing(running("T001"))
    before = session.copied()
    [card] = cards(decide(session, Ticked(id="t", at=later(90), tails={"T001-r1": "editing a.py"})))
    assert "editing a.py" in str(card)
    assert [task.state for task in session.tasks] == [task.state for task in before.tasks]
    assert card.key == "status"


@pytest.mark.covers("O-X7")
def test_a_pane_that_shows_the_same_for_long_is_told_and_left_alone() -> None:
    session = executing(running("T001"))
    for minutes, says in ((1, "reading"), (2, "thinking"), (11, "thinking"), (13, "thinking")):
        tick = Ticked(id=f"t{minutes}", at=later(60 * minutes), tails={"T001-r1": says})
        [card] = cards(decide(session, tick))
        assert ("silent for" in card.model_dump_json()) == (minutes == 13)
    assert session.tasks[0].state is TaskState.RUNNING
    tick = Ticked(id="t14", at=later(60 * 14), tails={"T001-r1": "writing"})
    assert "silent for" not in cards(decide(session, tick))[0].model_dump_json()


@pytest.mark.covers("G-RULE-LOOP-11", "G-RULE-FINISH-1")
def test_when_all_tasks_are_settled_the_work_is_finished() -> None:
    session = executing(verifying("T001"))
    decide(session, seen("T001", work("feat: x")))
    decide(session, checked("T001", 1, 0))
    decide(session, verdict("T001"))
    assert session.phase is Phase.FINISHING
    assert session.queue.since is None


def test_approval_makes_the_session_stand_in_line() -> None:
    session = awaiting_approval()
    assert session.queue.since is None
    session = queued(task("T001"))
    assert session.queue.since == T0


def blocked_while_verifying(*others: Task, **changes: object) -> Session:
    """Its agent was asked for evidence often enough."""
    stuck = verifying("T001", **changes)
    session = executing(stuck, *others)
    for _ in range(3):
        stuck.counters = stuck.counters.plus("evidence_asks")
    decide(session, seen("T001", work()))
    assert stuck.state is TaskState.BLOCKED
    return session


def test_a_retry_after_missing_evidence_looks_again_before_anything_is_tested() -> None:
    session = blocked_while_verifying()
    decide(session, pressed(Verb.RETRY, "id-T001:1"))
    decide(session, granted_since(session.queue.since))
    assert [order.key for order in due(session) if order.key.startswith(("look", "check"))] == [
        "look:T001-r1"
    ]


def test_a_retry_of_what_was_being_verified_frees_what_waited_for_it() -> None:
    session = blocked_while_verifying(task("T002", dependencies=("id-T001",)))
    assert session.tasks[1].state is TaskState.BLOCKED
    decide(session, pressed(Verb.RETRY, "id-T001:1"))
    assert session.tasks[1].state is TaskState.PENDING


def test_a_place_granted_before_a_stop_is_not_held_after_it() -> None:
    session = queued(task("T001", TaskState.READY))
    decide(session, pressed(Verb.STOP))
    decide(session, pressed(Verb.RESUME))
    decide(session, granted())
    assert not session.queue.has_place
    assert session.status is Status.QUEUED


def test_whoever_has_nothing_left_to_do_leaves_the_queue() -> None:
    session = queued(task("T001", TaskState.COMPLETED))
    decide(session, Ticked(id="t", at=later()))
    assert (session.status, session.phase) == (Status.ACTIVE, Phase.FINISHING)


def conflict(run_id: str, conflicting: str = "id-T001") -> WorkspaceReady:
    return WorkspaceReady(
        id="w",
        at=later(),
        answers=f"workspace:{run_id}",
        task_id="id-T003",
        workspace=workspace("agent/t003", merged=(conflicting,)),
        conflicts=("a.py",),
        conflicting=conflicting,
    )


@pytest.mark.covers("G-EDGE-6")
def test_two_colliding_predecessors_are_both_named_to_the_agent() -> None:
    first, second = (task(key, TaskState.COMPLETED) for key in ("T001", "T002"))
    third = running("T003", RunState.STARTING, dependencies=("id-T001", "id-T002"))
    session = executing(first, second, third)
    decide(session, conflict("T003-r1"))
    decide(session, conflict("T003-r1", "id-T002"))
    assert third.run
    assert "agent/t001" in third.run.feedback
    assert "agent/t002" in third.run.feedback


def test_a_conflict_found_for_a_run_that_was_stopped_is_found_again_for_the_next() -> None:
    third = running("T003", RunState.STARTING, dependencies=("id-T001",))
    session = executing(task("T001", TaskState.COMPLETED), third)
    ready = conflict("T003-r1")
    decide(session, pressed(Verb.STOP))
    decide(session, pressed(Verb.RESUME))
    decide(session, ready)
    assert session.tasks[1].workspace
    assert session.tasks[1].workspace.merged == ()


def test_a_retry_is_still_told_of_the_conflict() -> None:
    merging = run("T001", 1, RunState.ENDED).model_copy(
        update={"why": Why.CONFLICT, "feedback": "run `git merge agent/t000`"}
    )
    session = executing(task("T001", TaskState.FAILED, runs=[merging]))
    decide(session, pressed(Verb.RETRY, "id-T001:1"))
    assert session.tasks[0].run
    assert "git merge agent/t000" in session.tasks[0].run.feedback


def test_a_refused_start_ends_what_may_have_been_started() -> None:
    session = executing(running("T001", RunState.STARTING))
    refused = OrderFailed(
        id="o", at=later(), answers="observe", what="observe", task_id="id-T001", reason="gone"
    )
    deeds = decide(session, refused)
    assert [deed.run_id for deed in deeds if isinstance(deed, StopRun)] == ["T001-r1"]
