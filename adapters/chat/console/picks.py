"""What can be chosen with the arrow keys: the choices of a card, and the options of its questions. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from adapters.chat.console.prose import on_one_line
from bot.domain.cards import Card, QuestionsCard
from bot.domain.choices import Choice, Verb
from bot.domain.intent import Question
from bot.domain.layout import sheet

_ANSWER = re.compile(r"[dD]0*([1-9][0-9]{0,2})[:.]\s*(.+)")


@dataclass(frozen=True)
class Pick:
    """`line` is what could be typed to the same effect."""

    label: str
    line: str


def picks(card: Card | None) -> tuple[Pick, ...]:
    if card is None:
        return ()
    numbered = enumerate(sheet(card).choices, 1)
    found = [Pick(on_one_line(choice.label), str(number)) for number, choice in numbered]
    for question in _open(card):
        for option in _options(question):
            label = f"{question.decision}  {on_one_line(option)}"
            found.append(Pick(label, f"{question.decision}: {option}"))
    return tuple(found)


def answered(line: str, card: Card | None) -> dict[int, str]:
    """By number of the question, if every line of it is one of a question's own options, word for word."""
    known = {question.number: _options(question) for question in _open(card)}
    found: dict[int, str] = {}
    for part in line.strip().splitlines():
        match = _ANSWER.fullmatch(part.strip())
        number = int(match[1]) if match else 0
        if match is None or match[2] not in known.get(number, ()):
            return {}
        found[number] = match[2]
    return found


ANSWER = Choice(label="Answer", verb=Verb.ANSWER)


def _open(card: Card | None) -> tuple[Question, ...]:
    if not isinstance(card, QuestionsCard) or card.decided:
        return ()
    return tuple(question for question in card.questions if question.answer is None)


def _options(question: Question) -> tuple[str, ...]:
    default = (question.default,) if question.default else ()
    return tuple(dict.fromkeys((*default, *question.options)))
