"""Files in encrypted rooms: the homeserver keeps what it cannot read, and its key travels in the message.

One that is not as its message says is refused.
"""

from __future__ import annotations

from nio.crypto import decrypt_attachment, encrypt_attachment
from nio.exceptions import EncryptionError

from adapters.chat.matrix.answers import Json
from bot.errors import Refused

_AGAIN = "Send it again."


def closed(data: bytes) -> tuple[bytes, Json]:
    """What is uploaded, and what the message says of it; the address is still to be added, as `url`."""
    cipher, keys = encrypt_attachment(data)
    return cipher, keys


def opened(cipher: bytes, file: object) -> bytes:
    """`file` is that of the message. Refused: this is not the file it speaks of."""
    told = file if isinstance(file, dict) else {}
    try:
        key, digest = str(told["key"]["k"]), str(told["hashes"]["sha256"])
        return decrypt_attachment(cipher, key, digest, str(told["iv"]))
    except (EncryptionError, ValueError, KeyError, TypeError) as error:
        raise Refused("A file that was sent cannot be opened: it is not whole.", _AGAIN) from error
