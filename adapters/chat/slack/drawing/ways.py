"""What a card can be drawn with: where links lead, and which of the newer blocks may be used. Each of those has a plainer form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from adapters.chat.slack.drawing.site import Site


class Kind(StrEnum):
    """Blocks that not every workspace takes, by Slack's own names."""

    PLAN = "plan"
    ALERT = "alert"
    TABLE = "table"
    MARKDOWN = "markdown"
    FEEDBACK = "context_actions"


EVERY_KIND = frozenset(Kind)


@dataclass(frozen=True)
class Ways:
    site: Site | None = None
    """Where links lead."""
    kinds: frozenset[Kind] = frozenset()
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a cell or a line says → where it leads."""

    def without(self, kind: Kind) -> Ways:
        return replace(self, kinds=self.kinds - {kind})
