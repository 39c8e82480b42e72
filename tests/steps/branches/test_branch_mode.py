"""Branch mode: what is seen without a session, a model or tmux; what is merged and deleted only as it was shown."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.core.cards import AnswerCard
from bot.core.choices import Choice, Verb, Word
from bot.core.errors import Unavailable
from bot.core.layout import lay_out
from bot.core.llm import ModelChoice
from bot.core.projections.audit import Decision
from bot.core.sheets import markdown
from bot.core.states import TaskState
from tests.core.at_the_desk import CHANNEL, GATE, SECOND, STARTER, commanded, desk_of, pressed
from tests.fakes.chat import THREAD
from tests.stories.stage import Stage

DIRECT_THREAD = THREAD.model_copy(update={"channel": "D1", "direct": True})


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.open()
    yield stage
    await stage.close()


def person_works(stage: Stage, name: str = "feature/a") -> str:
    there = stage.repository
    there.heads[name] = there.heads["main"]
    return there.commit(name, {"new.py": "new = 1\n"}, "Add new")


def cards(stage: Stage) -> list[AnswerCard]:
    """Every state of the branch's card, in order."""
    return [c for _, c in stage.chat.shown if isinstance(c, AnswerCard) and "branch:" in c.key]


def text(card: AnswerCard) -> str:
    return markdown(lay_out(card)).replace("\\", "")


def button(stage: Stage, verb: Verb) -> Choice:
    return next(choice for choice in cards(stage)[-1].choices if choice.verb is verb)


def whispered(stage: Stage) -> str:
    _, _, card = stage.chat.whispered[-1]
    return markdown(lay_out(card)).replace("\\", "")


async def presses(stage: Stage, choice: Choice) -> None:
    await stage.presses(choice.verb, choice.about)


@pytest.mark.covers("G-RULE-BRANCHMODE-1")
async def test_every_branch_is_listed_with_its_session_and_task(stage: Stage) -> None:
    person_works(stage)
    await stage.is_planned()
    await stage.approves()
    await stage.commands_(Word.BRANCHES, thread=CHANNEL)
    task = stage.session().tasks[0]
    assert task.workspace is not None
    told = whispered(stage)
    assert "feature/a" in told
    assert task.workspace.branch in told
    assert f"T001 Running · {stage.session().short}" in told
    assert "1 ahead" in told


@pytest.mark.covers("G-FR-016")
async def test_many_branches_stand_in_a_table_and_no_agents_branch_is_left_out(
    stage: Stage,
) -> None:
    for number in range(30):
        person_works(stage, f"agent/n{number}")
    await stage.commands_(Word.BRANCHES, thread=CHANNEL)
    told = whispered(stage)
    assert all(f"| agent/n{number} |" in told for number in range(30))


@pytest.mark.covers("G-FR-001a", "G-SC-001", "G-OUT-6")
async def test_details_stand_before_the_model_is_asked_and_its_summary_joins_the_same_card(
    stage: Stage,
) -> None:
    person_works(stage)
    await stage.commands_(Word.BRANCH, "feature/a", SECOND)
    first, last = cards(stage)
    assert first.key == last.key
    assert "The model is reading it" in text(first)
    assert "Add new" in text(first)
    assert "It adds a file." in text(last)
    assert "reading it" not in text(last)


async def test_what_has_not_moved_is_not_read_again(stage: Stage) -> None:
    person_works(stage)
    await stage.commands_(Word.BRANCH, "feature/a", SECOND)
    asked = len(stage.llm.calls)
    await stage.commands_(Word.BRANCH, "feature/a", SECOND)
    assert len(stage.llm.calls) == asked
    assert "It adds a file." in text(cards(stage)[-1])


async def test_what_two_talk_of_alone_is_neither_told_to_the_model_nor_summed_up_elsewhere(
    stage: Stage,
) -> None:
    await stage.is_planned(thread=DIRECT_THREAD)
    await stage.approves(DIRECT_THREAD)
    workspace = stage.session(DIRECT_THREAD).tasks[0].workspace
    assert workspace
    stage.repository.commit(workspace.branch, {"a.py": "a = 1\n"}, "Add a")
    for thread, known in ((SECOND, False), (DIRECT_THREAD, True)):
        await stage.commands_(Word.BRANCH, workspace.branch, thread)
        assert (stage.session(DIRECT_THREAD).tasks[0].name in stage.llm.calls[-1].data) is known


