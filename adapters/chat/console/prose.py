"""Draws a document that somebody wrote in Markdown: in full, with nothing hidden in it and nothing to click."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.text import Text as Words

from bot.domain.masking import clean

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


def document(markdown: str) -> Markdown:
    """The document, drawn. Links show where they lead; HTML is shown as it was written."""
    text = _FRONT_MATTER.sub(r"~~~yaml\n\1\n~~~\n\n", clean(markdown), count=1)
    drawn = _Document(text, hyperlinks=False)
    _show_all(drawn.parsed)
    return drawn


def on_one_line(text: str) -> str:
    return " ".join(clean(text).split())


class _Token(Protocol):
    type: str
    content: str

    @property
    def attrs(self) -> Mapping[str, object]: ...

    @property
    def children(self) -> Sequence[_Token] | None: ...


def _show_all(tokens: Sequence[_Token]) -> None:
    """HTML would be left out: `List<String>` in a plan must not lose half of itself. Nor an image's address."""
    for token in tokens:
        if token.type == "html_inline":
            token.type = "text"
        elif token.type == "image":
            token.type, token.content = "text", f"![{token.content}]({token.attrs.get('src', '')})"
        elif token.type == "html_block":
            token.type = "code_block"
        if token.children:
            _show_all(token.children)


class Barred:
    """Something letter for letter, with a bar along its left side so that it is seen to be quoted."""

    def __init__(self, text: str) -> None:
        self._text = Words(text.rstrip("\n"), overflow="fold")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bar = Segment("│ ", console.get_style("dim"))
        room = options.update(width=max(1, options.max_width - 2), height=None)
        for line in console.render_lines(self._text, room, pad=False):
            yield bar
            yield from line
            yield Segment.line()


class _Title(Heading):
    """Headings begin at the left, however important."""

    LEVEL_ALIGN: ClassVar = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _Quoted(CodeBlock):
    """Code without a background of its own, which would be wrong on every other terminal."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Barred(str(self.text))


class _Document(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Title,
        "fence": _Quoted,
        "code_block": _Quoted,
    }
