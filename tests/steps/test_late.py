"""What comes late, twice, or is refused for good: it has its cost, and nothing goes wrong or goes on for ever over it."""

from __future__ import annotations

import pytest

from bot.core.cards import EarlierCard, NewsCard, PartsCard, ProblemCard
from bot.core.choices import Verb
from bot.core.events import (
    AnswersRead,
    Broke,
    CleanedUp,
    DocumentsCommitted,
    OrderFailed,
    StepChosen,
    SummedUp,
    WordsJudged,
    WorkDescribed,
    WorkSeen,
)
from bot.core.evidence import ExecutionResult
from bot.core.layout.phrases import model_usage_in_words
from bot.core.llm import Usage
from bot.core.plan import DocumentKind
from bot.core.session import KEPT_VERBATIM, Session, Speaker
from bot.core.session_parts import Ending
from bot.core.states import OverallStatus, Phase, RunState, Status, TaskState
from bot.core.talk import ChangeStage, WordKind
from bot.core.task import PullText, drafts_of
from bot.steps.decisions import decide, due
from tests.steps.change.test_change import WISH, asked_for, at_work, drafted, impact, written
from tests.steps.execute.test_execute import refused
from tests.steps.execute.test_steps import chosen, failed_once
from tests.steps.intake.test_elsewhere import EARLIER, PARTS, finished, scanned, understood, verdict
from tests.steps.scenes import (
    asked,
    awaiting_approval,
    cards,
    executing,
    judged,
    keys,
    later,
    pressed,
    run,
    running,
    said,
    surveyed,
    task,
    verbs,
    verifying,
    whispers,
    work,
)


def failed(what: str, order: str) -> OrderFailed:
    return OrderFailed(id="f", at=later(), answers=order, what=what, reason="It refuses.")


def orders(session: Session) -> list[str]:
    return keys(list(due(session)))


def test_what_is_committed_of_a_plan_that_is_made_anew_is_not_put_before_people() -> None:
    session = awaiting_approval()
    session.phase, session.plan.shown_at = Phase.SPECIFYING, None
    decide(session, said("use cents"))
    assert session.plan.spec
    late = DocumentsCommitted(
        id="c",
        at=later(),
        answers="commit:1",
        workspace=session.plan.spec.workspace,
        commit="e" * 40,
    )
    decide(session, judged("use cents", WordKind.CHANGE))
    assert decide(session, late) == []
    assert session.phase is Phase.SPECIFYING
    assert orders(session) == ["write:spec:2"]


def test_a_judgement_of_the_change_as_it_was_first_said_does_not_count() -> None:
    session = at_work()
    decide(session, said(WISH))
    decide(session, judged(WISH, WordKind.CHANGE))
    late = impact(session, "T001")
    decide(session, said("only invoices"))
    decide(session, judged("only invoices", WordKind.CHANGE))
    decide(session, late)
    assert session.change
    assert session.change.stage is ChangeStage.JUDGING
    assert session.tasks[0].state is TaskState.RUNNING


def test_a_judgement_that_comes_twice_does_not_take_the_change_back() -> None:
    session = at_work()
    decide(session, said(WISH))
    decide(session, judged(WISH, WordKind.CHANGE))
    twice = impact(session, "T002")
    decide(session, twice)
    drafted(session, *drafts_of(session.tasks))
    decide(session, twice)
    decide(session, written(DocumentKind.SPEC, 2))
    assert session.change
    assert session.change.stage is ChangeStage.AWAITING
    assert len(session.change.documents) == len(DocumentKind)


def test_a_late_result_still_has_its_cost() -> None:
    session = asked()
    decide(session, said("hm"))
    decide(session, pressed(Verb.DEFAULTS))
    late = AnswersRead(
        id="a",
        at=later(),
        answers="answers:hm",
        words_id="hm",
        found={1: "x"},
        usage=Usage(calls=1),
    )
    decide(session, late)
    assert session.usage.calls == 1
    assert [q.answer for q in session.intent.clarifications] == ["first", "first"]


def test_what_a_session_that_is_over_still_asks_the_model_is_counted() -> None:
    session = finished(ending__summary=None)
    session.ending.result = ExecutionResult(
        overall_status=OverallStatus.COMPLETE, session_id=session.id, next_action=True
    )
    [order] = due(session)
    told = SummedUp(id="s", at=later(), answers=order.key, text="All.", usage=Usage(calls=1))
    decide(session, told)
    assert session.usage.calls == 1


def test_a_model_whose_server_seems_to_cut_its_questions_is_told_of_once() -> None:
    session = asked()
    cut = Usage(calls=1, prompt_tokens=4096, estimated=12_000)
    answer = AnswersRead(id="a", at=later(), answers="x", words_id="hm", found={}, usage=cut)
    whole = answer.model_copy(update={"usage": Usage(prompt_tokens=8000, estimated=12_000)})
    assert cards(decide(session, whole)) == []
    scale = session.llm.token_scale
    [card] = cards(decide(session, answer))
    assert isinstance(card, ProblemCard)
    assert "4,096" in card.reason
    assert "LLM_CONTEXT_WINDOW" in card.remedy
    assert cards(decide(session, answer)) == []
    assert session.llm.token_scale == scale


