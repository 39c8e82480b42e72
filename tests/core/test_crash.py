"""The bot may die before or after any call to the world. It must finish, lose nothing, and do nothing twice."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncGenerator

import pytest

from bot.core.cards import StoppedCard, SummaryCard
from bot.core.choices import Verb, Word
from bot.core.states import OverallStatus, Phase, Status, TaskState
from tests.fakes.commands import PASSED
from tests.faults.figures import every_day
from tests.stories.stage import FAILED, Fate, Stage

CHUNKS = 12
DOUBLE_CRASHES = 80
TIMES = ("before", "after")


async def whole_story(fate: Fate) -> Stage:
    """Request, questions, approval, agents, a stop and a resume, a failing test, the merge, the end."""
    stage = Stage(fate)
    stage.commands.answer(PASSED, FAILED, PASSED)
    await stage.open()
    await stage.says("Add discounts")
    await stage.presses(Verb.DEFAULTS)
    await stage.approves()
    await stage.commands_(Word.STOP)
    await stage.commands_(Word.RESUME)
    await stage.agents_work(rounds=6)
    await stage.presses(Verb.MERGE)
    await stage.close()
    return stage


def faults(stage: Stage) -> list[str]:
    """What is not as it must be at the end of the story."""
    session = stage.session()
    found = [f"{name} started twice" for name, n in Counter(stage.panes.started).items() if n > 1]
    if (session.status, session.phase) != (Status.COMPLETED, Phase.DONE):
        found.append(f"not finished: {session.status} {session.phase}")
    found += [f"{t.key} is {t.state}" for t in session.tasks if t.state is not TaskState.COMPLETED]
    if stage.repository.heads["main"] != session.ending.merged_commit:
        found.append("the base is not where it should be")
    merged = stage.repository.ancestors(stage.repository.heads["main"])
    found += [
        f"{commit.subject} is lost"
        for commit in stage.repository.commits.values()
        if commit.subject.startswith("feat: run-") and commit.sha not in merged
    ]
    if stage.worktrees.standing:
        found.append(f"left: {list(stage.worktrees.standing)}")
    return found + shown_wrong(stage)


def shown_wrong(stage: Stage) -> list[str]:
    cards = stage.chat.cards()
    keys = Counter(card.key for card in cards)
    found = [f"{key} stands twice" for key, n in keys.items() if n > 1]
    if sum(isinstance(card, StoppedCard) for card in cards) != 1:
        found.append("the stop was not shown exactly once")
    summaries = [card for card in cards if isinstance(card, SummaryCard)]
    if len(summaries) != 1 or summaries[0].result.overall_status is not OverallStatus.COMPLETE:
        found.append("no summary that says COMPLETE")
    if sum(card.kind == "approval" for card in cards) != 1:
        found.append("the approval was not asked for exactly once")
    return found


async def calls_of_the_story() -> int:
    fate = Fate()
    stage = await whole_story(fate)
    assert faults(stage) == []
    return fate.calls


async def test_the_story_without_a_crash_is_long_enough_to_mean_something() -> None:
    assert await calls_of_the_story() > 150


@pytest.mark.covers(
    "G-US7.1",
    "G-US7.2",
    "G-US7.3",
    "G-RULE-STORE-1",
    "G-FR-011",
    "G-SC-005",
    "G-MODULE-1",
    "B-FLOW-RUN-2",
    "B-FLOW-RUN-5",
    "B-OP-claimNextTask",
    "B-OP-releaseTask",
    "O-P2",
)
@pytest.mark.parametrize("chunk", every_day(range(3), range(3, CHUNKS)))
async def test_a_crash_at_any_call_loses_nothing_and_doubles_nothing(chunk: int) -> None:
    """By turns before it and after it."""
    assert [wrong async for wrong in _after_crashes(chunk, 0)] == []


@pytest.mark.faults
@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_a_crash_at_the_other_side_of_any_call_loses_and_doubles_nothing(chunk: int) -> None:
    assert [wrong async for wrong in _after_crashes(chunk, 1)] == []


async def _after_crashes(chunk: int, turn: int) -> AsyncGenerator[str, None]:
    calls = await calls_of_the_story()
    for call in range(1 + chunk, calls + 1, CHUNKS):
        fate = Fate((call, TIMES[(call + call // CHUNKS + turn) % 2]))
        for fault in faults(await whole_story(fate)):
            yield f"call {call} ({fate.where}): {fault}"


@pytest.mark.covers("G-US7.3", "R-PROPERTY-37", "O-P2")
@pytest.mark.parametrize("chunk", every_day(range(1), range(1, 4)))
async def test_two_crashes_at_random_calls_lose_nothing_and_double_nothing(chunk: int) -> None:
    calls = await calls_of_the_story()
    wrong: list[str] = []
    for seed in range(chunk, DOUBLE_CRASHES, 4):
        chance = random.Random(seed)  # noqa: S311 - a seed, so that a failing one can be played again
        strikes = [(chance.randint(1, calls), chance.choice(TIMES)) for _ in range(2)]
        fate = Fate(*strikes)
        wrong += [f"seed {seed} {strikes}: {fault}" for fault in faults(await whole_story(fate))]
    assert wrong == []
