"""A heading and what it heads are one block: in two, the gap between them is as wide as the one above."""

from __future__ import annotations

from adapters.chat.slack.drawing.limits import SECTION, Block, mrkdwn, section
from adapters.chat.slack.words import escaped


def under(heading: Block, drawn: list[Block]) -> list[Block]:
    """Where that changes no letter of it: text in which no markup is read may hold some."""
    first, *rest = drawn
    words = _words(first)
    text = f"{heading['text']['text']}\n{words}"
    if not words or len(text) > SECTION:
        return [heading, *drawn]
    return [section(mrkdwn(text)), *rest]


def _words(block: Block) -> str:
    """What it says as mrkdwn; empty: it is no mere text."""
    text = block.get("text")
    if block["type"] != "section" or not text or "accessory" in block:
        return ""
    words = str(text["text"])
    return words if text["type"] == "mrkdwn" or escaped(words) == words else ""
