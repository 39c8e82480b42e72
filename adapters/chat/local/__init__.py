"""The way in for whoever sits at this machine: the console's chat, and the local socket that leads to it."""

from adapters.chat.local.chat import LocalChat, Seat
from adapters.chat.local.door import Behind, open_door
from adapters.chat.local.joined import Joined, joined
from adapters.chat.local.wire import VERSION, Welcome

__all__ = [
    "VERSION",
    "Behind",
    "Joined",
    "LocalChat",
    "Seat",
    "Welcome",
    "joined",
    "open_door",
]
