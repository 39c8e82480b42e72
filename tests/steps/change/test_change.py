"""A change of mind while tasks run: what it touches stops and is planned anew, the others never notice."""

from __future__ import annotations

import pytest

from bot.core import approval
from bot.core.actions import Deed, StopRun
from bot.core.cards import ApprovalCard
from bot.core.choices import Verb
from bot.core.events import (
    DocumentsCommitted,
    DocumentWritten,
    ImpactJudged,
    OrderFailed,
    PlanAnalysed,
    TaskReplanned,
    Ticked,
)
from bot.core.people import Person
from bot.core.plan import Analysis, Document, DocumentKind, Finding, Severity
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.states import Outcome, Phase, RunState, Status, TaskState
from bot.core.talk import Affected, ChangeStage, WordKind
from bot.core.task import Acceptance, SmallerTask, drafts_of
from bot.steps.decisions import decide, due
from tests.steps.clarify.test_decisions import answers, decided, reopened
from tests.steps.scenes import (
    by_default,
    cards,
    executing,
    judged,
    keys,
    later,
    needs,
    ordered,
    pressed,
    run,
    running,
    said,
    task,
    verifying,
    whispers,
    work,
    workspace,
)

WISH = "the receipt shall be wider"
BEA = Person(platform="memory", id="T1/U2", name="Bea")


def at_work() -> Session:
    return executing(
        running("T001"),
        running("T002"),
        task("T003", dependencies=("id-T001",)),
        plan__parallelism=3,
    )


def asked_for(session: Session, *affected: str) -> Session:
    decide(session, said(WISH))
    decide(session, judged(WISH, WordKind.CHANGE))
    decide(session, impact(session, *affected))
    return session


def impact(session: Session, *keys: str) -> ImpactJudged:
    assert session.change
    affected = tuple(Affected(task_id=f"id-{key}", why="it prints it") for key in keys)
    change = session.change
    return ImpactJudged(
        id="i",
        at=later(),
        answers=f"impact:{change.id}:{change.revision}",
        change_id=change.id,
        affected=affected,
    )


def written(kind: DocumentKind, revision: int, *drafts: TaskDraft) -> DocumentWritten:
    document = Document(kind=kind, revision=revision, text=f"# {kind} new", sha256="7" * 64)
    return DocumentWritten(
        id=f"w:{kind}",
        at=later(),
        answers=f"write:{kind}:{revision}",
        document=document,
        drafts=drafts,
        parallelism=3,
    )


def analysed(session: Session, analysis: Analysis, *drafts: TaskDraft) -> list[ApprovalCard]:
    """The documents are written and analysed; the cards that ask for a confirmation."""
    assert session.change
    revision = session.change.revision
    decide(session, written(DocumentKind.SPEC, revision))
    decide(session, written(DocumentKind.PLAN, revision))
    decide(session, written(DocumentKind.TASKS, revision, *drafts))
    result = PlanAnalysed(
        id="a",
        at=later(),
        answers=f"analyse:{revision}",
        revision=revision,
        analysis=analysis,
    )
    return [card for card in cards(decide(session, result)) if isinstance(card, ApprovalCard)]


def drafted(session: Session, *drafts: TaskDraft, analysis: Analysis | None = None) -> ApprovalCard:
    [card] = analysed(session, analysis or Analysis(), *drafts)
    return card


def wider(session: Session, *more: TaskDraft) -> tuple[TaskDraft, ...]:
    """The plan with T002 put differently."""
    first, second, *others = drafts_of(session.tasks)
    return (first, second.model_copy(update={"acceptance": ("40 columns",)}), *others, *more)


def confirm(session: Session, verb: Verb = Verb.APPROVE, text: str = "") -> list[str]:
    assert session.change
    about = approval.offer_of_change(session, session.change)
    return whispers(decide(session, pressed(verb, about, text)))


def confirms(session: Session) -> list[Deed]:
    assert session.change
    about = approval.offer_of_change(session, session.change)
    return decide(session, pressed(Verb.APPROVE, about))


