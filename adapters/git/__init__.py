"""git, run as a subprocess: the only way the bot reads repositories and works in worktrees.

Nothing an agent wrote may be executed here.
"""

from adapters.git.repository import GitRepository
from adapters.git.worktrees import GitWorktrees

__all__ = ["GitRepository", "GitWorktrees"]
