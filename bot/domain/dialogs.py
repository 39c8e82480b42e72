"""What a program in a pane asks a person, and how it can be answered."""

from __future__ import annotations

import re
from enum import StrEnum

from bot.domain.facts import Fact

_SECRET = re.compile(
    r"pass ?(?:word|phrase|code)|token|secret|api[ _-]?key|credential|\b(?:otp|pin|2fa)\b",
    re.IGNORECASE,
)


class DialogKind(StrEnum):
    MENU = "menu"
    """One of several lines is chosen."""
    YES_NO = "yes_no"
    WORDS = "words"
    """A line of text is wanted; there is nothing to choose from."""


class DialogOption(Fact):
    id: str
    """What names it in a press: 1, 2, y, n."""
    label: str
    keys: tuple[str, ...] = ()
    """What is pressed for it, one after the other."""


class Dialog(Fact):
    """It stands on the screen until somebody answers."""

    id: str
    """Of what it says: the same question asked again has the same."""
    kind: DialogKind
    title: str
    """The question itself, in a line."""
    text: str = ""
    """What is written around it."""
    options: tuple[DialogOption, ...] = ()
    topic: str = ""
    """What it is about, without what differs each time: «Allow Bash»; an answer given once for all holds for that."""

    @property
    def is_secret(self) -> bool:
        """What is wanted belongs into no chat."""
        return self.kind is DialogKind.WORDS and bool(_SECRET.search(f"{self.title} {self.text}"))

    def option(self, id: str) -> DialogOption | None:
        return next((option for option in self.options if option.id == id), None)


class StandingAnswer(Fact):
    """A person said: always so, in this session."""

    agent: str
    topic: str
    label: str
    by: str
