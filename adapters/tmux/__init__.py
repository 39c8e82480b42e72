"""Agents in tmux panes: a tmux server of the bot's own, one session per run, named after the run."""

from adapters.tmux.panes import TmuxPanes

__all__ = ["TmuxPanes"]
