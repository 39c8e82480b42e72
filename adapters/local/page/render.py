"""Turns templates into HTML. Everything that comes from elsewhere is escaped; documents may have Markdown, and no HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from adapters.local.page import charts
from adapters.local.page.texts import in_language
from bot.core.text import clean, duration

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


class Renderer:
    """`mask` hides secrets in every text that a template writes; only this module's own HTML is left as it is."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        def masked(value: object) -> object:
            if isinstance(value, Markup) or not isinstance(value, str):
                return value
            return mask(value)

        self._templates = Environment(
            finalize=masked,
            loader=FileSystemLoader(Path(__file__).parent / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals["t"] = _translated
        self._templates.globals["chart"] = charts
        self._templates.filters.update(
            prose=lambda text: prose(mask(text)),
            when=when,
            plain=clean,
            seconds=duration,
            tokens=tokens,
        )

    def render(self, template: str, context: Mapping[str, object]) -> str:
        return self._templates.get_template(template).render(context)


@pass_context
def _translated(context: Context, text: str, **values: object) -> str:
    """Return an interface text in the reader's language; `{n}` and the like are filled in."""
    text = in_language(text, str(context.get("language", "")))
    return text.format(**values) if values else text


def when(at: datetime | None, style: str = "time") -> Markup:
    """Return a time, which the page's script writes in the reader's own zone."""
    if at is None:
        return Markup("")
    at = at.astimezone(UTC)
    shown = f"{at:%Y-%m-%d %H:%M} UTC"
    return Markup('<time datetime="{}" data-style="{}">{}</time>').format(
        at.isoformat(timespec="seconds"), style, shown
    )


def tokens(number: int) -> str:
    if number < 1_000:
        return str(number)
    return f"{number / 1_000:.0f}k" if number < 1_000_000 else f"{number / 1_000_000:.1f}M"


def prose(markdown: str) -> Markup:
    """Return a document as HTML. Links say where they lead; HTML and images are shown as they were written."""
    text = _FRONT_MATTER.sub(r"~~~yaml\n\1\n~~~\n\n", clean(markdown), count=1)
    return Markup(_PARSER.render(text))  # noqa: S704 - markdown-it escapes everything but its own tags


def is_web_address(address: str) -> bool:
    """Whether it plainly leads to the web. `//host` and unusual schemes lead elsewhere without looking like it."""
    return address.startswith(("http://", "https://"))


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    parser.disable("image")
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("link_close", _link_close)
    # The page has headings of its own above those of a document.
    parser.add_render_rule("heading_open", _heading(closing=False))
    parser.add_render_rule("heading_close", _heading(closing=True))
    return parser


def _link_open(
    _: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    address = str(tokens[index].attrGet("href") or "")
    env.setdefault("links", []).append(address)
    if not is_web_address(address):
        return "<span>"
    return f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">'


def _link_close(
    _: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    address = env["links"].pop()
    shown = f' <span class="to">({escape(address)})</span>'
    return f"</a>{shown}" if is_web_address(address) else f"</span>{shown}"


def _heading(*, closing: bool) -> Callable[..., str]:
    def rule(
        _: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
    ) -> str:
        level = min(6, int(tokens[index].tag[1:]) + 2)
        return f"</h{level}>\n" if closing else f"<h{level}>"

    return rule


_PARSER = _parser()
