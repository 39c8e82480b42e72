"""What a button of branch mode was shown for: it does what people saw, or nothing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    """Travels with the button, so that no memory is needed to take a press. No name of a branch holds a colon."""

    asked: str
    """Names the card."""
    where: str
    """Names the repository."""
    commit: str
    lost: int
    base: str
    name: str

    @property
    def card(self) -> str:
        return f"branch:{self.asked}"

    def told(self) -> str:
        parts = (self.asked, self.where, self.commit, str(self.lost), self.base, self.name)
        return ":".join(parts)

    @classmethod
    def read(cls, text: str) -> About | None:
        """None: no button of ours says this."""
        parts = text.split(":")
        if len(parts) != 6 or not parts[3].isdigit():
            return None
        asked, where, commit, lost, base, name = parts
        return cls(asked, where, commit, int(lost), base, name)


def mark_of(text: str) -> str:
    """A short name for something, the same every time."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]
