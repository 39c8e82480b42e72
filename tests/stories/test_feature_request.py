"""The main story, in the words of the specification."""

from __future__ import annotations

import pytest

from bot.core.cards import (
    ApprovalCard,
    DocumentCard,
    NeedsYouCard,
    OfferCard,
    ProblemCard,
    QuestionsCard,
    ReceivedCard,
    StatusCard,
    StoppedCard,
    SummaryCard,
)
from bot.core.choices import Verb, Word
from bot.core.errors import Refused, Unavailable
from bot.core.events import Said
from bot.core.people import Person, Thread
from bot.core.runs import Why
from bot.core.states import OverallStatus, Phase, Status, TaskState
from bot.core.world import Rules
from tests.fakes.chat import ANNA, THREAD
from tests.fakes.commands import PASSED
from tests.stories.stage import FAILED, Stage, draft

OTHER = Thread(platform="memory", workspace="W1", channel="C1", root="2")


def kinds(stage: Stage, thread: Thread = THREAD) -> list[str]:
    return [card.kind for card in stage.chat.cards(thread)]


@pytest.mark.covers(
    "G-US1.4",
    "G-US2.1",
    "G-RULE-SPECKIT-8",
    "G-RULE-FINISH-3",
    "G-FR-002a",
    "G-FR-003",
    "G-FR-015",
    "B-CYCLE",
    "B-FLOW-RUN-14",
    "R-PROPERTY-37",
)
async def test_a_request_becomes_merged_work(stage: Stage) -> None:
    stage.commands.answer(PASSED, FAILED, PASSED)
    await stage.says("Add discounts")
    assert kinds(stage) == ["received", "questions"]

    await stage.presses(Verb.DEFAULTS)
    assert kinds(stage)[2:] == ["document", "document", "document", "approval"]
    assert not stage.panes.started

    await stage.approves()
    assert len(stage.panes.running()) == 2

    await stage.agents_work(rounds=4)
    assert [task.state for task in stage.session().tasks] == [TaskState.COMPLETED] * 3
    assert isinstance(stage.chat.card("offer"), OfferCard)

    await stage.presses(Verb.MERGE)
    session = stage.session()
    assert (session.status, session.phase) == (Status.COMPLETED, Phase.DONE)
    assert stage.repository.heads["main"] == session.ending.merged_commit
    assert stage.worktrees.standing == {}
    assert not [name for name in stage.repository.heads if name.startswith("agent/")]
    summary = stage.chat.card("summary")
    assert isinstance(summary, SummaryCard)
    assert summary.result.overall_status is OverallStatus.COMPLETE
    assert summary.agent_runs == 4
    # questions, three documents, two looks at them, a step; of each task a verdict and its words; a verdict on the whole
    assert summary.usage.calls == 14


async def test_the_first_answer_says_where_the_work_will_happen(stage: Stage) -> None:
    await stage.says("Add discounts")
    card = stage.chat.card("received")
    assert isinstance(card, ReceivedCard)
    assert (card.repository, card.branch) == (stage.repository.path, "main")


@pytest.mark.covers("G-US5.3")
async def test_failing_tests_go_back_to_the_same_agent_conversation(stage: Stage) -> None:
    stage.commands.answer(FAILED, PASSED)
    await stage.is_planned()
    await stage.approves()
    await stage.agents_work(rounds=1)
    task = next(task for task in stage.session().tasks if task.counters.failed_checks)
    assert task.runs[1].why is Why.CHECK_FAILED
    assert task.runs[1].conversation == task.runs[0].conversation
    assert "AssertionError" in stage.panes.prompts[task.runs[1].name]


@pytest.mark.covers("G-ENUM-BuildSystem-Other")
@pytest.mark.parametrize("found", ["", "make test"], ids=["none-found", "another-found"])
async def test_a_test_command_the_operator_names_is_the_one_that_runs(
    stage: Stage, found: str
) -> None:
    stage.rules = Rules(
        repository=stage.repository.path, agent="played", test_commands=("./prove",)
    )
    stage.repository.test_command = found
    await stage.revive()
    await stage.is_planned()
    await stage.approves()
    await stage.agents_work()
    assert {command for _, command in stage.commands.ran} == {"./prove"}


