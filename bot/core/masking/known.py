"""Finds secrets that the bot knows by value, in every usual encoding and across line breaks."""

from __future__ import annotations

import base64
import html
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote, quote_plus

SHORTEST = 8
"""Shorter values occur as everyday words; masking them would only damage texts."""

MASK = re.compile(r"\[MASKED:[A-Z][A-Z0-9]{0,15}(?:_[A-Z0-9]{1,15}){0,5}\]")
"""A mask that replaces a secret. No part of its name is long enough to be a known secret itself."""

_WINDOW = 64 * 1024
_BETWEEN_LETTERS = re.compile(r"[\W_]+")
_BETWEEN_SIGNS = re.compile(r"[\s|\u2500-\u259f]+")
_ASCII_SPACES = b" \t\n\r\v\f\x1c\x1d\x1e\x1f|"
_ASCII_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
_ESCAPE = re.compile(
    r"""  % (?:25){0,3} (?P<percent> [0-9A-Fa-f]{2} )
        | \\{1,4} (?: x (?P<x> [0-9A-Fa-f]{2} ) | u (?P<u> [0-9A-Fa-f]{4} ) )
        | \\ (?<=[A-Za-z0-9]\\) (?P<space> \\{0,3} [nrt] ) (?=[A-Za-z0-9])
        | & \# (?: [xX] (?P<entity> [0-9A-Fa-f]{1,5} ) | (?P<number> [0-9]{1,6} ) ) ;
        | & (?: amp | lt | gt | quot | apos ) ;
        | = (?P<printable> 3D )
        | < /? (?: wbr | b | i | em | strong | mark | span | code | u ) (?: \s [^<>\n]{0,80} )? /? >""",
    re.VERBOSE,
)
"""An escaped character of another format, or an invisible tag that splits a word."""


class Span(NamedTuple):
    start: int
    end: int
    name: str


class SecretForm(NamedTuple):
    """One spelling of a value. `bare` is its form in the view that is searched."""

    bare: str
    lead: str
    trail: str
    name: str


def mask_name(name: str) -> str:
    """Return a secret's name in the form that a mask allows."""
    words = [word[:15] for word in re.split(r"[^A-Z0-9]+", name.upper()) if word][:6]
    joined = "_".join(words)
    return joined if joined[:1].isalpha() else f"SECRET_{joined}".rstrip("_")


def merge_spans(spans: list[Span], text: str) -> list[Span]:
    """Return the spans in order, overlapping ones joined, without those that touch an existing mask."""
    masks = [(mask.start(), mask.end()) for mask in MASK.finditer(text)]
    merged: list[Span] = []
    for span in sorted(spans):
        at = bisect_right(masks, (span.end, 0)) - 1
        if at >= 0 and masks[at][1] > span.start:
            continue
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            span = Span(last.start, max(last.end, span.end), last.name)
        merged.append(span)
    return merged


class KnownSecrets:
    r"""Finds known values.

    It searches two views of a text: only its letters and digits, so that separators of a terminal, a box, a diff or a
    quotation cannot hide a secret; and, for values that are mostly punctuation, all visible characters. If the text has
    escapes (`%41`, `&#65;`, `\u0041`), both views of the unescaped text are searched, too.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        letters: dict[str, SecretForm] = {}
        signs: dict[str, SecretForm] = {}
        longest = 0
        for name, value in known.items():
            for written in sorted(_forms(value), key=len, reverse=True):
                form = _form(mask_name(name), written, _BETWEEN_LETTERS)
                if len(form.bare) >= SHORTEST:
                    letters.setdefault(form.bare, form)
                else:
                    form = _form(mask_name(name), written, _BETWEEN_SIGNS)
                    if len(form.bare) >= SHORTEST // 2:
                        signs.setdefault(form.bare, form)
                longest = max(longest, len(written))
        views = (_View(letters, _letters, _BETWEEN_LETTERS), _View(signs, _visible, _BETWEEN_SIGNS))
        self._views = [view for view in views if view.forms]
        # escapes make a secret up to six times as long, separators even longer
        self._context_length = max(512, 4 * longest)
        self._overlap = max(8 * 1024, 8 * longest)

    def mask(self, text: str) -> str:
        spans = list(self._spans(text))
        if not spans:
            return text
        parts: list[str] = []
        done = 0
        for span in merge_spans(spans, text):
            parts += [text[done : span.start], f"[MASKED:{span.name}]"]
            done = span.end
        return "".join([*parts, text[done:]])

    def _spans(self, text: str) -> Iterator[Span]:
        # In overlapping windows, so that no secret is cut by the end of a window.
        for start in range(0, len(text), _WINDOW) if self._views else ():
            window = text[start : start + _WINDOW + self._overlap]
            for span in self._in_window(window):
                yield Span(start + span.start, start + span.end, span.name)

    def _in_window(self, window: str) -> Iterator[Span]:
        for view in self._views:
            yield from view.found(window)
        for start, end in windows_around(
            (one.start() for one in _ESCAPE.finditer(window)), self._context_length
        ):
            unescaped = RewrittenText(window[start:end], _ESCAPE, _unescape)
            for view in self._views:
                for span in view.found(unescaped.text):
                    yield unescaped.origin(span, start)


def windows_around(places: Iterable[int], reach: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text within `reach` of these places. The places must be in ascending order."""
    begin, end = 0, -1
    for place in places:
        if place - reach > end:
            if end >= 0:
                yield begin, end
            begin = max(0, place - reach)
        end = place + reach
    if end >= 0:
        yield begin, end


