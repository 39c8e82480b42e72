"""How the connection to Slack is doing, in facts for people: since when, the how manieth, and when Slack last said something."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime


class Health:
    """`now` is the time of day. Whoever listens tells of every change; to ask costs nothing."""

    def __init__(
        self, *, by_socket: bool = True, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._by_socket = by_socket
        self._now = now
        self._since: datetime | None = None
        self._epoch = ""
        self._connections = 0
        self._heard: datetime | None = None

    def connected(self, epoch: str) -> None:
        """`epoch`: the name of the connection. Told again and again for as long as it lasts."""
        if epoch != self._epoch:
            self._epoch, self._connections, self._since = epoch, self._connections + 1, None
        self._since = self._since or self._now()

    def lost(self) -> None:
        self._since = None

    def heard(self) -> None:
        self._heard = self._now()

    def facts(self) -> tuple[tuple[str, str], ...]:
        last = f"{self._heard:%Y-%m-%d %H:%M} UTC" if self._heard else "nothing yet"
        return (("Slack", self._state()), ("Last heard of Slack", last))

    def _state(self) -> str:
        if not self._by_socket:
            return "Slack calls this host"
        if self._since is None:
            return "not connected: trying again all the time"
        count = f", connection {self._connections} of this start" if self._connections > 1 else ""
        return f"connected since {self._since:%Y-%m-%d %H:%M} UTC{count}"
