"""What people say in a thread that the bot has begun reaches the desk as said in exactly that thread."""

from __future__ import annotations

import pytest

from bot.core.choices import Choice, Verb, Word
from bot.core.events import Commanded, Pressed, Said
from bot.core.people import Thread
from tests.adapters.slack.bot import DEADLINE, Bot
from tests.beds.slack import AKI, MIKA, PUBLIC, TEAM
from tests.fakes import cards

ASKING = cards.ANSWER.model_copy(
    update={"key": "root:1", "choices": (Choice(label="Stop it", verb=Verb.STOP, about="s1"),)}
)


@pytest.fixture(autouse=True)
def _roots(bot: Bot) -> None:
    bot.bed.leeway.roots |= {PUBLIC, bot.bed.dm(MIKA)}
    bot.bed.leeway.unacked = True  # what is said while nobody listens is given up by Slack


async def heard(bot: Bot, text: str) -> Thread:
    """The thread in which it was said."""
    await bot.bed.until(lambda: text in bot.desk.texts, DEADLINE)
    (thread,) = [
        thread for thread, event in bot.desk.taken.values() if getattr(event, "text", "") == text
    ]
    return thread


async def asked(bot: Bot, channel: str = PUBLIC) -> Thread:
    await bot.bed.mention(MIKA, channel, "Build a web shop")
    return await heard(bot, "Build a web shop")


async def test_replies_mentions_and_stop_words_are_of_the_opened_thread(bot: Bot) -> None:
    thread = await asked(bot)
    opened = await bot.chat.open(thread, cards.ROOT)
    await bot.bed.reply(MIKA, PUBLIC, opened.root, "Use the new API")
    await bot.bed.mention(AKI, PUBLIC, "and the old one", opened.root)
    await bot.bed.reply(AKI, PUBLIC, opened.root, "stop")
    assert await heard(bot, "Use the new API") == opened
    assert await heard(bot, "and the old one") == opened
    await bot.bed.until(lambda: len(bot.desk.taken) == 4, DEADLINE)
    where, event = list(bot.desk.taken.values())[-1]
    assert where == opened
    assert isinstance(event, Commanded)
    assert event.command.word is Word.STOP
    kinds = [(one.mention, one.by.id) for one in bot.desk.events if isinstance(one, Said)]
    assert kinds[1:] == [(False, f"{TEAM}:{MIKA}"), (True, f"{TEAM}:{AKI}")]


async def test_slacks_own_stop_in_an_opened_thread_is_of_that_thread(bot: Bot) -> None:
    opened = await bot.chat.open(await asked(bot), cards.ROOT)
    await bot.chat.show(opened, cards.RECEIVED)
    await bot.bed.until(
        lambda: bot.bed.session_status(PUBLIC, opened.root) == "processing", DEADLINE
    )
    await bot.bed.native_stop(MIKA, PUBLIC, opened.root)
    await bot.bed.until(lambda: len(bot.desk.taken) == 2, DEADLINE)
    assert list(bot.desk.taken.values())[-1][0] == opened


async def test_alone_with_somebody_replies_are_of_the_opened_thread(bot: Bot) -> None:
    dm = bot.bed.dm(MIKA)
    await bot.bed.say(MIKA, dm, "Build a web shop")
    thread = await heard(bot, "Build a web shop")
    opened = await bot.chat.open(thread, cards.ROOT)
    await bot.bed.reply(MIKA, dm, opened.root, "Use the new API")
    assert await heard(bot, "Use the new API") == opened
    assert opened.direct


async def test_a_button_on_a_root_message_is_of_its_thread_before_and_after_replies(
    bot: Bot,
) -> None:
    opened = await bot.chat.open(await asked(bot), ASKING)
    await bot.bed.click(MIKA, opened.root, "Stop it")
    await bot.bed.reply(MIKA, PUBLIC, opened.root, "Please")
    await bot.bed.click(AKI, opened.root, "Stop it")
    await bot.bed.until(lambda: len(bot.desk.taken) == 4, DEADLINE)
    pressed = [
        (thread, event.about)
        for thread, event in bot.desk.taken.values()
        if isinstance(event, Pressed)
    ]
    assert pressed == [(opened, "s1")] * 2


async def test_what_is_said_in_an_opened_thread_while_nobody_listens_is_heard_later(
    bot: Bot,
) -> None:
    opened = await bot.chat.open(await asked(bot), cards.ROOT)
    await bot.end()
    await bot.bed.reply(MIKA, PUBLIC, opened.root, "Use the new API")
    await bot.start()
    assert await heard(bot, "Use the new API") == opened


async def test_what_was_said_before_a_card_stood_there_is_heard_as_that_whenever_it_comes(
    bot: Bot,
) -> None:
    """By the order of the messages in Slack: the clock of this machine says nothing of it."""
    root = await asked(bot)
    await bot.chat.show(root, cards.ANSWER)
    await bot.end()
    await bot.bed.reply(AKI, PUBLIC, root.root, "approve")
    await bot.start(hears=False)
    await bot.chat.show(root, cards.APPROVAL)
    await bot.restart(hears=True)
    await heard(bot, "approve")
    await bot.bed.reply(AKI, PUBLIC, root.root, "approved")
    await heard(bot, "approved")
    said = [event for event in bot.desk.events if isinstance(event, Said)]
    assert [event.unseen for event in said[1:]] == [("approval:1",), ()]
