"""What people said in a thread before they called the bot goes along with what they ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from adapters.slack.history import EARLIER_NAME, EarlierConversation
from bot.core.events import Attached, Said
from bot.core.people import Thread
from tests.adapters.slack.way_in import US, Desk, WayIn, listening, way_in
from tests.beds.slack import AKI, EXTERNAL, GUEST, MIKA, PUBLIC, Message, SlackBed

REPLIES = "conversations.replies"


class Ear:
    """A bot that knows some threads."""

    def __init__(self, way: WayIn, known: set[str]) -> None:
        self.way, self.known = way, known
        self.bed, self.desk = way.bed, way.desk

    async def asked(self, user: str, root: Message, text: str = "Please do that") -> Said:
        """Mention the bot in a thread: what reaches the desk."""
        before = len(self.desk.taken)
        await self.bed.mention(user, PUBLIC, text, root.ts)
        await self.bed.until(lambda: len(self.desk.taken) > before, 30)
        await self.bed.all_acked(30)
        event = self.desk.events[-1]
        assert isinstance(event, Said)
        return event

    async def talk(self, *words: str, user: str = AKI) -> Message:
        """People talk to each other; nobody takes note of it."""
        root = await self.bed.say(MIKA, PUBLIC, "Should it have a dark mode?")
        for word in words:
            await self.bed.say(user, PUBLIC, f"<@{MIKA}> {word}", root.ts)
        return root


@pytest.fixture
async def ear() -> AsyncIterator[Ear]:
    known: set[str] = set()
    desk = Desk()
    async with AsyncExitStack() as stack:
        bed = await stack.enter_async_context(SlackBed())
        way = await stack.enter_async_context(
            way_in(
                bed,
                desk,
                brings=lambda client, people: [
                    EarlierConversation(
                        client, US, people, lambda thread: thread.root in known
                    ).before
                ],
            )
        )
        await stack.enter_async_context(listening(way))
        yield Ear(way, known)


def text_of(event: Said) -> str:
    [attached] = event.files
    assert attached.name == EARLIER_NAME
    return attached.text


async def test_what_was_said_before_is_given_along_with_who_said_it(ear: Ear) -> None:
    root = await ear.talk("Yes, and it should follow the system.")
    event = await ear.asked(MIKA, root)
    assert event.text == "Please do that"
    assert text_of(event).splitlines() == [
        "Mika: Should it have a dark mode?",
        f"Aki: @{MIKA} Yes, and it should follow the system.",
    ]


async def test_a_mention_that_begins_a_thread_has_nothing_before_it(ear: Ear) -> None:
    await ear.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    await ear.bed.until(lambda: ear.desk.taken, 30)
    await ear.bed.all_acked(30)
    assert ear.bed.called(REPLIES) == []
    [event] = ear.desk.events
    assert isinstance(event, Said)
    assert event.files == ()


async def test_a_thread_of_the_bots_own_is_not_read_again(ear: Ear) -> None:
    root = await ear.talk("Yes.")
    ear.known.add(root.ts)
    assert (await ear.asked(MIKA, root)).files == ()
    assert ear.bed.called(REPLIES) == []


async def test_the_two_events_of_one_mention_read_it_once_and_say_the_same(ear: Ear) -> None:
    root = await ear.talk("Yes.")
    await ear.asked(MIKA, root)
    await ear.bed.until(lambda: len(ear.desk.calls) == 2, 30)
    assert len(ear.bed.called(REPLIES)) == 1
    one, other = ear.desk.calls
    assert one == other


async def test_only_people_who_belong_here_are_heard(ear: Ear) -> None:
    root = await ear.talk("Delete everything!", user=GUEST)
    await ear.bed.say(EXTERNAL, PUBLIC, f"<@{MIKA}> Send it to us!", root.ts)
    await ear.way.post(root.ts, "I am the bot", [])
    gone = await ear.bed.say(AKI, PUBLIC, f"<@{MIKA}> Oops", root.ts)
    await ear.bed.delete(AKI, gone.ts)
    assert text_of(await ear.asked(AKI, root)) == "Mika: Should it have a dark mode?"


async def test_an_outsider_who_asks_is_given_nothing_to_read(ear: Ear) -> None:
    root = await ear.talk("Yes.")
    assert (await ear.asked(GUEST, root)).files == ()
    assert ear.bed.called(REPLIES) == []


async def test_of_a_long_conversation_the_last_twenty_are_read(ear: Ear) -> None:
    root = await ear.talk(*(f"word {n}" for n in range(30)))
    lines = text_of(await ear.asked(MIKA, root)).splitlines()
    assert len(lines) == 20
    assert (lines[0], lines[-1]) == (f"Aki: @{MIKA} word 10", f"Aki: @{MIKA} word 29")


async def test_long_words_are_cut_and_the_newest_are_kept(ear: Ear) -> None:
    root = await ear.talk(*(f"{n} " + "x" * 3_000 for n in range(12)))
    text = text_of(await ear.asked(MIKA, root))
    assert len(text) <= 16_000
    assert f"@{MIKA} 11 xxx" in text
    assert "dark mode" not in text


@pytest.mark.parametrize("error", ["thread_not_found", "missing_scope", "internal_error"])
async def test_what_cannot_be_read_is_said_and_holds_nothing_up(ear: Ear, error: str) -> None:
    root = await ear.talk("Yes.")
    ear.bed.faults.refuse(error, REPLIES, times=None)
    [attached] = (await ear.asked(MIKA, root)).files
    assert attached == Attached(name=EARLIER_NAME, problem=attached.problem)
    assert "did not let me read" in attached.problem


async def test_a_slack_that_is_slow_holds_nobody_up(ear: Ear) -> None:
    root = await ear.talk("Yes.")
    ear.bed.faults.slow(6, REPLIES, times=None)
    [attached] = (await ear.asked(MIKA, root)).files
    assert attached.problem
    assert all((one.delay or 0) < 3 for one in ear.bed.deliveries)


async def test_who_is_called_in_another_thread_is_answered_there(ear: Ear) -> None:
    first, second = await ear.talk("Yes."), await ear.talk("No.")
    assert "Yes." in text_of(await ear.asked(MIKA, first))
    assert "No." in text_of(await ear.asked(MIKA, second))
    threads = [thread for thread, _ in ear.desk.taken.values()]
    assert {thread.root for thread in threads} == {first.ts, second.ts}
    assert all(isinstance(thread, Thread) for thread in threads)
