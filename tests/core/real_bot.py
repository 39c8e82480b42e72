"""A bot of real parts that dies where it is told to: `python -m tests.core.real_bot FOLDER [PLACE]`.

`tests.faults.fate` says what a place is. FOLDER/calls.PID lists the marks of a life.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from pydantic import SecretStr

from adapters.console.chat import ConsoleChat
from adapters.console.input import PROMPT
from adapters.console.typed import OpenCards
from adapters.demo import STAGE_VARIABLE
from adapters.demo.model import PlayedModel
from adapters.demo.sample import make_sample
from adapters.demo.texts import REQUEST
from bot.cli.assemble import AssemblyOptions
from bot.cli.console import run_local_console
from bot.cli.process import local_person
from bot.cli.serve import console_gate
from bot.core.cards import Card
from bot.core.people import Thread
from bot.core.world import World
from bot.ports import Store
from bot.settings import Settings
from tests.faults.fate import Fate

STAGE = {STAGE_VARIABLE: "tests", "GWT_BOT_PACE": "0.02"}
AGENT = Path(__file__).with_name("counted_agent.py")
LOOK_EVERY = 0.2
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


class Person:
    """Asks if nothing was asked for yet, takes the first choice of what is open, leaves when all is done."""

    by_hand = False

    def __init__(self) -> None:
        self._open = OpenCards()
        self._pressed: list[Card] = []
        self._news = asyncio.Event()
        self._asked = False
        self.store: Store | None = None

    async def next_line(self, prompt: str) -> str | None:
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

    def card_shown(self, card: Card) -> None:
        self._open.note_shown(_HERE, card)
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
        return fate.through(world)

    chat = ConsoleChat(folder / "home", local_person(), lines=person)
    async with PlayedModel({**os.environ, **STAGE}, delay=0) as model:
        settings = settings_of(folder, model.base_url)
        plan = AssemblyOptions(
            current=lambda: settings,
            chats={"console": chat},
            gate=console_gate(local_person()),
            stage=STAGE,
            through=through,
        )
        await run_local_console(plan, chat)


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
