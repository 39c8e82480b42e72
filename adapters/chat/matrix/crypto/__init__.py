"""Encrypted rooms: the keys of the bot's device, what is sealed with them on the way out and opened on the way in."""

from adapters.chat.matrix.crypto.begin import enter, forget, leave
from adapters.chat.matrix.crypto.entered import Entered
from adapters.chat.matrix.crypto.ways import Ways, ways

__all__ = ["Entered", "Ways", "enter", "forget", "leave", "ways"]
