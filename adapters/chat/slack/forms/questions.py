"""The form with all open questions: every one with its default picked already, and a line for something else."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.chat.slack.drawing.limits import (
    Block,
    aside,
    cut,
    cut_saying,
    plain_text,
    section,
)
from adapters.chat.slack.drawing.picking import (
    ONLY_YOU,
    PICK,
    Values,
    has_default,
    is_picked_from,
    listed,
    needs_list,
    picks,
    select,
)
from adapters.chat.slack.forms.fields import LABEL, View, field, form, writing, written
from adapters.chat.slack.forms.purpose import Purpose
from adapters.chat.slack.words import on_one_line
from bot.domain.intent import Question

QUESTIONS = "questions"

_ELSE = "else"
_LISTED = 2_900
_MOST = 32
"""Questions in a form: each takes up to three of a form's hundred blocks."""


def questions_form(
    questions: Sequence[Question], purpose: Purpose, title: str = "Your answers"
) -> View:
    """A line that is left empty leaves its question open; where only a person can know the answer, it cannot be."""
    asked = [question for question in questions if question.answer is None]
    blocks = [block for question in asked[:_MOST] for block in _question(question)]
    if len(asked) > _MOST:
        blocks.append(aside(f"… and {len(asked) - _MOST} more: they stay open."))
    return form(QUESTIONS, title, blocks or [section(plain_text("Nothing is open."))], purpose)


def answers(values: Values, questions: Sequence[Question] = ()) -> dict[int, str]:
    """The answers by question: what was written goes before what was picked. Empty: they cannot be told."""
    given = {
        int(number): text
        for name, _, number in (block.partition(":") for block in values)
        if name == _ELSE and number.isdecimal() and (text := written(values, f"{_ELSE}:{number}"))
    }
    left = {block: held for block, held in values.items() if not _settled(block, given)}
    chosen = picks(left, questions)
    return {} if chosen is None else {**chosen, **given}


def _settled(block: str, given: dict[int, str]) -> bool:
    """Whether something else was written where this would be picked."""
    return block in [f"{PICK}:{number}" for number in given]


def _question(question: Question) -> list[Block]:
    text = cut(on_one_line(f"{question.decision}  {question.text}"), LABEL)
    why = on_one_line(question.why)
    name = f"{_ELSE}:{question.number}"
    if not has_default(question):
        known = " · ".join(f"{n}. {on_one_line(o)}" for n, o in enumerate(question.options, 1))
        hint = " ".join(part for part in (why, known, ONLY_YOU) if part)
        return [field(name, text, writing(name), hint=hint, optional=False)]
    if not is_picked_from(question):
        default = on_one_line(question.default)
        hint = " ".join(
            part for part in (why, f"Default: {default}. Empty: it stays open.") if part
        )
        return [field(name, text, writing(name, default), hint=hint)]
    blocks = [section(plain_text(cut_saying(listed(question), _LISTED)))]
    pick = f"{PICK}:{question.number}"
    return [
        *(blocks if needs_list(question) else []),
        field(pick, text, select(question), hint=why, optional=False),
        field(
            name,
            f"{question.decision}, something else",
            writing(name, "Leave this empty to take the choice above"),
        ),
    ]
