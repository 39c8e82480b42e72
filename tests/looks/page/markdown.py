"""The Markdown that a markdown block takes, as Slack shows it: headings, lists, check boxes, tables, code, quotes."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from tests.looks.page.html import box

_CHECK = re.compile(r"<li>\s*(<p>)?\[([ xX])\]\s")
_LINK = re.compile(r'<a href="(?!https?:|mailto:)[^"]*"')


def markdown(words: str) -> str:
    """HTML in it is mere text; pictures are links."""
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(
        ["table", "strikethrough"]
    )
    reader.disable("image")
    shown = _LINK.sub('<a href="#"', reader.render(words))
    shown = _CHECK.sub(_box, shown)
    shown = shown.replace("<table>", '<div class="scroll"><table>')
    return box("markdown", shown.replace("</table>", "</table></div>"))


def _box(item: re.Match[str]) -> str:
    mark = "☑" if item[2].lower() == "x" else "☐"
    return f'<li class="check">{item[1] or ""}{mark} '
