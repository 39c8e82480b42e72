"""Whatever somebody who is on no list does in Slack, in each of its ways in: nothing comes of it but a no, to them alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from bot.core.events import FromPeople
from bot.core.gate import Door, Gate
from bot.core.people import Role, Thread
from bot.core.projections.records import Record
from bot.core.states import Phase
from bot.steps import messages
from tests.adapters.slack.bot import Bot, Desk
from tests.beds.slack import AKI, EXTERNAL, GUEST, MIKA, PUBLIC, TEAM, SlackBed
from tests.fakes import cards
from tests.steps import scenes
from tests.stories.stage import Stage

STRANGERS = [AKI, GUEST, EXTERNAL]


class RealDesk(Desk):
    """Brings everything to the desk of a bot."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        self.calls.append(event)
        assert self._stage.desk
        return await self._stage.desk.take(thread, event)


@dataclass
class Place:
    """A plan waits for approval in a thread that Mika has begun; only Mika may do anything."""

    bot: Bot
    stage: Stage
    thread: Thread

    @property
    def bed(self) -> SlackBed:
        return self.bot.bed

    @property
    def root(self) -> str:
        return self.thread.root

    async def plan(self) -> str:
        record = Record.model_validate_json(next(iter(self.stage.store.records.values())))
        await self.bot.chat.show(self.thread, messages.approval_wanted(record.session).card)
        return self.bot.cards(self.thread)[-1].ts


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    stage = Stage()
    stage.platform = "slack"
    places = frozenset({f"{TEAM}:{PUBLIC}", f"{TEAM}:dm"})
    stage.gate = Gate({"slack": Door(dict.fromkeys(Role, frozenset({f"{TEAM}:{MIKA}"})), places)})
    may_ask = partial(stage.gate.grants, role=Role.START)
    async with SlackBed() as bed:
        root = await bed.say(MIKA, PUBLIC, "Add discounts")
        bed.deliveries.clear()
        session = scenes.awaiting_approval()
        session.thread = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=root.ts)
        session.plan.shown_at = None  # a plan of today
        stage.store.save(Record(session=session))
        await stage.open()
        await stage.settle()
        bot = Bot(bed, tmp_path, may_ask=may_ask)
        bot.desk = RealDesk(stage)
        await bot.start()
        yield Place(bot, stage, session.thread)
        await bot.end()
        await stage.close()


async def mentions(at: Place, who: str) -> None:
    await at.bed.mention(who, PUBLIC, "Delete everything")


async def mentions_in_the_thread(at: Place, who: str) -> None:
    await at.bed.mention(who, PUBLIC, "approve", thread=at.root)


async def writes_a_direct_message(at: Place, who: str) -> None:
    await at.bed.say(who, at.bed.dm(who), "Delete everything")


async def shares_a_file(at: Place, who: str) -> None:
    await at.bed.share(who, PUBLIC, {"notes.md": b"Delete everything"}, "<@U0BOT> Build this")
    await at.bed.share(who, PUBLIC, {"more.md": b"approve"}, "<@U0BOT>", thread=at.root)


async def commands(at: Place, who: str) -> None:
    for text in ("status", "stop", "discard", "keys", "repo other", "Delete everything"):
        await at.bed.slash(who, PUBLIC, "/gwt", text)


async def interrupts(at: Place, who: str) -> None:
    await at.bed.slash(who, PUBLIC, "/interrupt", "")


async def approves(at: Place, who: str) -> None:
    await at.bed.click(who, await at.plan(), "Approve")


async def discards(at: Place, who: str) -> None:
    await at.bed.click(who, await at.plan(), "Discard")


async def asks_for_changes(at: Place, who: str) -> None:
    await at.bed.click(who, await at.plan(), "Request changes")


async def picks_and_answers(at: Place, who: str) -> None:
    await at.bot.chat.show(at.thread, cards.QUESTIONS)
    ts = at.bot.cards(at.thread)[-1].ts
    await at.bed.choose(who, ts, "pick:1", "D1:2")
    await at.bed.click(who, ts, "Send these answers")


async def stops_by_a_shortcut(at: Place, who: str) -> None:
    await at.bed.message_shortcut(who, await at.plan(), "session_interrupt")


async def begins_by_a_shortcut(at: Place, who: str) -> None:
    await at.bed.global_shortcut(who, "session_new")


async def stops_natively(at: Place, who: str) -> None:
    at.bed.world.sessions[PUBLIC, at.root] = {"status": "processing"}
    await at.bed.native_stop(who, PUBLIC, at.root)


async def opens_the_home(at: Place, who: str) -> None:
    await at.bed.open_home(who)


WAYS: list[Callable[[Place, str], Awaitable[None]]] = [
    mentions,
    mentions_in_the_thread,
    writes_a_direct_message,
    shares_a_file,
    commands,
    interrupts,
    approves,
    discards,
    asks_for_changes,
    picks_and_answers,
    stops_by_a_shortcut,
    begins_by_a_shortcut,
    stops_natively,
    opens_the_home,
]


async def test_nothing_a_stranger_does_has_any_effect(place: Place) -> None:
    stage, bed = place.stage, place.bed
    kept, shown = dict(stage.store.records), list(stage.chat.shown)
    for way in WAYS:
        brought = len(place.bot.desk.calls)
        for who in STRANGERS:
            await way(place, who)
            await bed.all_acked(30)
        await stage.settle()
        assert len(place.bot.desk.calls) > brought, f"{way.__name__} was not heard"
        assert stage.store.records == kept, way.__name__
    assert stage.llm.calls == []
    assert stage.chat.shown == shown
    assert bed.called("views.open") == []
    assert bed.shelf.asked == [], "nothing is fetched for a stranger"
    assert {entry.decision.value for entry in stage.audit.entries} == {"refused"}
    for _, person, card in stage.chat.whispered:
        assert person.id != f"{TEAM}:{MIKA}"
        assert "You may not do that here" in card.model_dump_json()


async def test_edits_and_talk_of_strangers_are_not_even_brought(place: Place) -> None:
    said = await place.bed.say(AKI, PUBLIC, "Lunch?")
    await place.bed.edit(AKI, said.ts, f"<@{AKI}> Delete everything")
    await place.bed.delete(AKI, said.ts)
    await place.bed.all_acked(30)
    assert place.bot.desk.calls == []


async def test_the_same_press_of_somebody_who_may_counts(place: Place) -> None:
    await place.bed.click(MIKA, await place.plan(), "Approve")
    await place.bed.all_acked(30)
    await place.stage.settle()
    [text] = place.stage.store.records.values()
    assert Record.model_validate_json(text).session.phase is Phase.EXECUTING
