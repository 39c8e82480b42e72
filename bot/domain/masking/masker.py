"""Everything that leaves the bot goes through a Masker first: known values, then what looks like a secret."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from bot.domain.masking.clean import clean
from bot.domain.masking.known import KnownSecrets
from bot.domain.masking.patterns import mask_patterns
from bot.domain.masking.personal import mask_personal_data

T = TypeVar("T")

_SECRET_KEY = re.compile(
    r"[A-Za-z0-9_.-]{0,48}?(?i:pass(?:word|wd|phrase)|pwd|secret|token|credentials?|(?:api|access|private|secret)[_.-]?key)"
)


class Masker:
    """Masks secrets. `known` maps a name to the secret's value; values of fewer than 8 characters are ignored."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = dict(known)
        self._secrets = KnownSecrets(self._known)

    def with_known(self, more: Mapping[str, str]) -> Masker:
        return Masker({**self._known, **more})

    def mask(self, text: str) -> str:
        """The cleaned text with [MASKED:…] in place of secrets. Masking twice changes nothing more."""
        return mask_patterns(self._secrets.mask(clean(text)))

    def mask_personal(self, text: str) -> str:
        """As `mask`, and mail addresses and telephone numbers too."""
        return mask_personal_data(self.mask(text))

    def mask_model(self, value: T, *, personal: bool = False) -> T:
        """The same value with every string in it masked, however deep; itself where nothing is secret."""
        return cast(T, self._masked(value, personal))

    def _masked(self, value: Any, personal: bool) -> Any:
        match value:
            case Enum():
                return value
            case str():
                masked = self.mask_personal(value) if personal else self.mask(value)
                return value if masked == value else type(value)(masked)
            case BaseModel():
                return self._masked_fields(value, personal)
            case dict():
                return self._masked_dict(cast(dict[Any, Any], value), personal)
            case list() | tuple() | set() | frozenset():
                return self._masked_items(cast(list[Any], value), personal)
            case _:
                return value

    def _masked_fields(self, model: BaseModel, personal: bool) -> BaseModel:
        masked = {name: self._masked(value, personal) for name, value in model}
        changed = {
            name: value for name, value in masked.items() if value is not getattr(model, name)
        }
        return model.model_copy(update=changed) if changed else model

    def _masked_dict(self, items: dict[Any, Any], personal: bool) -> dict[Any, Any]:
        masked = {
            self._masked(key, personal): self._masked_item(key, value, personal)
            for key, value in items.items()
        }
        if len(masked) == len(items) and all(
            items.get(key, masked) is value for key, value in masked.items()
        ):
            return items
        changed = copy.copy(items)
        changed.clear()
        changed.update(masked)
        return changed

    def _masked_item(self, key: object, value: object, personal: bool) -> object:
        """In a dict the key is the label of its value."""
        if isinstance(key, str) and isinstance(value, str) and _SECRET_KEY.fullmatch(key):
            labelled = mask_patterns(f'"{key}":"{value}"')
            if labelled != f'"{key}":"{value}"':
                return "[MASKED:JSON_CREDENTIAL]"
        return self._masked(value, personal)

    def _masked_items(self, items: list[Any], personal: bool) -> Any:
        masked = [self._masked(item, personal) for item in items]
        if all(a is b for a, b in zip(masked, items, strict=True)):
            return items
        make = getattr(items, "_make", type(items))  # a named tuple is not made like a tuple
        return make(masked)
