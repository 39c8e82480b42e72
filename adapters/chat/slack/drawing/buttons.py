"""Choices as buttons. What a press means travels in the button's value, so that no memory is needed to read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
        return _json(content)

    @property
    def short_value(self) -> str:
        """The same for an option of a menu, which has little room: the question is left out."""
        content = {"v": self.verb, "about": self.about, "key": self.key, "asks": self.asks}
        return _json({name: value for name, value in content.items() if value})

    @classmethod
    def of(cls, action: Mapping[str, Any]) -> Press | None:
        """What somebody pressed, as Slack tells it: a button, a thumb, or an option of a menu."""
        match action:
            case {"type": "button" | "feedback_buttons", "value": str(value)}:
                return cls.read(value)
            case {"type": "overflow", "selected_option": {"value": str(value)}}:
                return cls.read(value)
            case _:
                return None

    @classmethod
    def read(cls, value: str) -> Press | None:
        """None: no button of ours has this value."""
        try:
            return cls.model_validate_json(value)
        except ValidationError:
            return None


def words_of(action: Mapping[str, Any]) -> str:
    """What stands on what was pressed."""
    match action:
        case {"selected_option": {"text": {"text": str(words)}}}:
            return words
        case {"text": {"text": str(words)}}:
            return words
        case _:
            return ""


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
    elements = [button(n, choice, press) for n, (choice, press) in enumerate(standing)]
    blocks: list[Block] = [{"type": "actions", "elements": elements}] if elements else []
    missing = [choice for choice, press in pairs if (choice, press) not in standing]
    if missing:
        labels = ", ".join(label(choice) for choice in missing)
        blocks.append(aside(f"No room for these buttons: {labels}"))
    return blocks


def button(number: int, choice: Choice, press: Press) -> Block:
    drawn: Block = {
        "type": "button",
        "action_id": f"{choice.verb}:{number}",
        "text": plain_text(label(choice)),
        "value": press.value,
    }
    if choice.style is not Style.NORMAL:
        drawn["style"] = choice.style.value
    if choice.confirm.strip():
        drawn["confirm"] = _confirmation(choice)
    return drawn


def label(choice: Choice) -> str:
    return cut(on_one_line(choice.label), BUTTON) or choice.verb.replace("_", " ")


def _json(content: Mapping[str, object]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _confirmation(choice: Choice) -> Block:
    dialog: Block = {
        "title": plain_text("Are you sure?"),
        "text": plain_text(cut(on_one_line(choice.confirm), CONFIRM) or "Do it?"),
        "confirm": plain_text(cut(label(choice), CONFIRM_BUTTON)),
        "deny": plain_text("No, go back"),
    }
    if choice.style is not Style.NORMAL:
        dialog["style"] = choice.style.value
    return dialog
