"""How soon does the bot answer in Slack, beside the least that a bot there can be: bolt alone, which posts one message?

    python -m benchmarks.slack [mentions]

Slack is played, by another process than the bot's; people ask one after the other, and then all at once. Of three runs
of each the middle one is shown. A mention is delivered twice, and acknowledged when it is on disk. The bot is asked to be
as fast as it can: at work it writes one message a second into a channel, as Slack wants it, after the first twenty.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.chats.process import Bot, Cost, started
from tests.beds.slack import MIKA, PUBLIC, Call, SlackBed

ROUNDS = 3
WARM = 20
PATIENCE = 120.0
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
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory:
        least, bot = list[Both](), list[Both]()
        for number in range(ROUNDS):
            least.append(await measured("chat.postMessage", mentions, "bolt"))
            home = Path(directory) / str(number)
            bot.append(await measured("chat.update", mentions, "in_slack", str(home)))
    show(
        f"{mentions} mentions, one after the other",
        [b.steady for b in least],
        [b.steady for b in bot],
    )
    show(f"{mentions} mentions at once", [b.burst for b in least], [b.burst for b in bot])


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


def show(title: str, leasts: list[Run], bots: list[Run]) -> None:
    """Of each the run in the middle, by how soon it replied."""
    least, bot = (sorted(runs, key=_middle)[len(runs) // 2] for runs in (leasts, bots))
    print(f"{title:<32} {'acknowledged':>17} {'first reply':>17} {'👀':>16}")
    print(f"{'ms':<32}" + f" {'p50':>8} {'p99':>8}" * 3)
    rows = {"bolt alone": _figures(least), "the bot": _figures(bot)}
    rows["ratio"] = [theirs and ours / theirs for theirs, ours in zip(*rows.values(), strict=True)]
    for name, figures in rows.items():
        print(f"  {name:<30}" + "".join(f" {one:>8.2f}" if one else " " * 9 for one in figures))
    for name, run in (("bolt alone", least), ("the bot", bot)):
        print(f"  {name}: {told(run)}")


def told(run: Run) -> str:
    count, cost = len(run.replies), run.cost
    return (
        f"all answered after {run.lasted:.2f} s, {run.again} sent again; a mention costs"
        f" {1e3 * cost.cpu / count:.1f} ms of processor, {cost.loop_syncs / count:.1f} fsyncs in the loop"
        f" ({1e3 * cost.loop_seconds / count:.2f} ms), {cost.other_syncs / count:.1f} in the background"
    )


def _middle(run: Run) -> float:
    return median(run.replies)


def _figures(run: Run) -> list[float]:
    """The middle and the worst but one percent of everything, in milliseconds; 0 where there is nothing."""
    return [
        1e3 * figure
        for times in (run.acks, run.replies, run.signs)
        for figure in ((median(times), _worst(times)) if times else (0.0, 0.0))
    ]


def _worst(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)]


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
