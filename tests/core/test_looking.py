"""Who looks around sees what waits first, only what belongs before their eyes, and it stays up to date while they may look."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.core import overview
from bot.core.cards import AnswerCard, HomeCard
from bot.core.choices import Command, Verb, Word
from bot.core.errors import Refused
from bot.core.events import Commanded, Configured, Visited
from bot.core.gate import Door, Gate
from bot.core.people import Person, Role, Thread
from bot.core.sheets import Entries, Fields, Table, Text
from bot.core.states import Status
from bot.core.world import GATHER_SECONDS, MAX_VISITORS, HomeVisits
from tests.core.at_the_desk import (
    ANDY,
    ANNA,
    AT,
    CHANNEL,
    DIRECT,
    GATE,
    REFUSED,
    STARTER,
    begun,
    command,
    desk_of,
    pressed,
    statuses,
    titles,
)
from tests.fakes.chat import THREAD
from tests.fakes.clock import FakeClock
from tests.steps.scenes import awaiting_approval, executing, running
from tests.stories.stage import Stage

HOME = Thread(platform="memory", workspace="W1", channel="", root="")


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    stage.gate = GATE
    await stage.open()
    yield stage
    await stage.close()


def pages(stage: Stage, person: Person = ANNA) -> list[HomeCard]:
    return [
        card
        for thread, to, card in stage.chat.whispered
        if isinstance(card, HomeCard) and to.id == person.id and thread.home
    ]


async def visit(stage: Stage, by: Person = ANNA) -> HomeCard:
    event = Visited(id=stage.clock.new_id(), at=stage.clock.now(), by=by)
    assert await desk_of(stage).take(HOME, event)
    await stage.settle()
    return pages(stage, by)[-1]


def last(stage: Stage) -> AnswerCard:
    card = stage.chat.whispered[-1][2]
    assert isinstance(card, AnswerCard)
    return card


def entries(card: AnswerCard) -> list[str]:
    return [one.title for part in card.body if isinstance(part, Entries) for one in part.items]


async def test_a_page_shows_what_waits_before_what_is_at_work_and_what_has_ended(
    stage: Stage,
) -> None:
    waits = await begun(stage, CHANNEL)
    over = await begun(stage, CHANNEL)
    await command(stage, Word.DISCARD, place=over.thread)
    page = await visit(stage)
    [entry] = page.waiting
    assert entry.thread == waits.thread
    assert "A few questions before I plan" in entry.facts
    assert [one.verb for one in entry.choices] == [Verb.STOP]
    assert [one.thread for one in page.recent] == [over.thread]
    assert dict(page.health)["tmux"] == "0 panes"
    assert "approve" in dict(page.settings)["You may"]


async def test_whoever_may_say_which_model_is_asked_finds_the_form_and_nobody_else(
    stage: Stage,
) -> None:
    operator = Door({**dict.fromkeys(Role, frozenset({ANNA.id, STARTER.id})), Role.OPERATE: frozenset({ANNA.id})})  # fmt: skip
    await stage.close()
    stage.gate = Gate({"memory": operator})
    await stage.open()
    assert Verb.SETTINGS in [one.verb for one in (await visit(stage)).choices]
    assert Verb.SETTINGS not in [one.verb for one in (await visit(stage, STARTER)).choices]


async def test_what_somebody_talks_about_alone_with_the_bot_stands_on_their_page_only(
    stage: Stage,
) -> None:
    mine = await begun(stage, DIRECT)
    assert [one.thread for one in (await visit(stage)).waiting] == [mine.thread]
    assert (await visit(stage, ANDY)).waiting == ()
    await command(stage, Word.INBOX, by=ANDY)
    assert entries(last(stage)) == []
    assert [one.text for one in last(stage).body if isinstance(one, Text)] == [
        "Nothing waits for you."
    ]


async def test_an_inbox_begins_with_ones_own(stage: Stage) -> None:
    theirs, mine = await begun(stage, CHANNEL, ANDY), await begun(stage, CHANNEL, ANNA)
    await command(stage, Word.INBOX)
    [listed] = [part for part in last(stage).body if isinstance(part, Entries)]
    assert [one.thread for one in listed.items] == [mine.thread, theirs.thread]


def test_of_a_paused_session_no_agent_is_said_to_be_at_work() -> None:
    paused = executing(running("T001"))
    paused.status = Status.PAUSED
    body = overview.inbox([paused], paused.thread, paused.owner, paused.updated_at)
    [listed] = [part for part in body if isinstance(part, Entries)]
    assert "executing: 0 of 1 done, paused" in listed.items[0].facts


def test_a_terminal_is_told_how_to_turn_to_what_waits() -> None:
    """In a chat one presses what leads there."""
    told: dict[str, list[str]] = {}
    for platform in ("console", "slack"):
        waits = awaiting_approval()
        waits.thread = Thread(platform=platform, channel="terminal", root="1")
        body = overview.inbox([waits], waits.thread, waits.owner, waits.updated_at)
        assert [part for part in body if isinstance(part, Entries)]
        told[platform] = [part.text for part in body if isinstance(part, Text)]
    assert told == {"console": [overview.RESUME_HINT], "slack": []}


async def test_from_the_page_a_session_is_stopped(stage: Stage) -> None:
    session = await begun(stage, CHANNEL)
    [entry] = (await visit(stage)).waiting
    [stop] = entry.choices
    await stage.presses(stop.verb, stop.about, thread=HOME)
    assert statuses(stage, session) == ["Paused"]


async def test_the_page_is_shown_anew_when_something_has_changed(stage: Stage) -> None:
    await visit(stage)
    shown = len(pages(stage))
    await begun(stage, CHANNEL)
    for _ in range(3):
        await stage.clock.advance(GATHER_SECONDS)
        await stage.settle()
    assert len(pages(stage)) > shown
    assert len(pages(stage)[-1].waiting) == 1


async def test_of_many_who_look_the_last_are_kept_up_to_date_and_one_failure_hurts_nobody() -> None:
    visits, clock, shown = HomeVisits(), FakeClock(), list[str]()

    async def show(thread: Thread, person: Person) -> None:
        await asyncio.sleep(0)
        if person.id == "U5":
            raise Refused("gone")
        shown.append(person.id)

    for number in range(MAX_VISITORS + 3):
        visits.come(HOME, Person(platform="memory", id=f"U{number}"))
    life = asyncio.create_task(visits.keep_up(clock, show))
    visits.changed("s1")
    for _ in range(80):
        await clock.advance(1)
    life.cancel()
    await asyncio.gather(life, return_exceptions=True)
    assert shown == [f"U{n}" for n in range(3, MAX_VISITORS + 3) if n != 5]


async def test_usage_is_counted_over_all_sessions(stage: Stage) -> None:
    session = await begun(stage, CHANNEL)
    await command(stage, Word.USAGE)
    total, table = last(stage).body
    assert isinstance(total, Fields)
    assert isinstance(table, Table)
    assert dict(total.pairs)["Model calls"] == str(session.usage.calls)
    assert table.rows[0][0] == session.short


@pytest.mark.covers("G-RULE-AI-4")
async def test_the_model_is_told_and_changed_by_whoever_may(stage: Stage) -> None:
    await command(stage, Word.MODEL, by=STARTER)
    assert dict(last(stage).body[0].pairs)["Key"] == "SET"  # type: ignore[union-attr]
    chosen = Command(word=Word.MODEL, argument="https://llm.example/v1", text="qwen3")
    for by, told in (
        (STARTER, REFUSED),
        (ANNA, "From now on I ask qwen3 at https://llm.example/v1"),
    ):
        event = Commanded(id=stage.clock.new_id(), at=AT, by=by, command=chosen)
        await desk_of(stage).take(CHANNEL, event)
        await stage.settle()
        assert titles(stage)[-1] == told
    assert stage.preferences.model().model == "qwen3"


@pytest.mark.covers("G-RULE-AI-4")
async def test_the_button_for_it_tells_in_any_thread_how_the_model_is_chosen(stage: Stage) -> None:
    await stage.is_planned()
    for by, told in ((STARTER, REFUSED), (ANNA, "Model")):
        event = pressed(Verb.SETTINGS, by=by, id=stage.clock.new_id())
        await desk_of(stage).take(THREAD, event)
        await stage.settle()
        assert titles(stage)[-1] == told
    assert "model https://" in str(last(stage).body)


async def test_what_cannot_be_changed_is_told_with_the_way_out(stage: Stage) -> None:
    stage.preferences.refusal = Refused("OPENAI_MODEL is set elsewhere.", "Change it there.")
    event = Configured(id="c", at=AT, by=ANNA, base_url="https://a", model="m")
    assert await desk_of(stage).take(CHANNEL, event)
    await stage.settle()
    assert last(stage).title == "That was not changed"
    assert last(stage).body == (Text(text="OPENAI_MODEL is set elsewhere. Change it there."),)
