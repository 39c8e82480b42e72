"""How a console is used: by hand or by a script, on which project, and whether each line is waited for."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from adapters.chat.console.current_thread import TERMINAL
from bot.domain.people import Thread
from bot.domain.repl import Standing

Rest = Callable[[Thread], Awaitable[Standing]]
"""Returns when nothing moves in the session of that thread without a person."""


@dataclass(frozen=True)
class Manner:
    scripted: bool = False
    """Lines come from a script, whatever stdin is; nobody is asked in between."""
    repository: str = ""
    """The folder that requests are about, where somebody named one."""
    copy_of: str = ""
    """What that folder is a temporary copy of."""
    waits: bool = False
    """The next line is read only when what the last one began is finished."""
    finishes: bool = True
    """At the end of a script, what it began is waited for."""
    leaves: bool = True
    """With the last line of a script; else it goes on showing."""
    only_own: bool = False
    """Sessions that it does not talk in are nothing it shows."""
    until_over: bool = False
    """Leaves as soon as the session at hand has ended."""
    words: tuple[tuple[str, str], ...] = ()
    """The commands there are, each with what stands behind it and what it does."""
    own: str = ""
    """Named after something: a project's own conversation, apart from the terminal's."""

    @property
    def channel(self) -> str:
        if not self.own:
            return TERMINAL
        return f"{TERMINAL}:{hashlib.sha256(self.own.encode()).hexdigest()[:8]}"
