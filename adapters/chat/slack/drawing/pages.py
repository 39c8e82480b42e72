"""A piece of a Markdown document: as Slack draws Markdown or, where a workspace does not, letter for letter."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.chat.slack.drawing.limits import SECTION, Block, plain_text, section
from adapters.chat.slack.drawing.ways import Kind, Ways


def page(markdown: str, ways: Ways) -> list[Block]:
    if not markdown.strip():
        return []
    if Kind.MARKDOWN in ways.kinds:
        return [{"type": "markdown", "text": markdown}]
    return [section(plain_text(piece)) for piece in _slices(markdown) if piece.strip()]


def _slices(text: str) -> Iterator[str]:
    """Between lines, where a line has an end."""
    while len(text) > SECTION:
        end = text.rfind("\n", 0, SECTION) + 1 or SECTION
        yield text[:end]
        text = text[end:]
    yield text
