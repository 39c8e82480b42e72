"""Nobody can ask for too much at once, too often, or too long; and stopping is never too much."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.choices import Command, Verb, Word
from bot.core.events import Commanded, FromPeople, Pressed
from bot.core.gate import MAX_MESSAGE_BYTES, MAX_WAITING_EVENTS
from bot.core.states import Status
from tests.core.at_the_desk import said
from tests.fakes.chat import ANNA, THREAD
from tests.stories.stage import Stage

MINUTE, HOUR, OPEN = 10, 3, 5


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    stage.rules = replace(
        stage.rules, most_in_a_minute=MINUTE, most_in_an_hour=HOUR, most_sessions=OPEN
    )
    await stage.open()
    yield stage
    await stage.close()


def stop(stage: Stage) -> Commanded:
    command = Command(word=Word.STOP)
    return Commanded(id=stage.clock.new_id(), at=stage.clock.now(), by=ANNA, command=command)


async def takes(stage: Stage, event: FromPeople, root: str = "1") -> bool:
    assert stage.desk
    now = {"at": stage.clock.now()}
    return await stage.desk.take(
        THREAD.model_copy(update={"root": root}), event.model_copy(update=now)
    )


def told(stage: Stage, why: str) -> int:
    return sum(why in card.model_dump_json() for _, _, card in stage.chat.whispered)


async def test_of_a_thousand_mentions_a_few_begin_and_one_no_is_said(stage: Stage) -> None:
    let = [await takes(stage, said("Add it", id=f"m{n}"), f"r{n}") for n in range(1000)]
    assert sum(let) == HOUR
    assert len(stage.store.records) == HOUR
    assert told(stage, "within an hour") + told(stage, "in a minute") == 1
    assert all(person == ANNA for _, person, _ in stage.chat.whispered)


async def test_who_runs_an_intent_begins_a_session_like_everybody_else(stage: Stage) -> None:
    command = Command(word=Word.INTENT, argument="run", text="add-codes")
    for number in range(HOUR + 1):
        run = Commanded(id=f"r{number}", at=stage.clock.now(), by=ANNA, command=command)
        await takes(stage, run, "")
    assert told(stage, "within an hour") == 1


async def test_who_was_turned_away_is_heard_later(stage: Stage) -> None:
    for number in range(20):
        await takes(stage, said("Add it", id=f"m{number}"), f"r{number}")
    await stage.clock.advance(timedelta(hours=1).total_seconds() + 1)
    assert await takes(stage, said("Add it", id="later"), "later")


async def test_a_restart_gives_nobody_new_ones(stage: Stage) -> None:
    let = [await takes(stage, said("Add it", id=f"m{n}"), f"r{n}") for n in range(HOUR)]
    await stage.settle()
    await stage.close()
    await stage.open()
    assert all(let)
    assert not await takes(stage, said("Add it", id="one more"), "more")
    assert await takes(stage, said("Add it", id="m0"), "r0"), "what comes again is no new one"
    await stage.clock.advance(timedelta(hours=1).total_seconds() + 1)
    assert await takes(stage, said("Add it", id="later"), "later")


async def test_to_stop_is_never_too_much(stage: Stage) -> None:
    await takes(stage, said("Add it", id="first"))
    for number in range(50):
        await takes(stage, said("and more", id=f"m{number}"))
    assert all([await takes(stage, stop(stage)) for _ in range(3)])
    await stage.settle()
    assert stage.session().status is Status.PAUSED


async def test_what_comes_again_counts_once(stage: Stage) -> None:
    let = [await takes(stage, said("Add it", id="the same")) for _ in range(5 * MINUTE)]
    assert all(let)


async def test_what_was_said_while_the_bot_was_away_counts_for_then(stage: Stage) -> None:
    assert await takes(stage, said("Add it", id="first"))
    assert stage.desk
    for number in range(5 * MINUTE):
        at = stage.clock.now() - timedelta(minutes=number)
        missed = said("and that", id=f"m{number}").model_copy(update={"at": at})
        assert await stage.desk.take(THREAD, missed)


async def test_a_message_that_is_too_long_is_told_with_what_to_do(stage: Stage) -> None:
    assert not await takes(stage, said("鍵" * (MAX_MESSAGE_BYTES // 3 + 1)))
    assert stage.store.records == {}
    assert told(stage, "at most 16 kB of a message. Put it into a text file") == 1
    assert await takes(stage, said("x" * MAX_MESSAGE_BYTES, id="it fits"))


async def test_so_is_what_is_written_into_a_form(stage: Stage) -> None:
    await stage.is_planned()
    long = Pressed(
        id="p", at=stage.clock.now(), by=ANNA, verb=Verb.ANSWER, answers={1: "x" * 20_000}
    )
    assert not await takes(stage, long)
    assert told(stage, "too long: 20 kB") == 1


async def test_there_is_a_most_of_open_sessions(stage: Stage) -> None:
    for number in range(OPEN):
        await stage.clock.advance(3600)
        assert await takes(stage, said("Add it", id=f"m{number}"), f"r{number}")
    await stage.clock.advance(3600)
    assert not await takes(stage, said("Add it", id="more"), "more")
    assert told(stage, f"{OPEN} unfinished sessions") == 1


async def test_what_waits_in_a_paused_session_has_a_bound(stage: Stage) -> None:
    await stage.is_planned()
    await stage.commands_(Word.STOP)
    let: list[bool] = []
    for number in range(MAX_WAITING_EVENTS + 20):
        await stage.clock.advance(60)
        let.append(await takes(stage, said("and that", id=f"w{number}")))
    assert sum(let) == MAX_WAITING_EVENTS
    assert told(stage, "Write resume first") >= 1


async def test_who_asks_for_something_new_where_all_is_done_begins_a_session_like_everybody_else(
    stage: Stage,
) -> None:
    stage.rules = replace(stage.rules, most_in_a_minute=0)
    await stage.revive()
    await stage.has_built()
    for number in range(HOUR):
        await stage.says(f"Something new, number {number}")
    assert len(stage.store.records) == HOUR
    no = [card for card in stage.chat.cards() if "could not open" in card.model_dump_json()]
    assert len(no) == 1
    assert f"begun {HOUR} sessions within an hour" in no[0].model_dump_json()

    await stage.clock.advance(timedelta(hours=1).total_seconds() + 1)
    await stage.says("Something new, later")
    assert len(stage.store.records) == HOUR + 1
