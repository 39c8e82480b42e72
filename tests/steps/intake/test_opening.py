"""Sessions that a session begins: each in a thread of its own, once, and known to come from there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from bot.core.cards import EarlierCard, PartsCard
from bot.core.choices import Verb
from bot.core.events import Broke
from bot.core.session import Session
from bot.core.states import Phase, Status
from tests.fakes.chat import THREAD
from tests.stories.stage import QUESTIONS, Stage

PARTS = [{"title": "A till", "body": "Build a till"}, {"title": "Stock", "body": "Count stock"}]
LARGE = "Build a whole shop"
RELATED = THREAD.model_copy(update={"root": "2"})


class Reader(Stage):
    """Its model finds one wish too large, and another one related to what was built first."""

    def answers(self, heading: str, told: dict[str, Any]) -> object:
        if heading == "clarify" and told["request"] == LARGE:
            return {**QUESTIONS, "parts": PARTS}
        if heading == "clarify" and told["earlier"]:
            more = {"continues": told["earlier"][0]["id"], "continues_reason": "The same codes."}
            return {**QUESTIONS, **more}
        if heading == "continue":
            return {"verdict": "continue", "reason": "It extends them."}
        return super().answers(heading, told)

    def all(self) -> list[Session]:
        records = [self.store.find(listed.id) for listed in self.store.sessions()]
        found = [record.session for record in records if record]
        return sorted(found, key=lambda one: one.intent.body)


@pytest.fixture
async def stage() -> AsyncIterator[Reader]:
    stage = Reader()
    await stage.open()
    yield stage
    await stage.close()


@pytest.mark.covers("F-INTENT-PARENT", "F-ANALYZE-2")
async def test_each_part_of_a_large_wish_is_planned_in_a_session_of_its_own(stage: Reader) -> None:
    await stage.says(LARGE)
    assert any(isinstance(card, PartsCard) for card in stage.chat.cards())
    assert len(stage.all()) == 1

    # one wish, however many sessions carry it out
    stage.rules = replace(stage.rules, most_in_an_hour=1)
    await stage.revive()
    await stage.presses(Verb.SPLIT)

    till, whole, stock = stage.all()
    assert (whole.status, whole.intent.body) == (Status.COMPLETED, LARGE)
    for part, wanted in zip((till, stock), PARTS, strict=True):
        assert (part.intent.body, part.intent.parent) == (wanted["body"], whole.intent.id)
        assert part.phase is Phase.CLARIFYING
    assert len({one.thread.key for one in stage.all()}) == 3
    await stage.revive()
    await stage.settle()
    assert len(stage.all()) == 3


@pytest.mark.covers("G-RULE-CONTINUE-1", "G-FR-021")
async def test_more_of_what_was_built_elsewhere_goes_on_there(stage: Reader) -> None:
    built = await stage.has_built()
    await stage.says("Codes that expire", RELATED)
    [card] = [card for card in stage.chat.cards(RELATED) if isinstance(card, EarlierCard)]
    assert card.reason == "The same codes."

    await stage.presses(Verb.THERE, built.short, thread=RELATED)

    assert stage.session(RELATED).status is Status.COMPLETED
    assert stage.session().ending.rounds == 1
    assert "Codes that expire" in [m.content for m in stage.session().conversation]
    assert stage.session().phase is Phase.APPROVING


async def test_what_is_said_before_it_goes_on_elsewhere_goes_along(stage: Reader) -> None:
    built = await stage.has_built()
    await stage.says("Codes that expire", RELATED)
    await stage.says("After a year, please", RELATED)
    await stage.presses(Verb.THERE, built.short, thread=RELATED)
    assert "Codes that expire\n\nAfter a year, please" in [
        message.content for message in stage.session().conversation
    ]


async def test_what_is_said_before_a_large_wish_is_split_reaches_each_part(stage: Reader) -> None:
    await stage.says(LARGE)
    await stage.says("In Japanese, please")
    await stage.presses(Verb.SPLIT)
    bodies = [one.intent.body for one in stage.all() if one.intent.parent]
    assert bodies == [f"{part['body']}\n\nIn Japanese, please" for part in PARTS]


async def test_what_has_failed_since_is_not_gone_on_with_and_the_wish_is_not_lost(
    stage: Reader,
) -> None:
    built = await stage.has_built()
    await stage.says("Codes that expire", RELATED)
    await stage.says("And gift cards")
    assert stage.desk
    [actor] = [one for one in stage.desk.actors() if one.session.id == built.id]
    actor.tell(Broke(**stage.world.mark(), reason="a bug"))
    await stage.settle()

    await stage.presses(Verb.THERE, built.short, thread=RELATED)

    assert stage.session().status is Status.FAILED
    related = stage.session(RELATED)
    assert (related.status, related.request.destination) == (Status.ACTIVE, None)
    await stage.presses(Verb.HERE, built.short, thread=RELATED)
    assert stage.session(RELATED).phase is Phase.CLARIFYING
