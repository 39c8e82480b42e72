"""How a session ended: the worst of its tasks, by the order of statuses, and nothing that is only claimed counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.evidence import EvidenceInventory, LimitViolation
from bot.core.results import execution_result, guessing_words, status_of, why_incomplete
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import OverallStatus, RunState, Status, TaskState
from bot.core.task import Task, TaskResult
from tests.steps.scenes import T0, check, executing, question, run, task, work

ORDER = ["INVALID", "ERROR", "NO_EVIDENCE", "INCOMPLETE", "COMPLETE"]
"""From the one that decides first."""


def completed(key: str, **changes: object) -> Task:
    done: dict[str, object] = {
        "runs": [run(key, 1, RunState.ENDED)],
        "checks": [check(1, 0)],
        "work": work("feat: x"),
        "evidence_refs": (f"ev-{key}",),
        "result": TaskResult(success=True, summary="1 commit"),
    }
    return task(key, TaskState.COMPLETED, **(done | changes))


def of_status(status: str, key: str) -> Task:
    """A task that has this status."""
    match status:
        case "INVALID":
            return completed(key, evidence_refs=("changed",))
        case "ERROR":
            return task(key, TaskState.FAILED, blocked="the tests failed 3 times")
        case "NO_EVIDENCE":
            return completed(key, checks=[])
        case "INCOMPLETE":
            return task(key, TaskState.CANCELLED)
        case _:
            return completed(key)


def of(*statuses: str) -> Session:
    keys = (f"T{number:03d}" for number, _ in enumerate(statuses, 1))
    return executing(*(of_status(status, key) for status, key in zip(statuses, keys, strict=True)))


def found(**changes: object) -> EvidenceInventory:
    return EvidenceInventory().model_copy(update=changes)


CHANGED = found(integrity_failures=("changed",))


@pytest.mark.covers(
    "R-ENTITY-ExecutionResult", "R-RULE-RESULT-2", "R-RULE-RESULT-3", "R-RULE-RESULT-6"
)
@given(st.lists(st.sampled_from(ORDER), min_size=1, max_size=6))
def test_the_whole_is_the_first_of_the_order_that_any_task_has(statuses: list[str]) -> None:
    result = execution_result(of(*statuses), CHANGED)
    assert result.overall_status == min(statuses, key=ORDER.index)
    assert len(result.incomplete_task_reasons) == sum(one != "COMPLETE" for one in statuses)
    assert result.next_action == (result.overall_status not in ("INVALID", "ERROR"))


@given(st.permutations(ORDER))
def test_the_order_of_the_tasks_does_not_matter(statuses: list[str]) -> None:
    assert execution_result(of(*statuses), CHANGED).overall_status is OverallStatus.INVALID


@pytest.mark.covers("R-ENUM-TaskStatus", "R-RULE-RESULT-6")
@pytest.mark.parametrize("status", ORDER)
def test_every_task_that_is_not_complete_says_why(status: str) -> None:
    session = of(status)
    [one] = session.tasks
    assert status_of(session, one, ["changed"]) == status
    assert bool(why_incomplete(session, one, ["changed"])) == (status != "COMPLETE")


def test_nothing_at_all_is_no_evidence() -> None:
    session = executing()
    session.tasks = []
    assert execution_result(session).overall_status is OverallStatus.NO_EVIDENCE


def test_a_session_that_a_bug_ended_is_an_error_whatever_its_tasks_are() -> None:
    session = of("COMPLETE")
    session.status = Status.FAILED
    assert execution_result(session).overall_status is OverallStatus.ERROR


@pytest.mark.parametrize(
    "state", [s for s in TaskState if s not in (TaskState.COMPLETED, TaskState.FAILED)]
)
def test_what_is_neither_completed_nor_failed_is_incomplete(state: TaskState) -> None:
    session = executing(task("T001", state))
    assert status_of(session, session.tasks[0]) is OverallStatus.INCOMPLETE


@pytest.mark.covers("R-ENUM-TaskStatus", "R-LOG-VERIFIED-1", "R-LOG-VERIFIED-2", "R-LOG-VERIFIED-5")
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"work": work()}, OverallStatus.NO_EVIDENCE),
        ({"checks": [check(1, 1)]}, OverallStatus.NO_EVIDENCE),
        ({"checks": [check(1, 1), check(2, 0)]}, OverallStatus.COMPLETE),
        ({"runs": [run("T001", 1)]}, OverallStatus.INVALID),
        ({"result": TaskResult(success=False, error="no")}, OverallStatus.INVALID),
    ],
    ids=["no commit", "failed check", "check mended", "agent at work", "result says no"],
)
def test_a_claim_is_held_against_what_is_known(
    changes: dict[str, object], status: OverallStatus
) -> None:
    session = executing(completed("T001", **changes))
    assert status_of(session, session.tasks[0]) is status


@pytest.mark.covers("B-TYPE-investigation")
@pytest.mark.parametrize(
    ("report", "status"),
    [("The cache is never cleared.", OverallStatus.COMPLETE), (" ", OverallStatus.NO_EVIDENCE)],
)
def test_an_investigation_is_judged_on_its_report(report: str, status: OverallStatus) -> None:
    ended = run("T001", 1, RunState.ENDED).model_copy(update={"message": report})
    done = completed("T001", type=TaskType.INVESTIGATION, runs=[ended], checks=[], work=work())
    session = executing(done)
    assert status_of(session, done) is status


def test_a_replaced_task_is_as_good_as_what_replaced_it() -> None:
    old = task("T001", TaskState.REPLACED, replaced_by=("id-T002", "id-T003"))
    session = executing(old, completed("T002"), completed("T003"))
    assert execution_result(session).overall_status is OverallStatus.COMPLETE
    session.tasks[2] = task("T003", TaskState.CANCELLED)
    assert status_of(session, old) is OverallStatus.INCOMPLETE


def test_tasks_that_replace_each_other_are_incomplete() -> None:
    one = task("T001", TaskState.REPLACED, replaced_by=("id-T002",))
    other = task("T002", TaskState.REPLACED, replaced_by=("id-T001",))
    assert execution_result(executing(one, other)).overall_status is OverallStatus.INCOMPLETE


def test_what_nobody_could_test_says_so() -> None:
    session = executing(completed("T001", checks=[]))
    assert execution_result(session).incomplete_task_reasons == (
        "T001 Task T001: built, but never tested",
    )


@pytest.mark.covers("R-RULE-RESULT-1", "R-RULE-RESULT-4")
def test_an_open_question_is_the_next_thing_to_do_and_the_only_reason_that_is_given() -> None:
    session = of("ERROR")
    session.intent = session.intent.with_question(question(1))
    session.intent = session.intent.model_copy(update={"clarifications": (question(1),)})
    result = execution_result(session)
    assert (result.next_action, result.next_action_reason) == (True, "Question 1?")
    assert execution_result(of("COMPLETE")).next_action_reason is None


@pytest.mark.covers("R-ENTITY-LimitViolation")
def test_overstepped_limits_of_all_tasks_are_listed() -> None:
    over = LimitViolation(limit_type="max_files", limit_value=3, actual_value=9, timestamp=T0)
    session = executing(completed("T001", violations=(over,)), completed("T002"))
    assert execution_result(session).violations == (over,)


@pytest.mark.covers("R-ENTITY-EvidenceInventory")
def test_what_was_found_of_the_evidence_is_counted() -> None:
    kept = found(total_evidence_items=2, missing_evidence_operations=("e-3",))
    result = execution_result(of("COMPLETE", "ERROR"), kept)
    assert result.evidence_inventory.total_evidence_items == 2
    assert result.evidence_inventory.missing_evidence_operations == ("T002", "e-3")
    assert result.evidence_summary == "2 pieces of evidence, 2 missing"


def test_where_nobody_has_looked_the_tasks_own_lists_are_counted() -> None:
    assert execution_result(of("COMPLETE")).evidence_inventory == found(total_evidence_items=1)


GUESSES = [
    "This should work now.",
    "It should now be fixed",
    "I think the tests pass.",
    "I’m not sure whether it compiles",
    "That is probably enough",
    "Presumably nobody calls it.",
    "It seems to work.",
    "Everything might work",
    "たぶん動きます。",
    "おそらく問題ありません",
    "これで直ったはずです",
    "テストは通ると思います",
    "うまくいくかもしれません",
    "多分大丈夫でしょう",
    "きっと動く",
    "Ｐｒｏｂａｂｌｙ fine",
]
CERTAIN = [
    "All 14 tests pass.",
    "The thinking mode should be switched off by --no-think.",
    "Users should be able to log in.",
    "I ran `make check`; it says `probably fine`.",
    "The name `should_work` is gone.",
    "```\nperhaps = maybe()\n```\nDone.",
    "ログインを追加しました。テストは全て通りました。",
    "留め具をはずす処理と、はずれた場合の処理を足した。",
    "恥ずかしい名前を変えた。はずみ車を削除した。",
    "",
]


@pytest.mark.covers("R-RULE-RESULT-5")
@pytest.mark.parametrize("text", GUESSES)
def test_a_guess_is_found(text: str) -> None:
    assert guessing_words(text)


@pytest.mark.covers("R-RULE-RESULT-5")
@pytest.mark.parametrize("text", CERTAIN)
def test_what_is_said_for_certain_is_no_guess(text: str) -> None:
    assert guessing_words(text) == ()


@pytest.mark.covers("R-RULE-RESULT-5")
def test_a_report_that_only_guesses_is_told() -> None:
    told = run("T001", 1, RunState.ENDED).model_copy(update={"message": "It should work."})
    session = executing(completed("T001", runs=[told]))
    assert execution_result(session).speculative_language_detected
    assert not execution_result(of("COMPLETE")).speculative_language_detected


def test_so_are_the_models_own_words() -> None:
    session = of("COMPLETE")
    session.ending.summary = "おそらく完成しました"
    assert execution_result(session).speculative_language_detected


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert len(guessing_words(text * 3)) <= 20


def test_a_very_long_report_is_read_as_far_as_it_must_be() -> None:
    assert guessing_words("`" * 200_000) == ()
    assert guessing_words("should " * 100_000) == ()
    assert guessing_words("I think. " * 100_000) == ("i think",)
