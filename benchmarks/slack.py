"""How soon does the bot answer in Slack, beside the least that a bot there can be: bolt alone, which posts one message?

    python -m benchmarks.slack [mentions]

Slack is played, by another process than the bot's; people ask one after the other, and then all at once. Of three runs
of each the middle one is shown. A mention is delivered twice, and acknowledged when it is on disk. The bot is asked to be
as fast as it can: at work it writes one message a second into a channel, as Slack wants it, after the first twenty.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.chats.process import Bot, Cost, started
from benchmarks.ground import late, on_this_disk
from benchmarks.table import Row, at_most, hand_in
from tests.beds.slack import MIKA, PUBLIC, Call, SlackBed

ROUNDS = 3
WARM = 20
PATIENCE = 120.0
ACK, SIGN, ANSWER = 3.0, 2.0, 5.0
"""Seconds: Slack waits for the first, people are promised the others."""
LOOK = 0.002
"""Seconds between two looks at what stands there."""
REQUEST = "Add a dark mode to the settings page, and remember what was chosen"


@dataclass(frozen=True)
class Run:
    """What one bot did with one lot of mentions. Times are in seconds, from the moment somebody wrote."""

    acks: list[float]
    replies: list[float]
    signs: list[float]
    """When 👀 was there."""
    lasted: float
    """Until the last one had a reply."""
    again: int
    """Deliveries that were sent again, as nobody had acknowledged them in three seconds."""
    cost: Cost


class Channel:
    """People in a channel with a bot, and what is seen of it there."""

    def __init__(self, bed: SlackBed, bot: Bot, last: str) -> None:
        self._bed, self._bot = bed, bot
        self._last = last
        """The call with which the bot is done with a mention."""
        self._looked = 0
        """So many calls were looked at."""

    async def one_after_the_other(self, mentions: int) -> Run:
        first, before = len(self._bed.deliveries), await self._bot.cost()
        written: dict[str, float] = {}
        for _ in range(mentions):
            one = await self._write()
            await self._done([one[0]], len(self._bed.deliveries) - 2)
            written.update([one])
        return await self._run(written, first, before)

    async def all_at_once(self, mentions: int) -> Run:
        first, before = len(self._bed.deliveries), await self._bot.cost()
        written = dict(await asyncio.gather(*(self._write() for _ in range(mentions))))
        await self._done(written, first)
        return await self._run(written, first, before)

    async def _write(self) -> tuple[str, float]:
        """The thread that hangs from it, and when it was."""
        at = time.time()
        return (await self._bed.mention(MIKA, PUBLIC, REQUEST)).ts, at

    async def _done(self, written: Iterable[str], first: int) -> None:
        """Until nothing is left to do."""
        left = set(written)

        def done() -> bool:
            news = self._bed.calls[self._looked :]
            self._looked += len(news)
            left.difference_update(self._thread(c) for c in news if c.method == self._last)
            return not left

        await _until(done)
        await _until(lambda: all(one.over.is_set() for one in self._bed.deliveries[first:]))

    async def _run(self, written: dict[str, float], first: int, before: Cost) -> Run:
        cost = (await self._bot.cost()).since(before)
        deliveries = self._bed.deliveries[first:]
        asked = [one for one in deliveries if one.event.get("ts") in written]
        replies = self._seen("chat.postMessage", written)
        assert replies.keys() == written.keys()
        return Run(
            acks=[one.delay for one in asked if one.delay is not None],
            replies=[at - written[thread] for thread, at in replies.items()],
            signs=[at - written[t] for t, at in self._seen("reactions.add", written).items()],
            lasted=max(replies.values()) - min(written.values()),
            again=sum(len(one.attempts) > 1 for one in asked),
            cost=cost,
        )

    def _seen(self, method: str, written: Container[str]) -> dict[str, float]:
        """When it was called for each thread: once, also where a mention was delivered again."""
        calls = [(self._thread(call), call.at) for call in self._bed.called(method)]
        found = {thread: at for thread, at in calls if thread in written}
        assert len(found) == sum(thread in written for thread, _ in calls), "done twice"
        return found

    def _thread(self, call: Call) -> str:
        """The root of the thread that a call is about."""
        root = call.args.get("thread_ts") or call.args.get("timestamp")
        if root is None and (message := self._bed.world.messages.find(PUBLIC, call.args["ts"])):
            root = message.thread
        return str(root)


@dataclass(frozen=True)
class Both:
    """One bot, with people who ask one after the other, and with all of them at once."""

    steady: Run
    burst: Run


async def main(mentions: int) -> None:
    least, bot = list[Both](), list[Both]()
    with on_this_disk() as folder:
        for number in range(ROUNDS):
            least.append(await measured("chat.postMessage", mentions, "bolt"))
            home = str(folder / str(number))
            bot.append(await measured("chat.update", mentions, "in_slack", home))
    hand_in(
        *rows(f"Slack, {mentions} mentions in turn", least, bot, lambda both: both.steady),
        *rows(f"Slack, {mentions} mentions at once", least, bot, lambda both: both.burst),
    )


async def _until(seen: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not seen():  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(LOOK)


async def measured(last: str, mentions: int, program: str, *arguments: str) -> Both:
    async with SlackBed() as bed, started(program, bed.api_url, *arguments) as bot:
        await bed.connected(seconds=PATIENCE)
        channel = Channel(bed, bot, last)
        await channel.one_after_the_other(WARM)
        steady = await channel.one_after_the_other(mentions)
        return Both(steady, await channel.all_at_once(mentions))


def rows(
    what: str, leasts: list[Both], bots: list[Both], which: Callable[[Both], Run]
) -> Iterator[Row]:
    """Of each the run in the middle, by how soon it replied."""
    least, bot = (sorted(map(which, one), key=_middle)[ROUNDS // 2] for one in (leasts, bots))
    for name, run in (("bolt alone", least), ("the bot", bot)):
        print(f"{what}: {name}: {told(run)}")
    for name, ours, floor, promised in (
        ("acknowledged", bot.acks, least.acks, ACK),
        ("first reply", bot.replies, least.replies, ANSWER),
    ):
        middle, worst = median(ours), late(ours)
        of = "bolt alone"
        yield at_most("", f"{what}: {name}", middle, promised, floor=median(floor), of=of)
        yield at_most("", f"{what}: {name}, p99", worst, promised, floor=late(floor), of=of)
    yield at_most("", f"{what}: 👀, p99", late(bot.signs), SIGN)


def told(run: Run) -> str:
    count, cost = len(run.replies), run.cost
    return (
        f"all answered after {run.lasted:.2f} s, {run.again} sent again; a mention costs"
        f" {1e3 * cost.cpu / count:.1f} ms of processor, {cost.loop_syncs / count:.1f} fsyncs in the loop"
        f" ({1e3 * cost.loop_seconds / count:.2f} ms), {cost.other_syncs / count:.1f} in the background"
    )


def _middle(run: Run) -> float:
    return median(run.replies)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