@pytest.mark.covers("G-RULE-LIVE-1", "G-RULE-LIVE-2", "G-FR-002c")
def test_only_what_is_touched_stops_and_at_once() -> None:
    session = at_work()
    untouched = session.tasks[0].run
    decide(session, said(WISH))
    decide(session, judged(WISH, WordKind.CHANGE))
    assert [o.kind for o in due(session) if o.kind.startswith("judge")] == ["judge_impact"]
    assert all(t.run and t.run.alive for t in session.tasks[:2])

    deeds = decide(session, impact(session, "T002"))

    assert [deed.run_id for deed in deeds if isinstance(deed, StopRun)] == ["T002-r1"]
    assert session.tasks[0].run == untouched
    assert session.tasks[1].state is TaskState.BLOCKED
    assert session.tasks[1].run
    assert session.tasks[1].run.outcome is Outcome.KILLED
    assert session.tasks[2].state is TaskState.PENDING
    assert session.phase is Phase.EXECUTING


def test_who_may_not_stop_agents_does_not_stop_them_by_wishing_for_something_else() -> None:
    session = at_work()
    decide(session, said(WISH).model_copy(update={"may_stop": False}))
    decide(session, judged(WISH, WordKind.CHANGE))
    deeds = decide(session, impact(session, "T002"))
    assert not [deed for deed in deeds if isinstance(deed, StopRun)]
    assert session.tasks[1].state is TaskState.RUNNING
    card = drafted(session, *wider(session))
    assert not card.held

    about = approval.offer_of_change(session, session.change) if session.change else ""
    deeds = decide(session, pressed(Verb.APPROVE, about))

    assert [deed.run_id for deed in deeds if isinstance(deed, StopRun)] == ["T002-r1"]
    assert session.tasks[1].runs[-1].why is Why.CHANGED


def test_what_was_held_already_is_told_as_held_whoever_adds_to_the_change() -> None:
    session = asked_for(at_work(), "T002")
    more = "And make it blue"
    decide(session, said(more).model_copy(update={"may_stop": False}))
    decide(session, judged(more, WordKind.CHANGE))
    decide(session, impact(session, "T002"))
    assert session.tasks[1].state is TaskState.BLOCKED
    assert drafted(session, *wider(session)).held


@pytest.mark.covers("G-RULE-LIVE-3")
def test_the_documents_are_written_one_after_the_other_then_analysed_then_shown() -> None:
    session = asked_for(at_work(), "T002")
    assert "write:spec:2" in keys(list(due(session)))
    decide(session, written(DocumentKind.SPEC, 2))
    assert "write:plan:2" in keys(list(due(session)))
    decide(session, written(DocumentKind.PLAN, 2))
    assert "write:tasks:2" in keys(list(due(session)))
    decide(session, written(DocumentKind.TASKS, 2, *wider(session)))
    assert "analyse:2" in keys(list(due(session)))
    assert [document.revision for document in session.plan.documents] == [1, 1, 1]


def test_the_card_says_what_stops_what_goes_on_and_what_is_different() -> None:
    session = asked_for(at_work(), "T002")
    card = drafted(session, *wider(session))
    assert card.change == WISH
    assert card.stops == ("T002 Task T002 (it prints it)",)
    assert card.goes_on == ("T001 Task T001", "T003 Task T003")
    assert card.edits_only
    assert card.difference
    assert [alteration.where for alteration in card.difference.tasks] == ["T002"]


def test_the_card_lists_no_task_that_nobody_does_any_more() -> None:
    left_out = task("T002", TaskState.CANCELLED)
    session = executing(running("T001"), left_out, running("T003"), plan__parallelism=3)
    asked_for(session, "T001")
    card = drafted(session, *drafts_of(session.tasks))
    assert [one.key for one in card.tasks] == ["T001", "T003"]


@pytest.mark.covers("G-RULE-LIVE-3")
def test_a_confirmed_change_goes_on_with_the_same_conversation_and_says_what_changed() -> None:
    session = asked_for(at_work(), "T002")
    drafted(session, *wider(session))

    assert confirm(session) == []

    first, second, _ = session.tasks
    assert session.change is None
    assert session.plan.spec
    assert (session.plan.spec.revision, session.plan.spec.commit) == (2, "")
    assert "commit:2" in keys(list(due(session)))
    assert second.acceptance == (Acceptance(id="T002-A1", text="40 columns"),)
    again = second.run
    assert again
    assert (again.why, again.conversation) == (Why.CHANGED, "T002-conversation")
    assert WISH in again.feedback
    assert len(first.runs) == 1
    assert session.approval.granted
    assert session.approval.granted.revision == 2