@pytest.mark.covers("G-US2.3", "G-FR-009a")
async def test_the_predecessors_work_is_in_the_dependents_branch_before_it_starts(
    stage: Stage,
) -> None:
    await stage.is_planned()
    await stage.approves()
    await stage.agents_work()
    first, _, third = stage.session().tasks
    assert first.workspace
    assert third.workspace
    assert third.run
    assert third.run.name in stage.panes.running()
    assert first.commits[0].sha in stage.repository.ancestors(
        stage.repository.heads[third.workspace.branch]
    )


@pytest.mark.covers("G-US5.3", "G-US6.3")
async def test_a_failure_after_three_repairs_asks_the_owner_and_skip_lets_the_rest_go_on(
    stage: Stage,
) -> None:
    stage.commands.answer(FAILED)
    await stage.is_planned()
    await stage.approves()
    await stage.agents_work(rounds=5)
    states = [task.state for task in stage.session().tasks]
    assert states == [TaskState.FAILED, TaskState.FAILED, TaskState.BLOCKED]
    asked = [card for card in stage.chat.cards() if isinstance(card, NeedsYouCard)]
    assert len(asked) == 2

    stage.commands.answer(PASSED)
    session = stage.session()
    for task in session.tasks[:2]:
        await stage.presses(Verb.SKIP, f"{task.id}:{len(task.runs)}")
    await stage.agents_work(rounds=2)
    states = [task.state for task in stage.session().tasks]
    assert states == [TaskState.CANCELLED, TaskState.CANCELLED, TaskState.COMPLETED]


@pytest.mark.covers("G-US2.5", "O-C5")
async def test_changes_lead_to_a_new_revision_and_the_old_card_is_dead(stage: Stage) -> None:
    await stage.is_planned()
    old = stage.approval_card()
    await stage.presses(Verb.CHANGE, old.offer, "use cents")
    new = stage.approval_card()
    assert (old.revision, new.revision) == (1, 2)
    documents = [card for card in stage.chat.cards() if isinstance(card, DocumentCard)]
    assert len(documents) == 6
    assert '"use cents"' in stage.llm.calls[-1].data

    await stage.presses(Verb.APPROVE, "0" * 64)
    assert stage.session().phase is Phase.APPROVING
    assert len(stage.chat.whispered) == 1


@pytest.mark.covers("G-US7.2", "G-RULE-STOP-2", "G-RULE-STOP-6", "G-FR-024")
async def test_stop_ends_all_agents_and_resume_goes_on_with_their_conversations(
    stage: Stage,
) -> None:
    await stage.is_planned()
    await stage.approves()
    before = stage.session()

    await stage.commands_(Word.STOP)

    assert stage.panes.running() == ()
    assert stage.session().status is Status.PAUSED
    assert any(isinstance(card, StoppedCard) for card in stage.chat.cards())

    await stage.commands_(Word.RESUME)
    after = stage.session()
    assert len(stage.panes.running()) == 2
    assert after.tasks[0].runs[1].conversation == before.tasks[0].runs[0].conversation
    await stage.agents_work(rounds=3)
    assert stage.session().phase is Phase.FINISHING


async def test_words_while_paused_wait_and_are_come_back_to(stage: Stage) -> None:
    await stage.says("Add discounts")
    await stage.commands_(Word.STOP)
    await stage.says("D1: yes, D2: down")
    assert stage.session().phase is Phase.CLARIFYING
    assert "paused" in str(stage.chat.whispered[-1])

    await stage.commands_(Word.RESUME)
    assert stage.session().phase is Phase.APPROVING
    assert stage.session().intent.clarifications[0].answer == "yes"


@pytest.mark.covers("G-FR-024")
async def test_stop_while_the_model_thinks_calls_it_off(stage: Stage) -> None:
    stage.llm.hold()
    await stage.says("Add discounts")
    await stage.commands_(Word.STOP)
    assert stage.session().status is Status.PAUSED
    stage.llm.release()
    await stage.settle()
    assert stage.session().request.questions_asked is False
    await stage.commands_(Word.RESUME)
    assert isinstance(stage.chat.card("questions"), QuestionsCard)


