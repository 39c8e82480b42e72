"""Renders a Markdown document in full, with nothing hidden and nothing clickable."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement

from adapters.console.rendering import QuotedText
from bot.core.text import clean

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


def render_document(markdown: str) -> Markdown:
    """Render the document. Link targets are shown; HTML is shown as it was written."""
    text = _FRONT_MATTER.sub(r"~~~yaml\n\1\n~~~\n\n", clean(markdown), count=1)
    drawn = _Document(text, hyperlinks=False)
    _show_hidden_parts(drawn.parsed)
    return drawn


class _Token(Protocol):
    type: str
    content: str

    @property
    def attrs(self) -> Mapping[str, object]: ...

    @property
    def children(self) -> Sequence[_Token] | None: ...


def _show_hidden_parts(tokens: Sequence[_Token]) -> None:
    # HTML would be left out: `List<String>` in a plan must not lose half of itself, and an image not its address.
    for token in tokens:
        if token.type == "html_inline":
            token.type = "text"
        elif token.type == "image":
            token.type, token.content = "text", f"![{token.content}]({token.attrs.get('src', '')})"
        elif token.type == "html_block":
            token.type = "code_block"
        if token.children:
            _show_hidden_parts(token.children)


class _LeftAlignedHeading(Heading):
    """Headings aligned left at every level."""

    LEVEL_ALIGN: ClassVar = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _PlainCode(CodeBlock):
    """Code without a background colour, which would be unreadable in some terminal themes."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield QuotedText(str(self.text))


class _Document(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftAlignedHeading,
        "fence": _PlainCode,
        "code_block": _PlainCode,
    }
