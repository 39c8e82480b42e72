"""What the played model does, one step for each time it is asked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Say:
    """Words, and the turn ends."""

    text: str


@dataclass(frozen=True)
class Shell:
    """A command by the CLI's own shell tool."""

    command: str
    background: bool = False
    """Where the CLI has such a thing: it goes on while the turn ends."""


@dataclass(frozen=True)
class Fail:
    """An error, as often as the CLI tries."""

    status: int
    message: str
    kind: str = "invalid_request_error"
    headers: tuple[tuple[str, str], ...] = ()
    more: tuple[tuple[str, object], ...] = ()
    """Further fields of the error."""


@dataclass(frozen=True)
class Wait:
    """No answer until the test lets it go; then words."""

    text: str = "Done waiting."
    go: asyncio.Event = field(default_factory=asyncio.Event)


Step = Say | Shell | Fail | Wait
