"""How a change of the corpus is written down: passages that are replaced, files that are made, moved and removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.core.tampering.shop import FILES


@dataclass(frozen=True)
class Altered:
    """What somebody does to the shop."""

    says: str
    edits: tuple[tuple[str, str, str], ...] = ()
    """Path, a passage that stands there once, and what stands there instead."""
    files: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """Whole files; None: it is removed."""

    def __str__(self) -> str:
        return self.says

    @property
    def after(self) -> dict[str, str]:
        made = dict(FILES)
        for path, old, new in self.edits:
            assert made[path].count(old) == 1, f"{self.says}: {old!r} stands not once in {path}"
            made[path] = made[path].replace(old, new)
        for path, text in self.files.items():
            if text is None:
                del made[path]
            else:
                made[path] = text
        return made
