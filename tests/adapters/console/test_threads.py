"""Several sessions at one terminal: threads the bot opens, and how a person gets there and back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.core.events import Said
from bot.core.people import Thread
from tests.adapters.console.stage import Stage
from tests.fakes import cards

WAY = "It has a thread of its own. Write info 9c8d7e6f to go there."


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


async def opened(stage: Stage) -> tuple[Thread, str]:
    """The thread, and what was written for it."""
    before = len(stage.text)
    thread = await stage.chat.open(await stage.thread(), cards.ROOT)
    return thread, stage.text[before:]


async def test_who_opens_a_thread_stays_where_they_are_and_is_told_the_way(stage: Stage) -> None:
    here = await stage.thread()
    _, text = await opened(stage)
    lines = [line for line in text.splitlines() if line]
    assert (lines[0], lines[-1]) == ("session 9c8d7e6f", WAY)
    assert "▸ Payments" in lines
    assert stage.chat.thread == here
    await stage.type("still here")
    assert [thread for thread, _ in stage.heard] == [here]


async def test_who_has_come_to_an_end_goes_along_to_what_was_begun_for_them(stage: Stage) -> None:
    await stage.type("first")
    here = await stage.thread()
    await stage.show(cards.SUMMARY)
    there, text = await opened(stage)
    assert WAY not in text
    assert "▸ Payments" in text.splitlines()
    assert text.endswith("Now in session 9c8d7e6f.\n")
    assert await stage.chat.open(here, cards.ROOT) == there
    await stage.type("second")
    assert [thread for thread, _ in stage.heard] == [here, there]


async def test_who_is_busy_elsewhere_does_not_go_along(stage: Stage) -> None:
    await stage.type("first")
    here = await stage.thread()
    await stage.show(cards.SUMMARY)
    await stage.chat.turn_to(cards.OTHER_THREAD)
    await stage.chat.open(here, cards.ROOT)
    assert stage.chat.thread == cards.OTHER_THREAD


async def test_a_thread_opened_twice_at_once_stands_there_once(stage: Stage) -> None:
    here = await stage.thread()
    threads = await asyncio.gather(*(stage.chat.open(here, cards.ROOT) for _ in range(3)))
    assert len(set(threads)) == 1
    assert stage.text.count(WAY) == 1


async def test_a_root_message_that_changes_does_not_tell_the_way_again(stage: Stage) -> None:
    thread, _ = await opened(stage)
    text = await stage.show(cards.ROOT.model_copy(update={"title": "Paying"}), thread=thread)
    assert "Paying" in text
    assert WAY not in text


async def test_in_its_own_thread_a_root_message_tells_no_way(stage: Stage) -> None:
    assert WAY not in await stage.show(cards.ROOT)


async def test_a_person_goes_to_an_opened_thread_and_is_heard_there(stage: Stage) -> None:
    here = await stage.thread()
    there, _ = await opened(stage)
    await stage.show(cards.QUESTIONS, thread=there)
    await stage.chat.turn_to(there)
    assert "Now in session 9c8d7e6f." in stage.text
    assert "[1] Use all defaults" in stage.text
    await stage.type("In the browser")
    await stage.chat.turn_to(here)
    await stage.type("back again")
    assert [thread for thread, event in stage.heard if isinstance(event, Said)] == [there, here]


async def test_the_name_of_another_session_is_known_after_a_restart(stage: Stage) -> None:
    here = await stage.thread()
    there, _ = await opened(stage)
    again = Stage(stage.home)
    assert "session 9c8d7e6f" in await again.show(cards.NEWS, thread=there)
    assert await again.chat.open(here, cards.ROOT) == there


async def test_parts_that_were_opened_are_named_as_they_can_be_called(stage: Stage) -> None:
    there, _ = await opened(stage)
    part = cards.SPLIT.parts[0].model_copy(update={"thread": there})
    text = await stage.show(cards.SPLIT.model_copy(update={"parts": (part,)}))
    assert "→ Take payments  session 9c8d7e6f" in text
