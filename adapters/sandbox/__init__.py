"""The sandbox port on bubblewrap: programs other than the bot's own see a worktree, a separate home, and little else."""

from adapters.sandbox.bubblewrap import Bubblewrap

__all__ = ["Bubblewrap"]
