"""A bot of real parts that dies where it is told to: `python -m tests.engine.real_bot FOLDER [PLACE]`.

PLACE is the number of a mark (each call to a port makes one before and one after it), or the name of a call and which
one of them: `panes.start:2` dies in the middle of the second, `before panes.start:2` before it. FOLDER/calls.PID lists the marks of a life.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from adapters.chat.console import ConsoleChat
from adapters.chat.console.lines import PROMPT
from adapters.chat.console.open_cards import OpenCards
from adapters.played import STAGE_VARIABLE
from adapters.played.model import PlayedModel
from adapters.played.sample import make_sample
from adapters.played.script.request import REQUEST
from bot.domain.cards import Card
from bot.domain.people import Thread
from bot.engine.world import World
from bot.ports import Store
from bot.program.assemble import Plan
from bot.program.console import gate_for, me, talk
from bot.settings import Settings

STAGE = {STAGE_VARIABLE: "tests", "GWT_BOT_PACE": "0.02"}
AGENT = Path(__file__).with_name("counted_agent.py")
IN_THE_MIDDLE = 0.01
"""Seconds after a call has begun."""
LOOK_EVERY = 0.2
PORTS = ("llm", "agents", "panes", "repository", "worktrees", "commands", "store")
_HERE = Thread(platform="console", channel="terminal", root="person")


def settings_of(folder: Path, base_url: str = "http://127.0.0.1:9") -> Settings:
    command = f"{sys.executable} {AGENT} {folder / 'starts'}"
    return Settings.model_construct(
        openai_base_url=base_url,
        openai_model="played-model",
        openai_api_key=SecretStr("played"),
        gwt_home=folder / "home",
        gwt_repository=folder / "shop",
        gwt_agent="other",
        gwt_agent_command=f"{command} --prompt-file {{prompt_file}} --conversation {{conversation}}",
        progress_seconds=1.0,
    )


class Fate:
    """Writes down every mark, and dies at the one that was chosen."""

    def __init__(self, log: Path, place: str) -> None:
        self._log = log.open("a")
        self._place = place
        self._marks = 0
        self._named: Counter[str] = Counter()

    def before(self, name: str) -> None:
        self._mark(f"before {name}")
        self._named[name] += 1
        if self._place == f"before {name}:{self._named[name]}":
            self._die()
        if self._place == f"{name}:{self._named[name]}":
            threading.Timer(IN_THE_MIDDLE, self._die).start()

    def after(self, name: str) -> None:
        self._mark(f"after {name}")

    def _mark(self, what: str) -> None:
        self._marks += 1
        self._log.write(f"{what}\n")
        self._log.flush()
        if self._place == str(self._marks):
            self._die()

    def _die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Watched:
    """A port between the bot and the world: every call may be the last."""

    def __init__(self, port: object, name: str, fate: Fate) -> None:
        self._port, self._name, self._fate = port, name, fate

    def __getattr__(self, method: str) -> Any:
        attribute = getattr(self._port, method)
        if inspect.iscoroutinefunction(attribute):
            return self._awaited(f"{self._name}.{method}", attribute)
        if inspect.ismethod(attribute):
            return self._called(f"{self._name}.{method}", attribute)
        return attribute

    def _awaited(self, name: str, call: Callable[..., Awaitable[object]]) -> Any:
        async def watched(*args: object, **kwargs: object) -> object:
            self._fate.before(name)
            result = await call(*args, **kwargs)
            self._fate.after(name)
            return result

        return watched

    def _called(self, name: str, call: Callable[..., object]) -> Any:
        def watched(*args: object, **kwargs: object) -> object:
            self._fate.before(name)
            result = call(*args, **kwargs)
            self._fate.after(name)
            return result

        return watched


class Person:
    """Asks if nothing was asked for yet, takes the first choice of what is open, leaves when all is done."""

    def __init__(self) -> None:
        self._open = OpenCards()
        self._pressed: list[Card] = []
        self._news = asyncio.Event()
        self._asked = False
        self.store: Store | None = None

    async def next(self, prompt: str) -> str | None:
        if prompt != PROMPT:
            return "y"
        if not self._asked and not self._sessions():
            self._asked = True
            return REQUEST
        while not self._all_is_done():
            card = self._open.newest(_HERE)
            if card and card not in self._pressed:
                self._pressed.append(card)
                return "1"
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), LOOK_EVERY)
            except TimeoutError:
                continue
        return None

    def saw(self, card: Card) -> None:
        self._open.take(_HERE, card)
        self._news.set()

    def _sessions(self) -> list[str]:
        return [listed.id for listed in self.store.sessions()] if self.store else []

    def _all_is_done(self) -> bool:
        records = [self.store.find(id) for id in self._sessions()] if self.store else []
        return bool(records) and all(
            record and record.session.over and not record.inbox and not record.outbox
            for record in records
        )


async def live(folder: Path, place: str) -> None:
    await asyncio.to_thread(make_sample, folder / "shop")
    fate = Fate(folder / f"calls.{os.getpid()}", place)
    person = Person()

    def through(world: World) -> World:
        person.store = world.store
        ports: dict[str, Any] = {name: Watched(getattr(world, name), name, fate) for name in PORTS}
        chats: dict[str, Any] = {k: Watched(c, "chat", fate) for k, c in world.chats.items()}
        return replace(world, chats=chats, **ports)

    chat = ConsoleChat(folder / "home", me(), lines=person)
    async with PlayedModel({**os.environ, **STAGE}, delay=0) as model:
        settings = settings_of(folder, model.base_url)
        plan = Plan(
            current=lambda: settings,
            chats={"console": chat},
            gate=gate_for(me()),
            stage=STAGE,
            through=through,
        )
        await talk(plan, chat)


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
