"""Mail addresses and telephone numbers: masked in what is kept, not in what people say to each other."""

from __future__ import annotations

import re

_FILES = r"png|jpe?g|gif|svg|webp|ico|css|js|json|service|socket|timer|target|mount"
_MAIL = re.compile(
    rf"""(?<![A-Za-z0-9._%+-]) (?!git@) [A-Za-z0-9._+-]{{1,64}}+ (?:@|%40)
    (?: [A-Za-z0-9-]{{1,63}} \. ){{1,8}} (?!(?:{_FILES})\b) [A-Za-z]{{2,24}} (?![A-Za-z0-9-])""",
    re.VERBOSE,
)
_GAP = r"[ .\-\u2010-\u2015\u2212\uff0d\u30fc]"
_BODY = rf"""
    (?: \+[1-9][0-9]{{0,3}} (?: {_GAP}{{0,2}} (?: [0-9]{{1,5}} | \([0-9]{{1,5}}\) ) ){{2,6}}
      | (?: [0\uff10]\d{{1,4}} | \([0\uff10]\d{{1,4}}\) ) {_GAP} ?\d{{1,4}} {_GAP} \d{{3,4}}
      | [0\uff10][5789\uff15\uff17-\uff19][0\uff10]\d{{8}}
      | (?: \([2-9][0-9]{{2}}\)[ ]? | [2-9][0-9]{{2}}[-.] ) [0-9]{{3}} [-.] [0-9]{{4}} )
    (?![\w-]|\.\d)"""
_PHONE = re.compile(rf"(?<![\w.+-]){_BODY}", re.VERBOSE)
_GLUED = re.compile(_BODY, re.VERBOSE)


def mask_personal_data(text: str) -> str:
    return _without_phones(_MAIL.sub("[MASKED:EMAIL]", text))


def _without_phones(text: str) -> str:
    parts: list[str] = []
    done = at = 0
    while match := (_GLUED.match(text, at) if 0 < at == done else None) or _PHONE.search(text, at):
        at = match.end()
        if _is_phone(match[0]):
            parts += [text[done : match.start()], "[MASKED:PHONE]"]
            done = at
    return "".join([*parts, text[done:]])


def _is_phone(number: str) -> bool:
    digits = sum(sign.isdigit() for sign in number)
    return (8 if number.startswith("+") else 10) <= digits <= 15
