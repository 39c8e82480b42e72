"""The audit log as the desk keeps it: what was let in is on disk before it counts, what was not is noted within bounds."""

from __future__ import annotations

import logging

from bot.domain.audit import Decision, at_the_gate, wanted
from bot.domain.events import FromPerson
from bot.domain.people import Thread
from bot.engine.refusals import Refusals
from bot.engine.world import World
from bot.errors import Unavailable

log = logging.getLogger("bot.desk")


class Auditing:
    def __init__(self, world: World) -> None:
        self._world = world
        self._noted = Refusals()
        """People who may do nothing must not fill the disk either."""

    def allowed(self, thread: Thread, event: FromPerson, session_id: str = "") -> None:
        """Raises Unavailable on a full disk: what cannot be written down is not done."""
        if wanted(event):
            self._note(thread, event, Decision.ALLOWED, "", session_id)

    def refused(self, thread: Thread, event: FromPerson, why: str, session_id: str = "") -> None:
        """Nothing comes of it, so a full disk does no harm here."""
        if not self._noted.worth_telling(thread, event.by, self._world.clock.now()):
            return
        try:
            self._note(thread, event, Decision.REFUSED, why, session_id)
        except Unavailable as full:
            log.warning("a no was not noted", extra={"data": {"why": full.reason}})

    def _note(
        self, thread: Thread, event: FromPerson, decision: Decision, why: str, session_id: str
    ) -> None:
        now = self._world.clock.now()
        self._world.audit.note(at_the_gate(thread, event, now, decision, why, session_id))
