"""What people say to each other in a session's thread: not for the bot. From those who may not, it is context at most."""

from __future__ import annotations

import logging

from bot.domain.choices import Word
from bot.domain.events import Commanded, Configured, FromPeople, Overheard, Said
from bot.domain.people import Thread
from bot.engine.actor import Actor
from bot.engine.gate import Gate
from bot.engine.refusals import Refusals
from bot.engine.world import World
from bot.errors import Unavailable

log = logging.getLogger("bot.desk")

LONGEST = 400
"""Characters of one message that are kept as context."""
_LIKE_TALK = frozenset({Word.BRANCH, Word.SPEC})
"""Commands with free words behind them: without the bot's name they are as likely talk."""


def meant(event: FromPeople) -> FromPeople:
    """`branch out` among people is talk. Whoever means the command mentions the bot, or types its sign.

    `model <address> <name>` says what the form for it would say.
    """
    if not isinstance(event, Commanded):
        return event
    command = event.command
    if command.word is Word.MODEL and command.argument and event.mention:
        return Configured(
            id=event.id, at=event.at, by=event.by, base_url=command.argument, model=command.text
        )
    if event.mention or command.word not in _LIKE_TALK:
        return event
    text = " ".join(part for part in (command.word, command.argument, command.text) if part)
    return Said(id=event.id, at=event.at, by=event.by, text=text, mention=False)


class Passing:
    def __init__(self, gate: Gate, world: World) -> None:
        self._gate = gate
        self._world = world
        self._kept = Refusals()
        """So much from one person and in one channel within a while; the rest is not kept."""

    def overheard(
        self, thread: Thread, event: FromPeople, session_id: str, actor: Actor | None
    ) -> bool:
        """Whether it was said in passing, and is dealt with. `session_id`: empty where no session lives in the thread."""
        if not isinstance(event, Said | Commanded) or event.mention:
            return False
        if not session_id:
            return True
        if not isinstance(event, Said) or self._gate.lets(thread, event):
            return False
        if actor and not actor.session.over and self._gate.overhears(thread, event.by):
            self._keep(thread, event, actor)
        return True

    def _keep(self, thread: Thread, event: Said, actor: Actor) -> None:
        """It must spend neither the disk nor the model's room."""
        if not self._kept.worth_telling(thread, event.by, self._world.clock.now()):
            return
        # what is never kept need not be masked; half a secret at the cut is not kept either
        text = self._world.masker.mask(event.text[: 10 * LONGEST])[:LONGEST]
        try:
            actor.hear(Overheard(id=event.id, at=event.at, by=event.by, text=text))
        except Unavailable as full:
            # nobody waits for it: with a full disk it is simply not kept
            log.warning("context was not kept", extra={"data": {"why": full.reason}})
