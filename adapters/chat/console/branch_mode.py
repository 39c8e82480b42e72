"""The console's other side: Tab leads to the branches and back. What a line means there; agents never notice.

What there is to see of branches the bot itself tells: here a line only becomes one of its commands.
"""

from __future__ import annotations

from adapters.chat.console import typed
from adapters.chat.console.lines import PROMPT
from bot.domain.cards import Card
from bot.domain.choices import Command, command_in

_LIST = "branches"
_ONE = "branch"


class BranchMode:
    def __init__(self) -> None:
        self.on = False

    @property
    def prompt(self) -> str:
        return f"{_LIST} {PROMPT}" if self.on else PROMPT

    def switch(self) -> Command | None:
        """What is asked for with it: the list. None: back in the conversation."""
        listed = None if self.on else command_in(_LIST)
        self.on = listed is not None
        return listed

    def meaning(self, line: str, card: Card | None) -> typed.Meaning:
        """As in the conversation; but a word is a branch, and sentences belong to the other side."""
        meant = typed.meaning(line, card)
        if not (self.on and isinstance(meant, typed.Talk)):
            return meant
        if command := command_in(f"{_ONE} {meant.text}"):
            return command
        return typed.Nothing("Write the name of a branch. Tab leads back to the conversation.")
