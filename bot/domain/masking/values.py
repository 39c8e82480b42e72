"""Where the value behind a label ends, and whether it is a secret at all or a placeholder, code or prose."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping

Bounds = tuple[int, int]

_HEAD = 80
"""Whether it is a secret is judged by its beginning, so that a refusal is cheap however long the value is."""
_LONGEST = 1_000_000

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
_UNQUOTED = re.compile(r"""(?:[^\s"'`,;&<>(){}\[\]|\\]|&(?![\w.-]{1,40}=)){1,1000000}+""")
_ENV = re.compile(r"""(?:[^\s"'`;&<>|\\]|&(?![\w.-]{1,40}=)){1,1000000}+""")
_QUOTED = {quote: re.compile(rf"(?:[^{quote}\\\r\n]|\\[^\r\n]){{1,1000000}}+") for quote in "\"'`"}

_PLACEHOLDER = re.compile(
    r"""\[MASKED: .* | [<$%{*.#~] .* | \(.* | (?: x{3,} | X{3,} ) .* | .* (?: \*{3} | \.{3} | … ) .*
    | (?i: none | nil | null | true | false | yes | no | undefined | string | str | text | number | integer | int
      | boolean | bool | bytes | object | array | optional | required | any | empty | redacted | masked | hidden
      | example | sample | test | dummy | fake | mock | placeholder | changeme | change[_-]me | todo | tbd | default
      | bearer | basic | (?:your|my|the|some|a|an|new|old|test|dummy|fake|example)[_ -][a-z_ -]{1,40}
      | (?:md5|sha-?[0-9]{1,3}|bcrypt|scrypt|argon2[a-z]{0,2}|base64|utf-?8|x509|oauth2?|ed25519|es256|hs256|rs256|rsa-?[0-9]{0,4}) )""",
    re.VERBOSE,
)
_CODE = re.compile(
    r"""(?: os\.|sys\.|process\.|self\.|this\.|cls\.|env\.|config\.|settings\.|secrets\.|request\.|lambda\b|await\b
          | [A-Za-z_][A-Za-z0-9_]{0,19} (?: (?:\.|->|::) [A-Za-z_][A-Za-z0-9_]{0,19} ){1,6} $ ) .*""",
    re.VERBOSE,
)
_LOCATION = re.compile(r"(?:[a-z][a-z0-9+.-]{1,20}://|\.{0,2}/|[A-Z]:\\).*", re.IGNORECASE)
_LABEL_WORD = re.compile(r"(?i:pass(?:word|wd|phrase)|secret|token|credential|key|pwd)")
_PASSWORD = re.compile(r"pass|pwd")
_SIGNED = re.compile(r"\w[!@#$%^*+?~]")
_BARE_KEY = re.compile(
    r"(?<![a-z])(?<!(?:api|aes)[_.-])(?<!secret[_.-])(?<!access[_.-])(?<!private[_.-])key\W*$"
)
_TOKEN = re.compile(r"(?=(?:[^0-9]*[0-9]){4})[A-Za-z0-9+/=_-]{24,80}")
_OPENING = re.compile(r"""\\{0,3}["'`]$""")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _placeholder(value: str) -> bool:
    head = value[:_HEAD]
    if _PLACEHOLDER.fullmatch(head):
        return True
    words = not any(sign.isdigit() for sign in head) and re.fullmatch(r"[\w \-.:]+", head)
    return bool(words and _LABEL_WORD.search(head))


def _entropy(value: str) -> float:
    """Bits per character."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


def _mixed(value: str) -> bool:
    return any(sign.isdigit() for sign in value) and any(sign.isalpha() for sign in value)


def _header(text: str, label: re.Match[str]) -> Bounds | None:
    head = _CREDENTIALS.match(text, label.end(), label.end() + _HEAD)
    if head is None or (head["value"] and _placeholder(head["value"])):
        return None
    if head["bare"] and (_placeholder(head["bare"]) or not _mixed(head["bare"])):
        return None
    whole = _CREDENTIALS.match(text, label.end())
    return whole.span() if whole else None


def _cookie(text: str, label: re.Match[str]) -> Bounds | None:
    head = _COOKIES.match(text, label.end(), label.end() + _HEAD)
    if head is None or _placeholder(head[0]):
        return None
    whole = _COOKIES.match(text, label.end())
    return whole.span() if whole else None


def _bearer(text: str, label: re.Match[str]) -> Bounds | None:
    match = _BEARER.match(text, label.end())
    if match is None or _placeholder(match[0]):
        return None
    return match.span() if len(match[0]) >= 20 or re.search("[0-9]", match[0]) else None


def _userinfo(text: str, label: re.Match[str]) -> Bounds | None:
    match = _USERINFO.match(text, label.end())
    if match is None:
        return None
    user = _USER.match(match[0])
    start = match.start() + (user.end() if user else 0)
    password = text[start : match.end()]
    if user is None and (len(password) < 20 or not _mixed(password)):
        return None
    return None if not password or _placeholder(password) else (start, match.end())


def _json(text: str, label: re.Match[str]) -> Bounds | None:
    return None if _placeholder(_read(text, label, _ENV, _HEAD)) else _whole(text, label, _ENV)


def _env(text: str, label: re.Match[str]) -> Bounds | None:
    head = _read(text, label, _ENV, _HEAD)
    if len(head) < 2 or _placeholder(head) or _LOCATION.fullmatch(head):
        return None
    bare = _opening(label) == ""
    if bare and (_CODE.fullmatch(head) or (head.isdigit() and len(head) < 4)):
        return None
    return _whole(text, label, _ENV)


def _generic(text: str, label: re.Match[str]) -> Bounds | None:
    head = _read(text, label, _UNQUOTED, _HEAD)
    if len(head) < 4 or _placeholder(head) or _LOCATION.fullmatch(head):
        return None
    bare = _opening(label) == ""
    called = text[label.end() + len(head) :][:1] in {"(", "[", "{"}
    if bare and (called or _CODE.fullmatch(head)):
        return None
    return (
        _whole(text, label, _UNQUOTED) if _likely(label[0].lower(), head, quoted=not bare) else None
    )


def _likely(label: str, value: str, *, quoted: bool) -> bool:
    """The weaker the label, the more the value must look like a secret."""
    if " " in value:
        return False
    if _PASSWORD.search(label):
        return quoted or value.isdigit() or _mixed(value) or bool(_SIGNED.search(value))
    if _BARE_KEY.search(label):
        token = _TOKEN.fullmatch(value) and not _UUID.fullmatch(value)
        return bool(token) and _mixed(value) and _entropy(value) >= 3.2
    return len(value) >= 8 and _mixed(value) and _entropy(value) >= 2.5


def _opening(label: re.Match[str]) -> str:
    """The quotation mark the label ends with, with its backslashes."""
    found = _OPENING.search(label[0])
    return found[0] if found else ""


def _read(text: str, label: re.Match[str], unquoted: re.Pattern[str], limit: int) -> str:
    """The value up to the end of its quotation, its line or its word, at most `limit` characters of it."""
    start, stop, opening = label.end(), label.end() + limit, _opening(label)
    if len(opening) > 1:
        ends = (text.find(opening, start, stop), text.find("\n", start, stop))
        return text[start : min((end for end in ends if end >= 0), default=stop)]
    match = _QUOTED.get(opening, unquoted).match(text, start, stop)
    return match[0] if match else ""


def _whole(text: str, label: re.Match[str], unquoted: re.Pattern[str]) -> Bounds | None:
    value = _read(text, label, unquoted, _LONGEST)
    return (label.end(), label.end() + len(value)) if value else None


VALUES: Mapping[str, Callable[[str, re.Match[str]], Bounds | None]] = {
    "AUTH_HEADER": _header,
    "SET_COOKIE": _cookie,
    "COOKIE": _cookie,
    "JSON_CREDENTIAL": _json,
    "ENV_CREDENTIAL": _env,
    "BEARER_TOKEN": _bearer,
    "URL_PASSWORD": _userinfo,
    "GENERIC_SECRET": _generic,
}
