"""How soon does the bot answer on Matrix, beside a program that only reads and writes there by plain HTTP?

    python -m benchmarks.matrix [mentions]

The homeserver is a real one. Somebody asks, one thing after the other, and sees the answer in the thread.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from aiohttp import ClientSession

from benchmarks.chats.process import Bot, Cost, started
from tests.beds.synapse import Homeserver, People, Person

ROUNDS = 3
WARM = 5
PATIENCE = 60.0
REQUEST = "Add a dark mode to the settings page, and remember what was chosen"
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
    runs: dict[str, list[Run]] = {}
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory,
        Homeserver(Path(directory) / "synapse") as homeserver,
    ):
        async with ClientSession() as session, AsyncExitStack() as bots:
            people = People(homeserver, session)
            mika = people("mika")
            raw = await room_with(bots, people, mika, "raw")
            bot = await room_with(bots, people, mika, "in_matrix", str(Path(directory) / "home"))
            await warmed(raw, bot)
            for _ in range(ROUNDS):
                for name, run in (
                    ("plain HTTP", raw.asked("help", mentions)),
                    ("help", bot.asked("help", mentions)),
                    ("a request", bot.asked(REQUEST, mentions, edited=True)),
                ):
                    runs.setdefault(name, []).append(await run)
    show(mentions, {name: sorted(of, key=_middle)[ROUNDS // 2] for name, of in runs.items()})


async def room_with(
    bots: AsyncExitStack, people: People, mika: Person, program: str, home: str = ""
) -> Room:
    account = people("gwt")
    room = await people.room(mika, account)
    way = (people.homeserver.url, account.id, account.login.access_token)
    more = (mika.id, room, home) if home else ()
    bot = await bots.enter_async_context(started(program, *way, *more))
    return Room(mika, room, account.id, bot)
