"""Channels that are shared with another organisation: whatever stands in them is read there, so nobody works in them unasked.

Slack says of every message whether its channel is shared, and of no press: what was said of a channel last counts.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from adapters.chat.slack.delivery import Body, part, word
from bot.domain.people import Person, Thread

log = logging.getLogger("bot.slack")


class Shared:
    """`allowed`: the full ids of channels in which the operator wants it all the same."""

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self._allowed = frozenset(allowed)
        self._channels: set[str] = set()

    def note(self, body: Body, team: str) -> None:
        channel = word(part(body, "event"), "channel")
        if not channel or "is_ext_shared_channel" not in body:
            return
        place = f"{team}:{channel}"
        if not body["is_ext_shared_channel"]:
            self._channels.discard(place)
        elif place not in self._channels:
            self._channels.add(place)
            if place not in self._allowed:
                log.warning(
                    "a channel is shared, so I do not work there",
                    extra={"data": {"channel": place}},
                )

    def seen_in(self, thread: Thread, by: Person) -> Person:
        """In such a channel nobody belongs here."""
        barred = thread.place in self._channels and thread.place not in self._allowed
        return by.model_copy(update={"outsider": True}) if barred else by
