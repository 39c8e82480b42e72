"""Markdown as somebody wrote it becomes the HTML Matrix clients allow: in full, nothing hidden, nobody mentioned.

Clients make links and mentions of plain text, too: what looks like one is taken apart, invisibly.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from bot.domain.masking import clean

_SCHEMES = frozenset({"http", "https", "mailto"})
_SIGIL = re.compile(
    r"""
      @ (?= room\b )                            # everybody in the room
    | [@#!] (?= [^\s:]{1,255} : [\w\[] )        # a person, a room
    | (?<= matrix ) [.:] (?= \w )               # matrix.to, matrix:
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_DEEPEST = 40
"""Levels of lists and quotes. Beyond a hundred the parser leaves text out."""


def escaped(text: str) -> str:
    """Plain text as HTML: it stays what it is, and nobody is mentioned by it."""
    parts: list[str] = []
    last = 0
    text = clean(text)
    for sigil in _SIGIL.finditer(text):
        parts += [html.escape(text[last : sigil.start()]), "<span>", sigil[0], "</span>"]
        last = sigil.end()
    return "".join([*parts, html.escape(text[last:])])


def letter_for_letter(text: str, language: str = "") -> str:
    """Code: clients look for nothing in it."""
    kind = f' class="language-{language}"' if _LANGUAGE.fullmatch(language) else ""
    return f"<pre><code{kind}>{html.escape(clean(text))}</code></pre>"


def without_front_matter(markdown: str) -> str:
    """Clean Markdown; a YAML head is shown as the code it is, instead of as a rule and a heading."""
    return _FRONT_MATTER.sub(r"~~~yaml\n\1\n~~~\n\n", clean(markdown), count=1)


def tokens(markdown: str) -> list[Token]:
    return _parser().parse(markdown)


def as_html(markdown: str) -> str:
    parser = _parser()
    found = parser.parse(markdown)
    if any(token.level > _DEEPEST for token in found):
        return letter_for_letter(markdown)
    shown = list(_without_tables(found, markdown.split("\n")))
    for token in shown:
        if token.children:
            token.children = list(_with_addresses(token.children))
    return str(parser.renderer.render(shown, parser.options, {})).strip()


def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False, "linkify": False}, renderer_cls=_Renderer)
    # A definition of a link would be shown nowhere, whatever it says.
    return parser.disable(["reference"])


class _Renderer(RendererHTML):
    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return escaped(tokens[idx].content)

    def code_inline(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"<code>{html.escape(clean(tokens[idx].content))}</code>"

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return letter_for_letter(tokens[idx].content) + "\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return letter_for_letter(tokens[idx].content, tokens[idx].info.strip()) + "\n"


def _without_tables(found: list[Token], lines: list[str]) -> Iterator[Token]:
    """A table becomes a list, a row an item: clients cut tables off at the right."""
    table: list[Token] = []
    for token in found:
        if token.type == "table_open" or table:
            table.append(token)
            if token.type == "table_close":
                yield from _listed(table, lines)
                table = []
        else:
            yield token


def _listed(table: list[Token], lines: list[str]) -> Iterator[Token]:
    rows: list[tuple[str, list[list[Token]]]] = []
    for token in table:
        if token.type == "tr_open":
            rows.append((lines[token.map[0]].strip() if token.map else "", []))
        elif token.type == "inline":
            rows[-1][1].append(token.children or [])
    (_, head), *others = rows
    yield Token("bullet_list_open", "ul", 1, block=True)
    for line, cells in others or [("", [])]:
        yield Token("list_item_open", "li", 1, block=True)
        yield Token("inline", "", 0, children=list(_row(head, cells, line)))
        yield Token("list_item_close", "li", -1, block=True)
    yield Token("bullet_list_close", "ul", -1, block=True)


def _row(head: list[list[Token]], cells: list[list[Token]], line: str) -> Iterator[Token]:
    """Name: value · name: value. Cells beyond the last heading would be lost: then the line is shown as it is."""
    filled = [(name, cell) for name, cell in zip(head, cells, strict=False) if cell]
    for number, (name, cell) in enumerate(filled):
        if number:
            yield _text(" · ")
        if name:
            yield from [*name, _text(": ")]
        yield from cell
    if not cells:
        yield from (token for name in head for token in (*name, _text(" · ")))
    if line.strip("|").count("|") >= len(head):
        yield _text(f" · {line}")


def _with_addresses(children: list[Token]) -> Iterator[Token]:
    """Links lead where they say, images are their text; an address nobody should click on is shown instead."""
    label = ""
    address: str | None = None
    for token in children:
        match token.type:
            case "link_open":
                label, address = "", str(token.attrs.get("href", ""))
                token.attrs = {"href": address}
                if _may_be_clicked(address):
                    yield token
            case "link_close" if address is not None:
                if _may_be_clicked(address):
                    yield token
                if not _may_be_clicked(address) or _pretends(label, address):
                    yield _text(f" ({unquote(address)})")
                address = None
            case "image":
                label += token.content
                yield _text(f"{token.content} ({token.attrs.get('src', '')})")
            case _:
                label += token.content
                yield token


def _may_be_clicked(address: str) -> bool:
    """Not a relative one, and none that a client takes for a person or a room of Matrix."""
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return False
    if parts.scheme not in _SCHEMES or host == "matrix.to" or host.endswith(".matrix.to"):
        return False
    return not unquote(parts.fragment).startswith("/")


def _pretends(label: str, address: str) -> bool:
    """The text of the link is another address than that to which it leads."""
    looks = "://" in label or label.strip().lower().startswith("www.")
    return looks and label.strip().rstrip("/") not in (address.rstrip("/"), unquote(address))


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)