@pytest.mark.covers("F-MOVE-7")
async def test_discard_keeps_the_branches_and_removes_the_worktrees(stage: Stage) -> None:
    await stage.is_planned()
    await stage.approves()
    await stage.commands_(Word.DISCARD)
    assert stage.session().status is Status.DISCARDED
    assert stage.panes.running() == ()
    assert stage.worktrees.standing == {}
    assert [name for name in stage.repository.heads if name.startswith("agent/")]


@pytest.mark.covers(
    "G-RULE-SCOPE-2",
    "G-RULE-SCOPE-3",
    "G-RULE-SCOPE-4",
    "G-RULE-UI-4",
    "G-RULE-FINISH-9",
    "G-FR-014",
)
async def test_two_sessions_of_one_repository_take_turns(stage: Stage) -> None:
    await stage.is_planned()
    await stage.approves()
    await stage.is_planned("Add receipts", OTHER)
    await stage.approves(OTHER)
    assert len(stage.panes.running()) == 2
    second = stage.session(OTHER)
    assert (second.status, second.queue.position) == (Status.QUEUED, 1)
    live = stage.chat.card("status")
    assert isinstance(live, StatusCard)
    assert live.waiting == 1, "the head says how many wait"

    await stage.agents_work(rounds=2)
    assert stage.session().phase is Phase.FINISHING
    assert stage.session(OTHER).status is Status.ACTIVE
    assert len(stage.panes.running()) == 2


@pytest.mark.covers("G-MODULE-1")
async def test_an_event_heard_twice_has_one_effect(stage: Stage) -> None:
    event = Said(id="same", at=stage.clock.now(), by=ANNA, text="Add discounts")
    await stage.tell(event)
    await stage.tell(event)
    assert kinds(stage) == ["received", "questions"]
    assert stage.llm.count == 1


async def test_a_stranger_starts_and_stops_nothing_and_is_told_so_alone(stage: Stage) -> None:
    await stage.is_planned()
    stranger = Person(platform="memory", id="U2", name="Anna")
    await stage.tell(Said(id="x", at=stage.clock.now(), by=stranger, text="approve"))
    assert stage.session().phase is Phase.APPROVING
    _, to, card = stage.chat.whispered[-1]
    assert to == stranger
    assert "may not" in str(card)


async def test_a_repository_that_cannot_be_used_is_explained_and_can_be_tried_again(
    stage: Stage,
) -> None:
    stage.repository.problem = Refused("There are no commits yet.", "Make a first commit.")
    await stage.says("Add discounts")
    card = stage.chat.card("failure")
    assert isinstance(card, ProblemCard)
    assert "no commits" in card.reason
    assert stage.session().status is Status.FAILED

    stage.repository.problem = None
    await stage.presses(Verb.TRY_AGAIN)
    assert isinstance(stage.chat.card("questions"), QuestionsCard)


@pytest.mark.covers("G-RULE-TMUX-1", "G-RULE-TMUX-2", "G-LIMIT-1")
async def test_missing_tmux_is_told_once_and_work_goes_on_when_it_is_there(stage: Stage) -> None:
    stage.panes.missing = "tmux is required"
    await stage.says("Add discounts")
    card = stage.chat.card("trouble:1")
    assert isinstance(card, ProblemCard)
    assert card.retrying
    await stage.clock.advance(30)
    await stage.settle()
    stage.panes.missing = ""
    await stage.clock.advance(120)
    await stage.settle()
    assert isinstance(stage.chat.card("questions"), QuestionsCard)
    over = stage.chat.card("trouble:1")
    assert isinstance(over, ProblemCard)
    assert over.over


@pytest.mark.covers("G-EDGE-3", "G-RULE-AI-2", "G-ASSUME-1")
async def test_a_model_that_is_down_for_an_hour_is_told_once_and_waited_for(stage: Stage) -> None:
    down = Unavailable("the model does not answer")
    stage.llm = type(stage.llm)(lambda call: down)
    await stage.close()
    await stage.open()
    await stage.says("Add discounts")
    for _ in range(60):
        await stage.clock.advance(60)
        await stage.settle()
    assert stage.llm.count <= 70
    assert kinds(stage).count("problem") == 1
    assert stage.session().status is Status.ACTIVE


