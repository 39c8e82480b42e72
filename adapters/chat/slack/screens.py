"""What one person sees of the bot beside the threads: their home, windows, suggested prompts. Nothing of it holds up a thread."""

from __future__ import annotations

from typing import assert_never

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.asides import Asides
from adapters.chat.slack.delivery import (
    Browsed,
    Closed,
    Delivery,
    Leafed,
    Looking,
    Press,
    Visit,
)
from adapters.chat.slack.drawing import Site
from adapters.chat.slack.forms import Purpose
from adapters.chat.slack.health import Health
from adapters.chat.slack.home import NOTICE, Home
from adapters.chat.slack.prompts import Prompts
from adapters.chat.slack.windows import Windows
from bot.domain.cards import Card, HomeCard
from bot.domain.people import Thread

_NOT_ALLOWED = "You may not look at that here. Ask whoever runs this bot."
_NOT_NOW = "That did not work just now. Please close this window, and try again in a moment."


class Screens:
    """Whoever has one closes it."""

    def __init__(
        self, client: AsyncWebClient, health: Health | None = None, *, notice: float = NOTICE
    ) -> None:
        self.health = health or Health()
        self.home = Home(client, facts=self.health.facts, notice=notice)
        self._windows = Windows(client)
        self._prompts = Prompts(client)
        self._asides = Asides()

    async def tell(self, thread: Thread, user: str, card: Card, site: Site | None) -> bool:
        """Show a card to one person beside the threads. False: it belongs to the thread it is said in."""
        if isinstance(card, HomeCard):
            await self.home.show(user, card, site)
            return True
        if await self._windows.fill(card):
            return True
        if thread.home:
            await self.home.tell(user, card)
        return thread.home

    def begin(self, delivery: Delivery) -> None:
        """Before it is taken: what cannot wait for that is done."""
        if isinstance(delivery.what, Press) and delivery.what.trigger:
            purpose = Purpose(thread=delivery.thread, verb=delivery.what.verb)
            self._windows.open(delivery.id, delivery.what.trigger, purpose.json_text)
        if delivery.thread.home and not isinstance(delivery.what, Visit):
            self.home.pressed(delivery.user)

    def end(self, delivery: Delivery, *, let: bool) -> None:
        """After it was taken, or refused."""
        if let:
            return
        if isinstance(delivery.what, Visit):
            self._asides.begin("a barred home", lambda: self.home.bar(delivery.user))
        else:
            self._asides.begin("a word", lambda: self._windows.settle(delivery.id, _NOT_ALLOWED))

    def fail(self, delivery: Delivery) -> None:
        """It could not be taken; Slack does not bring a press again."""
        self._asides.begin("a word", lambda: self._windows.settle(delivery.id, _NOT_NOW))

    def look(self, meaning: Looking) -> None:
        """Returns at once."""
        match meaning:
            case Leafed(view=view, page=page):
                self._asides.begin("another page", lambda: self._windows.leaf(view, page))
            case Closed(view=view):
                self._windows.closed(view)
            case Browsed(channel=channel):
                self._asides.begin("prompts", lambda: self._prompts.suggest(channel))
            case _:
                assert_never(meaning)

    async def close(self) -> None:
        await self._asides.close()
        await self.home.close()
        await self._windows.close()
