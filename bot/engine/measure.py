"""How much one person may ask for: so much at once, so often in a while. To stop something is never too much.

It counts by full ids. A start remembers from the sessions themselves who began how many; what was said in the last minute it forgets.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from bot.domain.choices import Verb, Word
from bot.domain.events import Commanded, Configured, FromPeople, Pressed, Said
from bot.domain.people import Person
from bot.domain.session import Session
from bot.engine.world import Rules

LONGEST = 16_000
"""Bytes of what somebody writes in one message. Files that come with it have bounds of their own."""
MOST_WAITING = 200
"""Words and presses that wait in one session, because it is paused."""
_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)


class Measure:
    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._said: dict[tuple[str, str], dict[str, datetime]] = {}
        self._begun: dict[tuple[str, str], dict[str, datetime]] = {}
        """Of each person: the ids of what counted, and when it was said."""

    def remember(self, sessions: Iterable[Session], now: datetime) -> None:
        """What was begun before this start still counts. Parts of a larger wish were asked for once."""
        for session in sessions:
            if session.intent.parent is None and abs(now - session.created_at) < _HOUR:
                who = (session.owner.platform, session.owner.id)
                self._begun.setdefault(who, {})[session.id] = session.created_at

    def problem(self, event: FromPeople, now: datetime, *, begins: bool, open_now: int) -> str:
        """Why it is too much, in a sentence; empty: it is not, and counts. The same event counts once."""
        if _stops(event):
            return ""
        if (size := _size(event)) > LONGEST:
            return (
                f"That is too long: {size / 1000:.0f} kB, and I read at most {LONGEST // 1000} kB of a message. "
                "Put it into a text file and attach that."
            )
        rules = self._rules
        # said while the bot was away, it counts for then
        at = min(event.at, now)
        if not _fits(self._said, event.by, event.id, at, now, _MINUTE, rules.most_in_a_minute):
            return (
                f"That is more than {rules.most_in_a_minute} things in a minute. Say it again later; "
                "to stop something always works."
            )
        return self.one_more(event.by, event.id, at, now, open_now=open_now) if begins else ""

    def one_more(self, by: Person, id: str, at: datetime, now: datetime, *, open_now: int) -> str:
        """Why that person may not begin a session, too, in a sentence; empty: they may, and it counts, once."""
        rules = self._rules
        if rules.most_sessions and open_now >= rules.most_sessions:
            return f"There are {open_now} unfinished sessions. Finish or discard some of them first; sessions lists them."
        if not _fits(self._begun, by, id, at, now, _HOUR, rules.most_in_an_hour):
            return (
                f"You have begun {rules.most_in_an_hour} sessions within an hour. Ask again later."
            )
        return ""


def _fits(
    counted: dict[tuple[str, str], dict[str, datetime]],
    by: Person,
    id: str,
    at: datetime,
    now: datetime,
    window: timedelta,
    most: int,
) -> bool:
    """Whether there is room for it within the window that ends when it was said. 0: there always is."""
    if not most:
        return True
    _forget(counted, now, window)
    mine = counted.setdefault((by.platform, by.id), {})
    if id in mine:
        return True
    if sum(abs(at - other) < window for other in mine.values()) >= most:
        return False
    mine[id] = at
    return True


def _forget(
    counted: dict[tuple[str, str], dict[str, datetime]], now: datetime, window: timedelta
) -> None:
    """Both ways: a clock that was set back silences nobody for long."""
    for who, events in list(counted.items()):
        kept = {id: at for id, at in events.items() if abs(now - at) < window}
        if kept:
            counted[who] = kept
        else:
            del counted[who]


def _stops(event: FromPeople) -> bool:
    if isinstance(event, Commanded):
        return event.command.word is Word.STOP
    return isinstance(event, Pressed) and event.verb is Verb.STOP


def _size(event: FromPeople) -> int:
    match event:
        case Said(text=text):
            written = [text]
        case Pressed(about=about, text=text, answers=answers):
            written = [about, text, *answers.values()]
        case Commanded(command=command):
            written = [command.argument, command.text]
        case Configured(base_url=base_url, model=model):
            written = [base_url, model]
        case _:
            written = []
    return sum(len(text.encode("utf-8", "replace")) for text in written)