def test_new_tasks_start_only_when_the_new_plan_is_committed() -> None:
    session = asked_for(at_work())
    card = drafted(session, *wider(session, TaskDraft(key="T004", title="Export")))
    assert not card.edits_only
    confirm(session)
    fresh = session.tasks[-1]
    assert (fresh.key, fresh.state) == ("T004", TaskState.READY)

    committed = DocumentsCommitted(
        id="c",
        at=later(),
        answers="commit:2",
        workspace=fresh.workspace or session.workspaces[0],
        commit="9" * 40,
    )
    fresh.workspace = session.workspaces[0].model_copy(
        update={"branch": "agent/export", "path": "/srv/shop/.worktrees/agent-export"}
    )
    decide(session, committed)

    assert session.tasks[-1].state is TaskState.RUNNING


def cut_meanwhile(session: Session) -> None:
    """What the change does not touch goes on, and T001 turns out to be too large."""
    session.tasks[0].replan_reason = "too large"
    order = ordered(session, "replan_task")
    parts = (SmallerTask(name="Read"), SmallerTask(name="Write"))
    found = TaskReplanned(id="cut", at=later(), answers=order.key, task_id="id-T001", smaller=parts)
    decide(session, found)


def test_a_task_that_is_cut_meanwhile_takes_no_key_from_a_new_one() -> None:
    session = executing(verifying("T001"), running("T002"), plan__parallelism=3)
    session.approval.required = 2
    asked_for(session, "T002")
    drafted(session, *wider(session, TaskDraft(key="T003", title="Export")))
    cut_meanwhile(session)
    confirm(session)
    assert session.change
    about = approval.offer_of_change(session, session.change)
    decide(session, pressed(Verb.APPROVE, about, by=BEA))
    named = {one.key: one.name for one in session.tasks}
    assert named == {
        "T001": "Task T001",
        "T002": "Task T002",
        "T003": "Export",
        "T004": "Read",
        "T005": "Write",
    }


def test_a_new_task_waits_for_all_that_one_was_cut_into_meanwhile() -> None:
    session = executing(verifying("T001"), running("T002"), plan__parallelism=3)
    asked_for(session, "T002")
    more = TaskDraft(key="T003", title="Export", depends_on=("T001",))
    drafted(session, *wider(session, more))
    cut_meanwhile(session)
    confirm(session)
    fresh = session.tasks[-1]
    assert (fresh.key, fresh.state) == ("T003", TaskState.PENDING)
    assert fresh.dependencies == session.tasks[0].replaced_by


def test_tasks_are_written_anew_when_one_of_them_was_cut_meanwhile() -> None:
    session = executing(verifying("T001"), running("T002"), plan__parallelism=3)
    asked_for(session, "T002")
    before = wider(session, TaskDraft(key="T003", title="Export"))
    cut_meanwhile(session)
    decide(session, written(DocumentKind.SPEC, 2))
    decide(session, written(DocumentKind.PLAN, 2))
    decide(session, written(DocumentKind.TASKS, 2, *before))
    assert "write:tasks:2" in keys(list(due(session)))

    now = [draft for draft in drafts_of(session.tasks) if draft.key != "T001"]
    export = TaskDraft(key="T005", title="Export")
    decide(session, written(DocumentKind.TASKS, 2, *now, export))

    assert session.change
    assert session.change.stage is ChangeStage.ANALYSING
    assert session.change.drafts[-1] == export


@pytest.mark.covers("G-RULE-LIVE-2")
def test_a_model_that_touches_other_tasks_too_does_not_get_its_way() -> None:
    session = asked_for(at_work(), "T002")
    before = drafts_of(session.tasks)
    first, second, third = wider(session)
    meddling = first.model_copy(update={"title": "Something else", "agent": "other"})
    drafted(session, meddling, second)
    confirm(session)
    now = drafts_of(session.tasks)
    assert (now[0], now[2]) == (before[0], before[2])
    assert now[1] == second
    assert third == before[2]


