"""git, by subprocess: the one way the bot reads repositories and works in worktrees. Its rule: nothing an agent wrote may run here."""

from adapters.git.repository import GitRepository
from adapters.git.worktrees import GitWorktrees

__all__ = ["GitRepository", "GitWorktrees"]
