"""The bot's own page: shown to whoever comes, kept up to date while they may look, and where an operator chooses the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.domain.cards import AnswerCard
from bot.domain.events import Configured, Visited
from bot.domain.people import Person, Thread
from bot.domain.sentences import sentences
from bot.domain.session import Session
from bot.domain.sheets import Text, Tone
from bot.engine import overview
from bot.engine.gate import Gate
from bot.engine.intents import Intents
from bot.engine.pointing import Pointing
from bot.engine.world import World
from bot.errors import PortError


@dataclass(frozen=True)
class Looking:
    world: World
    gate: Gate
    pointing: Pointing
    awake: Callable[[], Iterable[Session]]
    intents: Intents

    async def answered(self, thread: Thread, event: Visited | Configured) -> bool:
        if isinstance(event, Configured):
            await self._configure(thread, event)
        else:
            self.world.visits.come(thread, event.by)
        await self._show(thread, event.by)
        return True

    async def keep_up(self) -> None:
        """Until cancelled."""
        await self.world.visits.keep_up(self.world.clock, self._show)

    async def _show(self, thread: Thread, person: Person) -> None:
        """Only in its own place: elsewhere everybody might see it."""
        if thread.home:
            entries, _ = await self.intents.waiting(thread)
            card = await overview.home(self.world, self.gate, self.awake(), thread, person, entries)
            await self.pointing.whisper(thread, person, card)

    async def _configure(self, thread: Thread, event: Configured) -> None:
        key = f"answer:{event.id}"
        try:
            self.world.preferences.choose_model(event.base_url, event.model)
        except PortError as problem:
            body = (Text(text=sentences(problem.reason, problem.remedy)),)
            title = "That was not changed"
            card = AnswerCard(key=key, title=title, tone=Tone.FAILURE, body=body)
        else:
            title = f"From now on I ask {event.model} at {event.base_url}"
            card = AnswerCard(key=key, title=title, tone=Tone.SUCCESS)
        await self.pointing.whisper(thread, event.by, card)
