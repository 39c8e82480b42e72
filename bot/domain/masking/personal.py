"""Mail addresses and telephone numbers: masked in what is kept, not in what people say to each other."""

from __future__ import annotations

import re
from collections.abc import Callable

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


_MAIL_ADDRESS = re.compile(_MAIL, re.VERBOSE)
_PHONE_NUMBER = re.compile(_PHONE, re.VERBOSE)
_AT = re.compile("@|%40")
_BEFORE_AT = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-"
_LONGEST_NAME = 64
_FIRST_OF_NUMBER = re.compile(r"[+(02-9\uff10](?<![\w.+-].)")


def mask_personal_data(text: str) -> str:
    text = _without(text, "[MASKED:EMAIL]", _MAIL_ADDRESS, _mail_address)
    return _without(text, "[MASKED:PHONE]", _PHONE_NUMBER, _phone_number)


def _without(
    text: str,
    mask: str,
    glued: re.Pattern[str],
    following: Callable[[str, int], re.Match[str] | None],
) -> str:
    """`glued` is the same directly behind another one, where nothing parts them."""
    parts: list[str] = []
    done = at = 0
    while match := (glued.match(text, at) if 0 < at == done else None) or following(text, at):
        at = match.end()
        if glued is _MAIL_ADDRESS or _is_phone(match[0]):
            parts += [text[done : match.start()], mask]
            done = at
    return "".join([*parts, text[done:]])


def _mail_address(text: str, at: int) -> re.Match[str] | None:
    """The next one from there on. The sign is looked for first: few characters are one, and most may begin a name."""
    for sign in _AT.finditer(text, at):
        name = text[max(at, sign.start() - _LONGEST_NAME) : sign.start()]
        start = sign.start() - len(name) + len(name.rstrip(_BEFORE_AT))
        if start and text[start - 1] in _BEFORE_AT + "%":
            continue
        if match := _MAIL_ADDRESS.match(text, start):
            return match
    return None


def _phone_number(text: str, at: int) -> re.Match[str] | None:
    for first in _FIRST_OF_NUMBER.finditer(text, at):
        if match := _PHONE_NUMBER.match(text, first.start()):
            return match
    return None


def _is_phone(number: str) -> bool:
    digits = sum(sign.isdigit() for sign in number)
    return (8 if number.startswith("+") else 10) <= digits <= 15
