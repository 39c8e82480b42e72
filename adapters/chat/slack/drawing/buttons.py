"""Choices as buttons. What a press means travels in the button's value, so that no memory is needed to read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from pydantic import AliasChoices, Field, ValidationError

from adapters.chat.slack.drawing.limits import (
    BUTTON,
    BUTTONS,
    CONFIRM,
    CONFIRM_BUTTON,
    VALUE,
    Block,
    aside,
    cut,
    plain_text,
)
from adapters.chat.slack.words import on_one_line
from bot.domain.choices import Choice, Style, Verb
from bot.domain.facts import Fact

_QUESTION = 300


class Press(Fact):
    """What a button stands for."""

    verb: Verb = Field(validation_alias=AliasChoices("v", "verb"))
    about: str = ""
    key: str = ""
    """Of the card it stands on."""
    asks: bool = False
    """A text is wanted with it: a form is to be opened."""
    question: str = Field(default="", validation_alias=AliasChoices("q", "question"))
    """What that form asks, shortened."""
    form: bool = False
    """The form with all questions is to be opened."""

    @property
    def value(self) -> str:
        content: dict[str, object] = {
            "v": self.verb,
            "about": self.about,
            "key": self.key,
            "asks": self.asks,
        }
        if self.question:
            content["q"] = self.question
        if self.form:
            content["form"] = True
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def read(cls, value: str) -> Press | None:
        """None: no button of ours has this value."""
        try:
            return cls.model_validate_json(value)
        except ValidationError:
            return None


def pressed_by(choice: Choice, key: str) -> Press:
    question = cut(on_one_line(choice.asks), _QUESTION)
    return Press(
        verb=choice.verb, about=choice.about, key=key, asks=bool(choice.asks), question=question
    )


def buttons(choices: Iterable[Choice], key: str) -> list[Block]:
    return row([(choice, pressed_by(choice, key)) for choice in choices])


def row(pairs: Sequence[tuple[Choice, Press]]) -> list[Block]:
    """All buttons in a row; a line names those that cannot stand there."""
    standing = [pair for pair in pairs if len(pair[1].value) <= VALUE][:BUTTONS]
    elements = [_button(n, choice, press) for n, (choice, press) in enumerate(standing)]
    blocks: list[Block] = [{"type": "actions", "elements": elements}] if elements else []
    missing = [choice for choice, press in pairs if (choice, press) not in standing]
    if missing:
        labels = ", ".join(_label(choice) for choice in missing)
        blocks.append(aside(f"No room for these buttons: {labels}"))
    return blocks


def _button(number: int, choice: Choice, press: Press) -> Block:
    button: Block = {
        "type": "button",
        "action_id": f"{choice.verb}:{number}",
        "text": plain_text(_label(choice)),
        "value": press.value,
    }
    if choice.style is not Style.NORMAL:
        button["style"] = choice.style.value
    if choice.confirm.strip():
        button["confirm"] = _confirmation(choice)
    return button


def _label(choice: Choice) -> str:
    return cut(on_one_line(choice.label), BUTTON) or choice.verb.replace("_", " ")


def _confirmation(choice: Choice) -> Block:
    dialog: Block = {
        "title": plain_text("Are you sure?"),
        "text": plain_text(cut(on_one_line(choice.confirm), CONFIRM) or "Do it?"),
        "confirm": plain_text(cut(_label(choice), CONFIRM_BUTTON)),
        "deny": plain_text("No, go back"),
    }
    if choice.style is not Style.NORMAL:
        dialog["style"] = choice.style.value
    return dialog