def test_how_one_model_counts_says_nothing_of_another() -> None:
    session = asked()
    answer = AnswersRead(id="a", at=later(), answers="x", words_id="hm", found={})
    for setting, counted in (("main", 1_500), ("judge", 600), ("fallback", 1_000)):
        usage = Usage(calls=1, prompt_tokens=counted, estimated=1_000, setting=setting)
        decide(session, answer.model_copy(update={"usage": usage}))
    scales = [session.llm.scale_of(name) for name in ("main", "judge", "fallback", "small")]
    assert scales == [pytest.approx(1.15), pytest.approx(0.88), 1.0, 1.0]


def test_a_model_that_stands_in_is_told_of_once_and_counted() -> None:
    session = asked()
    usage = Usage(calls=1, model="m-f", stood_in=1)
    answer = AnswersRead(id="a", at=later(), answers="x", words_id="hm", found={}, usage=usage)
    [card] = cards(decide(session, answer))
    assert isinstance(card, NewsCard)
    assert "m-f" in " ".join(card.lines)
    assert cards(decide(session, answer)) == []
    assert model_usage_in_words(session.usage).startswith(
        "2 model calls, 2 of them by the fallback"
    )


def test_a_late_refusal_ends_no_session_that_has_gone_on_since() -> None:
    session = asked()
    decide(session, said("hm"))
    decide(session, pressed(Verb.DEFAULTS))
    assert decide(session, failed("read_answers", "answers:said:hm")) == []
    assert session.status is Status.ACTIVE
    assert session.phase is Phase.SPECIFYING


def test_a_refusal_about_an_earlier_run_does_not_end_the_one_of_now() -> None:
    runs = [run("T001", 1, RunState.ENDED), run("T001", 2)]
    session = executing(running("T001", runs=runs))
    decide(session, refused("start_run", "start:T001-r1"))
    assert session.tasks[0].state is TaskState.RUNNING
    assert session.tasks[0].run == runs[1]


def test_work_that_was_seen_before_a_task_was_held_is_not_believed_after_it() -> None:
    session = executing(verifying("T001", runs=[run("T001", 1, RunState.ENDED)]))
    late = WorkSeen(
        id="s", at=later(), answers="look:T001-r0", task_id="id-T001", work=work("feat: x")
    )
    decide(session, late)
    assert session.tasks[0].work is None


def test_a_description_of_what_a_task_was_before_it_was_changed_does_not_count() -> None:
    session = executing(task("T001", TaskState.COMPLETED, runs=[run("T001", 2, RunState.ENDED)]))
    session.tasks[0].work = work("feat: x")
    text = PullText(title="feat: what it was", body="")
    decide(
        session,
        WorkDescribed(id="d", at=later(), answers="describe:T001-r1", task_id="id-T001", text=text),
    )
    assert session.tasks[0].pull_text is None


def test_a_task_that_a_person_has_to_look_at_has_no_choice_pending() -> None:
    session = failed_once()
    late = chosen(session, "ask")
    decide(session, refused("observe", "observe"))
    assert session.tasks[0].state is TaskState.BLOCKED
    assert session.tasks[0].choice is None
    decide(session, late)
    assert session.tasks[0].blocked == "it is gone. Retry."


def test_a_choice_that_is_refused_is_made_by_default() -> None:
    session = failed_once()
    [order] = [order for order in due(session) if order.kind == "choose_step"]
    decide(session, failed("choose_step", order.key))
    assert session.tasks[0].state is TaskState.RUNNING
    assert len(session.tasks[0].runs) == 2


def test_the_order_of_tasks_that_is_refused_is_the_plans() -> None:
    session = executing(task("T001"), task("T002"), plan__parallelism=1)
    decide(session, StepChosen(id="n", at=later(), answers="x", step_id="x", option=""))
    decide(session, refused("observe", "observe"))
    assert session.execution.choice
    decide(session, failed("choose_step", f"step:{session.execution.choice.id}"))
    assert [t.key for t in session.in_state(TaskState.RUNNING)] == ["T001"]


def test_a_description_that_is_refused_is_the_tasks_own() -> None:
    session = executing(
        task("T001", TaskState.COMPLETED, runs=[run("T001", 1, RunState.ENDED)]),
        phase=Phase.FINISHING,
        queue__has_place=False,
        queue__since=None,
    )
    session.tasks[0].work = work("feat: x")
    refusal = failed("describe_work", "describe:T001-r1")
    decide(session, refusal.model_copy(update={"task_id": "id-T001"}))
    assert session.tasks[0].pull_text
    assert orders(session) == []


