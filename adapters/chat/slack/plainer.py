"""Simpler forms of a message, for a Slack that does not take what is on it: the words and the buttons matter most. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.chat.slack.drawing import Message
from adapters.chat.slack.drawing.limits import BLOCKS, MESSAGE, SECTION, Block, plain_text
from adapters.chat.slack.words import cut_escaped, escaped

Form = tuple[str, list[Block]]
BARE = 3_500
"""Somewhat less than an edited message may hold in mere text."""
_NOT_FOR_READING = ("placeholder", "initial_option", "confirm")
_TO_PRESS = ("actions", "context_actions")
_BESIDE = ("button", "overflow")


def plainer(message: Message) -> tuple[Form, Form]:
    """Text and blocks: sections, and the buttons as they are; and mere text."""
    return (message.text, _sections(message.blocks)), (_bare(message), [])


def _sections(blocks: list[Block]) -> list[Block]:
    """What can be pressed is never left out."""
    pressed = sum(_is_to_press(block) for block in blocks)
    most, room = BLOCKS - pressed, MESSAGE
    shown: list[Block] = []
    for block in blocks:
        if block.get("type") in _TO_PRESS:
            shown.append(block)
            continue
        sections: list[Block] = []
        for piece in (one for text in _texts(block) for one in _pieces(text)):
            room -= len(piece["text"])
            most -= 1
            if room >= 0 and most >= 0:
                sections.append({"type": "section", "text": piece})
        shown += _with_button(sections, block)
    return shown


def _is_to_press(block: Block) -> bool:
    return block.get("type") in _TO_PRESS or _beside(block) is not None


def _beside(block: Block) -> Block | None:
    accessory = block.get("accessory")
    return accessory if accessory and accessory.get("type") in _BESIDE else None


def _with_button(sections: list[Block], block: Block) -> list[Block]:
    """What stood beside a text stands beside the first of it, or below."""
    accessory = _beside(block)
    if accessory is None:
        return sections
    if not sections:
        return [{"type": "actions", "elements": [accessory]}]
    return [{**sections[0], "accessory": accessory}, *sections[1:]]


def _bare(message: Message) -> str:
    lines = [
        text["text"] if text["type"] == "mrkdwn" else escaped(text["text"])
        for text in _texts(message.blocks)
    ]
    return cut_escaped("\n".join(lines), BARE) or message.text


def _texts(content: object) -> Iterator[Block]:
    """Every text there is to read, in order: with markup of ours, or plain. What stands on buttons is none."""
    if isinstance(content, list):
        for one in content:
            yield from _texts(one)
    if not isinstance(content, dict) or content.get("type") in (*_TO_PRESS, *_BESIDE):
        return
    text = content.get("text")
    if isinstance(text, str) and text.strip():
        yield dict(content) if content.get("type") == "mrkdwn" else plain_text(text)
    for name, inner in content.items():
        if name == "title" and isinstance(inner, str) and inner:
            yield plain_text(inner)
        elif name not in _NOT_FOR_READING:
            yield from _texts(inner)


def _pieces(text: Block) -> Iterator[Block]:
    whole = text["text"]
    for start in range(0, len(whole), SECTION):
        yield {**text, "text": whole[start : start + SECTION]}
