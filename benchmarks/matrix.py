"""How soon does the bot answer on Matrix, beside a program that only reads and writes there by plain HTTP?

    python -m benchmarks.matrix [mentions]

The homeserver is a real one. Somebody asks, one thing after the other, and sees the answer in the thread. Of three runs
of each the middle one is shown.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import Any

from aiohttp import ClientSession

from benchmarks.chats.process import Bot, Cost, started
from benchmarks.ground import late, on_this_disk
from benchmarks.table import Row, at_most, hand_in, lacking
from tests.beds.synapse import Homeserver, People, Person

ROUNDS = 3
WARM = 5
PATIENCE = 60.0
SOON = 1.0
SIGN, ANSWER = 2.0, 5.0
"""Seconds that people are promised."""
REQUEST = "Add a dark mode to the settings page, and remember what was chosen"
FLOOR, REQUESTED = "plain HTTP", "the bot: a request"
_FILTER = json.dumps({"room": {"timeline": {"limit": 100}}})


@dataclass(frozen=True)
class Seen:
    """Seconds from the moment somebody began to write."""

    reply: float
    sign: float
    """👀; as late as the reply where there was none before."""


@dataclass(frozen=True)
class Run:
    seen: list[Seen]
    cost: Cost


class Room:
    """Somebody in a room with a bot."""

    def __init__(self, person: Person, name: str, account: str, bot: Bot) -> None:
        self._person, self._name, self._account, self._bot = person, name, account, bot
        self._since = ""

    async def awake(self) -> None:
        """Until it answers: what was said before it listened, it never hears."""
        async with asyncio.timeout(PATIENCE):
            while not await self._answers():
                pass
        for _ in range(WARM):
            await self._ask("help", edited=False)

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(SOON):
                await self._ask("help", edited=False)
        except TimeoutError:
            return False
        return True

    async def asked(self, text: str, mentions: int, *, edited: bool = False) -> Run:
        """`edited`: the bot is done when it has edited its answer."""
        await self._news(0)
        before = await self._bot.cost()
        seen = [await self._ask(text, edited=edited) for _ in range(mentions)]
        return Run(seen, (await self._bot.cost()).since(before))

    async def _ask(self, text: str, *, edited: bool) -> Seen:
        begun, reply, sign, answer, done = time.perf_counter(), 0.0, 0.0, "", False
        root = await self._person.say(self._name, text, mention=self._account)
        while not (done and reply):
            for event in await self._news(30_000):
                at = time.perf_counter() - begun
                match _relation(event):
                    case ("m.thread", target) if target == root and not reply:
                        reply, answer, done = at, event["event_id"], done or not edited
                    case ("m.annotation", target) if target == root:
                        sign = at
                    case ("m.replace", target) if target == answer:
                        done = True
                    case _:
                        pass
        return Seen(reply, sign or reply)

    async def _news(self, wait: int) -> list[dict[str, Any]]:
        """What the bot has said since the last time."""
        query = {"filter": _FILTER, "timeout": str(wait)}
        if self._since:
            query["since"] = self._since
        async with asyncio.timeout(PATIENCE):
            told = await self._person.call("GET", "sync", query=query)
        self._since = told["next_batch"]
        rooms = told.get("rooms", {}).get("join", {})
        events = rooms.get(self._name, {}).get("timeline", {}).get("events", [])
        return [event for event in events if event["sender"] == self._account]


def _relation(event: dict[str, Any]) -> tuple[str, str]:
    relation = event.get("content", {}).get("m.relates_to", {})
    return relation.get("rel_type", ""), relation.get("event_id", "")


async def main(mentions: int) -> None:
    if why := missing():
        hand_in(lacking("", "Matrix: first reply", why))
        return
    runs: dict[str, list[Run]] = {}
    with on_this_disk() as folder, Homeserver(folder / "synapse") as homeserver:
        async with ClientSession() as session, AsyncExitStack() as bots:
            people = People(homeserver, session)
            mika = people("mika")
            raw = await room_with(bots, people, mika, "raw")
            bot = await room_with(bots, people, mika, "in_matrix", str(folder / "home"))
            for _ in range(ROUNDS):
                for name, room, text in ((FLOOR, raw, "help"), (REQUESTED, bot, REQUEST)):
                    run = await room.asked(text, mentions, edited=name == REQUESTED)
                    runs.setdefault(name, []).append(run)
    floor, ours = (sorted(runs[name], key=_middle)[ROUNDS // 2] for name in (FLOOR, REQUESTED))
    for name, run in ((FLOOR, floor), (REQUESTED, ours)):
        print(f"{name}: {_told(run)}")
    hand_in(*rows(mentions, floor, ours))


def missing() -> str:
    """Why there can be no homeserver here."""
    return "" if find_spec("synapse") else "there is no Synapse: make test installs it."


def rows(mentions: int, floor: Run, ours: Run) -> Iterator[Row]:
    """Everything as late as it was seen by the one who asked."""
    what = f"Matrix, {mentions} requests in turn"
    plain = [one.reply for one in floor.seen]
    for name, seconds, promised in (
        ("👀", [one.sign for one in ours.seen], SIGN),
        ("first reply", [one.reply for one in ours.seen], ANSWER),
    ):
        of = FLOOR
        yield at_most("", f"{what}: {name}", median(seconds), promised, floor=median(plain), of=of)
        yield at_most("", f"{what}: {name}, p95", late(seconds, 0.95), promised)


async def room_with(
    bots: AsyncExitStack, people: People, mika: Person, program: str, *more: str
) -> Room:
    account = people("gwt")
    name = await people.room(mika, account)
    way = (people.homeserver.url, account.id, account.login.access_token)
    who = () if program == "raw" else (mika.id, name)
    bot = await bots.enter_async_context(started(program, *way, *who, *more))
    room = Room(mika, name, account.id, bot)
    await room.awake()
    return room


def _told(run: Run) -> str:
    count, cost = len(run.seen), run.cost
    return (
        f"costs {1e3 * cost.cpu / count:.1f} ms of processor, {cost.loop_syncs / count:.1f} fsyncs in the loop"
        f" ({1e3 * cost.loop_seconds / count:.2f} ms), {cost.other_syncs / count:.1f} in the background"
    )


def _middle(run: Run) -> float:
    return median(one.reply for one in run.seen)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 25))
