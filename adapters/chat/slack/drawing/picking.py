"""Options of a question in a select, and what was picked: an option travels as its number, its text is looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.chat.slack.drawing.limits import OPTION, OPTIONS, Block, cut, plain_text
from adapters.chat.slack.words import on_one_line
from bot.domain.intent import Question

Values = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""`state.values` of a press or a submission: by block, then by element."""

PICK = "pick"
ONLY_YOU = "Only you can know this."
"""Instead of a default."""
_DEFAULT = " (default)"
_CODE = re.compile(r"D(\d{1,6}):(\d{1,6})")


@dataclass(frozen=True)
class Option:
    """`number` is its place among the question's options, from 1; 0: the default, which is none of them."""

    number: int
    text: str
    is_default: bool = False


def options_of(question: Question) -> list[Option]:
    """The default first, then the others in their order, none twice."""
    default = Option(0, question.default, is_default=True)
    others: list[Option] = []
    for number, text in enumerate(question.options, 1):
        if text == question.default:
            default = default if default.number else Option(number, text, is_default=True)
        elif on_one_line(text) and text not in [other.text for other in others]:
            others.append(Option(number, text))
    return [default, *others][:OPTIONS]


def is_picked_from(question: Question) -> bool:
    """Whether there is anything to choose between. Where only a person can know, nothing is chosen beforehand: then
    there is no select at all."""
    return question.answer is None and has_default(question) and len(options_of(question)) > 1


def has_default(question: Question) -> bool:
    return bool(on_one_line(question.default))


def needs_list(question: Question) -> bool:
    """Whether an option is too long for a select: then all are listed above it, with their numbers."""
    return any(len(_label(option)) > OPTION for option in options_of(question))


def listed(question: Question) -> str:
    """The options in full, by number: the number is an answer too, when somebody types it."""
    return "\n".join(
        f"{option.number or '–'}. {on_one_line(_label(option))}" for option in options_of(question)
    )


def select(question: Question, longest: int = OPTION) -> Block:
    numbered = needs_list(question)
    choices = [_choice(question, option, longest, numbered) for option in options_of(question)]
    return {
        "type": "static_select",
        "action_id": f"{PICK}:{question.number}",
        "options": choices,
        "initial_option": choices[0],
    }


def picked(values: Values, questions: Sequence[Question] = ()) -> dict[int, str]:
    """What the selects say, by question. Empty: nothing was picked, or it cannot be told."""
    return picks(values, questions) or {}


def picks(values: Values, questions: Sequence[Question] = ()) -> dict[int, str] | None:
    """What the selects say. None: an option was picked of a question that is not among these.

    A bare number would be taken for the answer itself, and half of the answers, silently, for all of them. What has
    been answered meanwhile is not answered once more by what a select was left at.
    """
    known = {question.number: question for question in questions}
    found: dict[int, str] = {}
    for number, option in _codes(values):
        question = known.get(number)
        text = _text(question, option) if question else ""
        if question and question.answer is not None:
            continue
        if text:
            found[number] = text
        elif option:
            return None
    return found


def _label(option: Option) -> str:
    return f"{on_one_line(option.text)}{_DEFAULT if option.is_default else ''}"


def _choice(question: Question, option: Option, longest: int, numbered: bool) -> Block:
    number = f"{option.number or '–'}. " if numbered else ""
    label = cut(number + _label(option), longest).strip() or "–"
    return {"text": plain_text(label), "value": f"{question.decision}:{option.number}"}


def _codes(values: Values) -> Iterator[tuple[int, int]]:
    for block in values.values():
        for action, element in block.items():
            chosen = element.get("selected_option")
            code = _CODE.fullmatch(str(chosen.get("value", ""))) if chosen else None
            if code and action.startswith(f"{PICK}:"):
                yield int(code[1]), int(code[2])


def _text(question: Question, option: int) -> str:
    if option == 0:
        return question.default
    return question.options[option - 1] if option <= len(question.options) else ""
