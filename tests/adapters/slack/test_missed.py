"""What was said while nobody listened is heard afterwards: in order, and only what was not heard already."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from time import time

import pytest

from bot.core.choices import Word
from bot.core.errors import Unavailable
from bot.core.events import Commanded, Said
from bot.core.people import Thread
from tests.adapters.slack.bot import DEADLINE, QUICK, Bot, bot_in
from tests.beds.slack import AKI, BOT, FOREIGN, MIKA, PUBLIC, SECOND, TEAM, Message, SlackBed
from tests.fakes import cards

HISTORY = "conversations.history"
A_DAY = 24 * 3600.0


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    """One that has listened before, and is away."""
    channels = [f"{TEAM}:{one}" for one in (PUBLIC, SECOND, FOREIGN, "dm")]
    async with bot_in(tmp_path, bed=SlackBed(time_scale=0), places=channels) as one:
        one.bed.leeway.unacked = True
        one.bed.leeway.forgiven |= {"not_in_channel"}
        await one.bed.until((tmp_path / "heard.json").exists, DEADLINE)
        await one.end()
        yield one
        one.desk.fails.clear()


async def caught_up(bot: Bot) -> None:
    """What was said in the first channel has been read since the start."""

    def read() -> bool:
        calls = [one for one in bot.bed.calls[bot.began :] if one.method == HISTORY]
        return any(one.args["channel"] == PUBLIC and one.answer for one in calls)

    await bot.bed.until(read, DEADLINE)


async def wakes(bot: Bot, count: int) -> list[str]:
    """What it has heard in all, as soon as that is so many things."""
    await bot.start()
    await bot.taken(count)
    return bot.desk.texts


def thread(root: Message) -> Thread:
    return Thread(platform="slack", workspace=TEAM, channel=root.channel, root=root.ts)


async def test_at_the_very_first_start_nothing_is_read(tmp_path: Path) -> None:
    async with SlackBed() as bed:
        bed.leeway.unacked = True
        await bed.mention(MIKA, PUBLIC, "Add a dark mode")
        bed.deliveries.clear()
        bot = Bot(bed, tmp_path)
        for _ in range(2):
            await bot.start()
            await bed.until(lambda: (tmp_path / "heard.json").exists(), DEADLINE)
            await bot.end()
        assert bot.desk.calls == []


async def test_what_was_said_while_the_bot_was_away_is_heard_once_and_in_order(bot: Bot) -> None:
    for text in ("one", "two", "three"):
        await bot.bed.mention(MIKA, PUBLIC, text)
    await bot.bed.say(AKI, PUBLIC, "Lunch?")
    assert await wakes(bot, 3) == ["one", "two", "three"]
    await caught_up(bot)
    await bot.bed.mention(AKI, PUBLIC, "four")
    await bot.taken(4)
    await bot.end()
    bot.desk.calls.clear()
    await bot.start()
    await caught_up(bot)
    assert bot.desk.calls == [], "it is not even brought again"


async def test_replies_in_threads_with_cards_are_heard_though_they_began_long_ago(bot: Bot) -> None:
    old, other = [await bot.bed.say(MIKA, PUBLIC, text) for text in ("Once upon a time", "Lunch?")]
    await bot.start()
    await bot.chat.show(thread(old), cards.NEWS)
    await bot.bed.mention(MIKA, PUBLIC, "status")
    await bot.taken(1)
    await bot.end()
    for number in range(210):  # too far back to be met in a page of the history
        await bot.bed.say(MIKA, PUBLIC, f"talk {number}")
    await bot.bed.reply(MIKA, PUBLIC, old.ts, "blue, please")
    await bot.bed.reply(AKI, PUBLIC, old.ts, "stop")
    await bot.bed.reply(AKI, PUBLIC, other.ts, "Yes")
    await bot.start()
    await bot.bed.until(
        lambda: sum(where == thread(old) for where, _ in bot.desk.taken.values()) == 2, DEADLINE
    )
    first, second = (event for where, event in bot.desk.taken.values() if where == thread(old))
    assert isinstance(first, Said)
    assert (first.text, first.mention) == ("blue, please", False)
    assert isinstance(second, Commanded)
    assert second.command.word is Word.STOP


async def test_a_mention_in_a_thread_that_had_nothing_to_do_with_the_bot_is_heard(
    bot: Bot,
) -> None:
    await bot.start()
    root = await bot.bed.say(MIKA, PUBLIC, "It is too bright here.")
    await bot.bed.mention(MIKA, PUBLIC, "status")
    await bot.taken(1)
    await bot.end()
    await bot.bed.mention(AKI, PUBLIC, "Add a dark mode", thread=root.ts)
    assert (await wakes(bot, 2))[1:] == ["Add a dark mode"]


async def test_what_was_said_in_a_direct_message_is_heard(bot: Bot) -> None:
    dm = bot.bed.dm(MIKA)
    await bot.start()
    await bot.bed.say(MIKA, dm, "one")
    await bot.taken(1)
    await bot.end()
    await bot.bed.say(MIKA, dm, "two")
    assert await wakes(bot, 2) == ["one", "two"]
    assert all(where.direct for where, _ in bot.desk.taken.values())


async def test_where_nobody_may_ask_for_anything_nothing_is_read(bot: Bot) -> None:
    """Anybody may bring the bot into a channel, or write to it: that must not use up its calls."""
    bot.options["places"] = [f"{TEAM}:{PUBLIC}"]
    places = (SECOND, bot.bed.dm(MIKA))
    await bot.start()
    for place in places:
        await bot.bed.say(MIKA, place, f"<@{BOT}> one")
    await bot.taken(2)
    await bot.end()
    for place in places:
        await bot.bed.say(MIKA, place, f"<@{BOT}> two")
    await bot.start()
    await caught_up(bot)
    calls = [one for one in bot.bed.calls[bot.began :] if one.method == HISTORY]
    assert {one.args["channel"] for one in calls} == {PUBLIC}
    assert len(bot.desk.taken) == 2


async def test_what_was_said_during_a_gap_is_heard(bot: Bot) -> None:
    bot.options["rhythm"] = replace(QUICK, gap=0.5)
    await bot.start()
    before = len(bot.bed.called(HISTORY))
    bot.bed.sockets.mute()
    bot.bed.courier.ack_seconds = DEADLINE  # Slack does not bring it again before that
    await bot.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    await bot.bed.until(lambda: bot.desk.taken, DEADLINE)
    assert len(bot.bed.called(HISTORY)) > before


async def test_a_word_that_could_not_be_taken_before_the_end_is_read_after_it(bot: Bot) -> None:
    bot.bed.courier.ack_seconds = 0.05
    bot.desk.full(1_000)
    await bot.start()
    await bot.bed.mention(MIKA, PUBLIC, "one")
    await bot.bed.until(lambda: all(one.lost for one in bot.bed.deliveries), DEADLINE)
    await bot.end()
    assert bot.desk.taken == {}
    bot.desk.fails.clear()
    assert await wakes(bot, 1) == ["one"]


async def test_a_word_that_the_bot_stumbles_over_costs_no_other(bot: Bot) -> None:
    for word in ("one", "two"):
        await bot.bed.mention(MIKA, PUBLIC, word)
    bot.desk.fails = [ZeroDivisionError("a bug")]
    await bot.start()
    await bot.bed.until(lambda: bot.desk.texts == ["two"], DEADLINE)


async def test_nothing_older_than_a_day_is_heard(bot: Bot) -> None:
    marks = bot.folder / "heard.json"
    days_ago = time() - 3 * A_DAY
    marks.write_text(
        json.dumps(json.loads(marks.read_text()), default=str).replace(
            str(json.loads(marks.read_text())["channels"][PUBLIC]), str(days_ago)
        )
    )
    old = await bot.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    old.ts = f"{days_ago + A_DAY:.6f}"
    await bot.bed.mention(MIKA, PUBLIC, "Add a light mode")
    assert await wakes(bot, 1) == ["Add a light mode"]


async def test_page_after_page_is_read(bot: Bot) -> None:
    for number in range(405):
        await bot.bed.say(MIKA, PUBLIC, f"talk {number}" if number % 100 else f"<@{BOT}> {number}")
    assert await wakes(bot, 5) == ["0", "100", "200", "300", "400"]


@pytest.mark.parametrize("fault", ["storm", "ill"])
async def test_told_to_wait_or_told_nothing_it_asks_again(bot: Bot, fault: str) -> None:
    await bot.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    if fault == "storm":
        bot.bed.faults.storm(2, 0, HISTORY)
    else:
        bot.bed.faults.answer(503, HISTORY)
    assert await wakes(bot, 1) == ["Add a dark mode"]


async def test_a_channel_that_cannot_be_read_does_not_hinder_the_others(bot: Bot) -> None:
    """It is not a member of one of those in its list, as from the beginning."""
    await bot.bed.mention(MIKA, SECOND, "Add a dark mode")
    assert await wakes(bot, 1) == ["Add a dark mode"]


@pytest.mark.parametrize("content", ["", "{", '{"channels": {"C0001": "x"}}', "[]"])
async def test_marks_that_cannot_be_read_are_as_good_as_none(bot: Bot, content: str) -> None:
    (bot.folder / "heard.json").write_text(content)
    await bot.start()
    await bot.bed.mention(MIKA, PUBLIC, "Add a dark mode")
    await bot.taken(1)


async def test_marks_on_a_disk_that_cannot_be_used_are_told(bot: Bot) -> None:
    marks = bot.folder / "heard.json"
    marks.unlink()
    marks.mkdir()
    await bot.start(hears=False)
    with pytest.raises(Unavailable, match=r"heard\.json"):
        await bot.listen()
    await bot.end()
    marks.rmdir()


async def test_the_marks_are_for_nobody_elses_eyes(bot: Bot) -> None:
    assert (bot.folder / "heard.json").stat().st_mode & 0o777 == 0o600
