"""Renders Markdown as the HTML that Matrix clients allow, in parts that fit into a message: complete, with nothing
hidden and nobody mentioned.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from bot.core.text import clean

# Markdown as HTML. Clients make links and mentions of plain text, too, so anything that looks like one is broken up
# invisibly.

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
_MAX_NESTING = 40
"""Nesting of lists and quotes. Beyond a hundred levels the parser drops text."""


def escaped(text: str) -> str:
    """Escape plain text for HTML so that it mentions nobody."""
    parts: list[str] = []
    last = 0
    text = clean(text)
    for sigil in _SIGIL.finditer(text):
        parts += [html.escape(text[last : sigil.start()]), "<span>", sigil[0], "</span>"]
        last = sigil.end()
    return "".join([*parts, html.escape(text[last:])])


def code_html(text: str, language: str = "") -> str:
    """Return a code block; clients look for no mentions in it."""
    kind = f' class="language-{language}"' if _LANGUAGE.fullmatch(language) else ""
    return f"<pre><code{kind}>{html.escape(clean(text))}</code></pre>"


def without_front_matter(markdown: str) -> str:
    """Return clean Markdown in which a YAML front matter is a code block, instead of being read as a rule and a
    heading.
    """
    return _FRONT_MATTER.sub(r"~~~yaml\n\1\n~~~\n\n", clean(markdown), count=1)


def markdown_tokens(markdown: str) -> list[Token]:
    return _parser().parse(markdown)


def markdown_html(markdown: str) -> str:
    parser = _parser()
    found = parser.parse(markdown)
    if any(token.level > _MAX_NESTING for token in found):
        return code_html(markdown)
    shown = list(_without_tables(found, markdown.split("\n")))
    for token in shown:
        if token.children:
            token.children = list(_with_addresses(token.children))
    return str(parser.renderer.render(shown, parser.options, {})).strip()


def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False, "linkify": False}, renderer_cls=_Renderer)
    # a link definition would not be shown at all, whatever it contains
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
        return code_html(tokens[idx].content) + "\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return code_html(tokens[idx].content, tokens[idx].info.strip()) + "\n"


def _without_tables(found: list[Token], lines: list[str]) -> Iterator[Token]:
    # Tables become lists with one item per row, because clients cut tables off at the right.
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
    """Yield a row as name: value · name: value.

    If it has more cells than the heading, the whole line is shown unchanged.
    """
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
    """Links lead where they say, images become their text, and an address that is unsafe to click is shown as text."""
    label = ""
    address: str | None = None
    for token in children:
        match token.type:
            case "link_open":
                label, address = "", str(token.attrs.get("href", ""))
                token.attrs = {"href": address}
                if _is_safe_link(address):
                    yield token
            case "link_close" if address is not None:
                if _is_safe_link(address):
                    yield token
                if not _is_safe_link(address) or _is_misleading_link(label, address):
                    yield _text(f" ({unquote(address)})")
                address = None
            case "image":
                label += token.content
                yield _text(f"{token.content} ({token.attrs.get('src', '')})")
            case _:
                label += token.content
                yield token


def _is_safe_link(address: str) -> bool:
    """Whether the address is absolute and not taken for a Matrix user or room by clients."""
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return False
    if parts.scheme not in _SCHEMES or host == "matrix.to" or host.endswith(".matrix.to"):
        return False
    return not unquote(parts.fragment).startswith("/")


def _is_misleading_link(label: str, address: str) -> bool:
    """Whether the link text looks like another address than its target."""
    looks = "://" in label or label.strip().lower().startswith("www.")
    return looks and label.strip().rstrip("/") not in (address.rstrip("/"), unquote(address))


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


# Splits a long document into parts that fit into one message each: at headings if possible, without losing a character.
# The parts joined are the document; only code and tables that are split get their beginning and end repeated.

SizeOf = Callable[[str], int]
"""Returns the size of a piece of Markdown; sizes add up approximately."""
_Finer = Callable[[str, SizeOf, int], Iterable[str]]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r" {0,3}([-*+]|\d{1,9}[.)])\s")
_RULER = re.compile(r" {0,3}\|?[ \t]*:?-++:?[ \t|:-]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SLICE = 200
"""Characters per piece of a line that is too long, small enough to fill a message well."""


def split_markdown(markdown: str, size: SizeOf, room: int) -> Iterator[str]:
    """Split Markdown into pieces no larger than `room`."""
    yield from _packed([markdown], size, room, (_sections, _blocks, _split_wrapped, _items, _lines))


def pack_units(units: Iterable[str], size: SizeOf, room: int) -> Iterator[str]:
    """Join as many units as fit into each piece."""
    yield from _packed(units, size, room, ())


def split_lines(text: str) -> list[str]:
    """Return the lines with their ends. Only a line feed ends a line, as in the parser."""
    return _LINE.findall(text)


def fixed_slices(text: str) -> list[str]:
    """Split a text that has no better place for it."""
    return [text[at : at + _SLICE] for at in range(0, len(text), _SLICE)]


def _packed(
    units: Iterable[str], size: SizeOf, room: int, finer: Sequence[_Finer]
) -> Iterator[str]:
    held, full = "", 0
    for unit in units:
        needs = size(unit)
        if full + needs <= room:
            held, full = held + unit, full + needs
            continue
        if held:
            yield held
        held, full = unit, needs
        if needs > room:
            smaller = finer[0](unit, size, room) if finer else fixed_slices(unit)
            *whole, held = _packed(smaller, size, room, finer[1:]) if len(unit) > 1 else (unit,)
            yield from whole
            full = size(held)
    if held:
        yield held


def _sections(markdown: str, size: SizeOf, room: int) -> Iterator[str]:
    tops = [
        t.map[0]
        for t in markdown_tokens(markdown)
        if t.type == "heading_open" and not t.level and t.map
    ]
    yield from _cut(markdown, tops)


def _blocks(markdown: str, size: SizeOf, room: int) -> Iterator[str]:
    tops = [t.map[0] for t in markdown_tokens(markdown) if t.nesting >= 0 and not t.level and t.map]
    yield from _cut(markdown, tops)


def _items(block: str, size: SizeOf, room: int) -> Iterator[str]:
    lines = split_lines(block)
    yield from _cut(block, [n for n, line in enumerate(lines) if _ITEM.match(line)])


def _lines(block: str, size: SizeOf, room: int) -> Iterator[str]:
    yield from split_lines(block)


def _split_wrapped(block: str, size: SizeOf, room: int) -> Iterator[str]:
    """Split a code block or table and repeat its fence or head around each part."""
    lines = split_lines(block)
    fence = _FENCE.match(block)
    table = len(lines) > 1 and "|" in lines[0] and _RULER.fullmatch(lines[1].rstrip("\n"))
    if not fence and not table:
        yield block
        return
    before = lines[:1] if fence else lines[:2]
    inner = lines[len(before) :]
    end = f"{fence[1]}\n" if fence else "\n"
    if fence and inner and inner[-1].strip().startswith(fence[1]):
        inner = inner[:-1]
    around = size("".join(before) + end)
    cut = [part for line in inner for part in _short(line)]
    for piece in pack_units(cut, size, max(_SLICE, room - around)):
        close = "" if piece.endswith("\n") else "\n"
        yield "".join(before) + piece + close + end


def _short(line: str) -> list[str]:
    return [line] if len(line) <= 10 * _SLICE else fixed_slices(line)


def _cut(markdown: str, tops: list[int]) -> Iterator[str]:
    """Yield the text between the given line numbers."""
    lines = split_lines(markdown)
    borders = sorted({0, *tops, len(lines)})
    for begin, end in itertools.pairwise(borders):
        yield "".join(lines[begin:end])
