"""The end: the merge is offered, made only after the whole was tested, cleaned up after, and summed up."""

from __future__ import annotations

import pytest

from bot.core.cards import NewsCard, OfferCard, ProblemCard, SummaryCard
from bot.core.choices import Verb
from bot.core.events import CleanedUp, MergedLocally, OrderFailed, WorkDescribed
from bot.core.evidence import LimitViolation
from bot.core.git import Removal
from bot.core.llm import Usage
from bot.core.session import Session
from bot.core.session_parts import Ending
from bot.core.states import IntentStatus, OverallStatus, Phase, RunState, Status, TaskState
from bot.core.task import PullText
from bot.steps.decisions import decide, due
from tests.steps.scenes import (
    cards,
    check,
    executing,
    later,
    pressed,
    run,
    task,
    verbs,
    whispers,
    whole_judged,
    work,
)


def finishing() -> Session:
    done = task(
        "T001",
        TaskState.COMPLETED,
        runs=[run("T001", 1, RunState.ENDED)],
        checks=[check(1, 1), check(2, 0)],
        work=work("feat: x"),
        evidence_refs=("ev-1", "ev-2"),
        pull_text=PullText(title="feat: x", body="What: x"),
    )
    return executing(done, phase=Phase.FINISHING, queue__has_place=False, queue__since=None)


def merged(**changes: object) -> MergedLocally:
    result = MergedLocally(id="m", at=later(), answers="merge", commit="d" * 40, check=check(1, 0))
    return result.model_copy(update=changes)


def cleaned(*removals: Removal) -> CleanedUp:
    return CleanedUp(id="c", at=later(), answers="clean", removals=removals)


@pytest.mark.covers("G-RULE-LOOP-11", "O-I4")
def test_the_merge_is_a_persons_choice() -> None:
    session = finishing()
    assert list(due(session)) == []
    [card] = cards(decide(session, pressed(Verb.MERGE)))
    assert isinstance(card, OfferCard)
    assert card.decided
    assert [order.kind for order in due(session)] == ["merge_locally"]


def test_the_offer_waits_for_what_the_pull_requests_would_say() -> None:
    session = finishing()
    session.tasks[0].pull_text = None
    [order] = due(session)
    text = PullText(title="feat: discounts", body="What: discounts.")
    told = WorkDescribed(
        id="d", at=later(), answers=order.key, task_id=session.tasks[0].id, text=text
    )
    [card] = cards(decide(session, told))
    assert isinstance(card, OfferCard)
    assert "feat: discounts" in card.branches[0]


def test_a_second_choice_says_who_was_first() -> None:
    session = finishing()
    decide(session, pressed(Verb.MERGE))
    assert whispers(decide(session, pressed(Verb.KEEP))) == ["Ann has already chosen a merge."]


@pytest.mark.covers("O-I4")
def test_a_merge_that_was_not_done_is_offered_again_with_the_reason() -> None:
    session = finishing()
    decide(session, pressed(Verb.MERGE))
    [card] = cards(decide(session, merged(commit="", problem="the tests fail")))
    assert isinstance(card, OfferCard)
    assert card.problem == "the tests fail"
    assert verbs(card) == [Verb.MERGE, Verb.KEEP]
    assert list(due(session)) == []


def test_a_refused_merge_is_offered_again_too() -> None:
    session = finishing()
    decide(session, pressed(Verb.MERGE))
    refusal = OrderFailed(
        id="f",
        at=later(),
        answers="merge",
        what="merge_locally",
        reason="main is not clean.",
        remedy="Commit.",
    )
    [card] = cards(decide(session, refusal))
    assert isinstance(card, OfferCard)
    assert card.problem == "main is not clean. Commit."


@pytest.mark.covers(
    "G-RULE-FINISH-3",
    "G-MOVE-SESSION-2",
    "B-FLOW-RUN-17",
    "R-ENTITY-ExecutionResult",
    "F-MOVE-3",
    "F-STATUS-1",
)
def test_after_the_merge_comes_the_clean_up_then_the_summary() -> None:
    session = finishing()
    decide(session, pressed(Verb.MERGE))
    [news] = cards(decide(session, merged()))
    assert isinstance(news, NewsCard)
    assert [order.kind for order in due(session)] == ["judge_whole"]
    decide(session, whole_judged())
    assert [order.kind for order in due(session)] == ["clean_up"]

    gone = Removal(branch="agent/t001", path="/w", worktree_gone=True, branch_gone=True)
    summary = cards(decide(session, cleaned(gone)))[-1]

    assert isinstance(summary, SummaryCard)
    assert summary.result.overall_status is OverallStatus.COMPLETE
    assert summary.checks[0].tries == 2
    assert summary.kept == ()
    assert (session.status, session.phase) == (Status.COMPLETED, Phase.DONE)
    assert session.intent.status is IntentStatus.DONE