@pytest.mark.covers("G-RULE-SPECKIT-5", "G-FR-013", "G-MODULE-2", "R-RULE-TASK-3")
async def test_a_model_that_talks_nonsense_is_asked_twice_more_then_done_without(
    stage: Stage,
) -> None:
    stage.llm = type(stage.llm)(lambda call: "I am a teapot")
    await stage.close()
    await stage.open()
    await stage.says("Add discounts")
    session = stage.session()
    assert session.phase is Phase.APPROVING
    assert [task.key for task in session.tasks] == ["T001"]
    # one who says the same wrong thing twice is not asked a third time
    assert stage.llm.count == 5 * 2
    assert isinstance(stage.approval_card(), ApprovalCard)


async def test_a_full_disk_loses_nothing_and_work_goes_on_when_there_is_room(stage: Stage) -> None:
    await stage.says("Add discounts")
    stage.store.full = True
    with pytest.raises(Unavailable):
        await stage.presses(Verb.DEFAULTS)
    assert stage.session().phase is Phase.CLARIFYING
    stage.store.full = False
    await stage.presses(Verb.DEFAULTS)
    assert stage.session().phase is Phase.APPROVING


async def test_commands_about_no_session_are_answered_without_one(stage: Stage) -> None:
    await stage.commands_(Word.HELP)
    await stage.commands_(Word.SESSIONS)
    await stage.commands_(Word.KEYS)
    titles = [getattr(card, "title", "") for _, _, card in stage.chat.whispered]
    assert titles == ["Commands", "Sessions", "Keys"]
    assert stage.store.sessions() == []


@pytest.mark.covers("G-EDGE-4", "G-RULE-STORE-6")
async def test_a_worktree_removed_by_hand_blocks_its_task_and_retry_makes_it_again(
    stage: Stage,
) -> None:
    await stage.is_planned()
    await stage.approves()
    task = stage.session().tasks[0]
    assert task.workspace
    assert task.run
    stage.worktrees.vanish(task.workspace.path)
    stage.panes.vanish(task.run.name)
    await stage.settle()
    task = stage.session().tasks[0]
    assert task.state is TaskState.BLOCKED
    assert "gone" in task.blocked

    await stage.presses(Verb.RETRY, f"{task.id}:{len(task.runs)}")
    assert stage.session().tasks[0].state is TaskState.RUNNING
    await stage.agents_work(rounds=3)
    assert stage.session().phase is Phase.FINISHING


async def test_agents_are_never_started_with_other_flags_than_were_approved(stage: Stage) -> None:
    await stage.is_planned()
    await stage.approves()
    await stage.commands_(Word.STOP)
    stage.agents.auto_flags = "--do-anything"
    started = list(stage.panes.started)
    await stage.commands_(Word.RESUME)
    assert stage.panes.started == started
    blocked = stage.session().in_state(TaskState.BLOCKED)
    assert [task.key for task in blocked][:2] == ["T001", "T002"]
    assert "--do-anything" in blocked[0].blocked


@pytest.mark.covers("G-US5.5", "G-EDGE-6", "G-RULE-MERGE-4", "G-FR-009")
async def test_a_conflict_that_was_left_to_an_agent_must_really_be_merged(stage: Stage) -> None:
    stage.drafts = [
        draft("T001", "Discount codes"),
        draft("T002", "Receipt"),
        draft("T003", "Checkout", "T001", "T002"),
    ]
    await stage.is_planned()
    await stage.approves()
    for number, name in enumerate(stage.panes.running()):
        stage.worktrees.agent_commits(
            stage.panes.folders[name], {"same.py": f"x = {number}\n"}, f"feat: {name}"
        )
        stage.panes.finish(name)
    await stage.settle()
    third = stage.session().tasks[2]
    assert third.run
    assert third.run.why is Why.CONFLICT

    await stage.agents_work()

    third = stage.session().tasks[2]
    assert third.state is TaskState.RUNNING
    assert third.runs[-1].why is Why.NO_EVIDENCE
    assert "not merged into your branch" in third.runs[-1].feedback
