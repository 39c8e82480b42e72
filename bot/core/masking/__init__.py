"""Masks secrets as [MASKED:…] before a text goes anywhere: chat, log, state, model, pull request.

Known values are replaced first, then what looks like a secret. Every detector reports its spans independently, and
overlapping spans become one mask; so a label cannot cut the beginning off a private key.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from bot.core.facts import EXACT
from bot.core.masking.known import MASK, KnownSecrets, Span
from bot.core.masking.labels import labelled_secrets
from bot.core.masking.places import secrets_in_commands, secrets_in_headers
from bot.core.masking.tokens import private_keys, tokens
from bot.core.text import clean

# The masker that everything leaving the bot passes through.

T = TypeVar("T")
_REMEMBERED = 8_000_000
"""Number of characters of texts without secrets that a masker remembers."""
_EACH = 100
"""Number of characters that a remembered text counts in addition to its own."""

_SECRET_KEY = re.compile(
    r"[A-Za-z0-9_.-]{0,48}?(?i:pass(?:word|wd|phrase)|pwd|secret|token|credentials?|(?:api|access|private|secret)[_.-]?key)"
)


class Masker:
    """Masks secrets. `known` maps a name to the secret's value; values of fewer than 8 characters are ignored."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = dict(known)
        self._secrets = KnownSecrets(self._known)
        self._scanned = TextMemory()
        self._scanned_personal = TextMemory()

    def with_known(self, more: Mapping[str, str]) -> Masker:
        return Masker({**self._known, **more})

    def mask(self, text: str) -> str:
        """Return the cleaned text with [MASKED:…] in place of secrets. Idempotent."""
        if text in self._scanned:
            return text
        masked = mask_patterns(self._secrets.mask(clean(text)))
        if masked == text:
            self._scanned.add(text)
        return masked

    def mask_personal(self, text: str) -> str:
        """Like `mask`, and also masks mail addresses and telephone numbers."""
        if text in self._scanned_personal:
            return text
        masked = mask_personal_data(self.mask(text))
        if masked == text:
            self._scanned_personal.add(text)
        return masked

    def mask_model(self, value: T, *, personal: bool = False, keep_exact: bool = False) -> T:
        """Return the same value with every string masked, at any depth, or the value itself if nothing is secret.

        `keep_exact`: fields marked EXACT stay unchanged.
        """
        walk = _ModelWalk(self.mask_personal if personal else self.mask, keep_exact)
        return cast(T, walk.masked(value))


@dataclass(frozen=True)
class _ModelWalk:
    """Masks each string in a value and rebuilds only what contains a changed one."""

    mask: Callable[[str], str]
    keep_exact: bool

    def masked(self, value: Any) -> Any:
        match value:
            case Enum():
                return value
            case str():
                masked = self.mask(value)
                return value if masked == value else type(value)(masked)
            case BaseModel():
                return self._fields(value)
            case dict():
                return self._dict(cast(dict[Any, Any], value))
            case list() | tuple() | set() | frozenset():
                return self._items(cast(list[Any], value))
            case _:
                return value

    def _fields(self, model: BaseModel) -> BaseModel:
        exact = _exact_fields(type(model)) if self.keep_exact else ()
        changed: dict[str, Any] = {}
        for name, value in model:
            if name not in exact and (masked := self.masked(value)) is not value:
                changed[name] = masked
        return model.model_copy(update=changed) if changed else model

    def _dict(self, items: dict[Any, Any]) -> dict[Any, Any]:
        masked = {self.masked(key): self._item(key, value) for key, value in items.items()}
        if len(masked) == len(items) and all(
            items.get(key, masked) is value for key, value in masked.items()
        ):
            return items
        changed = copy.copy(items)
        changed.clear()
        changed.update(masked)
        return changed

    def _item(self, key: object, value: object) -> object:
        """In a dict the key is the label of its value."""
        if isinstance(key, str) and isinstance(value, str) and _SECRET_KEY.fullmatch(key):
            labelled = mask_patterns(f'"{key}":"{value}"')
            if labelled != f'"{key}":"{value}"':
                return "[MASKED:JSON_CREDENTIAL]"
        return self.masked(value)

    def _items(self, items: list[Any]) -> Any:
        masked = [self.masked(item) for item in items]
        if all(a is b for a, b in zip(masked, items, strict=True)):
            return items
        make = getattr(
            items, "_make", type(items)
        )  # a named tuple is constructed differently from a tuple
        return make(masked)


