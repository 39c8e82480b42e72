"""Whose token a request shows: as a bearer, or as the password of any user."""

from __future__ import annotations

import base64
import binascii

from tests.beds.github.accounts import Accounts, Token


def shown(header: str) -> str:
    """The token in an Authorization header; empty when there is none."""
    kind, _, rest = header.strip().partition(" ")
    if kind.lower() in ("bearer", "token"):
        return rest.strip()
    if kind.lower() == "basic":
        try:
            user, _, password = base64.b64decode(rest).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return ""
        return password or user
    return ""


def token_of(accounts: Accounts, header: str) -> Token | None:
    """The token that counts; none when it is unknown or expired."""
    found = accounts.tokens.get(shown(header))
    return None if found is None or found.expired else found