def test_a_task_nobody_wants_any_more_is_cancelled_and_its_dependents_are_free() -> None:
    session = executing(
        running("T001"),
        task("T002", dependencies=("id-T001",)),
        running("T003"),
        plan__parallelism=3,
    )
    asked_for(session, "T001")
    _, second, third = drafts_of(session.tasks)
    drafted(session, second.model_copy(update={"depends_on": ()}), third)
    confirm(session)
    assert session.tasks[0].state is TaskState.CANCELLED
    assert session.tasks[1].dependencies == ()
    assert session.tasks[1].state is TaskState.READY


def test_a_finished_task_that_is_touched_is_worked_on_again_after_the_confirmation() -> None:
    done = task(
        "T002", TaskState.COMPLETED, runs=[run("T002", 1, RunState.ENDED)], work=work("feat: x")
    )
    session = executing(running("T001"), done, task("T003"), plan__parallelism=1)
    asked_for(session, "T002")
    assert session.tasks[1].state is TaskState.COMPLETED
    drafted(session, *wider(session))
    confirm(session)
    assert session.tasks[1].state is TaskState.RUNNING
    assert session.tasks[1].runs[-1].why is Why.CHANGED


def test_a_forgotten_change_lets_everything_go_on_from_where_it_was_held() -> None:
    waiting = task("T003", dependencies=("id-T001",))
    session = executing(running("T001"), verifying("T002"), waiting, plan__parallelism=3)
    decide(session, said(WISH))
    decide(session, judged(WISH, WordKind.CHANGE))
    decide(session, impact(session, "T001", "T002", "T003"))
    assert not session.queue.has_place
    drafted(session, *drafts_of(session.tasks))
    confirm(session, Verb.DROP)
    assert session.change is None
    assert [t.state for t in session.tasks] == [
        TaskState.NEEDS_CONTINUATION,
        TaskState.VERIFYING,
        TaskState.PENDING,
    ]
    assert session.status is Status.QUEUED
    assert session.plan.spec
    assert session.plan.spec.revision == 1


def test_a_change_is_said_differently_and_holds_what_it_touches_now() -> None:
    session = asked_for(at_work(), "T002")
    drafted(session, *wider(session))
    confirm(session, Verb.CHANGE, "40 columns, but only for invoices")
    assert session.change
    assert session.change.text == f"{WISH}\n\n40 columns, but only for invoices"
    assert (session.change.stage, session.change.revision) == (ChangeStage.JUDGING, 3)
    decide(session, impact(session, "T001"))
    assert [t.state for t in session.tasks[:2]] == [TaskState.BLOCKED, TaskState.RUNNING]
    assert session.change.held == ("id-T001",)


def test_more_words_are_added_to_the_change_that_waits() -> None:
    session = asked_for(at_work(), "T002")
    stale = drafted(session, *wider(session)).offer
    decide(session, said("and in bold"))
    decide(session, judged("and in bold", WordKind.CHANGE))
    assert session.change
    assert session.change.text.endswith("and in bold")
    assert whispers(decide(session, pressed(Verb.APPROVE, stale)))
    assert session.change


def test_yes_in_the_thread_confirms_what_is_shown_and_nothing_before_it() -> None:
    session = asked_for(at_work(), "T002")
    decide(session, said("yes"))
    assert session.change
    drafted(session, *wider(session))
    session.talk.waiting = ()
    decide(session, said("confirm"))
    assert session.change is None


def test_a_yes_from_before_the_change_was_shown_confirms_nothing() -> None:
    session = asked_for(at_work(), "T002")
    drafted(session, *wider(session))
    early = said("ok").model_copy(update={"offered": ""})
    assert whispers(decide(session, early))
    assert session.change


def test_a_yes_to_a_change_counts_though_the_clock_was_set_back_since_it_was_shown() -> None:
    session = asked_for(at_work(), "T002")
    drafted(session, *wider(session))
    session.talk.waiting = ()
    offered = approval.open_offer(session)
    decide(session, said("confirm", at=later(-600)).model_copy(update={"offered": offered}))
    assert session.change is None


