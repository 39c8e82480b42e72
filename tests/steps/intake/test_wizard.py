"""`spec`: documents and nothing more. No agent, no tmux; and whoever wants carries it on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.core import approval
from bot.core.cards import ApprovalCard, DocumentCard, RootCard
from bot.core.choices import Command, Verb, Word, parse_command
from bot.core.events import Commanded
from bot.core.layout import lay_out
from bot.core.naming import derived_id
from bot.core.people import Thread
from bot.core.session import Session
from bot.core.sheets import Tone
from bot.core.states import Phase, Status
from bot.steps.control import commands
from tests.core.at_the_desk import CHANNEL, SECOND, commanded, desk_of
from tests.fakes.chat import ANNA, THREAD
from tests.stories.stage import Stage


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.open()
    yield stage
    await stage.close()


async def asks(stage: Stage, text: str = "a dark mode", thread: Thread = CHANNEL) -> None:
    command = Command(word=Word.SPEC, text=text)
    at = stage.clock.now()
    await stage.tell(Commanded(id=f"spec {text}", at=at, by=ANNA, command=command), thread)


def written(stage: Stage) -> Session:
    """The session of the spec."""
    record = stage.store.find(derived_id("spec a dark mode", "spec"))
    assert record is not None
    return record.session


async def answers(stage: Stage) -> Session:
    """Takes all defaults."""
    await stage.presses(Verb.DEFAULTS, thread=written(stage).thread)
    return written(stage)


def last_approval(stage: Stage) -> ApprovalCard:
    return [card for _, card in stage.chat.shown if isinstance(card, ApprovalCard)][-1]


@pytest.mark.covers("G-RULE-WIZARD-1")
@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("spec a dark mode", "a dark mode"),
        ("/spec ダークモード\nと設定", "ダークモード\nと設定"),
        ("!Spec  x", "x"),
        ("spec", ""),
    ],
)
def test_what_stands_behind_the_word_is_the_description(said: str, text: str) -> None:
    assert parse_command(said) == Command(word=Word.SPEC, text=text)


def test_a_word_that_only_begins_so_is_talk() -> None:
    assert parse_command("specify it better") is None


@pytest.mark.covers("G-RULE-SPECKIT-9", "G-RULE-WIZARD-2")
async def test_a_spec_is_written_in_a_thread_of_its_own_and_is_over(stage: Stage) -> None:
    await asks(stage)
    session = await answers(stage)
    roots = [card for _, card in stage.chat.shown if isinstance(card, RootCard)]
    documents = [card for _, card in stage.chat.shown if isinstance(card, DocumentCard)]
    assert [card.title for card in roots] == ["Spec: a dark mode"]
    assert [card.file for card in documents] == ["spec.md", "plan.md", "tasks.md"]
    assert (session.status, session.phase) == (Status.COMPLETED, Phase.APPROVING)
    assert stage.panes.started == []
    assert session.plan.spec is not None
    # in the repository, on a branch of its own; the worktree is gone again
    branch = session.plan.spec.workspace.branch
    files = stage.repository.commits[stage.repository.heads[branch]].files
    assert {f"specs/{session.plan.spec.id}/{name}.md" for name in ("spec", "plan", "tasks")} <= set(
        files
    )
    assert stage.worktrees.standing == {}
    assert stage.repository.branch == "main"


@pytest.mark.covers("G-RULE-WIZARD-4")
async def test_nothing_waits_for_anybody_when_it_is_written(stage: Stage) -> None:
    await asks(stage)
    session = await answers(stage)
    assert list(commands.waiting_titles(session)) == []
    laid = lay_out(last_approval(stage))
    assert laid.tone is Tone.SUCCESS
    assert session.plan.spec is not None
    assert session.plan.spec.workspace.branch in str(laid.body)
    # what Enter presses starts nothing
    assert [choice.verb for choice in laid.choices] == [Verb.CHANGE, Verb.APPROVE]


async def test_the_thread_a_mention_begins_is_taken_where_nothing_goes_on(stage: Stage) -> None:
    await asks(stage, thread=SECOND)
    assert written(stage).thread == SECOND
    assert not [card for _, card in stage.chat.shown if isinstance(card, RootCard)]


@pytest.mark.covers("G-FR-019")
async def test_in_the_thread_of_a_session_it_begins_beside_it(stage: Stage) -> None:
    await stage.is_planned()
    await asks(stage, thread=THREAD)
    assert written(stage).thread != THREAD
    assert stage.session().phase is Phase.APPROVING


async def test_it_needs_neither_tmux_nor_an_agent(stage: Stage) -> None:
    stage.panes.missing = "tmux is required"
    stage.agents.problems["played"] = "claude is not installed"
    await asks(stage)
    session = await answers(stage)
    assert session.status is Status.COMPLETED
    assert any("claude is not installed" in warning for warning in session.repository.warnings)


@pytest.mark.covers("G-FR-019")
async def test_run_it_carries_it_on_as_a_session_like_any_other(stage: Stage) -> None:
    await asks(stage)
    session = await answers(stage)
    await stage.presses(Verb.APPROVE, approval.offer(session), thread=session.thread)
    session = written(stage)
    assert (session.request.spec_only, session.phase) == (False, Phase.EXECUTING)
    assert stage.panes.started
    assert session.approval.granted is not None


async def test_what_is_run_ends_like_any_other(stage: Stage) -> None:
    await asks(stage)
    session = await answers(stage)
    await stage.presses(Verb.APPROVE, approval.offer(session), thread=session.thread)
    await stage.agents_work(rounds=3)
    await stage.presses(Verb.KEEP, thread=session.thread)
    session = written(stage)
    assert (session.status, session.phase) == (Status.COMPLETED, Phase.DONE)
    assert session.ending.leftovers


async def test_what_is_run_and_discarded_is_cleaned_up(stage: Stage) -> None:
    await asks(stage)
    session = await answers(stage)
    await stage.presses(Verb.APPROVE, approval.offer(session), thread=session.thread)
    assert stage.worktrees.standing
    await stage.presses(Verb.DISCARD, thread=session.thread)
    assert stage.worktrees.standing == {}
    assert "Discarded" in [lay_out(card).title for _, card in stage.chat.shown]


@pytest.mark.covers("G-RULE-WIZARD-4")
async def test_a_mere_ok_starts_nothing_once_it_is_over(stage: Stage) -> None:
    await asks(stage)
    session = await answers(stage)
    await stage.says("ok", session.thread)
    assert stage.panes.started == []
    await stage.says("Run it.", session.thread)
    assert stage.panes.started


async def test_a_change_makes_a_new_revision_and_it_is_over_again(stage: Stage) -> None:
    await asks(stage)
    session = await answers(stage)
    offer = approval.offer(session)
    await stage.presses(Verb.CHANGE, offer, "Only in the evening", session.thread)
    session = written(stage)
    assert session.plan.spec is not None
    assert (session.status, session.plan.spec.revision) == (Status.COMPLETED, 2)


async def test_a_change_without_a_word_leaves_it_over(stage: Stage) -> None:
    await asks(stage)
    session = await answers(stage)
    await stage.presses(Verb.CHANGE, approval.offer(session), " ", session.thread)
    assert "What should be different?" in lay_out(stage.chat.whispered[-1][2]).title
    assert (written(stage).status, written(stage).phase) == (Status.COMPLETED, Phase.APPROVING)
    await stage.says("ok", session.thread)
    assert stage.panes.started == []


async def reopens(stage: Stage, text: str = "") -> Session:
    command = Command(word=Word.REOPEN, argument="D1", text=text)
    at = stage.clock.now()
    event = Commanded(id=f"reopen {text}", at=at, by=ANNA, command=command)
    await stage.tell(event, written(stage).thread)
    return written(stage)


async def test_a_decision_taken_anew_makes_a_new_revision_and_it_is_over_again(
    stage: Stage,
) -> None:
    await asks(stage)
    await answers(stage)
    session = await reopens(stage, "yes")
    assert session.plan.spec is not None
    assert (session.status, session.phase) == (Status.COMPLETED, Phase.APPROVING)
    assert (session.plan.spec.revision, bool(session.plan.spec.commit)) == (2, True)


async def test_a_decision_that_is_opened_again_can_be_answered(stage: Stage) -> None:
    await asks(stage)
    await answers(stage)
    session = await reopens(stage)
    assert (session.status, session.phase) == (Status.ACTIVE, Phase.CLARIFYING)
    session = await answers(stage)
    assert session.plan.spec is not None
    assert (session.status, session.plan.spec.revision) == (Status.COMPLETED, 2)


async def test_a_press_on_what_is_not_shown_any_more_starts_nothing(stage: Stage) -> None:
    await asks(stage)
    session = await answers(stage)
    await stage.presses(Verb.APPROVE, "an older one", thread=session.thread)
    assert (stage.panes.started, written(stage).status) == ([], Status.COMPLETED)


async def test_more_can_be_said_again_and_again(stage: Stage) -> None:
    told = {"verdict": "continue", "reason": "More of the same."}
    plain = stage.answers
    stage.answers = lambda heading, data: told if heading == "continue" else plain(heading, data)  # type: ignore[method-assign]
    await asks(stage)
    session = await answers(stage)
    for revision in (2, 3):
        await stage.says(f"And something more, {revision}", session.thread)
        spec = written(stage).plan.spec
        assert spec is not None
        assert (written(stage).status, spec.revision) == (Status.COMPLETED, revision)


async def test_the_same_command_twice_begins_one(stage: Stage) -> None:
    await asks(stage)
    await stage.revive()
    await asks(stage)
    assert len(stage.store.sessions()) == 1


@pytest.mark.parametrize(
    ("text", "told"), [("", "what it is about"), ("x repo:no", "no repository no")]
)
async def test_what_cannot_be_begun_is_told(stage: Stage, text: str, told: str) -> None:
    await asks(stage, text)
    _, _, card = stage.chat.whispered[-1]
    assert told in lay_out(card).title
    assert stage.store.sessions() == []


async def test_who_may_not_begin_work_begins_no_spec(stage: Stage) -> None:
    stranger = ANNA.model_copy(update={"id": "U9"})
    assert not await desk_of(stage).take(CHANNEL, commanded(Word.SPEC, "", stranger, id="no"))
    assert stage.store.sessions() == []