@cache
def _exact_fields(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(n for n, field in model.model_fields.items() if EXACT in field.metadata)


class TextMemory:
    """Remembers texts in which nothing was found, so that they are not scanned again.

    The content of a session returns with each card, log and save: one demo masks 500 texts 6,000 times. A text that
    held a secret is never kept here.
    """

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._room = _REMEMBERED

    def __contains__(self, text: str) -> bool:
        return text in self._texts

    def add(self, text: str) -> None:
        self._room -= len(text) + _EACH
        if self._room < 0:
            self._texts, self._room = set(), _REMEMBERED - len(text)
        self._texts.add(text)


class LearningMasker(Masker):
    """A masker that can learn new secrets while in use. After that, all texts are scanned again."""

    def learn(self, more: Mapping[str, str]) -> None:
        if not more.items() <= self._known.items():
            self.__dict__.update(self.with_known(more).__dict__)


# What looks like a secret: tokens by their shape, values by the label before them or by the command they are part of.

_PASSES = 4
_LABEL_MASK_NAMES = (
    "SERVICE_TOKEN",
    "AUTH_HEADER",
    "SET_COOKIE",
    "COOKIE",
    "JSON_CREDENTIAL",
    "ENV_CREDENTIAL",
    "BEARER_TOKEN",
    "URL_PASSWORD",
    "GENERIC_SECRET",
)
"""Names of label-based masks, the most specific first. They yield to the names of shape-based masks."""
_RANK = {name: rank for rank, name in enumerate(_LABEL_MASK_NAMES, 1)}


def mask_patterns(text: str) -> str:
    """Mask what looks like a secret. The label before a value is kept."""
    # a mask may change how the words around it are read, so look again: masking must be idempotent
    for _ in range(_PASSES):
        masked = _mask_once(text)
        if masked == text:
            break
        text = masked
    return text


def _mask_once(text: str) -> str:
    # İ is the only letter that becomes two in lower case; every index after it would be off
    low = text.replace("\u0130", "i").lower()
    spans = [
        *private_keys(text),
        *tokens(text),
        *secrets_in_headers(text, low),
        *labelled_secrets(text, low),
        *secrets_in_commands(text),
    ]
    if not spans:
        return text
    parts: list[str] = []
    done = 0
    for span in _merged(text, spans):
        parts += [text[done : span.start], f"[MASKED:{span.name}]"]
        done = span.end
    return "".join([*parts, text[done:]])


def _merged(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, overlapping ones joined under the more specific name.

    An existing mask that is touched is replaced as a whole.
    """
    masks = [Span(*match.span(), "") for match in MASK.finditer(text)]
    merged: list[Span] = []
    for span in sorted([*spans, *masks]):
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            span = Span(last.start, max(last.end, span.end), _more_specific(last.name, span.name))
        merged.append(span)
    return [span for span in merged if span.name]


def _more_specific(one: str, other: str) -> str:
    if not one or not other:
        return one or other
    return min(one, other, key=lambda name: _RANK.get(name, 0))


# Mail addresses and telephone numbers: masked in what is stored, not in conversations.

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
    text = _replace_matches(text, "[MASKED:EMAIL]", _MAIL_ADDRESS, _mail_address)
    return _replace_matches(text, "[MASKED:PHONE]", _PHONE_NUMBER, _phone_number)


def _replace_matches(
    text: str,
    mask: str,
    adjacent: re.Pattern[str],
    following: Callable[[str, int], re.Match[str] | None],
) -> str:
    """Replace all matches with `mask`. `adjacent` matches one that directly follows another, without a separator."""
    parts: list[str] = []
    done = at = 0
    while match := (adjacent.match(text, at) if 0 < at == done else None) or following(text, at):
        at = match.end()
        if adjacent is _MAIL_ADDRESS or _is_phone(match[0]):
            parts += [text[done : match.start()], mask]
            done = at
    return "".join([*parts, text[done:]])


def _mail_address(text: str, at: int) -> re.Match[str] | None:
    # Searches for the @ first: it is rare, while almost any character may begin a name.
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