def test_a_stale_press_for_a_change_does_nothing() -> None:
    session = asked_for(at_work(), "T002")
    assert whispers(decide(session, pressed(Verb.APPROVE, "something else")))
    drafted(session, *wider(session))
    assert whispers(decide(session, pressed(Verb.APPROVE, approval.offer(session))))
    assert session.change


def test_critical_findings_of_a_change_are_mended_twice_before_anybody_sees_them() -> None:
    session = asked_for(at_work(), "T002")
    finding = Finding(id="C1", severity=Severity.CRITICAL, category="constitution", summary="no")
    analysis = Analysis(findings=(finding,))
    for _ in range(2):
        assert not analysed(session, analysis, *wider(session))
        assert "write:spec:2" in keys(list(due(session)))
        assert session.tasks[1].state is TaskState.BLOCKED
    assert analysed(session, Analysis(), *wider(session))
    assert confirm(session) == []


def test_critical_findings_keep_a_change_from_being_confirmed() -> None:
    session = asked_for(at_work(), "T002")
    assert session.change
    session.change = session.change.model_copy(update={"repairs": 2})
    finding = Finding(id="C1", severity=Severity.CRITICAL, category="constitution", summary="no")
    drafted(session, *wider(session), analysis=Analysis(findings=(finding,)))
    assert "critical" in confirm(session)[0]
    assert session.change


def test_new_work_needs_as_many_people_as_the_plan_did_an_edit_only_one() -> None:
    session = asked_for(at_work(), "T002")
    session.approval.required = 2
    drafted(session, *wider(session, TaskDraft(key="T004", title="Export")))
    confirm(session)
    assert session.change
    assert "already" in confirm(session)[0]
    about = approval.offer_of_change(session, session.change)
    decide(session, pressed(Verb.APPROVE, about, by=BEA))
    assert session.change is None

    session = asked_for(at_work(), "T002")
    session.approval.required = 2
    drafted(session, *wider(session))
    confirm(session)
    assert session.change is None


def test_a_change_that_cannot_be_planned_holds_nothing_up() -> None:
    session = asked_for(at_work(), "T002")
    refused = OrderFailed(
        id="f", at=later(), answers="write:spec:2", what="write_document", reason="too long."
    )
    shown = cards(decide(session, refused))
    assert "too long." in shown[0].model_dump_json()
    assert session.change is None
    assert session.status is Status.ACTIVE
    assert [t.state for t in session.tasks[:2]] == [TaskState.RUNNING, TaskState.RUNNING]


def test_a_plan_that_runs_in_a_circle_is_no_change() -> None:
    session = asked_for(at_work(), "T002")
    first, second, third = wider(session)
    circle = second.model_copy(update={"depends_on": ("T004",)})
    fourth = TaskDraft(key="T004", title="Export", depends_on=("T002",))
    decide(session, written(DocumentKind.SPEC, 2))
    decide(session, written(DocumentKind.PLAN, 2))
    decide(session, written(DocumentKind.TASKS, 2, first, circle, third, fourth))
    assert session.change is None
    assert len(session.tasks) == 3


def test_a_change_under_way_keeps_the_work_from_being_called_finished() -> None:
    session = executing(verifying("T001"))
    decide(session, said(WISH))
    decide(session, judged(WISH, WordKind.CHANGE))
    session.tasks[0].become(TaskState.INTEGRATING)
    session.tasks[0].become(TaskState.COMPLETED)
    decide(session, impact(session))
    assert session.phase is Phase.EXECUTING
    drafted(session, *drafts_of(session.tasks))
    confirm(session, Verb.DROP)
    assert session.phase is Phase.FINISHING


def test_a_change_survives_a_stop_and_goes_on_after_it() -> None:
    session = asked_for(at_work(), "T002")
    decide(session, pressed(Verb.STOP))
    assert list(due(session)) == []
    decide(session, pressed(Verb.RESUME))
    assert "write:spec:2" in keys(list(due(session)))
    assert session.tasks[1].state is TaskState.BLOCKED


