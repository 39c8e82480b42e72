"""Everything outside that the bot may use, as protocols.

An adapter is any class with these methods; it raises PortErrors only. Every call that changes something is idempotent:
it first checks whether the effect is there already.
"""

from bot.ports.agents import Agents, Commands, Panes, Sandbox
from bot.ports.code import Forge, Repository, Worktrees
from bot.ports.people import Chat, Deliver, Llm, MayAsk, nobody_may_ask
from bot.ports.stores import (
    Archive,
    Audit,
    Bindings,
    Clock,
    IndexedSession,
    Logs,
    Preferences,
    Questions,
    Registry,
    ReplStates,
    Store,
)

__all__ = [
    "Agents",
    "Archive",
    "Audit",
    "Bindings",
    "Chat",
    "Clock",
    "Commands",
    "Deliver",
    "Forge",
    "IndexedSession",
    "Llm",
    "Logs",
    "MayAsk",
    "Panes",
    "Preferences",
    "Questions",
    "Registry",
    "ReplStates",
    "Repository",
    "Sandbox",
    "Store",
    "Worktrees",
    "nobody_may_ask",
]
