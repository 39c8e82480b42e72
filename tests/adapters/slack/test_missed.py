"""What was said while nobody listened is heard afterwards: in order, and only what was not heard already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import time

import pytest

from adapters.slack.connection import ChannelMarks
from adapters.slack.history import DAY, MissedMessages
from bot.core.choices import Word
from bot.core.errors import Unavailable
from bot.core.events import Commanded, Said
from bot.core.people import Thread
from tests.adapters.slack.way_in import QUICK, US, Desk, WayIn, listening, way_in
from tests.beds.slack import AKI, FOREIGN, MIKA, PUBLIC, SECOND, TEAM, Message, SlackBed

LONG = 30


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed(time_scale=0) as bed:
        yield bed


class Bot:
    """One that is started and ended again, on the same folder."""

    def __init__(self, bed: SlackBed, folder: Path) -> None:
        self.bed = bed
        self.path = folder / "slack" / "seen.json"
        self.desk = Desk()
        self.channels: tuple[str, ...] = (PUBLIC, SECOND)
        self.threads: tuple[Thread, ...] = ()
        self.direct = True
        self.wall = time
        self.page = 200
        self.missed: MissedMessages | None = None

    @asynccontextmanager
    async def awake(self) -> AsyncGenerator[WayIn, None]:
        """It has caught up, and listens."""
        seen = ChannelMarks(self.path)
        async with way_in(self.bed, self.desk, seen=seen) as way:
            self.missed = MissedMessages(
                way.client,
                US,
                seen,
                way.reception.take,
                channels=self.channels,
                direct=self.direct,
                threads=lambda: self.threads,
                wall=self.wall,
                every=0.05,
                page=self.page,
            )
            running = asyncio.create_task(self.missed.run())
            try:
                async with listening(way, replace(QUICK, gap=0.5), self.missed.since):
                    await self.bed.until(lambda: self.path.exists() and not seen.behind, LONG)
                    yield way
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                self.desk.fails.clear()

    async def sleep_once(self) -> None:
        """From now on there is something it has heard up to."""
        async with self.awake():
            pass

    def reads(self) -> int:
        return len(self.bed.called("conversations.history"))


@pytest.fixture
def bot(bed: SlackBed, tmp_path: Path) -> Bot:
    return Bot(bed, tmp_path)


def thread(root: Message) -> Thread:
    return Thread(platform="slack", workspace=TEAM, channel=root.channel, root=root.ts)


async def test_at_the_very_first_start_nothing_is_read(bed: SlackBed, bot: Bot) -> None:
    await bed.mention(MIKA, PUBLIC, "Add a dark mode")
    await bot.sleep_once()
    await bot.sleep_once()
    assert bot.desk.calls == []


async def test_what_was_said_while_the_bot_was_away_is_heard_once_and_in_order(
    bed: SlackBed, bot: Bot
) -> None:
    await bot.sleep_once()
    for text in ("one", "two", "three"):
        await bed.mention(MIKA, PUBLIC, text)
    await bed.say(AKI, PUBLIC, "Lunch?")
    async with bot.awake() as way:
        assert bot.desk.texts == ["one", "two", "three"]
        await bed.mention(AKI, PUBLIC, "four")
        await bed.until(lambda: len(bot.desk.taken) == 4)
        await way.taken(4)
    bot.desk.calls.clear()
    await bot.sleep_once()
    assert bot.desk.calls == [], "it is not even brought again"


async def test_replies_in_threads_with_cards_are_heard(bed: SlackBed, bot: Bot) -> None:
    old, other = [await bed.say(MIKA, PUBLIC, text) for text in ("Once upon a time", "Lunch?")]
    bot.threads = (thread(old),)
    bot.page = 1  # the beginning of the thread is too far back to be met in the history
    await bot.sleep_once()
    await bed.reply(MIKA, PUBLIC, old.ts, "blue, please")
    await bed.reply(AKI, PUBLIC, old.ts, "stop")
    await bed.reply(AKI, PUBLIC, other.ts, "Yes")
    await bot.sleep_once()
    first, second = (event for where, event in bot.desk.taken.values() if where == thread(old))
    assert isinstance(first, Said)
    assert (first.text, first.mention) == ("blue, please", False)
    assert isinstance(second, Commanded)
    assert second.command.word is Word.STOP


async def test_a_mention_in_a_thread_that_had_nothing_to_do_with_the_bot_is_heard(
    bed: SlackBed, bot: Bot
) -> None:
    root = await bed.say(MIKA, PUBLIC, "It is too bright here.")
    await bot.sleep_once()
    await bed.mention(AKI, PUBLIC, "Add a dark mode", thread=root.ts)
    await bot.sleep_once()
    assert bot.desk.texts == ["Add a dark mode"]


async def test_what_was_said_in_a_direct_message_is_heard(bed: SlackBed, bot: Bot) -> None:
    dm = bed.dm(MIKA)
    async with bot.awake():
        await bed.say(MIKA, dm, "one")
        await bed.until(lambda: bot.desk.taken)
    await bed.say(MIKA, dm, "two")
    await bot.sleep_once()
    assert bot.desk.texts == ["one", "two"]
    assert all(where.direct for where, _ in bot.desk.taken.values())


async def test_where_nobody_may_ask_for_anything_nothing_is_read(bed: SlackBed, bot: Bot) -> None:
    """Anybody may bring the bot into a channel, or write to it: that must not use up its calls."""
    bot.channels, bot.direct = (PUBLIC,), False
    places = (SECOND, bed.dm(MIKA))
    async with bot.awake():
        for place in places:
            await bed.say(MIKA, place, f"<@{US.user}> one")
        await bed.until(lambda: len(bot.desk.taken) == 2)
    for place in places:
        await bed.say(MIKA, place, f"<@{US.user}> two")
    bed.calls.clear()
    await bot.sleep_once()
    assert {call.args["channel"] for call in bed.called("conversations.history")} == {PUBLIC}
    assert len(bot.desk.taken) == 2


async def test_what_was_said_during_a_gap_is_heard(bed: SlackBed, bot: Bot) -> None:
    async with bot.awake():
        before = bot.reads()
        bed.sockets.mute()
        bed.courier.ack_seconds = LONG  # Slack does not bring it again before that
        await bed.mention(MIKA, PUBLIC, "Add a dark mode")
        await bed.until(lambda: bot.desk.taken, LONG)
        assert bot.reads() > before


async def test_a_word_that_could_not_be_taken_is_read_again(bed: SlackBed, bot: Bot) -> None:
    """Even when Slack has given up bringing it, and although a later one was taken."""
    bed.courier.ack_seconds = 0.1
    async with bot.awake():
        bot.desk.full(8)
        await bed.mention(MIKA, PUBLIC, "one")
        await bed.until(lambda: len(bot.desk.fails) < 8)
        bot.desk.fails.clear()
        await bed.mention(MIKA, PUBLIC, "two")
        await bed.until(lambda: len(bot.desk.taken) == 2, LONG)
    assert sorted(bot.desk.texts) == ["one", "two"]


async def test_a_word_that_could_not_be_taken_before_the_end_is_read_after_it(
    bed: SlackBed, bot: Bot
) -> None:
    bed.courier.ack_seconds, bed.leeway.unacked = 0.05, True
    async with bot.awake():
        bot.desk.full(1_000)
        await bed.mention(MIKA, PUBLIC, "one")
        await bed.until(lambda: all(one.lost for one in bed.deliveries), LONG)
    assert bot.desk.taken == {}
    await bot.sleep_once()
    assert bot.desk.texts == ["one"]


async def test_a_word_that_the_bot_stumbles_over_costs_no_other(bed: SlackBed, bot: Bot) -> None:
    await bot.sleep_once()
    bed.leeway.unacked = True
    for word in ("one", "two"):
        await bed.mention(MIKA, PUBLIC, word)
    bot.desk.fails = [ZeroDivisionError("a bug")]
    async with bot.awake():
        await bed.until(lambda: bot.desk.texts == ["two"], LONG)


async def test_nothing_older_than_a_day_is_heard(bed: SlackBed, bot: Bot) -> None:
    await bot.sleep_once()
    await bed.mention(MIKA, PUBLIC, "Add a dark mode")
    bot.wall = lambda: time() + DAY + 60
    await bot.sleep_once()
    assert bot.desk.calls == []


async def test_page_after_page_is_read(bed: SlackBed, bot: Bot) -> None:
    bot.page = 3
    await bot.sleep_once()
    for number in range(8):
        await bed.say(MIKA, PUBLIC, f"<@{US.user}> {number}")
    await bot.sleep_once()
    assert bot.desk.texts == [str(number) for number in range(8)]


async def test_told_to_wait_it_waits(bed: SlackBed, bot: Bot) -> None:
    await bot.sleep_once()
    await bed.mention(MIKA, PUBLIC, "Add a dark mode")
    bed.faults.storm(2, 0, "conversations.history")
    await bot.sleep_once()
    assert bot.desk.texts == ["Add a dark mode"]


async def test_a_slack_that_is_ill_is_asked_again(bed: SlackBed, bot: Bot) -> None:
    await bot.sleep_once()
    await bed.mention(MIKA, PUBLIC, "Add a dark mode")
    bed.faults.answer(503, "conversations.*", times=2)
    await bot.sleep_once()
    assert bot.desk.texts == ["Add a dark mode"]


async def test_a_channel_that_cannot_be_read_does_not_hinder_the_others(
    bed: SlackBed, bot: Bot
) -> None:
    bot.channels = (FOREIGN, PUBLIC)
    gone = Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root="1.000001")
    bot.threads = (gone,)
    await bot.sleep_once()
    await bed.mention(MIKA, PUBLIC, "Add a dark mode")
    await bot.sleep_once()
    assert bot.desk.texts == ["Add a dark mode"]


# what is kept


def test_the_mark_stays_before_what_is_not_taken(tmp_path: Path) -> None:
    seen = ChannelMarks(tmp_path / "seen.json")
    with seen.taking("C1", "100.000001"):
        pass
    with seen.taking("C1", "100.000005"), seen.taking("C1", "100.000003"):
        assert (seen.mark("C1") or 0) < 100.000003
    assert seen.mark("C1") == 100.000005
    with pytest.raises(Unavailable), seen.taking("C1", "100.000007"):
        raise Unavailable("full")
    with seen.taking("C1", "100.000009"):
        pass
    assert (seen.mark("C1") or 0) < 100.000007
    assert seen.behind == ("C1",)
    with seen.taking("C1", "100.000007"):
        pass
    assert seen.mark("C1") == 100.000009
    assert seen.behind == ()


def test_after_a_gap_the_mark_stays_until_all_was_read(tmp_path: Path) -> None:
    seen = ChannelMarks(tmp_path / "seen.json")
    seen.begin(("C1", "C2"), 100)
    seen.rewind(90)
    with seen.taking("C1", "110.000000"):
        pass
    assert (seen.mark("C1"), seen.mark("C2")) == (90, 90)
    seen.caught_up("C1")
    assert (seen.mark("C1"), seen.behind) == (110, ("C2",))


def test_marks_survive_and_are_held_until_all_was_read(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "seen.json"
    seen = ChannelMarks(path)
    seen.begin(("C1",), 100)
    seen.save()
    assert path.stat().st_mode & 0o777 == 0o600
    again = ChannelMarks(path)
    again.begin(("C1", "C2"), 200)
    assert (again.mark("C1"), again.mark("C2"), again.mark("C3")) == (100, 200, None)
    with again.taking("C1", "210.000000"):
        pass
    assert again.mark("C1") == 100
    assert again.behind == ("C1",)


def test_a_file_that_cannot_be_read_is_as_good_as_none(tmp_path: Path) -> None:
    path = tmp_path / "seen.json"
    for content in ("", "{", '{"channels": {"C1": "x"}}', "[]"):
        path.write_text(content)
        assert ChannelMarks(path).channels() == ()


def test_a_disk_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "seen.json"
    seen = ChannelMarks(path)
    seen.begin(("C1",), 100)
    path.parent.write_text("a file where the folder should be")
    with pytest.raises(Unavailable, match=r"seen\.json"):
        seen.save()
    with pytest.raises(Unavailable, match=r"seen\.json"):
        ChannelMarks(path)