def test_a_held_task_whose_step_was_to_be_chosen_forgets_that_choice() -> None:
    session = executing(running("T001"), running("T002"), plan__parallelism=2)
    session.tasks[1].update_run(session.tasks[1].runs[-1].end(Outcome.FAILED, later()))
    by_default(session)
    asked_for(session, "T002")
    assert session.tasks[1].choice is None
    assert session.tasks[1].state is TaskState.BLOCKED


def test_a_forgotten_change_leaves_the_decision_it_began_with_as_it_was() -> None:
    session = decided(at_work())
    decide(session, reopened("D1", "second"))
    decide(session, impact(session, "T002"))
    drafted(session, *drafts_of(session.tasks))
    confirm(session, Verb.DROP)
    assert answers(session) == ["first", "first"]


def test_a_decision_is_another_only_when_the_change_is_confirmed() -> None:
    """Until then agents that begin are told what was approved."""
    session = decided(at_work())
    decide(session, reopened("D1", "second"))
    decide(session, impact(session, "T002"))
    drafted(session, *wider(session))
    assert answers(session) == ["first", "first"]
    confirm(session)
    assert answers(session) == ["second", "first"]


def test_a_new_change_has_a_card_of_its_own_below_the_forgotten_one() -> None:
    session = asked_for(at_work(), "T002")
    first = drafted(session, *wider(session))
    confirm(session, Verb.DROP)
    decide(session, said("narrower"))
    decide(session, judged("narrower", WordKind.CHANGE))
    decide(session, impact(session, "T002"))
    second = drafted(session, *wider(session))
    assert first.revision == second.revision
    assert first.key != second.key


def test_what_waits_for_a_failed_task_waits_no_longer_when_a_change_takes_it_up_again() -> None:
    failed = task("T001", TaskState.FAILED, runs=[run("T001", 1, RunState.ENDED)])
    waiting = task("T002", TaskState.BLOCKED, dependencies=("id-T001",), blocked="waits for T001")
    session = executing(failed, waiting, running("T003"), plan__parallelism=3)
    decide(session, said(WISH))
    decide(session, judged(WISH, WordKind.CHANGE))
    decide(session, impact(session, "T001"))
    first, *others = drafts_of(session.tasks)
    drafted(session, first.model_copy(update={"description": "other"}), *others)
    confirm(session)
    assert [t.state for t in session.tasks[:2]] == [TaskState.RUNNING, TaskState.PENDING]


@pytest.mark.parametrize("wanted", [True, False])
def test_what_a_person_was_asked_is_settled_by_a_change(wanted: bool) -> None:
    failed = task("T001", TaskState.FAILED, runs=[run("T001", 1, RunState.ENDED)])
    session = asked_for(executing(failed, running("T002"), plan__parallelism=3), "T001")
    first, second = drafts_of(session.tasks)
    other = first.model_copy(update={"description": "other"})
    drafted(session, *((other, second) if wanted else (second,)))
    [card] = needs(confirms(session))
    assert card.key == "needs-you:T001:1"
    assert (card.choices, card.decided and card.decided.what) == ((), "Change confirmed")


def test_a_pull_request_that_cannot_be_made_is_no_question_any_more_after_a_change() -> None:
    unshipped = task("T001", TaskState.INTEGRATING, runs=[run("T001", 1, RunState.ENDED)])
    unshipped.pull_problem = "No token."
    session = asked_for(executing(unshipped, running("T002"), plan__parallelism=3), "T001")
    first, second = drafts_of(session.tasks)
    drafted(session, first.model_copy(update={"description": "other"}), second)
    [card] = needs(confirms(session))
    assert (card.key, card.choices) == ("not-shipped:T001:1", ())


def test_what_a_change_leaves_as_it_is_still_asks() -> None:
    failed = task("T001", TaskState.FAILED, runs=[run("T001", 1, RunState.ENDED)])
    session = asked_for(executing(failed, running("T002"), plan__parallelism=3), "T001", "T002")
    first, second = drafts_of(session.tasks)
    drafted(session, first, second.model_copy(update={"description": "other"}))
    assert needs(confirms(session)) == []


