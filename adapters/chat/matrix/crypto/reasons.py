"""What people are told of a message that cannot be read, and of what they can do about it. Pure."""

from __future__ import annotations

LOST = "lost"
"""No key came, and nobody said why."""
STRANGER = "stranger"
"""The key is there, but not whose device it is."""
UNSIGNED = "unsigned"
"""It is told of as theirs, and nothing of theirs vouches for it."""
CHANGED = "changed"
"""Another identity than the one that is known as theirs vouches for it."""
CLEAR = "clear"
_WORDS = {
    LOST: (
        "I could not read your message: the key for it never reached me. Please write it again. If that"
        " does not help, restart your client, or log in anew on that device."
    ),
    STRANGER: (
        "I could not take your message: I cannot find the device it was sent from among yours. Please"
        " write it again from a device you are logged in on."
    ),
    UNSIGNED: (
        "I could not take your message: you have verified devices, and the one it was sent from is not"
        " among them. Verify it in your client, or write again from one that is."
    ),
    CHANGED: (
        "I could not take your message: your Matrix identity is not the one I know you by. If you have"
        " reset it, tell whoever runs me: my log says how to let me know the new one. Until then write"
        " from a device that you had verified before."
    ),
    CLEAR: (
        "Your message was not encrypted, and this room is. Here I act on encrypted words only: please"
        " write it again from a client with encryption."
    ),
    "m.unverified": (
        "I could not read your message: your client gives keys to verified devices only, and mine is not"
        " verified for it. Whoever runs me can mend that (the log says how); or let your client encrypt to"
        " unverified devices, too, and write again."
    ),
    "m.blacklisted": (
        "I could not read your message: you have blocked my device. Allow it in your client, and write"
        " again."
    ),
    "m.unauthorised": (
        "I could not read your message: your client says that I may not read it, because I was not in the"
        " room when it was written. Please write it again."
    ),
    "m.no_olm": (
        "I could not read your message: your client could not reach my device to give me the key. Please"
        " write it again in a moment."
    ),
    "m.unavailable": "I could not read your message: your client has no key for it any more. Please write it again.",
}
NO_KEYS = (
    "This room is encrypted, and I cannot read encrypted messages at present; the log says why. Use a room"
    " without encryption until that is mended."
)
ONLY_WORDS = "In this room a reaction does not count for that: reactions are not encrypted, and could be forged."


def told(code: str) -> str:
    return _WORDS.get(code, _WORDS[LOST])


def known(code: str) -> str:
    """A code that has words of its own; others are told as a key that is lost."""
    return code if code in _WORDS else LOST
