"""Branch mode: the branches of a repository, looked at, merged and deleted from a chat. No session is needed, no tmux and no model."""

from bot.engine.branch_mode.mode import BranchMode

__all__ = ["BranchMode"]
