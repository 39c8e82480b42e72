"""The buttons of the page: each has a name that cannot be guessed and works once, for the card as it was drawn."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from bot.core.choices import Choice
from bot.core.people import Thread

MAX_BUTTONS = 5_000
"""Buttons that are remembered. Older ones have to be drawn again."""


@dataclass(frozen=True)
class Button:
    thread: Thread
    card: str
    """The key of its card."""
    choice: Choice
    session: str = ""


class Buttons:
    def __init__(self) -> None:
        self._by_name: dict[str, Button] = {}
        self._names: dict[Button, str] = {}

    def name(self, button: Button) -> str:
        """Return the name of this button: the same until it is used, so that drawing again costs nothing."""
        if (known := self._names.get(button)) is not None:
            return known
        name = secrets.token_urlsafe(16)
        self._by_name[name] = button
        self._names[button] = name
        while len(self._by_name) > MAX_BUTTONS:
            self.take(next(iter(self._by_name)))
        return name

    def take(self, name: str) -> Button | None:
        """Return the button of this name and forget it: of several quick clicks one counts."""
        button = self._by_name.pop(name, None)
        if button:
            self._names.pop(button, None)
        return button

    def give_back(self, name: str, button: Button) -> None:
        """Make a button usable again that had no effect."""
        self._by_name[name] = button
        self._names[button] = name