@pytest.mark.covers("R-ENTITY-ExecutionResult", "R-RULE-RESULT-5")
def test_the_summary_tells_limits_overstepped_and_guesses_and_the_result_which_model_was_asked() -> (
    None
):
    session = finishing()
    [one] = session.tasks
    assert one.run
    one.violations = (
        LimitViolation(limit_type="max_files", limit_value=8, actual_value=12, timestamp=later()),
    )
    one.update_run(one.run.model_copy(update={"message": "All there. It should work now."}))
    decide(session, pressed(Verb.KEEP))
    decide(session, whole_judged())
    session.usage += Usage(provider="openai", model="some-model")

    summary = cards(decide(session, cleaned()))[-1]

    assert isinstance(summary, SummaryCard)
    assert summary.violations == ("T001: 12 files, 8 were allowed",)
    assert summary.guesses == ("T001: should work",)
    assert session.ending.result
    assert session.ending.result.speculative_language_detected
    asked = (session.ending.result.selected_provider, session.ending.result.selected_model)
    assert asked == ("openai", "some-model")


def test_the_end_of_a_later_plan_is_told_anew_and_leaves_what_was_told_before() -> None:
    first, second = finishing(), finishing()
    assert second.plan.spec
    second.plan.spec = second.plan.spec.model_copy(update={"revision": 2})
    told = [
        {card.key for event in happened for card in cards(decide(session, event))}
        for session in (first, second)
        for happened in [[pressed(Verb.MERGE), merged(), whole_judged(), cleaned()]]
    ]
    assert told[0] & told[1] == {"status"}
    assert {"offer", "merged", "summary"} <= told[0]


@pytest.mark.covers("G-RULE-FINISH-8")
def test_what_could_not_be_removed_stands_in_the_summary_with_the_reason() -> None:
    session = finishing()
    decide(session, pressed(Verb.KEEP))
    assert session.ending.choice is Ending.KEEP
    left = Removal(
        branch="agent/t001", path="/w", worktree_gone=True, branch_gone=False, reason="not merged"
    )
    decide(session, whole_judged())
    summary = cards(decide(session, cleaned(left)))[-1]
    assert isinstance(summary, SummaryCard)
    assert summary.kept == ("agent/t001: not merged",)


@pytest.mark.covers("R-ENUM-OverallStatus", "R-RULE-PRIORITY")
@pytest.mark.parametrize(
    ("state", "tested", "overall"),
    [
        (TaskState.COMPLETED, True, OverallStatus.COMPLETE),
        (TaskState.COMPLETED, False, OverallStatus.NO_EVIDENCE),
        (TaskState.CANCELLED, False, OverallStatus.INCOMPLETE),
    ],
)
def test_the_worst_task_is_the_result(
    state: TaskState, tested: bool, overall: OverallStatus
) -> None:
    session = finishing()
    session.tasks.append(task("T002", state, checks=[check(1, 0)] if tested else []))
    decide(session, pressed(Verb.KEEP))
    decide(session, whole_judged())
    decide(session, cleaned())
    assert session.ending.result
    assert session.ending.result.overall_status is overall


@pytest.mark.parametrize("lost", [(), ("id-T001",)])
def test_a_task_whose_log_could_not_be_kept_is_not_complete(lost: tuple[str, ...]) -> None:
    session = finishing()
    decide(session, pressed(Verb.KEEP))
    decide(session, whole_judged())
    why = ("Permission denied: /home/logs", "Give the right.")
    because = {"unlogged_because": why[0], "unlogged_remedy": why[1]}
    told = cleaned().model_copy(update={"unlogged": lost, **because})
    shown = [card for card in cards(decide(session, told)) if isinstance(card, ProblemCard)]
    assert [(card.reason, card.remedy) for card in shown] == [why] * len(lost)
    assert session.ending.result
    wanted = OverallStatus.NO_EVIDENCE if lost else OverallStatus.COMPLETE
    assert session.ending.result.overall_status is wanted
    reasons = ("T001 Task T001: its log cannot be written",) if lost else ()
    assert session.ending.result.incomplete_task_reasons == reasons
