"""Chat in a terminal or a pipe: the smallest chat adapter, and the one to copy for a new platform."""

from adapters.chat.console.auto import AutoLines
from adapters.chat.console.chat import ConsoleChat
from adapters.chat.console.drawing import drawn
from adapters.chat.console.lines import Lines
from adapters.chat.console.manner import Manner
from adapters.chat.console.open_cards import ends_thread
from adapters.chat.console.screen import Screen
from adapters.chat.console.typed import agrees

__all__ = [
    "AutoLines",
    "ConsoleChat",
    "Lines",
    "Manner",
    "Screen",
    "agrees",
    "drawn",
    "ends_thread",
]