def _form(name: str, written: str, between: re.Pattern[str]) -> SecretForm:
    lead = between.match(written)
    trail = re.search(rf"(?:{between.pattern})\Z", written)
    ends = (lead.group() if lead else "", trail.group() if trail else "")
    return SecretForm(between.sub("", written), *ends, name)


def _letters(text: str) -> str:
    if text.isascii():  # twenty times as fast as the pattern
        return text.encode("ascii").translate(None, _ASCII_SIGNS).decode("ascii")
    return _BETWEEN_LETTERS.sub("", text)


def _visible(text: str) -> str:
    if text.isascii():
        return text.encode("ascii").translate(None, _ASCII_SPACES).decode("ascii")
    return _BETWEEN_SIGNS.sub("", text)


class _View:
    """One view of a text and the forms to find in it, all at once.

    If a form occurs in the view, one of its first pieces (a handful of letters) starts at a multiple of the step. So
    only the pieces at those positions are looked up, and a form is searched for only if one of its pieces was found: a
    thousand forms take hardly longer than one.
    """

    def __init__(
        self, forms: Mapping[str, SecretForm], seen: Callable[[str], str], between: re.Pattern[str]
    ) -> None:
        self.forms = forms
        self._seen = seen
        self._between = between
        shortest = min(map(len, forms), default=0)
        self._length = shortest // 2 + 1
        self._step = max(1, shortest - self._length + 1)
        self._pieces: dict[str, list[SecretForm]] = {}
        for bare, form in forms.items():
            for at in range(self._step):
                self._pieces.setdefault(bare[at : at + self._length], []).append(form)

    def found(self, text: str) -> Iterator[Span]:
        view = self._seen(text)
        length = self._length
        pieces = {view[at : at + length] for at in range(0, len(view), self._step)}
        wanted = {
            form.bare: form
            for piece in pieces & self._pieces.keys()
            for form in self._pieces[piece]
        }
        hits = [(at, form) for form in wanted.values() for at in _occurrences(view, form.bare)]
        if not hits:
            return
        where = _Positions(text, self._between)
        for at, form in hits:
            start, end = where[at], where[at + len(form.bare) - 1] + 1
            if form.lead and text.endswith(form.lead, 0, start):
                start -= len(form.lead)
            if form.trail and text.startswith(form.trail, end):
                end += len(form.trail)
            yield Span(start, end, form.name)


def _occurrences(view: str, bare: str) -> Iterator[int]:
    at = view.find(bare)
    while at >= 0:
        yield at
        at = view.find(bare, at + len(bare))


class _Positions:
    """Maps an index in a view to the index in the original text."""

    def __init__(self, text: str, between: re.Pattern[str]) -> None:
        ends = [0, *(bound for gap in between.finditer(text) for bound in gap.span()), len(text)]
        self._texts: list[int] = []
        self._views: list[int] = []
        seen = 0
        for start, end in list(pairwise(ends))[::2]:
            self._texts.append(start)
            self._views.append(seen)
            seen += end - start

    def __getitem__(self, at: int) -> int:
        run = bisect_right(self._views, at) - 1
        return self._texts[run] + at - self._views[run]


class RewrittenText:
    """A text with replacements, which maps its indexes back to the original."""

    def __init__(
        self, text: str, pattern: re.Pattern[str], meant: Callable[[re.Match[str]], str]
    ) -> None:
        self._ends = [0]
        self._ahead = [0]
        """The offset between original and new text after each replacement."""
        parts: list[str] = []
        done = length = 0
        for match in pattern.finditer(text):
            parts += [text[done : match.start()], meant(match)]
            length += len(parts[-2]) + len(parts[-1])
            done = match.end()
            self._ends.append(length)
            self._ahead.append(done - length)
        self.text = "".join([*parts, text[done:]]) if parts else text

    def origin(self, span: Span, start: int = 0) -> Span:
        """Return the span in the original, which begins at `start`."""
        first, last = self._original_index(span.start), self._original_index(span.end)
        return Span(start + first, start + last, span.name)

    def _original_index(self, at: int) -> int:
        """Return the index in the original that corresponds to `at`."""
        return at + self._ahead[bisect_right(self._ends, at) - 1]


def _unescape(escape: re.Match[str]) -> str:
    kind, code = escape.lastgroup, escape[escape.lastgroup] if escape.lastgroup else ""
    match kind:
        case "percent" | "x" | "u" | "entity":
            return chr(min(int(code, 16), 0x10FFFF))
        case "number":
            return chr(min(int(code), 0x10FFFF))
        case "space":
            return " "
        case _:
            return "" if escape[0][0] == "<" else "&"


def _forms(value: str) -> set[str]:
    value = value.strip()
    if len(value) < SHORTEST:
        return set()
    # the lines of a multi-line key are as secret as the whole
    lines = {line for line in value.split() if len(line) >= 40}
    forms = {value, value[::-1], *lines}
    forms |= {quote(value, safe=""), quote(value), quote_plus(value), html.escape(value)}
    forms |= {form.replace("%", "%25") for form in forms if "%" in form}
    forms |= {re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), form) for form in forms}
    forms |= {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    data = value.encode("utf-8", "surrogatepass")
    forms |= {data.hex(), data.hex().upper(), base64.b32encode(data).decode().rstrip("=")}
    return forms | {_inside_base64(data, offset) for offset in range(3)}


def _inside_base64(data: bytes, offset: int) -> str:
    """Return the Base64 characters that do not depend on what surrounds `data` at this offset (modulo three).

    The URL-safe alphabet differs only in punctuation, which the view of letters ignores.
    """
    encoded = base64.b64encode(bytes(offset) + data).decode()
    return encoded[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]