async def test_what_its_summary_cost_is_told_among_the_usage(stage: Stage) -> None:
    person_works(stage)
    await stage.commands_(Word.USAGE, thread=CHANNEL)
    assert "No model has been asked yet" in whispered(stage)
    await stage.commands_(Word.BRANCH, "feature/a", SECOND)
    await stage.commands_(Word.USAGE, thread=CHANNEL)
    assert "Branches and intents" in whispered(stage)
    assert "1 call, about" in whispered(stage)


async def test_a_model_that_is_away_takes_nothing_from_the_card(stage: Stage) -> None:
    person_works(stage)

    async def away(*_: object, **__: object) -> object:
        raise Unavailable("the model does not answer", "Try again later.")

    stage.llm.complete = away  # type: ignore[method-assign]
    await stage.commands_(Word.BRANCH, "feature/a", SECOND)
    told = text(cards(stage)[-1])
    assert "No summary now: the model does not answer" in told
    assert "Add new" in told
    assert button(stage, Verb.MERGE_BRANCH)


async def test_without_a_model_the_card_names_the_settings() -> None:
    stage = Stage()
    person_works(stage)
    await stage.open()
    stage.preferences.chosen = ModelChoice(provider="custom", missing="OPENAI_MODEL is not set")
    await stage.commands_(Word.BRANCH, "feature/a", SECOND)
    await stage.close()
    [card] = cards(stage)
    assert "AI settings are required: OPENAI_MODEL is not set" in text(card)
    assert stage.llm.calls == []


async def test_in_a_channel_the_card_begins_a_thread_so_that_it_can_be_edited(stage: Stage) -> None:
    person_works(stage)
    await stage.commands_(Word.BRANCH, "feature/a", CHANNEL)
    threads = {thread.key for thread, card in stage.chat.shown if "branch:" in card.key}
    assert len(threads) == 1
    assert len(cards(stage)) == 2


@pytest.mark.covers("G-FR-016")
async def test_merging_moves_the_base_and_says_who_did_it(stage: Stage) -> None:
    tip = person_works(stage)
    await stage.commands_(Word.BRANCH, "feature/a")
    await presses(stage, button(stage, Verb.MERGE_BRANCH))
    there = stage.repository
    assert tip in there.ancestors(there.heads["main"])
    assert "Merged into main by Anna" in text(cards(stage)[-1])
    assert stage.worktrees.standing == {}
    # what is merged can go, and nothing is lost with it
    assert "Nothing is lost" in button(stage, Verb.DELETE_BRANCH).confirm


async def test_a_collision_is_told_and_nothing_is_moved(stage: Stage) -> None:
    person_works(stage)
    there = stage.repository
    there.commit("main", {"new.py": "other = 1\n"}, "Other")
    before = there.heads["main"]
    await stage.commands_(Word.BRANCH, "feature/a")
    await presses(stage, button(stage, Verb.MERGE_BRANCH))
    assert there.heads["main"] == before
    assert "collide in new.py" in whispered(stage)
    assert stage.worktrees.standing == {}


async def test_peoples_uncommitted_work_is_never_merged_over(stage: Stage) -> None:
    person_works(stage)
    stage.repository.changes = {"README.md": "mine\n"}
    before = stage.repository.heads["main"]
    await stage.commands_(Word.BRANCH, "feature/a")
    await presses(stage, button(stage, Verb.MERGE_BRANCH))
    assert stage.repository.heads["main"] == before
    assert "uncommitted changes" in whispered(stage)


@pytest.mark.covers("G-RULE-BRANCHMODE-2")
async def test_the_question_before_deleting_names_what_would_be_lost(stage: Stage) -> None:
    tip = person_works(stage)
    await stage.commands_(Word.BRANCH, "feature/a")
    delete = button(stage, Verb.DELETE_BRANCH)
    assert "lose 1 commit" in delete.confirm
    assert f"{tip[:7]} Add new" in delete.confirm
    await presses(stage, delete)
    assert "feature/a" not in stage.repository.heads
    assert f"git branch feature/a {tip[:10]} brings it back" in text(cards(stage)[-1])
    assert cards(stage)[-1].choices == ()


