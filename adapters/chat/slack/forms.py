"""Modal forms: asking for a text, for answers to the questions, or saying something; and reading what was sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

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
from adapters.chat.slack.words import on_one_line
from bot.domain.choices import Verb
from bot.domain.facts import Fact
from bot.domain.intent import Question
from bot.domain.masking import clean
from bot.domain.people import Thread

View = dict[str, Any]

ASKING = "asking"
QUESTIONS = "questions"
SAYING = "saying"

_TITLE = 24
_SAID = "said"
_ELSE = "else"
_LABEL = 1_900
_HINT = 1_900
_PLACEHOLDER = 150
_SAYING = 2_900
_METADATA = 3_000
_MOST = 32
"""Questions in a form: each takes up to three of a form's hundred blocks."""


class Purpose(Fact):
    """What a form was opened for. It travels with the form, so that no memory is needed to take its answer."""

    thread: Thread
    verb: Verb
    about: str = ""
    key: str = ""
    """Of the card it was opened from."""

    @property
    def json_text(self) -> str:
        text = self.model_dump_json()
        if len(text) > _METADATA:
            raise ValueError("A form carries ids only; these are no ids.")
        return text

    @classmethod
    def read(cls, text: str) -> Purpose | None:
        """None: no form of ours carries this."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None


def asking(title: str, question: str, purpose: Purpose) -> View:
    """One text is wanted."""
    return _form(ASKING, title, [_wanted(question)], purpose)


def questions_form(
    questions: Sequence[Question], purpose: Purpose, title: str = "Your answers"
) -> View:
    """Every open question with its options, the default picked already, and a line for something else. A line that is
    left empty leaves its question open; where only a person can know the answer, it cannot be."""
    asked = [question for question in questions if question.answer is None]
    blocks = [block for question in asked[:_MOST] for block in _question(question)]
    if len(asked) > _MOST:
        blocks.append(aside(f"… and {len(asked) - _MOST} more: they stay open."))
    return _form(QUESTIONS, title, blocks or [section(plain_text("Nothing is open."))], purpose)


def saying(text: str, title: str = "One moment") -> View:
    """Nothing is wanted; somebody is told something."""
    told = cut_saying(clean(text).strip(), _SAYING) or "…"
    return {
        "type": "modal",
        "callback_id": SAYING,
        "title": _heading(title),
        "close": plain_text("Close"),
        "blocks": [section(plain_text(told))],
    }


def said(values: Values) -> str:
    """The text that was wanted. Empty: there is none."""
    return _written(values, _SAID)


def missing(values: Values) -> dict[str, str]:
    """What a form with one text must be told before it is taken, by block. Empty: all is there."""
    return {} if said(values) else {_SAID: "Please write something, or cancel."}


def answers(values: Values, questions: Sequence[Question] = ()) -> dict[int, str]:
    """The answers by question: what was written goes before what was picked. Empty: they cannot be told."""
    given = {
        int(number): text
        for name, _, number in (block.partition(":") for block in values)
        if name == _ELSE and number.isdecimal() and (text := _written(values, f"{_ELSE}:{number}"))
    }
    left = {block: held for block, held in values.items() if not _settled(block, given)}
    chosen = picks(left, questions)
    return {} if chosen is None else {**chosen, **given}


def _settled(block: str, given: dict[int, str]) -> bool:
    """Whether something else was written where this would be picked."""
    return block in [f"{PICK}:{number}" for number in given]


def _form(name: str, title: str, blocks: list[Block], purpose: Purpose) -> View:
    view: View = {
        "type": "modal",
        "callback_id": name,
        "title": _heading(title),
        "submit": plain_text("Send"),
        "close": plain_text("Cancel"),
        "private_metadata": purpose.json_text,
        "blocks": blocks,
    }
    return view


def _heading(title: str) -> Block:
    return plain_text(cut(on_one_line(title), _TITLE) or "…")


def _wanted(question: str) -> Block:
    label = cut(on_one_line(question), _LABEL) or "What shall I know?"
    return _input(_SAID, label, _writing(_SAID, long=True), optional=False)


def _question(question: Question) -> list[Block]:
    text = cut(on_one_line(f"{question.decision}  {question.text}"), _LABEL)
    why = on_one_line(question.why)
    written = f"{_ELSE}:{question.number}"
    if not has_default(question):
        known = " · ".join(f"{n}. {on_one_line(o)}" for n, o in enumerate(question.options, 1))
        hint = " ".join(part for part in (why, known, ONLY_YOU) if part)
        return [_input(written, text, _writing(written), hint=hint, optional=False)]
    if not is_picked_from(question):
        default = on_one_line(question.default)
        hint = " ".join(
            part for part in (why, f"Default: {default}. Empty: it stays open.") if part
        )
        return [_input(written, text, _writing(written, default), hint=hint)]
    blocks = [section(plain_text(cut_saying(listed(question), _SAYING)))]
    pick = f"{PICK}:{question.number}"
    return [
        *(blocks if needs_list(question) else []),
        _input(pick, text, select(question), hint=why, optional=False),
        _input(
            written,
            f"{question.decision}, something else",
            _writing(written, "Leave this empty to take the choice above"),
        ),
    ]


def _input(
    block_id: str, label: str, element: Block, *, hint: str = "", optional: bool = True
) -> Block:
    block: Block = {
        "type": "input",
        "block_id": block_id,
        "label": plain_text(label),
        "element": element,
        "optional": optional,
    }
    if hint:
        block["hint"] = plain_text(cut(hint, _HINT))
    return block


def _writing(name: str, placeholder: str = "", *, long: bool = False) -> Block:
    """A place to write. Slack takes 3,000 characters at most."""
    element: Block = {
        "type": "plain_text_input",
        "action_id": name,
        "multiline": long,
        "max_length": 3_000,
    }
    if placeholder:
        element["placeholder"] = plain_text(cut(placeholder, _PLACEHOLDER))
    return element


def _written(values: Values, block: str) -> str:
    for element in values.get(block, {}).values():
        if text := clean(str(element.get("value") or "")).strip():
            return text
    return ""
