"""The Sandbox port on bubblewrap: programs that are not the bot's own see a worktree, a home of its own, and little else."""

from adapters.sandbox.bubblewrap import Bubblewrap

__all__ = ["Bubblewrap"]
