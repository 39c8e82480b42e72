"""Where sessions are begun, and reached, by other sessions. The desk does it; what an action needs of the desk stands here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.events import Begun, Continued
from bot.domain.people import Person, Thread

Begin = Callable[[Thread, str, Begun], None]
"""A session with that id, in that thread, unless it is there already. On disk when it returns."""
PassOn = Callable[[Thread, Continued], str]
"""Go on with a finished session, in a person's name; why not, in a sentence, or nothing."""

OneMore = Callable[[Person, str], str]
"""That person begins a session with that id, too; why not, in a sentence, or nothing."""


@dataclass
class Nursery:
    _begin: Begin | None = None
    _pass_on: PassOn | None = None
    _one_more: OneMore | None = None

    def serve(self, begin: Begin, pass_on: PassOn, one_more: OneMore) -> None:
        """By the desk, before any action is done."""
        self._begin, self._pass_on, self._one_more = begin, pass_on, one_more

    def one_more(self, by: Person, session_id: str) -> str:
        if self._one_more is None:
            raise RuntimeError("no desk serves this world")
        return self._one_more(by, session_id)

    def begin(self, thread: Thread, session_id: str, event: Begun) -> None:
        if self._begin is None:
            raise RuntimeError("no desk serves this world")
        self._begin(thread, session_id, event)

    def pass_on(self, thread: Thread, event: Continued) -> str:
        if self._pass_on is None:
            raise RuntimeError("no desk serves this world")
        return self._pass_on(thread, event)
