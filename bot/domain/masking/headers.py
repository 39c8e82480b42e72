"""Secrets in headers and addresses: credentials, cookies, passwords of users, signatures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from bot.domain.masking.known import Span
from bot.domain.masking.values import HEAD, mixed, placeholder, token

Bounds = tuple[int, int]

_CREDENTIALS = re.compile(
    r"""(?: (?i:digest|aws4-hmac-sha256|oauth|hawk|signature)[ ]
              (?: [^\r\n"'\\] | (?<==)(?P<quote>\\?")[^"\\\r\n]{0,2000}(?P=quote) ){1,4000}+
          | (?i:bearer|basic|token|api-?key|negotiate|ntlm|ssws|splunk|bot)[ \t]{1,4} (?P<value>[^\s"'\\]{1,1000000}+)
          | (?P<bare>[^\s"'\\,;]{8,1000000}+) )""",
    re.VERBOSE,
)
_PAIR = r"""[^\s=;,"'\\]{1,128}+ = (?: "[^"\r\n]{0,4000}+" | [^;\r\n"'\\]{0,4000}+ )"""
_COOKIES = re.compile(
    rf"{_PAIR} (?: ; [ ]? (?: {_PAIR} | [A-Za-z-]{{1,40}} ) ){{0,100}}", re.VERBOSE
)
_BEARER = re.compile(r"[A-Za-z0-9._~+/=-]{6,1000000}+")
_USERINFO = re.compile(r"""[^\s/"'<>]{1,640}(?=@)""")
_USER = re.compile(r"(?:\[MASKED:[A-Z0-9_]{1,100}\]|[^:]){0,640}+:")
_SIGNATURE = re.compile(r"[A-Za-z0-9._~+/=%-]{16,4000}+")


def _credentials(text: str, at: int) -> Bounds | None:
    head = _CREDENTIALS.match(text, at, at + HEAD)
    if head is None or (head["value"] and placeholder(head["value"])):
        return None
    bare = head["bare"]
    if bare and (placeholder(bare) or not mixed(bare) or "(" in bare or "[" in bare):
        return None
    found = _CREDENTIALS.match(text, at)
    return found.span() if found else None


def _cookies(text: str, at: int) -> Bounds | None:
    head = _COOKIES.match(text, at, at + HEAD)
    if head is None or placeholder(head[0]):
        return None
    found = _COOKIES.match(text, at)
    return found.span() if found else None


def _bearer(text: str, at: int) -> Bounds | None:
    match = _BEARER.match(text, at)
    if match is None or placeholder(match[0]):
        return None
    return match.span() if len(match[0]) >= 20 or re.search("[0-9]", match[0]) else None


def _userinfo(text: str, at: int) -> Bounds | None:
    match = _USERINFO.match(text, at)
    if match is None:
        return None
    user = _USER.match(match[0])
    start = match.start() + (user.end() if user else 0)
    password = text[start : match.end()]
    if user is None and (len(password) < 20 or not mixed(password)):
        return None
    return None if not password or placeholder(password) else (start, match.end())


def _signature(text: str, at: int) -> Bounds | None:
    match = _SIGNATURE.match(text, at)
    return match.span() if match and token(match[0][:HEAD]) else None


_RULES: tuple[tuple[str, str, re.Pattern[str], Callable[[str, int], Bounds | None]], ...] = (
    (
        "AUTH_HEADER",
        "authorization",
        re.compile(
            r"""\\{0,7}["']?(?:[ \t]{0,4}[:=][ \t]{0,4}|,[ ]?(?=["'](?:bearer|basic|token)[ ])|[ ](?=["']))\\{0,7}["'`]?"""
        ),
        _credentials,
    ),
    (
        "SET_COOKIE",
        "set-cookie",
        re.compile(r"""\\{0,7}["']?[ \t]{0,4}:[ \t]{0,4}\\{0,7}["']?"""),
        _cookies,
    ),
    (
        "COOKIE",
        "cookie",
        re.compile(
            r"""(?<!set-cookie)(?:\\{0,7}["']?[ \t]{0,4}:[ \t]{0,4}|[ ](?=["']))\\{0,7}["']?"""
        ),
        _cookies,
    ),
    ("BEARER_TOKEN", "bearer", re.compile(r"(?<![a-z]bearer)[ \t]{1,4}"), _bearer),
    ("URL_PASSWORD", "://", re.compile(r"""(?=[^\s/"'<>]{1,640}@)"""), _userinfo),
    ("GENERIC_SECRET", "signature=", re.compile(""), _signature),
    ("GENERIC_SECRET", "sig=", re.compile("(?<=[?&;]sig=)"), _signature),
    ("GENERIC_SECRET", "key=", re.compile("(?<=[?&;]key=)"), _signature),
    ("GENERIC_SECRET", "code=", re.compile("(?<=[?&;]code=)"), _signature),
)
"""The name of the mask, the anchor, what stands between it and the value, and where the value ends."""


def in_headers(text: str, low: str) -> Iterator[Span]:
    for name, anchor, between, bounds in _RULES:
        at = low.find(anchor)
        while at >= 0:
            match = between.match(low, at + len(anchor))
            found = bounds(text, match.end()) if match else None
            if found:
                yield Span(*found, name)
            at = low.find(anchor, found[1] if found else at + len(anchor))
