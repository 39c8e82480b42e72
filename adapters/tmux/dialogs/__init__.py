"""What a screen asks: pure functions from its text to a question with answers. Nothing here touches tmux."""

from adapters.tmux.dialogs.reading import Shown, read, unseen

__all__ = ["Shown", "read", "unseen"]
