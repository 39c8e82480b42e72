"""An answer that the chat cannot give now is given later: whoever comes next does not wait for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from bot.core.cards import Card
from bot.core.choices import Verb, Word
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.people import Person, Thread
from bot.core.session_commands import LATE_AFTER_SECONDS, MAX_LATE_ANSWERS
from tests.core.at_the_desk import GATE, NOBODY, commanded, pressed, said, take, titles
from tests.fakes.chat import ANNA, MemoryChat
from tests.stories.stage import Stage


class SlowChat(MemoryChat):
    """It has to wait before it may whisper."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()
        self.fails: PortError | None = None

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        await self.may.wait()
        if self.fails:
            raise self.fails
        await super().whisper(thread, person, card)


@pytest.fixture
def chat() -> SlowChat:
    return SlowChat()


@pytest.fixture
async def stage(chat: SlowChat) -> AsyncIterator[Stage]:
    stage = Stage()
    stage.chat, stage.gate = chat, GATE
    await stage.open()
    yield stage
    await stage.close()


async def asked_for_help(stage: Stage, id: str = "help") -> asyncio.Task[bool]:
    taking = asyncio.create_task(take(stage, commanded(Word.HELP, id=id)))
    await stage.clock.advance(LATE_AFTER_SECONDS)
    return taking


@pytest.mark.parametrize("by", [ANNA, NOBODY], ids=["an answer", "a no"])
async def test_who_stops_behind_a_slow_answer_does_not_wait_for_it(
    stage: Stage, chat: SlowChat, by: Person
) -> None:
    chat.may.set()
    await stage.is_planned()
    chat.may.clear()

    async def one_after_the_other() -> None:
        await take(stage, commanded(Word.HELP, by=by, id="help"))
        await take(stage, pressed(Verb.STOP, id="stop"))

    both = asyncio.create_task(one_after_the_other())
    await stage.clock.advance(LATE_AFTER_SECONDS)
    async with asyncio.timeout(120):
        await both
    await stage.settle()
    assert (stage.session().control.stops, titles(stage)) == (1, [])
    chat.may.set()
    await stage.clock.advance(LATE_AFTER_SECONDS)
    assert len(titles(stage)) == 1


async def test_what_is_late_was_answered_all_the_same(stage: Stage, chat: SlowChat) -> None:
    assert await (await asked_for_help(stage))
    assert await take(stage, commanded(Word.HELP, id="help"))
    chat.may.set()
    await stage.clock.advance(LATE_AFTER_SECONDS)
    assert len(titles(stage)) == 1


@pytest.mark.parametrize("error", [Unavailable("away"), Refused("gone")])
async def test_what_goes_wrong_late_is_logged_and_ends_nothing(
    stage: Stage, chat: SlowChat, caplog: pytest.LogCaptureFixture, error: PortError
) -> None:
    assert await (await asked_for_help(stage))
    chat.fails = error
    chat.may.set()
    with caplog.at_level(logging.WARNING):
        await stage.clock.advance(LATE_AFTER_SECONDS)
    assert "not answered" in caplog.messages


async def test_there_is_an_end_to_answers_that_are_late(stage: Stage, chat: SlowChat) -> None:
    for number in range(MAX_LATE_ANSWERS):
        assert await (await asked_for_help(stage, str(number)))
    one_too_many = await asked_for_help(stage, "one too many")
    assert not one_too_many.done()
    chat.may.set()
    assert await one_too_many
    await stage.clock.advance(LATE_AFTER_SECONDS)
    assert len(titles(stage)) == MAX_LATE_ANSWERS + 1


async def test_at_the_end_nothing_is_said_any_more(stage: Stage, chat: SlowChat) -> None:
    assert await (await asked_for_help(stage))
    await stage.close()
    chat.may.set()
    await stage.clock.advance(LATE_AFTER_SECONDS)
    assert titles(stage) == []


async def test_who_is_no_longer_waited_for_is_not_answered(stage: Stage, chat: SlowChat) -> None:
    taking = asyncio.create_task(take(stage, said("Build it", NOBODY)))
    await asyncio.sleep(0)
    taking.cancel()
    await asyncio.wait({taking})
    chat.may.set()
    await stage.clock.advance(LATE_AFTER_SECONDS)
    assert titles(stage) == []
