"""Mail addresses and telephone numbers: masked in what is kept, not in what people say to each other."""

from __future__ import annotations

import re
from typing import NamedTuple

_FILES = r"png|jpe?g|gif|svg|webp|ico|css|js|json|service|socket|timer|target|mount"
_MAIL = rf"""
    (?!git@) [A-Za-z0-9._+-]{{1,64}}+ (?:@|%40)
    (?: [A-Za-z0-9-]{{1,63}} \. ){{1,8}} (?!(?:{_FILES})\b) [A-Za-z]{{2,24}} (?![A-Za-z0-9_-])"""
_GAP = r"[ .\-\u2010-\u2015\u2212\uff0d\u30fc]"
_PHONE = rf"""
    (?: \+[1-9][0-9]{{0,3}} (?: {_GAP}{{0,2}} (?: [0-9]{{1,5}} | \([0-9]{{1,5}}\) ) ){{2,6}}
      | (?: [0\uff10]\d{{1,4}} | \([0\uff10]\d{{1,4}}\) ) {_GAP} ?\d{{1,4}} {_GAP} \d{{3,4}}
      | [0\uff10][5789\uff15\uff17-\uff19][0\uff10]\d{{8}}
      | (?: \([2-9][0-9]{{2}}\)[ ]? | [2-9][0-9]{{2}}[-.] ) [0-9]{{3}} [-.] [0-9]{{4}} )
    (?![\w-]|\.\d)"""


class _Kind(NamedTuple):
    mask: str
    first: re.Pattern[str]
    glued: re.Pattern[str]
    """The same directly behind another one, where nothing parts them."""

    @classmethod
    def of(cls, mask: str, before: str, body: str) -> _Kind:
        return cls(mask, re.compile(before + body, re.VERBOSE), re.compile(body, re.VERBOSE))


_KINDS = (
    _Kind.of("[MASKED:EMAIL]", r"(?<![A-Za-z0-9._%+-])", _MAIL),
    _Kind.of("[MASKED:PHONE]", r"(?<![\w.+-])", _PHONE),
)


def mask_personal_data(text: str) -> str:
    for kind in _KINDS:
        text = _without(text, kind)
    return text


def _without(text: str, kind: _Kind) -> str:
    parts: list[str] = []
    done = at = 0
    while match := (kind.glued.match(text, at) if 0 < at == done else None) or kind.first.search(
        text, at
    ):
        at = match.end()
        if "@" in match[0] or "%40" in match[0] or _is_phone(match[0]):
            parts += [text[done : match.start()], kind.mask]
            done = at
    return "".join([*parts, text[done:]])


def _is_phone(number: str) -> bool:
    digits = sum(sign.isdigit() for sign in number)
    return (8 if number.startswith("+") else 10) <= digits <= 15
