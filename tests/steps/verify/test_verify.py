"""Done is not believed: what git, the tests and the judge say decides, each within its bounds; then a person does."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed, StopRun
from bot.core.cards import NewsCard
from bot.core.choices import Verb
from bot.core.events import WorkSeen
from bot.core.evidence import Judgement
from bot.core.git import Work
from bot.core.runs import AgentUsage, CompletionSource, Why
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import Outcome, RunState, TaskState
from bot.core.tampering.signs import Flag, Sign
from bot.steps.decisions import decide
from tests.steps.scenes import (
    by_default,
    cards,
    ended,
    executing,
    gets_place,
    judge_says,
    kinds,
    later,
    looked,
    needs,
    ordered,
    press,
    ran_tests,
    running,
    task,
    tick,
    titles,
    verbs,
    verifying,
    work,
)

FLAG = Flag(sign=Sign.TEST_DELETED, path="tests/a.py", says="A test is gone.")


def runs_through(session: Session, what: Work) -> None:
    """The run of the only task ends, and git is asked."""
    chosen = session.tasks[0]
    assert chosen.run
    if chosen.run.state is RunState.STARTING:
        chosen.update_run(chosen.run.become(RunState.RUNNING))
    if chosen.run.alive:
        decide(session, ended(chosen.run.id))
    looked(session, what)


@pytest.mark.covers("G-RULE-LOOP-8", "B-FLOW-RUN-13", "B-OP-judgeTask", "B-OP-Judge")
def test_a_run_that_ends_is_looked_at_then_tested_then_judged_then_done() -> None:
    session = executing(running("T001"))
    decide(session, ended("T001-r1"))
    assert kinds(session) == ["look_at_work"]
    looked(session, work("feat: x"))
    assert kinds(session) == ["run_check"]
    ran_tests(session)
    assert kinds(session) == ["judge_work"]
    judge_says(session, Judgement.DONE)
    assert session.tasks[0].state is TaskState.COMPLETED


@pytest.mark.covers("G-RULE-COST-2")
def test_what_a_run_says_of_itself_is_kept_with_it() -> None:
    session = executing(running("T001"))
    used = AgentUsage(input_tokens=5, cost=0.2)
    decide(session, ended("T001-r1", conversation="its-own", usage=used, message="Done."))
    run = session.tasks[0].runs[0]
    assert (run.conversation, run.usage, run.message) == ("its-own", used, "Done.")
    assert run.ended_by is CompletionSource.HOOK


def test_a_conversation_the_cli_chose_itself_is_the_one_that_is_resumed() -> None:
    session = executing(running("T001"))
    decide(session, ended("T001-r1", conversation="its-own"))
    looked(session, work())
    by_default(session)
    second = session.tasks[0].runs[1]
    assert second.resumes
    assert second.conversation == "its-own"


def test_the_end_of_a_run_that_is_told_twice_counts_once() -> None:
    session = executing(running("T001"))
    decide(session, ended("T001-r1"))
    before = session.copied()
    decide(session, ended("T001-r1", Outcome.FAILED))
    assert session.tasks == before.tasks


def test_what_was_seen_after_an_earlier_run_is_not_believed_of_a_later_one() -> None:
    session = executing(verifying("T001"))
    late = WorkSeen(
        id="w", at=later(), answers="look:T001-r0", task_id="id-T001", work=work("feat: x")
    )
    decide(session, late)
    assert session.tasks[0].work is None


@pytest.mark.covers("G-RULE-PR-1")
def test_missing_evidence_is_asked_for_twice_and_then_a_person_is() -> None:
    session = executing(running("T001"))
    for round in range(3):
        runs_through(session, work() if round % 2 else work("feat: x", uncommitted=(f"{round}",)))
        by_default(session)
    assert session.tasks[0].state is TaskState.BLOCKED
    assert "Nothing proves that it is done" in session.tasks[0].blocked
    assert len(session.tasks[0].runs) == 3


@pytest.mark.covers("R-LOG-VERIFIED-3")
def test_commits_that_change_nothing_are_no_evidence() -> None:
    session = executing(running("T001"))
    runs_through(session, work("feat: x").model_copy(update={"changed_files": ()}))
    assert session.tasks[0].choice
    assert "change nothing" in session.tasks[0].choice.happened
    gone = work("feat: y").model_copy(update={"changed_files": (), "deleted_files": ("old.py",)})
    session = executing(running("T001"))
    runs_through(session, gone)
    assert session.tasks[0].choice is None


def test_what_was_to_be_merged_and_is_not_is_missing_evidence() -> None:
    session = executing(verifying("T001"))
    looked(session, work("feat: x"), unmerged=("agent/t000",))
    by_default(session)
    assert session.tasks[0].runs[-1].why is Why.NO_EVIDENCE
    assert "agent/t000" in session.tasks[0].runs[-1].feedback


@pytest.mark.covers("B-TYPE-investigation")
@pytest.mark.parametrize(
    ("report", "state"), [("Found it.", TaskState.COMPLETED), (" ", TaskState.RUNNING)]
)
def test_an_investigation_is_judged_on_its_report(report: str, state: TaskState) -> None:
    session = executing(running("T001", type=TaskType.INVESTIGATION))
    decide(session, ended("T001-r1", message=report))
    looked(session, work())
    if kinds(session) == ["choose_step"]:
        by_default(session)
    else:
        judge_says(session)  # nothing was changed, so nothing is tested
    assert session.tasks[0].state is state


def test_failing_tests_are_never_put_before_the_judge() -> None:
    session = executing(verifying("T001"))
    looked(session, work("feat: x"))
    ran_tests(session, 1, "E")
    assert kinds(session) == ["choose_step"]
    [card] = needs(by_default(session, "ask"))
    decide(session, press(card, Verb.RETRY))
    gets_place(session)
    assert kinds(session) == ["look_at_work"]


def test_failing_tests_are_repaired_three_times_and_then_a_person_is_asked() -> None:
    session = executing(running("T001"))
    shown: list[Deed] = []
    for round in range(4):
        assert session.tasks[0].state is TaskState.RUNNING
        runs_through(session, work("feat: x"))
        shown = ran_tests(session, 1, f"failure {round}")
        by_default(session)
    assert len(session.tasks[0].runs) == 4
    assert session.tasks[0].state is TaskState.FAILED
    assert verbs(needs(shown)[0]) == [
        Verb.RETRY,
        Verb.HINT,
        Verb.LOG,
        Verb.SKIP,
        Verb.GIVE_UP,
    ]


@pytest.mark.covers("G-US6.2", "G-RULE-LOOP-8")
def test_what_the_judge_misses_goes_back_three_times_and_then_to_a_person() -> None:
    session = executing(running("T001"))
    shown: list[Deed] = []
    for round in range(4):
        assert session.tasks[0].state is TaskState.RUNNING
        runs_through(session, work("feat: x"))
        ran_tests(session)
        shown = judge_says(session, Judgement.CONTINUE, f"{'abcd'[round] * 40}")
    assert session.tasks[0].state is TaskState.BLOCKED
    assert len(session.tasks[0].runs) == 4
    assert verbs(needs(shown)[0])[:2] == [Verb.ACCEPT, Verb.SEND_BACK]


@pytest.mark.covers("G-US6.2")
def test_the_agent_is_told_what_the_judge_misses() -> None:
    session = executing(verifying("T001"))
    looked(session, work("feat: x"))
    ran_tests(session)
    judge_says(session, Judgement.CONTINUE, "no test of the empty cart")
    assert session.tasks[0].runs[-1].why is Why.JUDGED
    assert "no test of the empty cart" in session.tasks[0].runs[-1].feedback


def test_what_the_judge_suggests_is_said_when_the_task_is_done() -> None:
    session = executing(verifying("T001"))
    looked(session, work("feat: x"))
    ran_tests(session)
    deeds = judge_says(session, suggestions=("Name the limit", "Log it."))
    [done] = [card for card in cards(deeds) if isinstance(card, NewsCard)]
    assert "Could be better, and is not required: Name the limit; Log it." in done.lines


def test_where_the_judge_is_at_a_loss_a_person_is_asked() -> None:
    session = executing(verifying("T001"))
    looked(session, work("feat: x"))
    ran_tests(session)
    [card] = needs(judge_says(session, Judgement.BLOCKED, "which currency?"))
    assert "which currency?" in card.reason


@pytest.mark.covers("O-X11")
def test_signs_of_tampering_stop_the_task_before_anything_is_tested() -> None:
    session = executing(verifying("T001"))
    [card] = needs(looked(session, work("feat: x"), FLAG))
    assert "tests/a.py: A test is gone." in card.reason
    assert session.tasks[0].state is TaskState.BLOCKED
    assert kinds(session) == []


def test_a_lock_file_nobody_has_approved_is_named_and_waits_for_a_person() -> None:
    session = executing(verifying("T001"))
    lock = Flag(sign=Sign.REACHES_FURTHER, path="uv.lock", says="The plan does not name it.")
    [card] = needs(looked(session, work("feat: x"), lock))
    assert "uv.lock: The plan does not name it." in card.reason
    assert "tests" not in card.reason
    assert {Verb.ACCEPT, Verb.SEND_BACK} <= set(verbs(card))
    assert kinds(session) == []


def test_a_changed_main_checkout_is_told_once_and_holds_nobody() -> None:
    session = executing(verifying("T001"), verifying("T002"))
    order = ordered(session, "look_at_work", "id-T001")
    first = WorkSeen(
        id="w",
        at=later(),
        answers=order.key,
        task_id="id-T001",
        work=work("feat: x"),
        touched=("notes.txt",),
    )
    assert "Your own checkout was changed while an agent was at work" in titles(
        decide(session, first)
    )
    order = ordered(session, "look_at_work", "id-T002")
    again = first.model_copy(update={"answers": order.key, "task_id": "id-T002"})
    assert not any("checkout" in title for title in titles(decide(session, again)))
    assert session.tasks[1].state is TaskState.VERIFYING


def test_what_was_tested_and_judged_does_not_count_for_another_commit() -> None:
    session = executing(verifying("T001", work=work("feat: x"), checked_run="T001-r1"))
    session.tasks[0].judged_run = "T001-r1"
    looked(session, work("feat: x", "fix: by hand"))
    assert kinds(session) == ["run_check"]
    ran_tests(session)
    assert kinds(session) == ["judge_work"]


@pytest.mark.covers("G-US6.1")
@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.VANISHED, Outcome.TIMED_OUT])
def test_a_run_that_fails_is_the_models_to_decide_upon_within_its_bound(outcome: Outcome) -> None:
    session = executing(running("T001"))
    decide(session, ended("T001-r1", outcome))
    assert kinds(session) == ["choose_step"]
    by_default(session)
    for _ in range(2):
        session.tasks[0].past_choices = ()
        run = session.tasks[0].runs[-1]
        session.tasks[0].update_run(run.become(RunState.RUNNING))
        decide(session, ended(run.id, outcome))
        by_default(session)
    assert session.tasks[0].state is TaskState.FAILED
    assert len(session.tasks[0].runs) == 3


def test_an_interrupted_run_is_told_what_it_was_for_and_never_twice_in_one_another() -> None:
    one = running("T001")
    one.update_run(one.runs[0].model_copy(update={"feedback": "Mend the sum."}))
    for _ in range(3):
        one.go_on("Go on.")
        again = one.runs[-1].model_copy(
            update={
                "why": one.next_run.why,
                "feedback": one.next_run.feedback,
                "number": 2,
                "id": "r",
            }
        )
        one.runs.append(again)
    assert one.next_run.feedback.count("Mend the sum.") == 1


def test_no_agent_is_alive_once_its_task_is_held() -> None:
    session = executing(running("T001"), task("T002", dependencies=("id-T001",)))
    session.agents.limits = session.agents.limits.model_copy(update={"max_seconds": 1})
    deeds = decide(session, tick(later(500)))
    assert any(isinstance(deed, StopRun) for deed in deeds)
    assert session.tasks[1].blocked == "waits for T001"
    assert cards(deeds)


def test_every_look_and_every_test_leaves_its_piece_of_evidence_once() -> None:
    session = executing(verifying("T001"))
    looked(session, work("feat: x"), evidence="ev-look")
    looked_again = session.tasks[0].evidence_refs
    assert looked_again == ("ev-look",)
    session.tasks[0].work_run = ""
    looked(session, work("feat: x"), evidence="ev-look")
    assert session.tasks[0].evidence_refs == ("ev-look",)
