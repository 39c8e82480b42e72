"""One message: its blocks, what a notification says of it, and ids that are new whenever it says something else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from adapters.chat.slack.drawing.limits import FALLBACK, Block, section
from adapters.chat.slack.drawing.limits import plain_text as plain
from adapters.chat.slack.words import escaped, on_one_line
from bot.domain.sheets import Tone

TONES = {
    Tone.PLAIN: "",
    Tone.PROGRESS: "⏳",
    Tone.NEEDS_YOU: "❓",
    Tone.SUCCESS: "✅",
    Tone.FAILURE: "❌",
}


@dataclass(frozen=True)
class Message:
    text: str
    """For notifications and screen readers: at most 300 characters."""
    blocks: list[Block]
    part: str = "1/1"
    """Which of how many messages of the same card."""


def message(fallback: Iterable[str], blocks: list[Block], part: str = "1/1") -> Message:
    """Blocks with their ids. A message without anything to say is a dot, as Slack takes no empty one."""
    said = " · ".join(line for line in map(on_one_line, fallback) if line)
    text = escaped(said, FALLBACK) or "…"
    shown = blocks or [section(plain("…"))]
    content = json.dumps([text, shown, part], sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    stamped = [{**block, "block_id": f"{digest}-{n}"} for n, block in enumerate(shown)]
    return Message(text, stamped, part)


def marked(title: str, tone: Tone) -> str:
    return f"{TONES[tone]} {title}".strip() if title else ""
