"""Secrets the bot knows by value: found in every usual encoding, and also where a line break cuts them."""

from __future__ import annotations

import base64
import html
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote, quote_plus

SHORTEST = 8
"""Shorter values are words of everyday text; masking them would only tear it apart."""

MASK = re.compile(r"\[MASKED:[A-Z][A-Z0-9]{0,15}(?:_[A-Z0-9]{1,15}){0,5}\]")
"""What stands in place of a secret. No part of such a name is long enough to be a secret itself."""

_WINDOW = 128 * 1024
_BETWEEN_LETTERS = re.compile(r"[\W_]+")
_BETWEEN_SIGNS = re.compile(r"[\s|\u2500-\u259f]+")


class Span(NamedTuple):
    start: int
    end: int
    name: str


class Form(NamedTuple):
    """One way a value may be written. `bare` is what is left of it in the view it is looked for in."""

    bare: str
    lead: str
    trail: str
    name: str


def mask_name(name: str) -> str:
    """The name of a secret as it may stand in a mask."""
    words = [word[:15] for word in re.split(r"[^A-Z0-9]+", name.upper()) if word][:6]
    joined = "_".join(words)
    return joined if joined[:1].isalpha() else f"SECRET_{joined}".rstrip("_")


def covered(spans: list[Span], text: str) -> list[Span]:
    """Spans in order, overlapping ones as one, and none that touches a mask."""
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
    """Finds known values.

    A text is looked at through two views: its letters and digits alone, so that nothing a terminal, a box, a diff or
    a quotation puts between two of them hides a secret; and, for values that are mostly signs, all that is visible.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self._letters: list[Form] = []
        self._signs: list[Form] = []
        longest = 0
        for name, value in known.items():
            for written in sorted(_forms(value), key=len, reverse=True):
                self._add(mask_name(name), written)
                longest = max(longest, len(written))
        self._overlap = max(8 * 1024, 8 * longest)

    def mask(self, text: str) -> str:
        spans = covered(list(self._spans(text)), text)
        parts: list[str] = []
        done = 0
        for span in spans:
            parts += [text[done : span.start], f"[MASKED:{span.name}]"]
            done = span.end
        return "".join([*parts, text[done:]])

    def _add(self, name: str, written: str) -> None:
        for between, forms in ((_BETWEEN_LETTERS, self._letters), (_BETWEEN_SIGNS, self._signs)):
            bare = between.sub("", written)
            if len(bare) >= SHORTEST or (forms is self._signs and len(bare) >= SHORTEST // 2):
                lead = between.match(written)
                trail = re.search(rf"(?:{between.pattern})\Z", written)
                ends = (lead.group() if lead else "", trail.group() if trail else "")
                if all(form.bare != bare for form in forms):
                    forms.append(Form(bare, *ends, name))
                return

    def _spans(self, text: str) -> Iterator[Span]:
        """Window by window, each reaching into the next, so that no window's end cuts a secret."""
        for start in range(0, len(text), _WINDOW):
            window = text[start : start + _WINDOW + self._overlap]
            for between, forms in (
                (_BETWEEN_LETTERS, self._letters),
                (_BETWEEN_SIGNS, self._signs),
            ):
                for span in _found(window, between, forms):
                    yield Span(start + span.start, start + span.end, span.name)


def _found(text: str, between: re.Pattern[str], forms: list[Form]) -> Iterator[Span]:
    view = between.sub("", text) if forms else ""
    hits = [(at, form) for form in forms for at in _places(view, form.bare)]
    if not hits:
        return
    where = _Positions(text, between)
    for at, form in hits:
        start, end = where[at], where[at + len(form.bare) - 1] + 1
        if form.lead and text.endswith(form.lead, 0, start):
            start -= len(form.lead)
        if form.trail and text.startswith(form.trail, end):
            end += len(form.trail)
        yield Span(start, end, form.name)


def _places(view: str, bare: str) -> Iterator[int]:
    at = view.find(bare)
    while at >= 0:
        yield at
        at = view.find(bare, at + len(bare))


class _Positions:
    """Where a character of a view stands in the text it was made from."""

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


def _forms(value: str) -> set[str]:
    value = value.strip()
    if len(value) < SHORTEST:
        return set()
    # Parts of a key of several lines are as secret as the whole.
    lines = {line for line in value.split() if len(line) >= 40}
    forms = {value, value[::-1], *lines}
    forms |= {quote(value, safe=""), quote(value), quote_plus(value), html.escape(value)}
    forms |= {form.replace("%", "%25") for form in forms if "%" in form}
    forms |= {re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), form) for form in forms}
    forms |= {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    data = value.encode("utf-8", "surrogatepass")
    forms |= {data.hex(), data.hex().upper()}
    return forms | {_inside_base64(data, offset) for offset in range(3)}


def _inside_base64(data: bytes, offset: int) -> str:
    """What is sure to be seen of `data` when it stands `offset` bytes after a multiple of three in encoded data.

    The url-safe alphabet differs in signs only, which the view of letters does not see.
    """
    encoded = base64.b64encode(bytes(offset) + data).decode()
    return encoded[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]
