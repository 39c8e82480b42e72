"""Finds the end of a value, and judges whether it is a secret or a placeholder, code or prose."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import NamedTuple

HEAD = 80
"""A value is judged by this many characters, so that rejecting a long one is cheap."""
_LONGEST = 1_000_000


class Value(NamedTuple):
    start: int
    end: int
    quote: str
    """The quotation mark before it, with backslashes; empty if it is unquoted."""
    head: str
    """Its first characters."""


_OPENING = re.compile(
    r"""[ \t]{0,4}
        (?: !{1,2}[\w.]{1,20}[ \t]+ | &\w{1,40}[ \t]+                          # tags and anchors of YAML
          | [\w.]{0,30}Secret(?:Str|Bytes|String)\([ ]? | base64: | django-insecure-
          | <!\[CDATA\[ | [A-Z][a-z]{2,8}[ ](?=\\{0,3}["']) )?
        (?P<prefix> [rbfuRBFUN@$]{1,2}(?=["'`]) )?
        (?P<quote> \\{0,7}(?:"{3}|'{3}|["'`]) | &quot; | %22 | [“‘„«「『] | \{(?=[^{\s%]) )?""",
    re.VERBOSE,
)
_SEVERAL_LINES = {'"' * 3, "'" * 3}
_CLOSING = {"“": "”", "‘": "’", "„": "“", "«": "»", "「": "」", "『": "』", "{": "}"}
_BARE = re.compile(r"""(?:[^\s"'`,;&<>(){}\[\]|\\“”’」]|&(?![\w.-]{1,40}=)){1,1000000}+""")
_ENV = re.compile(r"""(?:[^\s"'`;&<>|\\]|&(?![\w.-]{1,40}=)){1,1000000}+""")
_QUOTED = {quote: re.compile(rf"(?:[^{quote}\\\r\n]|\\[^\r\n]){{1,1000000}}+") for quote in "\"'`"}

_PLACEHOLDER = re.compile(
    r"""\[MASKED: .* | [<$%{*.\#~] .* | \(.* | (?: x{3,} | X{3,} ) .* | .* (?: \*{3} | \.{3} | … ) .* | .*\{[\w.!:]*\}.*
    | (?i: none | nil | null | true | false | yes | no | undefined | string | str | text | number | integer | int
      | pass | pwd | pw | user | username | boolean | bool | bytes | object | array | optional | required | any | empty | \[?redacted\]? | \[?masked\]? | hidden
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
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.:]*")
_LOCATION = re.compile(r"(?:[a-z][a-z0-9+.-]{1,20}://|\.{0,2}/|~/|[A-Z]:\\).*", re.IGNORECASE)
_LABEL_WORD = re.compile(r"(?i:pass(?:word|wd|phrase)|secret|token|credential|key|pwd)")
_SIGNED = re.compile(r"\w[!@#$%^*+?~]")
_HYPHENED = re.compile(r"[a-z]{3,12}(?:[-_.][a-z]{3,12}){3,11}")
_NO_PASSPHRASE = re.compile(
    r"\b(?:an?|and|are|as|at|be|been|by|can|cannot|could|does|for|from|has|have|if|in|into|is|it|its|may|must|not|of|on|or|should"
    r"|so|than|that|the|their|then|there|these|they|this|to|too|was|we|were|when|which|will|with|would|you|your|no|new|enter|please"
    r"|password|token|secret|key|use|used|name|value|string|invalid|valid|wrong|default|user|file|set|get|function|return)\b"
)
_WORDS = re.compile(r"[a-z]{3,12}(?: [a-z]{3,12}){2,23}")
_TOKEN = re.compile(r"[A-Za-z0-9+/=_-]{24,80}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NUMBERED = re.compile(r"v?[0-9]+(?:[._-][0-9a-z]+)+|[0-9.,:/-]+[a-zA-Z%]{0,3}")
_JOINT = re.compile(
    r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])|[a-z](?=[A-Z](?![a-z]))|[!@#$%^*+?~=](?=\w)"
)


def read(text: str, at: int, *, env: bool = False) -> Value | None:
    """Return the value that begins there, up to the end of its quotation, line or word."""
    opening = _OPENING.match(text, at)
    quote, start = (opening["quote"] or "", opening.end()) if opening else ("", at)
    end = _end(text, start, quote, env, start + HEAD)
    return Value(start, end, quote, text[start:end]) if end > start else None


def extended_to_end(text: str, value: Value, *, env: bool = False) -> Value:
    """Return the value extended to its end.

    Call it only after the head was judged to be a secret: long values are expensive to read.
    """
    end = _end(text, value.start, value.quote, env, value.start + _LONGEST)
    return value._replace(end=max(end, value.end))


def _end(text: str, start: int, quote: str, env: bool, stop: int) -> int:
    if quote in _QUOTED or not quote:
        match = _QUOTED.get(quote, _ENV if env else _BARE).match(text, start, stop)
        return match.end() if match else start
    closing = _CLOSING.get(quote, quote)
    found = text.find(closing, start, stop)
    if found >= 0 and quote in _SEVERAL_LINES:
        return found
    line = text.find("\n", start, stop)
    return min((end for end in (found, line) if end >= 0), default=min(stop, len(text)))


def is_placeholder(value: str) -> bool:
    head = value[:HEAD]
    if _PLACEHOLDER.fullmatch(head):
        return True
    words = not any(sign.isdigit() for sign in head) and re.fullmatch(r"[\w \-.:]+", head)
    return bool(words and _LABEL_WORD.search(head))


def looks_like_code(value: str) -> bool:
    if _LABEL_WORD.search(value) and _IDENTIFIER.fullmatch(value):
        return True
    return bool(_CODE.fullmatch(value)) and len(_JOINT.findall(value)) < 2


def is_location(value: str) -> bool:
    return bool(_LOCATION.fullmatch(value))


def entropy(value: str) -> float:
    """Return the entropy in bits per character."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


def mixed(value: str) -> bool:
    return any(sign.isdigit() for sign in value) and any(sign.isalpha() for sign in value)


def looks_like_passphrase(value: str) -> bool:
    """Whether it is several plain words that form no sentence."""
    plain = _HYPHENED.fullmatch(value) or _WORDS.fullmatch(value)
    return bool(plain) and not _NO_PASSPHRASE.search(re.sub("[-_.]", " ", value))


def looks_like_password(value: str) -> bool:
    """Whether an unquoted value after a word for "password" may be one."""
    return (
        value.isdigit()
        or mixed(value)
        or bool(_SIGNED.search(value))
        or looks_like_passphrase(value)
    )


def looks_like_secret(value: str) -> bool:
    return len(value) >= 8 and (
        (mixed(value) and entropy(value) >= 2.5) or looks_like_passphrase(value)
    )


def passphrase_end(text: str, at: int) -> int:
    """Return the end of a passphrase of several words that fills the rest of the line; `at` if there is none."""
    words = _WORDS.match(text, at, at + 400)
    if words is None or (
        not text.startswith(("\n", "\r"), words.end()) and words.end() < len(text)
    ):
        return at
    return words.end() if looks_like_passphrase(words[0]) else at


def looks_like_token(value: str) -> bool:
    """Whether it is a token, if the label is as weak as `key`."""
    return (
        bool(_TOKEN.fullmatch(value))
        and not _UUID.fullmatch(value)
        and mixed(value)
        and (sum(sign.isdigit() for sign in value) >= 4 or looks_random(value))
        and entropy(value) >= 3.2
    )


def looks_random(value: str) -> bool:
    """Whether letters, digits and punctuation are mixed as in no name, version, date or path."""
    if len(value) < 8 or _NUMBERED.fullmatch(value) or is_location(value):
        return False
    joints = len(_JOINT.findall(value))
    return mixed(value) and joints >= 3 and entropy(value) >= 2.5