def test_a_summary_of_the_talk_that_is_refused_ends_nothing_and_is_not_asked_for_again() -> None:
    for session in (awaiting_approval(), asked(), executing(running("T001"))):
        for number in range(KEPT_VERBATIM + 5):
            session.say(Speaker.USER, f"{number} " + "x" * 900, later(number))
        [order] = [order for order in due(session) if order.kind == "summarise_talk"]
        decide(session, failed("summarise_talk", order.key))
        assert session.status is Status.ACTIVE
        assert "5 earlier messages" in session.conversation[0].content
        assert not [order for order in due(session) if order.kind == "summarise_talk"]


def test_what_a_bug_has_ended_after_the_end_is_not_begun_again_and_again() -> None:
    session = finished(ending__summary=None)
    session.ending.result = ExecutionResult(
        overall_status=OverallStatus.COMPLETE, session_id=session.id, next_action=True
    )
    decide(session, said("also mfa"))
    assert len(orders(session)) == 2
    deeds = decide(session, Broke(id="b", at=later(), reason="sum_up failed"))
    assert cards(deeds)
    assert orders(session) == []


def test_a_wish_whose_session_could_not_be_opened_does_not_take_the_others_along() -> None:
    session = finished()
    for text in ("also mfa", "also sms"):
        decide(session, said(text))
        decide(session, verdict("new", text))
    first, second = orders(session)
    decide(session, failed("open_session", first))
    assert orders(session) == [second]


def test_a_request_that_may_not_go_on_elsewhere_can_be_planned_here() -> None:
    session = scanned()
    decide(session, understood(earlier=EARLIER))
    decide(session, pressed(Verb.THERE))
    *_, card = cards(decide(session, failed("pass_on", f"pass_on:{EARLIER.session}")))
    assert isinstance(card, EarlierCard)
    assert Verb.HERE in verbs(card)
    assert orders(session) == []
    decide(session, pressed(Verb.HERE))
    assert session.phase is Phase.CLARIFYING


def test_what_is_said_while_the_parts_are_offered_answers_no_question() -> None:
    session = scanned()
    decide(session, understood(parts=PARTS))
    decide(session, said("what would that be?"))
    assert [q.answer for q in session.intent.clarifications] == [None]
    assert orders(session) == []


def test_a_discarded_request_opens_none_of_its_parts() -> None:
    session = scanned()
    decide(session, understood(parts=PARTS))
    shown = cards(decide(session, pressed(Verb.DISCARD)))
    [card] = [card for card in shown if isinstance(card, PartsCard)]
    assert card.decided
    assert verbs(card) == []
    assert orders(session) == ["clean"]


def test_words_of_a_change_that_come_after_the_merge_was_chosen_wait_for_the_end() -> None:
    session = executing(task("T001", TaskState.COMPLETED), phase=Phase.FINISHING, queue__since=None)
    session.queue.has_place = False
    decide(session, said("wider"))
    decide(session, pressed(Verb.MERGE))
    decide(session, judged("wider", WordKind.CHANGE))
    assert (session.phase, session.ending.choice) == (Phase.FINISHING, Ending.MERGE)
    assert [words.text for words in session.talk.waiting] == ["wider"]


def test_a_clean_up_that_nobody_waits_for_ends_nothing() -> None:
    session = executing(task("T001", TaskState.COMPLETED), phase=Phase.FINISHING)
    decide(session, CleanedUp(id="c", at=later(), answers="clean", removals=()))
    assert session.phase is Phase.FINISHING


def test_words_that_were_judged_twice_begin_one_change() -> None:
    session = at_work()
    decide(session, said(WISH))
    twice: WordsJudged = judged(WISH, WordKind.CHANGE)
    decide(session, twice)
    decide(session, twice)
    assert session.plan.changes == 1


def test_an_unread_request_can_be_put_anew_after_a_failure_but_not_one_that_was_split() -> None:
    session = surveyed(status=Status.FAILED, control__failure="no")
    decide(session, said("a till"))
    assert (session.intent.body, session.status) == ("a till", Status.ACTIVE)

    split = scanned()
    decide(split, understood(parts=PARTS))
    decide(split, pressed(Verb.SPLIT))
    decide(split, failed("open_session", orders(split)[0]))
    assert split.status is Status.FAILED
    assert whispers(decide(split, said("a till")))
    assert split.status is Status.FAILED


def test_a_wish_is_held_for_no_task_the_change_no_longer_touches() -> None:
    session = asked_for(at_work(), "T001")
    decide(session, said("not the shop"))
    decide(session, judged("not the shop", WordKind.CHANGE))
    decide(session, impact(session, "T002"))
    assert [t.state for t in session.tasks[:2]] == [TaskState.RUNNING, TaskState.BLOCKED]
