"""What comes twice counts once, and what could not be answered or kept the first time is not lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from bot.core.choices import Verb, Word
from bot.core.errors import Unavailable
from bot.core.events import FromPeople
from bot.core.people import Thread
from tests.core.at_the_desk import (
    CHANNEL,
    GATE,
    NOBODY,
    REFUSED,
    SECOND,
    STARTER,
    UNKNOWN,
    FailingChat,
    commanded,
    desk_of,
    opened,
    pressed,
    records,
    said,
    take,
    titles,
)
from tests.fakes.chat import THREAD
from tests.stories.stage import Stage


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    stage.chat, stage.gate = FailingChat(), GATE
    await stage.open()
    yield stage
    await stage.close()


async def one_after_another(stage: Stage, event: FromPeople, thread: Thread) -> list[bool]:
    return [await take(stage, event, thread) for _ in range(3)]


async def at_once(stage: Stage, event: FromPeople, thread: Thread) -> list[bool]:
    return await asyncio.gather(*(take(stage, event, thread) for _ in range(3)))


ThreeTimes = Callable[[Stage, FromPeople, Thread], Awaitable[list[bool]]]
ANSWERED_BY_NO_SESSION = [
    # the event, where, what the desk says to it, what the person reads
    (commanded(Word.HELP), THREAD, True, "Commands"),
    (commanded(Word.SESSIONS), UNKNOWN, True, "Sessions"),
    (commanded(Word.KEYS), CHANNEL, True, "Keys"),
    (commanded(Word.KEYS, by=STARTER), CHANNEL, False, REFUSED),
    (commanded(Word.DISCARD), CHANNEL, True, "Which session?"),
    (commanded(Word.INFO, "ffff"), CHANNEL, True, "I know no session ffff. sessions lists them."),
    (said("Build it", NOBODY), UNKNOWN, False, REFUSED),
    (said("approve", STARTER), THREAD, False, REFUSED),
    (pressed(Verb.APPROVE, by=STARTER), THREAD, False, REFUSED),
    (opened(Verb.APPROVE, STARTER), THREAD, False, REFUSED),
    (
        said("Build it"),
        CHANNEL,
        True,
        "There is nothing here yet. Tell me what you would like to have built.",
    ),
]


def stops(stage: Stage) -> int:
    return stage.session().control.stops


def plans_anew(stage: Stage) -> int:
    spec = stage.session().plan.spec
    return spec.revision - 1 if spec else 0


def answers(stage: Stage) -> int:
    return [card.key for _, card in stage.chat.shown].count("answer:it")


@pytest.mark.parametrize("three_times", [one_after_another, at_once])
@pytest.mark.parametrize(("event", "thread", "answer", "title"), ANSWERED_BY_NO_SESSION)
async def test_what_no_session_hears_is_answered_once_however_often_it_comes(
    stage: Stage,
    three_times: ThreeTimes,
    event: FromPeople,
    thread: Thread,
    answer: bool,
    title: str,
) -> None:
    await stage.is_planned()
    await stage.is_planned("Add receipts", SECOND)
    kept = dict(stage.store.records)
    assert await three_times(stage, event, thread) == [answer] * 3
    await stage.settle()
    assert titles(stage) == [title]
    assert stage.store.records == kept


@pytest.mark.parametrize("three_times", [one_after_another, at_once])
@pytest.mark.parametrize(
    ("event", "effects"),
    [
        (said("Make it blue"), plans_anew),
        (said("Make it blue", mention=False), plans_anew),
        (pressed(Verb.STOP), stops),
        (commanded(Word.STOP), stops),
        (commanded(Word.TASKS), answers),
    ],
)
async def test_what_a_session_hears_counts_once_however_often_it_comes(
    stage: Stage, three_times: ThreeTimes, event: FromPeople, effects: Callable[[Stage], int]
) -> None:
    await stage.is_planned()
    assert await three_times(stage, event, THREAD) == [True] * 3
    await stage.settle()
    await stage.revive()
    assert await three_times(stage, event, THREAD) == [True] * 3
    await stage.settle()
    assert (effects(stage), titles(stage)) == (1, [])


@pytest.mark.parametrize("three_times", [one_after_another, at_once])
async def test_a_request_that_comes_as_several_events_with_one_id_opens_one_session(
    stage: Stage, three_times: ThreeTimes
) -> None:
    """Platforms tell of a mention twice: as a mention, and as a word in the channel."""
    await take(stage, said("Add discounts", mention=False))
    assert stage.store.records == {}
    assert await three_times(stage, said("Add discounts"), THREAD) == [True] * 3
    await take(stage, said("Add discounts", mention=False))
    await stage.settle()
    [record] = records(stage)
    assert record.session.intent.body == "Add discounts"
    assert [m.content for m in record.session.conversation].count("Add discounts") == 1
    assert [card.kind for card in stage.chat.cards()].count("received") == 1
    assert titles(stage) == []


@pytest.mark.parametrize(("event", "thread", "answer", "title"), ANSWERED_BY_NO_SESSION)
async def test_an_answer_that_did_not_arrive_is_given_when_the_event_comes_again(
    stage: Stage, event: FromPeople, thread: Thread, answer: bool, title: str
) -> None:
    assert isinstance(stage.chat, FailingChat)
    await stage.is_planned()
    await stage.is_planned("Add receipts", SECOND)
    stage.chat.failures = 2
    with pytest.raises(Unavailable):
        await take(stage, event, thread)
    came = await asyncio.gather(
        *(take(stage, event, thread) for _ in range(4)), return_exceptions=True
    )
    assert [repr(one) for one in came if isinstance(one, BaseException)] == [
        repr(Unavailable("the chat does not answer"))
    ]
    assert came[1:] == [answer] * 3
    assert titles(stage) == [title]


@pytest.mark.parametrize(
    ("event", "thread", "effects"),
    [
        (said("Make it blue"), THREAD, plans_anew),
        (pressed(Verb.STOP), THREAD, stops),
        (commanded(Word.STOP), CHANNEL, stops),
    ],
)
async def test_what_finds_the_disk_full_is_not_taken_and_taken_once_when_it_comes_again(
    stage: Stage, event: FromPeople, thread: Thread, effects: Callable[[Stage], int]
) -> None:
    await stage.is_planned()
    stage.store.full = True
    for _ in range(2):
        with pytest.raises(Unavailable):
            await take(stage, event, thread)
    assert (effects(stage), titles(stage)) == (0, [])
    stage.store.full = False
    await one_after_another(stage, event, thread)
    await stage.settle()
    assert effects(stage) == 1


async def test_a_request_that_finds_the_disk_full_begins_nothing_until_it_comes_again(
    stage: Stage,
) -> None:
    stage.store.full = True
    with pytest.raises(Unavailable):
        await take(stage, said("Add discounts"))
    stage.store.full = False
    assert desk_of(stage).actors() == ()
    await take(stage, said("Never mind", mention=False, id="talk"))
    assert stage.store.records == {}
    await one_after_another(stage, said("Add discounts"), THREAD)
    await stage.settle()
    assert [record.session.intent.body for record in records(stage)] == ["Add discounts"]


async def test_a_request_that_was_taken_is_on_disk_once(stage: Stage) -> None:
    await take(stage, said("Add discounts"))
    [record] = records(stage)
    assert [event.id for event in record.inbox] == record.heard == ["it"]
    await stage.revive()
    assert await take(stage, said("Add discounts"))
    await stage.settle()
    words = [message.content for message in stage.session().conversation]
    assert words.count("Add discounts") == 1
