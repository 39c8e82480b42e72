"""Whose devices they are: the identity that somebody has shown first is theirs, and only devices it vouches for are.

The homeserver says which devices somebody has, and could make one up; it cannot sign it. Whoever has never shown an
identity is believed to have the devices that are told of.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator
from pathlib import Path

from adapters.chat.matrix.answers import Json
from adapters.chat.matrix.batch import object_at
from adapters.chat.matrix.crypto.curve import is_signed
from adapters.chat.matrix.crypto.devices import is_key
from adapters.chat.matrix.crypto.reasons import CHANGED, UNSIGNED
from adapters.chat.matrix.private import append, appended

log = logging.getLogger(__name__)

FILE = "identities.jsonl"


class Owners:
    """One line a person. A line that was torn is passed over; who takes one out lets that person show another identity."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = dict(_read(path))
        self._problems: dict[str, str] = {}

    def knows(self, user: str) -> bool:
        """Whether that person has ever shown an identity."""
        return user in self._known

    def problem(self, user: str) -> str:
        """Why devices of theirs are not believed to be, as far as it was told of; empty: all are."""
        return self._problems.get(user, "")

    def vouched(self, user: str, devices: Json, told: Json) -> Collection[str]:
        """Names of the devices that are theirs. `told`: all that was answered. On disk before anybody is believed."""
        shown = _key_in(told, "master_keys", user, "master")
        known = self._identity(user, shown)
        if not known:
            return devices.keys()
        if shown != known:
            self._note(user, CHANGED)
            return ()
        signing = _key_in(told, "self_signing_keys", user, "self_signing", signed_by=known)
        name = f"ed25519:{signing}"
        theirs = {id for id, one in devices.items() if is_signed(one, user, name, signing)}
        self._note(user, UNSIGNED if len(theirs) < len(devices) else "")
        return theirs

    def _identity(self, user: str, shown: str) -> str:
        """The one that counts: the first that was shown."""
        known = self._known.get(user, "")
        if known and shown != known:
            # whoever runs the bot may have let it go
            self._known = dict(_read(self._path))
            known = self._known.get(user, "")
        if shown and not known:
            append(self._path, json.dumps([user, shown]))
            self._known[user] = known = shown
        return known

    def _note(self, user: str, problem: str) -> None:
        if problem == CHANGED and self._problems.get(user) != CHANGED:
            remedy = f"If they have reset it, take the line with their name out of {self._path}; if not, ask your homeserver's people."
            log.warning(
                "somebody's identity has changed", extra={"data": {"user": user, "remedy": remedy}}
            )
        self._problems[user] = problem


def _key_in(told: Json, kind: str, user: str, usage: str, signed_by: str = "") -> str:
    """Public part of such a key of theirs. Empty: none is told of, or it is not what it should be."""
    one = object_at(object_at(told, kind), user)
    usages, keys = one.get("usage"), one.get("keys")
    if one.get("user_id") != user or not isinstance(usages, list) or usage not in usages:
        return ""
    if not isinstance(keys, dict) or len(keys) != 1:
        return ""
    [(name, key)] = keys.items()
    if not is_key(key) or name != f"ed25519:{key}":
        return ""
    if signed_by and not is_signed(one, user, f"ed25519:{signed_by}", signed_by):
        return ""
    return key


def _read(path: Path) -> Iterator[tuple[str, str]]:
    for line in appended(path):
        match line:
            case [str(user), str(key)] if is_key(key):
                yield user, key
            case _:
                pass