def test_who_gives_a_task_up_settles_what_was_asked_about_those_that_build_upon_it() -> None:
    failed = task("T001", TaskState.FAILED, runs=[run("T001", 1, RunState.ENDED)])
    after = task("T002", TaskState.FAILED, runs=[run("T002", 1, RunState.ENDED)])
    after.dependencies = ("id-T001",)
    session = executing(failed, after)
    shown = needs(decide(session, pressed(Verb.GIVE_UP, "id-T001:1")))
    assert {card.key: card.choices for card in shown} == {
        "needs-you:T001:1": (),
        "needs-you:T002:1": (),
    }


def test_nobody_waits_for_a_task_that_was_left_out_while_the_change_was_planned() -> None:
    failed = task("T001", TaskState.FAILED, runs=[run("T001", 1, RunState.ENDED)])
    session = asked_for(executing(failed, running("T002"), plan__parallelism=3), "T002")
    first, second = drafts_of(session.tasks)
    after = TaskDraft(key="T003", title="More", depends_on=("T001",))
    drafted(session, first, second.model_copy(update={"description": "other"}), after)
    decide(session, pressed(Verb.SKIP, "id-T001:1"))
    confirm(session)
    assert session.tasks[-1].dependencies == ()


def test_an_agent_that_was_started_again_meanwhile_is_stopped_before_it_is_told_of_the_change() -> (
    None
):
    stuck = task("T001", TaskState.FAILED, runs=[run("T001", 1, RunState.ENDED)])
    session = executing(stuck, running("T002"), plan__parallelism=3)
    decide(session, said(WISH))
    decide(session, judged(WISH, WordKind.CHANGE))
    decide(session, impact(session, "T001"))
    decide(session, pressed(Verb.RETRY, "id-T001:1"))
    assert session.tasks[0].state is TaskState.RUNNING
    first, second = drafts_of(session.tasks)
    drafted(session, first.model_copy(update={"description": "other"}), second)
    assert session.change
    about = approval.offer_of_change(session, session.change)
    deeds = decide(session, pressed(Verb.APPROVE, about))
    assert [deed.run_id for deed in deeds if isinstance(deed, StopRun)] == [
        session.tasks[0].runs[1].id
    ]
    assert [r.alive for r in session.tasks[0].runs] == [False, False, True]


def test_who_gives_a_task_up_ends_the_agents_that_build_upon_it() -> None:
    failed = task("T001", TaskState.FAILED, runs=[run("T001", 2, RunState.ENDED)])
    session = executing(failed, running("T002", dependencies=("id-T001",)), plan__parallelism=3)
    deeds = decide(session, pressed(Verb.GIVE_UP, "id-T001:1"))
    assert [deed.run_id for deed in deeds if isinstance(deed, StopRun)] == ["T002-r1"]
    assert session.tasks[1].state is TaskState.CANCELLED


def test_nothing_is_made_from_a_plan_that_is_not_committed_yet() -> None:
    new = workspace("agent/t001", start="", ready=False)
    starting = running("T001", RunState.STARTING, workspace=new)
    stopped = task(
        "T002",
        TaskState.NEEDS_CONTINUATION,
        runs=[run("T002", 1, RunState.ENDED)],
        workspace=workspace("agent/t002", start="", ready=False),
    )
    session = executing(starting, stopped, plan__parallelism=3)
    assert session.plan.spec
    session.plan.spec = session.plan.spec.model_copy(update={"commit": ""})
    decide(session, Ticked(id="t", at=later()))
    assert session.tasks[1].state is TaskState.NEEDS_CONTINUATION
    assert [order.kind for order in due(session)] == ["hold_place", "commit_documents"]


def test_an_approval_from_the_day_before_does_not_count_for_what_is_shown_afresh() -> None:
    session = asked_for(at_work(), "T002")
    session.approval.required = 2
    drafted(session, *wider(session, TaskDraft(key="T004", title="More")))
    confirm(session)
    assert [given.revision for given in session.approval.given] == [2]
    assert session.change
    given = session.approval.given[0]
    assert given.digest == approval.digest_of_change(session, session.change)
    about = approval.offer_of_change(session, session.change)
    late = pressed(Verb.APPROVE, about, by=BEA).model_copy(update={"at": later(25 * 3600)})
    decide(session, late)
    assert session.approval.given == ()
    assert session.change
