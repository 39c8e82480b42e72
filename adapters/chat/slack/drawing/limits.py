"""What Slack takes at most, and how a text is made to fit: it ends with "…", or says how much is missing."""

from __future__ import annotations

from typing import Any

Block = dict[str, Any]

BLOCKS = 50
MESSAGE = 8_000
"""All text of a message together: beyond it Slack refuses, at a length it does not tell."""
FALLBACK = 300
SECTION = 2_900
HEADER = 150
FIELD = 2_000
FIELDS = 10
BUTTON = 75
BUTTONS = 10
"""More could stand there, but no person would choose among them."""
VALUE = 2_000
OPTION = 75
OPTIONS = 26
CONFIRM_TITLE = 100
CONFIRM = 300
CONFIRM_BUTTON = 30
FOOTER = 600
TABLE_ROWS = 100
TABLE_COLUMNS = 20
PLAN_TASKS = 50
MENU = 5
MENU_VALUE = 150


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def cut_saying(text: str, limit: int) -> str:
    """Cut, with the number of characters that are missing."""
    if len(text) <= limit:
        return text
    kept = text[: max(0, limit - 36)]
    return f"{kept}… ({len(text) - len(kept):,} more characters)"


def letters(content: object) -> int:
    """How much text stands in a block, in all its depth."""
    if isinstance(content, dict):
        return sum(
            len(value) if isinstance(value, str) and key in ("text", "title") else letters(value)
            for key, value in content.items()
        )
    return sum(map(letters, content)) if isinstance(content, list) else 0


def plain_text(text: str) -> Block:
    """Text in which Slack reads no markup of any kind."""
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> Block:
    """Text with markup of ours. Slack makes no links and no mentions of its own in it."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def section(text: Block) -> Block:
    """All of it: without being told so, Slack folds long ones, and what is asked about stands in the fold."""
    return {"type": "section", "text": text, "expand": True}


def aside(text: str) -> Block:
    """Small and grey, below."""
    return {"type": "context", "elements": [plain_text(cut(text, FOOTER))]}
