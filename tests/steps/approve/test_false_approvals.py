"""A thousand approvals that are stale, foreign, forged or not theirs to give: none counts, and the true one still does."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from bot.core.choices import Verb
from bot.core.events import FromPeople, Pressed, Said
from bot.core.people import Person
from bot.core.states import Phase
from tests.core.at_the_desk import AKI, ANDY, GATE, NOBODY, STARTER
from tests.fakes.chat import ANNA, THREAD
from tests.stories.stage import THREE, Stage

COUNT = 1000
ALLOWED_ELSEWHERE = Person(platform="other", id=ANNA.id, name="Anna")
NAMESAKE = Person(platform="memory", id="U9", name="Anna")
OUTSIDER = ANNA.model_copy(update={"outsider": True})
OTHERS = (NOBODY, STARTER, ALLOWED_ELSEWHERE, NAMESAKE, OUTSIDER)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    stage.gate = GATE
    await stage.open()
    yield stage
    await stage.close()


def changed_by_one(offer: str, chance: random.Random) -> str:
    at = chance.randrange(len(offer))
    return offer[:at] + chance.choice("0123456789abcdefz ") + offer[at + 1 :]


def false_ones(stage: Stage, offer: str, older: str) -> Iterator[FromPeople]:
    """Who may, with what is not shown; who may not, with what is."""
    chance = random.Random(11)  # noqa: S311 - a seed, so that they are the same each time
    at = stage.clock.now()
    for number in range(COUNT):
        by, about = ANNA, older
        match number % 5:
            case 0:
                about = changed_by_one(offer, chance)
            case 1:
                about = chance.choice(
                    ("", "approve", offer[:-1], f"{offer} ", offer.upper(), older)
                )
            case 2 | 3:
                by, about = chance.choice(OTHERS), offer
            case _:
                words = chance.choice(("approve", "yes", "lgtm", "承認"))
                by = chance.choice(OTHERS)
                yield Said(id=f"w{number}", at=at, by=by, text=words, mention=number % 2 == 0)
                continue
        if about != offer or by != ANNA:
            yield Pressed(id=f"p{number}", at=at, by=by, verb=Verb.APPROVE, about=about)


async def test_of_a_thousand_false_approvals_none_counts(stage: Stage) -> None:
    await stage.is_planned()
    older = stage.approval_card().offer
    await stage.clock.advance(60)
    await stage.presses(Verb.CHANGE, older, "use cents")
    offer = stage.approval_card().offer
    assert offer != older
    assert stage.desk
    tried = 0
    for event in false_ones(stage, offer, older):
        await stage.desk.take(THREAD, event)
        tried += 1
    await stage.settle()
    assert tried >= 0.97 * COUNT
    assert stage.session().approval.granted is None
    assert stage.session().approval.given == ()
    assert stage.session().phase is Phase.APPROVING
    assert [one.what for one in stage.audit.entries if one.what.startswith("approved")] == []
    await stage.presses(Verb.APPROVE, offer)
    assert stage.session().phase is Phase.EXECUTING


async def test_who_asked_for_what_reaches_further_cannot_have_it_done_alone() -> None:
    """By no way in: its button, its words, or as one of two."""
    stage = Stage(drafts=[{**THREE[0], "files": [".github/workflows/test.yml"]}])
    stage.gate = GATE
    stage.rules = replace(stage.rules, high_risk_approvers=2, asker_counts=False)
    await stage.open()
    await stage.is_planned()
    offer, at = stage.approval_card().offer, stage.clock.now()
    assert stage.desk

    def approves(by: Person) -> FromPeople:
        return Pressed(id=f"p-{by.id}", at=at, by=by, verb=Verb.APPROVE, about=offer)

    words = Said(id="w", at=at, by=ANNA, text="approve")
    for event in (approves(ANNA), words, approves(ANDY)):
        await stage.desk.take(THREAD, event)
    await stage.settle()
    assert [given.by.id for given in stage.session().approval.given] == [ANDY.id]
    assert stage.panes.started == []
    await stage.desk.take(THREAD, approves(AKI))
    await stage.settle()
    assert stage.session().phase is Phase.EXECUTING
    await stage.close()
