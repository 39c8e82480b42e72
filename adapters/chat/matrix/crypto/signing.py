"""Cross-signing: the account vouches for the bot's device, so that people's clients give it their keys.

The seeds are on disk before the homeserver learns of the keys: after a crash they are the same again. Keys that somebody
else has made are never replaced; who lost all of them, and knows the password, makes new ones.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from adapters.chat.matrix.answers import Json
from adapters.chat.matrix.crypto.curve import (
    SEED,
    SigningKey,
    canonical,
    decoded,
    encoded,
    is_signed,
    with_signature,
)
from adapters.chat.matrix.crypto.machine import Machine
from adapters.chat.matrix.private import read_json, write_json
from bot.errors import Refused

log = logging.getLogger(__name__)

_NAMES = ("master", "self_signing", "user_signing")
_FOREIGN = "The bot's Matrix account has cross-signing keys that I did not make, and they have not signed my device."


@dataclass(frozen=True)
class Keys:
    master: SigningKey
    self_signing: SigningKey
    user_signing: SigningKey
    replaces: str
    """The public part of the lost one whose place they take. Empty: there was none."""


@dataclass(frozen=True)
class Published:
    """What the homeserver tells of the account."""

    master: str
    """The public part; empty: there is none."""
    self_signing: str
    device: Json


@dataclass(frozen=True)
class _Seeds:
    """As they are kept. A file that lacks one is put aside, never written over."""

    user_id: str
    master: str = field(repr=False)
    self_signing: str = field(repr=False)
    user_signing: str = field(repr=False)
    replaces: str = ""


class Signing:
    """One account, one device. `seeds` is where the secret part is kept."""

    def __init__(self, machine: Machine, seeds: Path, password: str) -> None:
        self._machine, self._seeds, self._password = machine, seeds, password
        self._me = machine.olm.user_id

    async def sign(self, *, all_is_lost: bool = False) -> None:
        """See to it that the device is signed; does nothing where it is. Refused: it cannot be, with what to do.

        `all_is_lost`: the bot has been here before, and everything it kept is gone.
        """
        there, keys = await self._published(), self._kept()
        if keys is None and not there.master:
            keys = self._made()
        elif keys is None and all_is_lost and self._password:
            log.warning("cross-signing keys are lost: new ones are made, and people will see that")
            keys = self._made(there.master)
        if keys is None or there.master not in ("", keys.replaces, keys.master.public):
            if not self._is_signed(there):
                raise Refused(_FOREIGN, self._remedy())
            return  # by hand, with the keys of a person
        if (there.master, there.self_signing) != (keys.master.public, keys.self_signing.public):
            await self._publish(keys)
        if not self._is_signed_by(there, keys.self_signing.public):
            await self._sign_device(keys)

    async def _published(self) -> Published:
        olm = self._machine.olm
        body: Json = {"device_keys": {self._me: [olm.device_id]}}
        told = await self._machine.wire.call("Asking for my own keys", "POST", "keys/query", body)
        return Published(
            _public(told, "master_keys", self._me),
            _public(told, "self_signing_keys", self._me),
            told.get("device_keys", {}).get(self._me, {}).get(olm.device_id, {}),
        )

    def _is_signed(self, there: Published) -> bool:
        return bool(there.self_signing) and self._is_signed_by(there, there.self_signing)

    def _is_signed_by(self, there: Published, public: str) -> bool:
        return is_signed({**there.device, **self._device()}, self._me, f"ed25519:{public}", public)

    def _device(self) -> Json:
        """From what is kept here, never from what the homeserver says it is."""
        olm = self._machine.olm
        keys = olm.account.identity_keys
        return {
            "algorithms": olm._algorithms,  # as nio has uploaded it
            "device_id": olm.device_id,
            "keys": {
                f"curve25519:{olm.device_id}": keys["curve25519"],
                f"ed25519:{olm.device_id}": keys["ed25519"],
            },
            "user_id": self._me,
        }

    def _kept(self) -> Keys | None:
        told = read_json(self._seeds, _Seeds)
        if told is None or told.user_id != self._me:
            return None
        keys = (SigningKey(decoded(getattr(told, name))) for name in _NAMES)
        return Keys(*keys, replaces=told.replaces)

    def _made(self, replaces: str = "") -> Keys:
        seeds = [secrets.token_bytes(SEED) for _ in _NAMES]
        kept = dict(zip(_NAMES, map(encoded, seeds), strict=True))
        write_json(self._seeds, {"user_id": self._me, "replaces": replaces, **kept})
        return Keys(*map(SigningKey, seeds), replaces=replaces)

    async def _publish(self, keys: Keys) -> None:
        """The device vouches for the keys, too, as other clients have theirs do."""
        olm = self._machine.olm
        master = self._described(keys.master, "master")
        signature = olm.account.sign(canonical(master).decode())
        body: Json = {
            "master_key": with_signature(master, self._me, f"ed25519:{olm.device_id}", signature),
            "self_signing_key": keys.master.signed(
                self._described(keys.self_signing, "self_signing"), self._me
            ),
            "user_signing_key": keys.master.signed(
                self._described(keys.user_signing, "user_signing"), self._me
            ),
        }
        await self._machine.wire.confirmed(
            "Making cross-signing keys", "POST", "keys/device_signing/upload", body, self._password
        )
        log.info("cross-signing keys are made", extra={"data": {"user": self._me}})

    def _described(self, key: SigningKey, usage: str) -> Json:
        return {"user_id": self._me, "usage": [usage], "keys": {key.id: key.public}}

    async def _sign_device(self, keys: Keys) -> None:
        olm = self._machine.olm
        signed = keys.self_signing.signed(self._device(), self._me)
        body: Json = {self._me: {olm.device_id: signed}}
        told = await self._machine.wire.call(
            "Signing my device", "POST", "keys/signatures/upload", body
        )
        if told.get("failures"):
            raise Refused("The homeserver did not take the signature of my device.")
        log.info("the device is signed", extra={"data": {"device": olm.device_id}})

    def _remedy(self) -> str:
        olm = self._machine.olm
        return (
            f"Either put the file with the bot's own seeds back ({self._seeds}), or verify this session by"
            f" text in the client where the keys were made: session {olm.device_id}, key"
            f" {olm.account.identity_keys['ed25519']}. Until then clients that give keys to verified devices"
            " only do not let the bot read along."
        )


def _public(told: Json, kind: str, user: str) -> str:
    keys = told.get(kind, {}).get(user, {}).get("keys", {})
    return next((str(one) for one in keys.values()), "")
