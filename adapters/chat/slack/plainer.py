"""Simpler forms of a message, for a Slack that does not take it as it was drawn: the words and the buttons matter most. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.chat.slack.drawing import Message
from adapters.chat.slack.drawing.limits import BLOCKS, MESSAGE, SECTION, Block, plain_text
from adapters.chat.slack.words import cut_escaped, escaped

Form = tuple[str, list[Block]]
BARE = 3_500
"""Somewhat less than an edited message may hold in mere text."""
_NOT_FOR_READING = ("placeholder", "initial_option", "confirm")


def forms(message: Message) -> Iterator[Form]:
    """Text and blocks as drawn; then sections, and the buttons as they are; then mere text."""
    yield message.text, message.blocks
    yield message.text, _sections(message.blocks)
    yield _bare(message), []


def _sections(blocks: list[Block]) -> list[Block]:
    actions = [block for block in blocks if block.get("type") == "actions"]
    pieces = [piece for text in _texts(blocks) for piece in _pieces(text)]
    shown: list[Block] = []
    room = MESSAGE
    for piece in pieces[: BLOCKS - len(actions)]:
        room -= len(piece["text"])
        if room < 0:
            break
        shown.append({"type": "section", "text": piece})
    return [*shown, *actions]


def _bare(message: Message) -> str:
    lines = [
        text["text"] if text["type"] == "mrkdwn" else escaped(text["text"])
        for text in _texts(message.blocks)
    ]
    return cut_escaped("\n".join(lines), BARE) or message.text


def _texts(content: object) -> Iterator[Block]:
    """Every text there is to read, in order: with markup of ours, or plain."""
    if isinstance(content, list):
        for one in content:
            yield from _texts(one)
    if not isinstance(content, dict) or content.get("type") == "actions":
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
