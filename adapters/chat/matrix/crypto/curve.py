"""Signatures on JSON as Matrix wants them: one Ed25519 key, from its seed. Pure."""

from __future__ import annotations

import base64
import binascii
import json

from Crypto.PublicKey import ECC
from Crypto.Signature import eddsa

from adapters.chat.matrix.answers import Json

SEED = 32
"""Bytes."""
_UNSIGNED = frozenset(("signatures", "unsigned"))


class SigningKey:
    def __init__(self, seed: bytes) -> None:
        self._key = ECC.construct(curve="Ed25519", seed=seed)
        self.public = encoded(self._key.public_key().export_key(format="raw"))

    @property
    def id(self) -> str:
        return f"ed25519:{self.public}"

    def signed(self, value: Json, user_id: str) -> Json:
        """The same, with this signature besides those it has."""
        signature = encoded(eddsa.new(self._key, "rfc8032").sign(canonical(value)))
        return with_signature(value, user_id, self.id, signature)


def with_signature(value: Json, user_id: str, key_id: str, signature: str) -> Json:
    there: Json = value.get("signatures", {})
    of_user = {**there.get(user_id, {}), key_id: signature}
    return {**value, "signatures": {**there, user_id: of_user}}


def is_signed(value: Json, user_id: str, key_id: str, public: str) -> bool:
    """Whether a signature of that key is on it, and is right. Whatever the value holds."""
    try:
        signature = decoded(value["signatures"][user_id][key_id])
        key = eddsa.import_public_key(decoded(public))
        eddsa.new(key, "rfc8032").verify(canonical(value), signature)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def canonical(value: Json) -> bytes:
    """What is signed of it."""
    bare = {name: one for name, one in value.items() if name not in _UNSIGNED}
    return json.dumps(bare, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def signed_part(value: Json) -> Json:
    """With its signatures, without what anybody on its way can have added."""
    return {name: one for name, one in value.items() if name != "unsigned"}


def encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode().rstrip("=")


def decoded(text: str) -> bytes:
    """ValueError: it is none."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError("this is not base64") from error
