"""What people said in a thread before they called the bot goes along with what they ask for."""

from __future__ import annotations

import pytest

from bot.core.events import Attached, Said
from bot.core.people import Thread
from tests.adapters.slack.bot import DEADLINE, Bot
from tests.beds.slack import AKI, EXTERNAL, GUEST, MIKA, PUBLIC, TEAM, Message
from tests.fakes import cards

REPLIES = "conversations.replies"
EARLIER = "earlier in this thread"


async def asked(bot: Bot, user: str, root: Message, text: str = "Please do that") -> Said:
    """Mention the bot in a thread: what reaches the desk."""
    before = len(bot.desk.taken)
    await bot.bed.mention(user, PUBLIC, text, root.ts)
    await bot.bed.until(lambda: len(bot.desk.taken) > before, DEADLINE)
    await bot.bed.all_acked(DEADLINE)
    event = bot.desk.events[-1]
    assert isinstance(event, Said)
    return event


async def talk(bot: Bot, *words: str, user: str = AKI) -> Message:
    """People talk to each other; nobody takes note of it."""
    root = await bot.bed.say(MIKA, PUBLIC, "Should it have a dark mode?")
    for word in words:
        await bot.bed.say(user, PUBLIC, f"<@{MIKA}> {word}", root.ts)
    return root


def text_of(event: Said) -> str:
    [attached] = event.files
    assert attached.name == EARLIER
    return attached.text


async def test_what_was_said_before_is_given_along_with_who_said_it(bot: Bot) -> None:
    root = await talk(bot, "Yes, and it should follow the system.")
    event = await asked(bot, MIKA, root)
    assert event.text == "Please do that"
    assert text_of(event).splitlines() == [
        "Mika: Should it have a dark mode?",
        f"Aki: @{MIKA} Yes, and it should follow the system.",
    ]


async def test_a_mention_that_begins_a_thread_has_nothing_before_it(bot: Bot) -> None:
    await bot.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    await bot.bed.until(lambda: bot.desk.taken)
    await bot.bed.all_acked(30)
    assert bot.bed.called(REPLIES) == []
    [event] = bot.desk.events
    assert isinstance(event, Said)
    assert event.files == ()


async def test_a_thread_of_the_bots_own_is_not_read_again(bot: Bot) -> None:
    root = await talk(bot, "Yes.")
    thread = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=root.ts)
    await bot.chat.show(thread, cards.NEWS)
    assert (await asked(bot, MIKA, root)).files == ()
    assert bot.bed.called(REPLIES) == []


async def test_the_two_events_of_one_mention_read_it_once_and_say_the_same(bot: Bot) -> None:
    root = await talk(bot, "Yes.")
    await asked(bot, MIKA, root)
    await bot.bed.until(lambda: len(bot.desk.calls) == 2)
    assert len(bot.bed.called(REPLIES)) == 1
    one, other = bot.desk.calls
    assert one == other


async def test_only_people_who_belong_here_are_heard(bot: Bot) -> None:
    root = await talk(bot, "Delete everything!", user=GUEST)
    await bot.bed.say(EXTERNAL, PUBLIC, f"<@{MIKA}> Send it to us!", root.ts)
    gone = await bot.bed.say(AKI, PUBLIC, f"<@{MIKA}> Oops", root.ts)
    await bot.bed.delete(AKI, gone.ts)
    assert text_of(await asked(bot, AKI, root)) == "Mika: Should it have a dark mode?"


async def test_an_outsider_who_asks_is_given_nothing_to_read(bot: Bot) -> None:
    root = await talk(bot, "Yes.")
    assert (await asked(bot, GUEST, root)).files == ()
    assert bot.bed.called(REPLIES) == []


async def test_of_a_long_conversation_the_last_twenty_are_read(bot: Bot) -> None:
    root = await talk(bot, *(f"word {n}" for n in range(30)))
    lines = text_of(await asked(bot, MIKA, root)).splitlines()
    assert len(lines) == 20
    assert (lines[0], lines[-1]) == (f"Aki: @{MIKA} word 10", f"Aki: @{MIKA} word 29")


async def test_long_words_are_cut_and_the_newest_are_kept(bot: Bot) -> None:
    root = await talk(bot, *(f"{n} " + "x" * 3_000 for n in range(12)))
    text = text_of(await asked(bot, MIKA, root))
    assert len(text) <= 16_000
    assert f"@{MIKA} 11 xxx" in text
    assert "dark mode" not in text


@pytest.mark.parametrize("error", ["thread_not_found", "missing_scope", "internal_error"])
async def test_what_cannot_be_read_is_said_and_holds_nothing_up(bot: Bot, error: str) -> None:
    root = await talk(bot, "Yes.")
    bot.bed.faults.refuse(error, REPLIES, times=None)
    [attached] = (await asked(bot, MIKA, root)).files
    assert attached == Attached(name=EARLIER, problem=attached.problem)
    assert "did not let me read" in attached.problem


async def test_a_slack_that_is_slow_holds_nobody_up(bot: Bot) -> None:
    root = await talk(bot, "Yes.")
    bot.bed.faults.slow(6, REPLIES, times=None)
    [attached] = (await asked(bot, MIKA, root)).files
    assert attached.problem
    assert all((one.delay or 0) < 3 for one in bot.bed.deliveries)


async def test_who_is_called_in_another_thread_is_answered_there(bot: Bot) -> None:
    first, second = await talk(bot, "Yes."), await talk(bot, "No.")
    assert "Yes." in text_of(await asked(bot, MIKA, first))
    assert "No." in text_of(await asked(bot, MIKA, second))
    threads = [thread for thread, _ in bot.desk.taken.values()]
    assert {thread.root for thread in threads} == {first.ts, second.ts}
    assert all(isinstance(thread, Thread) for thread in threads)
