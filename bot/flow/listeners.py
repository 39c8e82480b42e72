"""Who reads along: how much is said to them, when they spoke last, and what they thought of the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bot.domain.actions import Deed, Show
from bot.domain.cards import NewsCard
from bot.domain.choices import Verb, Word
from bot.domain.events import Commanded, Event, FromPerson, Overheard, Pressed
from bot.domain.listeners import Feedback, Spoken
from bot.domain.session import Session
from bot.domain.sheets import Tone
from bot.domain.states import TaskState
from bot.domain.verbosity import Verbosity
from bot.flow import telling

MOST = 50
"""People whose last word is remembered."""
SAID = {
    Verbosity.QUIET: "Quiet: you hear of what waits for somebody, what failed, and how it ends.",
    Verbosity.NORMAL: "As usual: you also hear what was finished and what changed.",
    Verbosity.FULL: "In full: you hear of every task whenever it is in another state.",
}
_LOOKING = frozenset(
    {
        Word.CATCH_UP,
        Word.STATUS,
        Word.LOGS,
        Word.TASKS,
        Word.INFO,
        Word.USAGE,
        Word.DECISIONS,
    }
)
_CALM = (Tone.PLAIN, Tone.PROGRESS, Tone.SUCCESS)


def heard(session: Session, event: Event) -> None:
    """Somebody speaks. Asking what was missed does not count: else nobody could ask twice."""
    if not isinstance(event, FromPerson) or _looks_only(event):
        return
    last = session.spoken.get(event.by.id)
    if last and last.at > event.at:
        return  # said before, and heard late
    spoken = {id: one for id, one in session.spoken.items() if id != event.by.id}
    spoken[event.by.id] = Spoken(at=event.at, usage=session.usage)
    session.spoken = dict(list(spoken.items())[-MOST:])


def _looks_only(event: FromPerson) -> bool:
    match event:
        case Commanded(command=command):
            return command.word in _LOOKING
        case Pressed(verb=verb):
            return verb is Verb.LOG
        case Overheard():  # they may not ask what they missed
            return True
        case _:
            return False


def loud_enough(
    session: Session, deeds: Iterable[Deed], before: Mapping[str, TaskState], event: Event
) -> Iterator[Deed]:
    """What is said of it, as much as the thread wants."""
    if session.verbosity is Verbosity.FULL:
        yield from _moves(session, before, event)
    for deed in deeds:
        if session.verbosity is not Verbosity.QUIET or not _is_calm_news(deed):
            yield deed


def _is_calm_news(deed: Deed) -> bool:
    return isinstance(deed, Show) and isinstance(deed.card, NewsCard) and deed.card.tone in _CALM


def _moves(session: Session, before: Mapping[str, TaskState], event: Event) -> Iterator[Deed]:
    moved = [
        f"{task.key} {task.name}: {before[task.id]} → {task.state}"
        for task in session.tasks
        if before.get(task.id, task.state) is not task.state
    ]
    if moved:
        first, *others = moved
        yield telling.news(f"moved:{event.id}", first, *others, tone=Tone.PLAIN)


def set_verbosity(session: Session, event: Commanded) -> Iterator[Deed]:
    wanted = event.command.argument.lower()
    if wanted not in set(Verbosity):
        yield telling.privately(
            event,
            f"This thread is {session.verbosity}. verbosity quiet, normal or full changes that.",
        )
        return
    session.verbosity = Verbosity(wanted)
    yield telling.privately(event, SAID[session.verbosity])


def judged_result(session: Session, event: Pressed) -> Iterator[Deed]:
    """The last word of each person counts."""
    helpful = event.verb is Verb.HELPFUL
    others = tuple(one for one in session.feedback if one.by != event.by.id)
    session.feedback = (*others[-MOST:], Feedback(by=event.by.id, helpful=helpful, at=event.at))
    if helpful:
        yield telling.privately(event, "Thank you, noted.")
    else:
        yield telling.privately(
            event, "Noted. Say in this thread what should be different, and I go on with it."
        )
