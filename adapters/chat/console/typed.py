"""What a line somebody typed means: pure. Numbers and `yes` press what is open; commands are alike everywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from adapters.chat.console.open_cards import primary
from adapters.chat.console.picks import ANSWER, answered
from bot.domain.cards import Card, QuestionsCard
from bot.domain.choices import Choice, Command, Word, command_in
from bot.domain.layout import sheet

_LEAVING = frozenset({"/quit", "quit", "/exit", "exit"})
_YES = frozenset({"y", "yes", "はい"})
_SLASHED = re.compile(r"(/[A-Za-z-]+)(?:\s+\S+)?")
"""A path has more slashes, and a sentence more words."""
_NUMBERED = re.compile(r"([0-9]{1,2})(?:[.):]?\s+(.+))?", re.DOTALL)


@dataclass(frozen=True)
class Leaving:
    """The person goes; agents go on."""


@dataclass(frozen=True)
class Talk:
    text: str


@dataclass(frozen=True)
class Press:
    choice: Choice
    text: str = ""
    """Given in the same line, for a choice that wants one."""
    answers: dict[int, str] = field(default_factory=dict[int, str])


@dataclass(frozen=True)
class Nothing:
    """It means nothing here, and this is why."""

    why: str


Meaning = Leaving | Command | Press | Talk | Nothing


def meaning(line: str, card: Card | None) -> Meaning:
    """What a line means while `card` is the newest open one."""
    text = line.strip()
    if text.lower() in _LEAVING:
        return Leaving()
    if command := command_in(text):
        return command
    if unknown := _SLASHED.fullmatch(text):
        return Nothing(_not_a_command(unknown[1].lower()))
    if answers := answered(text, card):
        return Press(ANSWER, answers=answers)
    if not text or text.lower() in _YES:
        return _agreed(text, card)
    numbered = _NUMBERED.fullmatch(text)
    return _numbered(text, numbered, card) if numbered else Talk(text)


def agrees(line: str) -> bool:
    """The answer to «are you sure?»"""
    return line.strip().lower() in _YES


def stops(line: str) -> bool:
    """Stop counts whatever was asked."""
    command = command_in(line)
    return command is not None and command.word is Word.STOP


def _not_a_command(word: str) -> str:
    if word[1:] in set(Word):
        return (
            f"What stands behind {word} names nothing it could be about. /help lists the commands."
        )
    return f"I know no command {word}. /help lists them."


def _agreed(text: str, card: Card | None) -> Meaning:
    choice = primary(card) if card else None
    if choice:
        return Press(choice)
    if text:
        return Talk(text)
    if card is None:
        return Nothing("Type what you want built, or help.")
    asked = not sheet(card).choices
    return Nothing("Type your answers." if asked else "Type the number of a choice.")


def _numbered(text: str, numbered: re.Match[str], card: Card | None) -> Meaning:
    choices = sheet(card).choices if card else ()
    number, rest = int(numbered[1]), numbered[2] or ""
    choice = choices[number - 1] if 0 < number <= len(choices) else None
    if choice and (not rest or choice.asks):
        return Press(choice, rest)
    if rest or isinstance(card, QuestionsCard):
        # a number may well be the answer to a question
        return Talk(text)
    return Nothing(f"There is no choice {number} now.")
