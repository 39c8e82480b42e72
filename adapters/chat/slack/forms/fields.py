"""What forms are made of: fields to write in and boxes to tick, each within Slack's limits; and reading what was put in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.chat.slack.drawing.limits import Block, cut, plain_text
from adapters.chat.slack.drawing.picking import Values
from adapters.chat.slack.forms.purpose import Purpose
from adapters.chat.slack.words import on_one_line
from bot.domain.masking import clean

View = dict[str, Any]

LABEL = 1_900
WRITTEN = 3_000
"""Slack takes no more in one field."""
_HINT = 1_900
_PLACEHOLDER = 150
_TITLE = 24


def form(
    name: str, title: str, blocks: list[Block], purpose: Purpose, *, send: str = "Send"
) -> View:
    return {
        "type": "modal",
        "callback_id": name,
        "title": heading(title),
        "submit": plain_text(send),
        "close": plain_text("Cancel"),
        "private_metadata": purpose.json_text,
        "blocks": blocks,
    }


def heading(title: str) -> Block:
    return plain_text(cut(on_one_line(title), _TITLE) or "…")


def field(
    block_id: str, label: str, element: Block, *, hint: str = "", optional: bool = True
) -> Block:
    block: Block = {
        "type": "input",
        "block_id": block_id,
        "label": plain_text(cut(label, LABEL)),
        "element": element,
        "optional": optional,
    }
    if hint:
        block["hint"] = plain_text(cut(hint, _HINT))
    return block


def writing(name: str, placeholder: str = "", *, long: bool = False, initial: str = "") -> Block:
    """A place to write."""
    element: Block = {
        "type": "plain_text_input",
        "action_id": name,
        "multiline": long,
        "max_length": WRITTEN,
    }
    if placeholder:
        element["placeholder"] = plain_text(cut(placeholder, _PLACEHOLDER))
    if initial:
        element["initial_value"] = cut(initial, WRITTEN)
    return element


def boxes(name: str, options: Mapping[str, str]) -> Block:
    """To be ticked; label by value."""
    return {
        "type": "checkboxes",
        "action_id": name,
        "options": [{"text": plain_text(label), "value": one} for one, label in options.items()],
    }


def written(values: Values, block: str) -> str:
    for element in values.get(block, {}).values():
        if text := clean(str(element.get("value") or "")).strip():
            return text
    return ""


def ticked(values: Values, block: str) -> list[str]:
    """The values of the boxes that are ticked."""
    found: list[str] = []
    for element in values.get(block, {}).values():
        options = element.get("selected_options")
        listed = options if isinstance(options, list) else []
        found += [str(one.get("value", "")) for one in listed if isinstance(one, Mapping)]
    return found


def conversation(values: Values, block: str) -> str:
    """The id of the channel that was chosen; empty: none was."""
    for element in values.get(block, {}).values():
        chosen = element.get("selected_conversation")
        if isinstance(chosen, str):
            return chosen
    return ""
