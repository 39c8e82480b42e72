"""One session's life: in order, one save at a time, and never at the cost of another session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.domain.cards import Card, NewsCard, ProblemCard
from bot.domain.choices import Verb
from bot.domain.people import Thread
from bot.domain.states import Phase, Status, TaskState
from bot.errors import Refused
from tests.fakes.chat import THREAD, MemoryChat
from tests.fakes.llm import Call
from tests.stories.stage import Stage

OTHER = Thread(platform="memory", workspace="W1", channel="C1", root="2")


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    yield stage
    await stage.close()


class HastyChat(MemoryChat):
    """Each card travels faster than the one before it."""

    async def show(self, thread: Thread, card: Card) -> None:
        for _ in range(max(0, 20 - self.calls)):
            await asyncio.sleep(0)
        await super().show(thread, card)


async def test_cards_arrive_in_the_order_they_were_decided(stage: Stage) -> None:
    stage.chat = HastyChat()
    await stage.open()
    await stage.is_planned()
    kinds = [card.kind for card in stage.chat.cards()]
    assert kinds == ["received", "questions", "document", "document", "document", "approval"]


async def test_a_bug_ends_its_own_session_and_no_other(stage: Stage) -> None:
    def model(call: Call) -> str:
        if "break" in call.data:
            raise ZeroDivisionError
        return '{"title": "x", "questions": []}'

    stage.llm = type(stage.llm)(model)
    await stage.open()
    await stage.says("break it")
    await stage.says("build it", OTHER)
    failure = stage.chat.card("failure")
    assert isinstance(failure, ProblemCard)
    assert "ZeroDivisionError" not in str(failure), (
        "people get a sentence, the log gets the traceback"
    )
    assert stage.session().status is Status.FAILED
    assert stage.session(OTHER).status is Status.ACTIVE
    assert stage.session(OTHER).phase is Phase.APPROVING


async def test_a_session_that_goes_in_circles_is_ended(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    stage.worktrees.problem = Refused("taken")
    await stage.approves()
    await stage.settle()
    assert stage.session().status is Status.FAILED
    assert len(stage.panes.started) == 0


async def test_a_disk_that_fills_up_while_deciding_is_told_once_and_loses_nothing(
    stage: Stage,
) -> None:
    await stage.open()
    stage.llm.hold()
    await stage.says("Add discounts")
    stage.store.full = True
    stage.llm.release()
    await stage.settle()
    for _ in range(5):
        await stage.clock.advance(3)
        await stage.settle()
    assert [card.key for card in stage.chat.cards()].count("disk") == 1
    assert stage.session().asked is False

    stage.store.full = False
    await stage.clock.advance(3)
    await stage.settle()
    assert stage.session().asked is True
    assert stage.llm.count == 1, "the answer that could not be saved was kept, not asked for again"


async def test_three_sessions_of_a_repository_run_one_after_the_other_in_the_order_they_came(
    stage: Stage,
) -> None:
    await stage.open()
    threads = [Thread(platform="memory", workspace="W1", channel="C1", root=root) for root in "abc"]
    for thread in threads:
        await stage.is_planned(f"Request {thread.root}", thread)
        await stage.approves(thread)
        await stage.clock.advance(1)
    positions = [stage.session(thread).queue_position for thread in threads]
    assert positions == [None, 1, 2]
    served: list[str] = []
    for _ in range(12):
        active = [t for t in threads if stage.session(t).has_place]
        assert len(active) <= 1
        if active and active[0].root not in served:
            served.append(active[0].root)
        await stage.agents_work()
    assert served == ["a", "b", "c"]


async def test_a_stopped_session_lets_the_next_one_go_first(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.is_planned("Another", OTHER)
    await stage.approves(OTHER)
    await stage.presses(Verb.STOP)
    assert stage.session(OTHER).has_place
    await stage.presses(Verb.RESUME)
    assert stage.session().status is Status.QUEUED


async def test_after_a_restart_the_holder_keeps_its_place(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.is_planned("Another", OTHER)
    await stage.approves(OTHER)
    await stage.revive()
    await stage.settle()
    assert stage.session().has_place
    assert stage.session(OTHER).status is Status.QUEUED
    assert len(stage.panes.running()) == 2


async def test_a_session_of_a_chat_that_is_gone_waits_instead_of_working_unseen(
    stage: Stage,
) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    stage.platform = "elsewhere"
    await stage.revive()
    await stage.settle()
    assert stage.session().status is Status.PAUSED
    assert stage.panes.running() == ()


async def test_news_are_not_told_again_after_a_restart(stage: Stage) -> None:
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    await stage.agents_work()
    before = [card for card in stage.chat.cards(THREAD) if isinstance(card, NewsCard)]
    await stage.revive()
    await stage.settle()
    assert [card for card in stage.chat.cards(THREAD) if isinstance(card, NewsCard)] == before
    states = [task.state for task in stage.session().tasks]
    assert states[:2] == [TaskState.COMPLETED, TaskState.COMPLETED]
