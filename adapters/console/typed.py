"""Interprets a typed line while a card is open. Numbers and `yes` press its choices; commands work everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from adapters.console.rendering import on_one_line
from bot.core.cards import AnswerCard, Card, QuestionsCard, StatusCard, StoppedCard, SummaryCard
from bot.core.choices import Choice, Command, Style, Verb, Word, parse_command
from bot.core.intent import Question
from bot.core.layout import lay_out
from bot.core.people import Thread
from bot.core.states import Status

_LEAVING_WORDS = frozenset({"/quit", "quit", "/exit", "exit"})
_YES_WORDS = frozenset({"y", "yes", "はい"})
_SLASHED = re.compile(r"(/[A-Za-z-]+)(?:\s+\S+)?")
"""Matches a mistyped command; a path has more slashes, and a sentence more words."""
_NUMBERED = re.compile(r"([0-9]{1,2})(?:[.):]?\s+(.+))?", re.DOTALL)


@dataclass(frozen=True)
class Leaving:
    """The person leaves; agents go on."""


@dataclass(frozen=True)
class FreeText:
    text: str


@dataclass(frozen=True)
class PressedChoice:
    choice: Choice
    text: str = ""
    """Text given on the same line, for a choice that needs one."""
    answers: dict[int, str] = field(default_factory=dict[int, str])


@dataclass(frozen=True)
class NoMeaning:
    """The line has no meaning here, with the reason."""

    why: str


LineMeaning = Leaving | Command | PressedChoice | FreeText | NoMeaning


def interpret_line(line: str, card: Card | None) -> LineMeaning:
    """Return the meaning of a line; `card` is the newest open one."""
    text = line.strip()
    if text.lower() in _LEAVING_WORDS:
        return Leaving()
    if command := parse_command(text):
        return command
    if unknown := _SLASHED.fullmatch(text):
        return NoMeaning(_not_a_command(unknown[1].lower()))
    if answers := picked_answers(text, card):
        return PressedChoice(ANSWER_CHOICE, answers=answers)
    if not text or text.lower() in _YES_WORDS:
        return _meaning_of_agreement(text, card)
    numbered = _NUMBERED.fullmatch(text)
    return _meaning_of_number(text, numbered, card) if numbered else FreeText(text)


def is_yes(line: str) -> bool:
    """Whether the line is a yes to «are you sure?»"""
    return line.strip().lower() in _YES_WORDS


def is_stop(line: str) -> bool:
    """Whether the line is a stop command, which counts as an answer to any question."""
    command = parse_command(line)
    return command is not None and command.word is Word.STOP


def _not_a_command(word: str) -> str:
    if word[1:] in set(Word):
        return (
            f"What stands behind {word} names nothing it could be about. /help lists the commands."
        )
    return f"I know no command {word}. /help lists them."


def _meaning_of_agreement(text: str, card: Card | None) -> LineMeaning:
    choice = primary_choice(card) if card else None
    if choice:
        return PressedChoice(choice)
    if text:
        return FreeText(text)
    if card is None:
        return NoMeaning("Type what you want built, or help.")
    asked = not lay_out(card).choices
    return NoMeaning("Type your answers." if asked else "Type the number of a choice.")


def _meaning_of_number(text: str, numbered: re.Match[str], card: Card | None) -> LineMeaning:
    choices = lay_out(card).choices if card else ()
    number, rest = int(numbered[1]), numbered[2] or ""
    choice = choices[number - 1] if 0 < number <= len(choices) else None
    if choice and (not rest or choice.asks):
        return PressedChoice(choice, rest)
    if rest or isinstance(card, QuestionsCard):
        # a number may well be the answer to a question
        return FreeText(text)
    return NoMeaning(f"There is no choice {number} now.")


# What can be selected with the arrow keys: the choices of a card, and the options of its questions.

_ANSWER_LINE = re.compile(r"[dD]0*([1-9][0-9]{0,2})[:.]\s*(.+)")


@dataclass(frozen=True)
class Pick:
    """A selectable item. `line`: what could be typed instead."""

    label: str
    line: str


def picks_on(card: Card | None) -> tuple[Pick, ...]:
    if card is None:
        return ()
    numbered = enumerate(lay_out(card).choices, 1)
    found = [Pick(on_one_line(choice.label), str(number)) for number, choice in numbered]
    for question in _open_questions(card):
        for option in _options_of(question):
            label = f"{question.decision}  {on_one_line(option)}"
            found.append(Pick(label, f"{question.decision}: {option}"))
    return tuple(found)


def picked_answers(line: str, card: Card | None) -> dict[int, str]:
    """Return the answers by question number, if every line is exactly one of a question's options; otherwise an empty
    mapping.
    """
    known = {question.number: _options_of(question) for question in _open_questions(card)}
    found: dict[int, str] = {}
    for part in line.strip().splitlines():
        match = _ANSWER_LINE.fullmatch(part.strip())
        number = int(match[1]) if match else 0
        if match is None or match[2] not in known.get(number, ()):
            return {}
        found[number] = match[2]
    return found


ANSWER_CHOICE = Choice(label="Answer", verb=Verb.ANSWER)


def _open_questions(card: Card | None) -> tuple[Question, ...]:
    if not isinstance(card, QuestionsCard) or card.decided:
        return ()
    return tuple(question for question in card.questions if question.answer is None)


def _options_of(question: Question) -> tuple[str, ...]:
    default = (question.default,) if question.default else ()
    return tuple(dict.fromkeys((*default, *question.options)))


# The cards whose choices can still be pressed. A typed number refers to the newest one.


def ends_thread(card: Card) -> bool:
    """Whether the card says that its session is over, so that the next request starts a new one."""
    match card:
        case SummaryCard() | AnswerCard(key="discarded" | "elsewhere"):
            return True
        case StatusCard(status=status):
            return status == Status.DISCARDED
        case _:
            return False


def primary_choice(card: Card) -> Choice | None:
    """Return the choice that Enter presses: the primary one, or else the first unless it is dangerous."""
    choices = lay_out(card).choices
    chosen = next((choice for choice in choices if choice.style is Style.PRIMARY), None)
    if chosen is None and choices and choices[0].style is not Style.DANGER:
        return choices[0]
    return chosen


def waits_for_person(card: Card) -> bool:
    """Whether the card has a choice to press or a question to answer."""
    if isinstance(card, QuestionsCard) and card.decided is None:
        return any(question.answer is None for question in card.questions)
    return bool(lay_out(card).choices)


class OpenCards:
    def __init__(self) -> None:
        self._cards: dict[tuple[str, str], Card] = {}

    def note_shown(self, thread: Thread, card: Card) -> None:
        """Record that a card was shown. It becomes the newest one even if unchanged."""
        self._cards.pop((thread.key, card.key), None)
        if ends_thread(card):
            self._close(thread, lambda _: True)
        elif isinstance(card, StatusCard):
            # never open itself: it only shows the state, and Stop has its own key
            if card.status != Status.PAUSED:
                self._close(thread, lambda open_card: isinstance(open_card, StoppedCard))
        elif waits_for_person(card):
            self._cards[thread.key, card.key] = card

    def newest(self, thread: Thread) -> Card | None:
        return next(
            (card for (key, _), card in reversed(self._cards.items()) if key == thread.key), None
        )

    def _close(self, thread: Thread, settled: Callable[[Card], bool]) -> None:
        gone = [p for p, card in self._cards.items() if p[0] == thread.key and settled(card)]
        for place in gone:
            del self._cards[place]