@pytest.mark.parametrize("verb", [Verb.MERGE_BRANCH, Verb.DELETE_BRANCH])
async def test_a_press_on_what_has_changed_since_does_nothing(stage: Stage, verb: Verb) -> None:
    person_works(stage)
    await stage.commands_(Word.BRANCH, "feature/a")
    old = button(stage, verb)
    newer = stage.repository.commit("feature/a", {"new.py": "new = 2\n"}, "More")
    before = dict(stage.repository.heads)
    await presses(stage, old)
    assert stage.repository.heads == before
    assert "has changed since that was shown" in whispered(stage)
    assert newer[:7] in text(cards(stage)[-1])


async def test_a_press_twice_does_it_once(stage: Stage) -> None:
    person_works(stage)
    await stage.commands_(Word.BRANCH, "feature/a")
    delete = button(stage, Verb.DELETE_BRANCH)
    await presses(stage, delete)
    await presses(stage, delete)
    assert "There is no branch feature/a" in whispered(stage)


@pytest.mark.parametrize("about", ["", "x", "a:b:c:1:main:feature/a", "a:b:c:d:e:f", ":::0::"])
async def test_a_forged_press_does_nothing(stage: Stage, about: str) -> None:
    person_works(stage)
    before = dict(stage.repository.heads)
    await stage.presses(Verb.DELETE_BRANCH, about)
    assert stage.repository.heads == before


async def test_what_is_checked_out_or_built_upon_offers_no_deletion(stage: Stage) -> None:
    await stage.is_planned()
    await stage.approves()
    session = stage.session()
    running = session.tasks[0].workspace
    assert running is not None
    assert session.plan.spec is not None
    for name in ("main", running.branch, session.plan.spec.workspace.branch):
        await stage.commands_(Word.BRANCH, name)
        verbs = [choice.verb for choice in cards(stage)[-1].choices]
        assert Verb.DELETE_BRANCH not in verbs
        assert "It cannot be deleted now" in text(cards(stage)[-1])


async def test_who_may_only_begin_work_looks_but_changes_nothing(stage: Stage) -> None:
    await stage.close()
    stage.gate = GATE
    person_works(stage)
    await stage.open()
    desk = desk_of(stage)
    assert await desk.take(THREAD, commanded(Word.BRANCH, "feature/a", STARTER, id="look"))
    await stage.settle()
    delete = button(stage, Verb.DELETE_BRANCH)
    before = dict(stage.repository.heads)
    assert not await desk.take(THREAD, pressed(delete.verb, delete.about, STARTER, id="delete"))
    assert stage.repository.heads == before


@pytest.mark.covers("G-US1.5")
async def test_looking_leaves_every_agent_at_work(stage: Stage) -> None:
    await stage.is_planned()
    await stage.approves()
    running = stage.panes.running()
    await stage.commands_(Word.BRANCHES)
    await stage.commands_(Word.BRANCH, "main")
    assert stage.panes.running() == running
    assert stage.session().in_state(TaskState.RUNNING)


@pytest.mark.covers("G-RULE-TMUX-3")
async def test_without_tmux_branches_are_there(stage: Stage) -> None:
    stage.panes.missing = "tmux is required"
    person_works(stage)
    await stage.commands_(Word.BRANCHES, thread=CHANNEL)
    assert "feature/a" in whispered(stage)


async def test_a_word_among_people_is_no_command(stage: Stage) -> None:
    await stage.is_planned()
    desk = desk_of(stage)
    await desk.take(THREAD, commanded(Word.BRANCH, "out", mention=False, id="talk"))
    await stage.settle()
    assert cards(stage) == []
    assert "branch out" in [message.content for message in stage.session().conversation]


async def test_what_was_done_to_a_branch_is_in_the_audit_log(stage: Stage) -> None:
    person_works(stage)
    await stage.commands_(Word.BRANCH, "feature/a")
    await presses(stage, button(stage, Verb.MERGE_BRANCH))
    wanted, done = stage.audit.entries
    assert (wanted.what, wanted.decision) == ("press merge_branch", Decision.ALLOWED)
    assert (done.what, done.decision) == ("press merge_branch", Decision.DONE)
    assert "Merged into main" in done.why
