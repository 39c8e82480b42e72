"""The demo plays the person: its lines are shown as they are typed, and marked as the demo's."""

from __future__ import annotations

import asyncio
from typing import TextIO

from rich.text import Text as Words

from adapters.chat.console.lines import PROMPT
from adapters.chat.console.open_cards import OpenCards, ends_thread, primary
from adapters.chat.console.screen import Screen
from bot.domain.cards import Card, SummaryCard
from bot.domain.layout import sheet
from bot.domain.people import Thread
from bot.domain.states import OverallStatus

WELCOME = "welcome"
"""The key of the card that lists what is unfinished."""
PATIENCE = 20
"""Choices it takes. A story that wants more is not coming to its end."""
_HERE = Thread(platform="console", channel="terminal", root="auto")


class AutoLines:
    """Asks for `request`, then takes what every card proposes, until the session is over."""

    by_hand = False

    def __init__(self, request: str, delay: float, out: TextIO | None = None) -> None:
        self._request = request
        self._delay = delay
        self._screen = Screen(out)
        self._asked = False
        self._over = False
        self._pressed_so_far = 0
        self.completed = False
        """The story came to a good end."""
        self._open = OpenCards()
        self._pressed: Card | None = None
        self._news = asyncio.Event()

    async def next(self, prompt: str) -> str | None:
        if prompt != PROMPT:
            return self._type(prompt, "y")
        if not self._asked:
            self._asked = True
            return self._type(prompt, self._request)
        while not self._over and self._pressed_so_far < PATIENCE:
            card = self._open.newest(_HERE)
            number = _proposed(card) if card and card != self._pressed else 0
            if not number:
                self._news.clear()
                await self._news.wait()
                continue
            await asyncio.sleep(self._delay)
            if card == self._open.newest(_HERE):
                self._pressed = card
                self._pressed_so_far += 1
                return self._type(prompt, str(number))
        return None

    def saw(self, card: Card) -> None:
        # there is work from an earlier time: it goes on, and nothing is asked for anew
        self._asked = self._asked or card.key == WELCOME
        self._open.take(_HERE, card)
        self._over = self._over or ends_thread(card)
        if isinstance(card, SummaryCard):
            self.completed = card.result.overall_status is OverallStatus.COMPLETE
        self._news.set()

    def _type(self, prompt: str, line: str) -> str:
        words = Words.assemble((prompt, "bold"), line, ("   typed by the demo", "dim italic"))
        self._screen.write(self._screen.rendered(words))
        return line


def _proposed(card: Card) -> int:
    """The number of what Enter would press; 0: nothing is proposed, so it waits until something is."""
    choice = primary(card)
    return sheet(card).choices.index(choice) + 1 if choice else 0
