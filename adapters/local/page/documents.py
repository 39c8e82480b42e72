"""The documents of a plan line by line: Markdown within a line, and what changed between two revisions, by word.

Nothing in a document becomes HTML of its own: each line is made of escaped text and a few plain elements.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from adapters.local.page.render import is_web_address
from bot.core.text import clean

CONTEXT_LINES = 3
"""Unchanged lines that are shown around a change."""
LONGEST_MARKDOWN_LINE = 2_000
"""Characters. Longer lines are shown as they were written: Markdown can be made expensive to read."""
MAX_WORDS_COMPARED = 400
"""Words of a line that is compared word by word."""
MANY_LINES = 2_000
"""From here on frequent lines, such as empty ones, do not count as common ground: comparing would take seconds."""
SIMILAR = 0.4
"""How much of their words two lines share that are shown as one changed line."""

LINES_SEARCHED = 40
"""Removed lines among which the origin of a new one is looked for."""

_PARSER = MarkdownIt("commonmark", {"html": False, "linkify": False}).disable("image")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_BULLET = re.compile(r"(\s*)[-*+]\s+(.*)")
_NUMBERED = re.compile(r"(\s*)(\d{1,9}[.)]\s+.*)")
_QUOTE = re.compile(r"\s*>\s?(.*)")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")
_TAGS = {"strong_open": "strong", "em_open": "em", "strong_close": "strong", "em_close": "em"}


@dataclass(frozen=True)
class Line:
    """A line of a document as it is shown."""

    mark: str
    """`a` added, `d` removed, empty if unchanged."""
    number: int
    """In its own revision."""
    kind: str
    """`h2` a heading, `b1` a bullet and `n1` a numbered line with their depth, `q` a quote, `code`; empty for anything else."""
    html: Markup


@dataclass(frozen=True)
class Stretch:
    """Lines that are shown, or folded because nothing changed in them."""

    lines: tuple[Line, ...]
    folded: bool


@dataclass(frozen=True)
class ComparedDocument:
    lines: tuple[Line, ...]
    added: int = 0
    removed: int = 0

    def stretches(self) -> tuple[Stretch, ...]:
        """Return the lines with everything folded that is far from a change."""
        return tuple(_stretches(self.lines))


@lru_cache(maxsize=32)
def compared(old: str | None, new: str) -> ComparedDocument:
    """Return a document compared with an earlier revision; `None`: there is none. Both texts are masked already."""
    now = _read(new)
    if old is None:
        return ComparedDocument(tuple(line.shown("") for line in now))
    lines = tuple(_compare(_read(old), now))
    marks = Counter(line.mark for line in lines)
    return ComparedDocument(lines, marks["a"], marks["d"])


# The lines of one document.

Span = tuple[int, int]


@dataclass(frozen=True)
class _Source:
    number: int
    kind: str
    written: str
    """The whole line."""
    text: str
    """Without the mark of its kind: `## `, `- `."""

    def shown(self, mark: str, changed: Sequence[Span] = ()) -> Line:
        tag = {"a": "ins", "d": "del"}.get(mark, "")
        html = _html(self.tokens(), changed, tag)
        return Line(mark, self.number, self.kind, html)

    def tokens(self) -> list[Token]:
        if self.kind == "code" or len(self.text) > LONGEST_MARKDOWN_LINE:
            return [Token("text", "", 0, content=self.text)]
        inline = _PARSER.parseInline(self.text)
        return (inline[0].children if inline else None) or []

    def visible(self) -> str:
        return "".join(token.content for token in self.tokens())


def _read(document: str) -> list[_Source]:
    found: list[_Source] = []
    closes = ""
    for number, line in enumerate(clean(document).rstrip("\n").split("\n"), 1):
        fence = "---" if line.rstrip() == "---" and number == 1 else ""
        fence = fence or (line.strip()[:3] if _FENCE.match(line) else "")
        if closes:
            found.append(_Source(number, "code", line, line))
            closes = "" if line.strip().startswith(closes) else closes
        elif fence:
            found.append(_Source(number, "code", line, line))
            closes = fence
        else:
            found.append(_Source(number, *_kind(line)))
    return found


def _kind(line: str) -> tuple[str, str, str]:
    """Return the kind of a line, the line, and its text without the mark of its kind."""
    if heading := _HEADING.fullmatch(line):
        return f"h{len(heading[1])}", line, heading[2]
    if bullet := _BULLET.fullmatch(line):
        return f"b{min(4, 1 + len(bullet[1].expandtabs(4)) // 2)}", line, bullet[2]
    if numbered := _NUMBERED.fullmatch(line):
        return f"n{min(4, 1 + len(numbered[1].expandtabs(4)) // 2)}", line, numbered[2]
    if quote := _QUOTE.fullmatch(line):
        return "q", line, quote[1]
    return "", line, line


def _html(tokens: Iterable[Token], changed: Sequence[Span], tag: str) -> Markup:
    """Return a line as HTML. `changed`: which characters of its visible text stand in an element `tag`."""
    parts: list[Markup] = []
    at = 0
    links: list[str] = []
    for token in tokens:
        match token.type:
            case "strong_open" | "em_open":
                parts.append(Markup("<{}>").format(_TAGS[token.type]))
            case "strong_close" | "em_close":
                parts.append(Markup("</{}>").format(_TAGS[token.type]))
            case "link_open":
                links.append(str(token.attrGet("href") or ""))
                parts.append(_link(links[-1]))
            case "link_close":
                # where it leads stands beside it: `//host` and unusual schemes do not look like it
                parts.append(Markup("</a>") if is_web_address(links[-1]) else Markup("</span>"))
                parts.append(Markup(' <span class="to">({})</span>').format(links.pop()))
            case _:
                text = _marked(token.content, at, changed, tag)
                at += len(token.content)
                code = token.type == "code_inline"
                parts.append(Markup("<code>{}</code>").format(text) if code else text)
    return Markup("").join(parts)


def _link(address: str) -> Markup:
    if not is_web_address(address):
        return Markup("<span>")
    return Markup('<a href="{}" target="_blank" rel="noopener noreferrer">').format(address)


def _marked(text: str, at: int, changed: Sequence[Span], tag: str) -> Markup:
    """Return the text, which begins at a place of the visible line, with its changed parts in an element."""
    parts: list[Markup] = []
    done = 0
    for start, end in changed:
        start, end = max(start - at, done), min(end - at, len(text))
        if start >= end:
            continue
        inside = Markup("<{0}>{1}</{0}>").format(tag, text[start:end])
        parts += [escape(text[done:start]), inside]
        done = end
    return Markup("").join([*parts, escape(text[done:])])


# What changed between two documents.


def _compare(old: Sequence[_Source], new: Sequence[_Source]) -> Iterator[Line]:
    before, now = [line.written.rstrip() for line in old], [line.written.rstrip() for line in new]
    matcher = difflib.SequenceMatcher(
        None, before, now, autojunk=max(len(old), len(new)) > MANY_LINES
    )
    for what, i1, i2, j1, j2 in matcher.get_opcodes():
        if what == "equal":
            yield from (line.shown("") for line in new[j1:j2])
        else:
            yield from _replaced(old[i1:i2], new[j1:j2])


def _replaced(old: Sequence[_Source], new: Sequence[_Source]) -> Iterator[Line]:
    """Yield the lines of a change, each new one below the old one that it came from."""
    words_before = [_Words.of(line) for line in old]
    done = 0
    for line in new:
        words = _Words.of(line)
        found = next(
            (
                at
                for at in range(done, min(len(old), done + LINES_SEARCHED))
                if words.alike(words_before[at]) >= SIMILAR
            ),
            None,
        )
        if found is None:
            yield line.shown("a", [(0, len(words.text))])
            continue
        yield from (_removed(old[at], words_before[at]) for at in range(done, found))
        gone, come = words_before[found].difference(words)
        yield old[found].shown("d", gone)
        yield line.shown("a", come)
        done = found + 1
    yield from (_removed(old[at], words_before[at]) for at in range(done, len(old)))


def _removed(line: _Source, words: _Words) -> Line:
    return line.shown("d", [(0, len(words.text))])


@dataclass(frozen=True)
class _Words:
    """The words of a line's visible text and where they stand in it."""

    text: str
    words: tuple[str, ...]
    spans: tuple[Span, ...]
    counted: Counter[str]

    @classmethod
    def of(cls, line: _Source) -> _Words:
        text = line.visible()
        found = list(_WORD.finditer(text)) if len(text) <= LONGEST_MARKDOWN_LINE else []
        words = tuple(one[0] for one in found[:MAX_WORDS_COMPARED])
        return cls(text, words, tuple(one.span() for one in found), Counter(words))

    def alike(self, other: _Words) -> float:
        """Return the share of their words that both have."""
        if not self.words or not other.words:
            return 0.0
        common = (self.counted & other.counted).total()
        return 2 * common / (len(self.words) + len(other.words))

    def difference(self, later: _Words) -> tuple[list[Span], list[Span]]:
        """Return what is gone from this line, and what is new in the later one."""
        gone: list[Span] = []
        come: list[Span] = []
        matcher = difflib.SequenceMatcher(None, self.words, later.words, autojunk=False)
        for what, i1, i2, j1, j2 in matcher.get_opcodes():
            if what == "equal":
                continue
            if i1 < i2:
                gone.append((self.spans[i1][0], self.spans[i2 - 1][1]))
            if j1 < j2:
                come.append((later.spans[j1][0], later.spans[j2 - 1][1]))
        return gone, come


def _stretches(lines: Sequence[Line]) -> Iterator[Stretch]:
    near = _near_changes(lines)
    start = 0
    for at in range(1, len(lines) + 1):
        if at < len(lines) and near[at] == near[start]:
            continue
        # a single line is shown: folding it would take as much room
        yield Stretch(tuple(lines[start:at]), folded=not near[start] and at - start > 1)
        start = at


def _near_changes(lines: Sequence[Line]) -> list[bool]:
    near = [False] * len(lines)
    for at, line in enumerate(lines):
        if line.mark:
            for other in range(max(0, at - CONTEXT_LINES), min(len(lines), at + CONTEXT_LINES + 1)):
                near[other] = True
    return near
