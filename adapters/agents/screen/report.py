"""What is known of a run so far, in a file of its folder: written anew at every news, so that it survives any kill."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

LONGEST = 4_000
"""Characters of a text."""


@dataclass
class Report:
    conversation: str = ""
    """The id under which the CLI can go on with it, where it chose that itself."""
    message: str = ""
    """What the agent said last."""
    error: str = ""
    """What the CLI said of its own failure."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    used: bool = False

    def use(self, given: object, made: object, cost: object = None, *, more: bool = False) -> None:
        """Tokens of the run so far, or, with `more`, of one step."""
        if not more:
            self.input_tokens, self.output_tokens, self.cost = 0, 0, None
        self.input_tokens += number(given)
        self.output_tokens += number(made)
        if isinstance(cost, int | float) and not isinstance(cost, bool):
            self.cost = (self.cost or 0.0) + cost
        self.used = True

    def fail(self, text: str) -> None:
        self.error = text.strip() or "It failed, and does not say why."

    def text(self) -> str:
        usage = {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost": self.cost,
        }
        told = {
            "conversation": self.conversation[:200],
            "message": self.message[:LONGEST],
            "error": self.error[:LONGEST],
            "usage": usage if self.used else None,
        }
        return json.dumps(told, ensure_ascii=False)


class Kept:
    """The file. Nothing is written where nothing has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = ""

    def keep(self, report: Report) -> None:
        text = report.text()
        if text == self._last:
            return
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode(errors="replace"))
            temporary.replace(self._path)
        except OSError:
            return  # a full disk must not end the agent's work; the next news tries again
        self._last = text


def number(value: object) -> int:
    """A count that an event gave, if it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
