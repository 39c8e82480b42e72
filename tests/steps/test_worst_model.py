"""Two thousand turns with the worst model there is: people keep the say, no bound breaks, and the bot never does."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from bot.core.cards import ApprovalCard, SummaryCard
from bot.core.choices import Verb
from bot.core.states import Status
from bot.steps.plan import MAX_ROUNDS
from tests.faults.figures import every_day
from tests.steps.worst import deeds, rules
from tests.steps.worst.people import People
from tests.steps.worst.scene import Scene
from tests.stories.stage import Stage, draft

SEEDS = 24
TURNS = 90
"""Of each seed."""
TOLD = 12
"""Of the last turns, where something was wrong."""
FAR = {"run", "plan changed", "change confirmed", "change forgotten", "opened", "continued", "end"}


def scene_of(seed: int) -> Scene:
    return Scene(seed, deeds.wrong_start, deeds.wrong_merge)


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        f"{record.name}: {record.getMessage()} {record.exc_text or ''}"
        for record in caplog.records
        if record.levelno >= logging.ERROR
    ]


async def play(scene: Scene, caplog: pytest.LogCaptureFixture, turns: int = TURNS) -> list[str]:
    """What was wrong in the first turn in which anything was, and what was done last."""
    people, told = People(scene), list[str]()
    for turn in range(1, turns + 1):
        scene.watched.touched.clear()
        scene.watched.moved.clear()
        before = rules.standing(scene)
        done, answered = len(scene.ledger.deeds), scene.worst.answered
        await people.turn()
        told.append(f"{turn}: {people.did}")
        wrong = [*scene.ledger.faults, *errors(caplog)]
        wrong += [fault for rule in rules.RULES for fault in rule(scene)]
        wrong += rules.few_questions(scene, scene.worst.answered - answered)
        if len(scene.ledger.deeds) == done + 1:
            wrong += rules.undisturbed(scene, before)
        if wrong:
            return [f"seed {scene.seed}, turn {turn}", *wrong, *told[-TOLD:]]
    return []


@pytest.mark.parametrize("seed", every_day(range(6), range(6, SEEDS)))
async def test_whatever_the_model_says_people_keep_the_say_and_nothing_breaks(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    scene = scene_of(seed)
    await scene.open()
    try:
        assert await play(scene, caplog) == []
    finally:
        await scene.close()


def reached(scene: Scene) -> Iterator[str]:
    """How far these turns have come."""
    yield from ["run"] * bool(scene.panes.started)
    yield from ["opened"] * bool(scene.ledger.roots)
    yield from ["continued"] * any(session.ending.rounds for session in scene.sessions)
    said = {"Changes requested": "plan changed", "Forgotten": "change forgotten"}
    said |= {"Change confirmed": "change confirmed"}
    for _, card in scene.chat.shown:
        if isinstance(card, ApprovalCard) and card.decided and card.decided.what in said:
            yield said[card.decided.what]
        if isinstance(card, SummaryCard):
            yield "end"


async def test_the_turns_reach_far_enough_to_mean_something(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: set[str] = set()
    for seed in range(SEEDS, 2 * SEEDS):
        scene = scene_of(seed)
        await scene.open()
        try:
            assert await play(scene, caplog) == []
        finally:
            await scene.close()
        seen |= set(reached(scene))
        if seen >= FAR:
            break
    assert seen >= FAR


class AlwaysMore(Stage):
    """To its model everything that is said after the end is more of the same."""

    def answers(self, heading: str, told: dict[str, Any]) -> object:
        match heading:
            case "clarify":
                return {"title": "Add discounts", "risk": "low", "questions": []}
            case "continue":
                return {"verdict": "continue", "reason": "More of the same."}
            case _:
                return super().answers(heading, told)


@pytest.mark.covers("B-WHY-3")
async def test_a_session_goes_on_ten_times_and_then_what_is_wanted_is_a_new_one() -> None:
    stage = AlwaysMore(drafts=[draft("T001", "Discount codes")])
    await stage.open()
    try:
        await stage.says("Add discounts")
        for _ in range(MAX_ROUNDS + 2):
            await stage.approves()
            await stage.agents_work()
            await stage.presses(Verb.KEEP)
            assert stage.session().status is Status.COMPLETED
            await stage.says("And more")
            if stage.session().over:
                break
        assert stage.session().ending.rounds == MAX_ROUNDS
        assert stage.session().over
        assert len(stage.store.records) == 2
    finally:
        await stage.close()
