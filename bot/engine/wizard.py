"""`spec`: a spec is written without any work being begun, in a thread of its own. Safe to do twice: its ids follow from the command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.cards import RootCard
from bot.domain.choices import Word
from bot.domain.events import Commanded, FromPeople
from bot.domain.naming import derived_id
from bot.domain.people import Thread
from bot.domain.record import Record
from bot.engine.auditing import Auditing
from bot.engine.beginning import Beginning
from bot.engine.perform.telling import chat_of
from bot.engine.pointing import Pointing
from bot.engine.repositories import wanted
from bot.engine.world import World

_TITLE = 72
WHAT = "Write spec, and behind it what it is about: spec a dark mode for the settings page."
NOT_HERE = "Write that in a channel: everybody there can read the spec."


def is_wanted(event: FromPeople) -> bool:
    return isinstance(event, Commanded) and event.command.word is Word.SPEC


@dataclass(frozen=True)
class Wizard:
    """`known`: whether a session lives in a thread; `begun`: told of the new one."""

    world: World
    beginning: Beginning
    pointing: Pointing
    auditing: Auditing
    known: Callable[[Thread], bool]
    begun: Callable[[Record], object]

    async def answered(self, thread: Thread, event: Commanded) -> bool:
        asked = wanted(event.command.text)
        if not asked.text:
            return await self.pointing.say(thread, event, WHAT)
        if thread.home:
            return await self.pointing.say(thread, event, NOT_HERE)
        if why := self.beginning.repositories.problem(thread, asked.name):
            return await self.pointing.say(thread, event, why)
        if self.world.store.find(derived_id(event.id, "spec")):
            return True
        self.auditing.allowed(thread, event)
        there = await self._thread(thread, event, asked.text)
        self.begun(self.beginning.by_wizard(thread, there, event))
        if there != thread:
            await self.pointing.turn_to(there)
        return True

    async def _thread(self, thread: Thread, event: Commanded, text: str) -> Thread:
        """The one it was said in, if nothing goes on there yet; else one is begun beside it."""
        if thread.root and not self.known(thread):
            return thread
        session_id, first_line = derived_id(event.id, "spec"), text.splitlines()[0][:_TITLE]
        card = RootCard(
            key=f"root:{session_id}",
            session=session_id.replace("-", "")[:8],
            title=f"Spec: {first_line}",
            request=text,
            by=str(event.by),
        )
        chat = chat_of(self.world, thread.platform)
        return await chat.open(thread, self.world.masker.mask_model(card))
