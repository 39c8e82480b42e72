"""Chat on Matrix: rooms in which people talk to the bot, in threads."""

from adapters.chat.matrix.account import MatrixAccess, tried
from adapters.chat.matrix.chat import MatrixChat

__all__ = ["MatrixAccess", "MatrixChat", "tried"]
