"""Who is told no, and how often: a no costs the bot a message, and people who may do nothing must not spend them all."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.domain.people import Person, Thread

WINDOW = timedelta(minutes=5)
MOST_TO_ONE = 5
MOST_IN_A_PLACE = 20


class Refusals:
    """Within the window so many to one person, and so many in one channel; who goes on after that is not answered."""

    def __init__(self, to_one: int = MOST_TO_ONE) -> None:
        self._to_one = to_one
        self._told: dict[tuple[str, str], list[datetime]] = {}

    def worth_telling(self, thread: Thread, person: Person, now: datetime) -> bool:
        """Whether there is another no for this person, here. If so, it counts as told."""
        self._forget(now)
        limits = {
            (person.platform, person.id): self._to_one,
            (thread.platform, f"in {thread.place}"): MOST_IN_A_PLACE,
        }
        if any(len(self._told.get(who, ())) >= most for who, most in limits.items()):
            return False
        for who in limits:
            self._told.setdefault(who, []).append(now)
        return True

    def _forget(self, now: datetime) -> None:
        """Both ways: a clock that was set back silences nobody for long."""
        for who, times in list(self._told.items()):
            self._told[who] = [at for at in times if abs(now - at) < WINDOW]
            if not self._told[who]:
                del self._told[who]
