"""What a test allows an app, of all that must otherwise be true when it is over."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass
class Leeway:
    checked: bool = True
    """Whether anything is looked at; not where Slack itself is what is tested."""
    roots: set[str] = field(default_factory=set[str])
    """Where the app may write outside threads: channels, or single messages."""
    anywhere: bool = False
    """It may do so everywhere."""
    unacked: bool = False
    """Connections are cut or the app dies: envelopes may be left unacked, or acked late."""
    forgiven: set[str] = field(default_factory=set[str])
    """Refusals the test provokes."""

    def also(
        self, roots: Collection[str] | bool, forgiven: Collection[str], *, unacked: bool
    ) -> None:
        if isinstance(roots, bool):
            self.anywhere |= roots
        else:
            self.roots |= set(roots)
        self.forgiven |= set(forgiven)
        self.unacked |= unacked
