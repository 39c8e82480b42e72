"""What somebody's client makes for them, once: keys that vouch for their devices."""

from __future__ import annotations

import secrets

from adapters.matrix.client import Json
from adapters.matrix.crypto.identities import SEED_BYTES, SigningKey


class Identity:
    """Of a person, who has made it in a client, and signs devices with it."""

    def __init__(self, user: str) -> None:
        self.user = user
        self.master = SigningKey(secrets.token_bytes(SEED_BYTES))
        self._signing = SigningKey(secrets.token_bytes(SEED_BYTES))

    def signs(self, device: Json) -> Json:
        """As the homeserver tells of it."""
        return self._signing.signed(device, self.user)

    def keys(self, by: Identity | None = None) -> Json:
        """As the homeserver tells of it. `by`: whose master key is said to have signed it."""
        vouches = (by or self).master
        return {
            "master_keys": self._described(self.master, "master"),
            "self_signing_keys": vouches.signed(
                self._described(self._signing, "self_signing"), self.user
            ),
        }

    def _described(self, key: SigningKey, usage: str) -> Json:
        return {"user_id": self.user, "usage": [usage], "keys": {key.id: key.public}}
