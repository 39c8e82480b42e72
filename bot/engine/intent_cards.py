"""How intents look: in a list, and one by itself with what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.cards import AnswerCard
from bot.domain.registry import Filed, Shelf
from bot.domain.session import Session
from bot.domain.sheets import Bullets, Element, Entries, Entry, Fields, Prose, Text, Tone
from bot.flow import intents

MOST = 20
"""In one list."""
SHOWN = 6_000
"""Characters of a body."""
NO_PLAN = (
    "This is no approval of a plan: that comes in the thread of its own session, once it runs."
)


@dataclass(frozen=True)
class Carried:
    """What the file of an intent does not tell: the session at work on it, and whether it may start unasked."""

    session: Session | None = None
    alone: bool = False


def listed(shelf: Shelf, carried: Callable[[Filed], Carried]) -> tuple[Element, ...]:
    """Those that wait for a person come first."""
    found: list[Element] = []
    open_first = sorted(shelf.intents, key=lambda one: (not intents.waits(one.intent),))
    if shelf.intents:
        found.append(Entries(items=tuple(entry(one, carried(one)) for one in open_first[:MOST])))
    else:
        found.append(
            Text(text="There are none. Write one into .forge/intent-drafts, or ask for work.")
        )
    if len(shelf.intents) > MOST:
        found.append(Text(text=f"… and {len(shelf.intents) - MOST} more."))
    return (*found, *problems(shelf.problems))


def entry(filed: Filed, carried: Carried) -> Entry:
    intent, session = filed.intent, carried.session
    about = (intent.id, intent.type, f"{intent.risk} risk" if intent.risk else "")
    state = intents.waits(intent) or intent.status
    return Entry(
        title=intent.title or intent.id,
        facts=tuple(fact for fact in (*about, state) if fact),
        thread=session.thread if session else None,
        choices=tuple(intents.choices(filed, session, alone=carried.alone)),
    )


def shown(
    key: str, filed: Filed, carried: Carried, title: str = "", tone: Tone = Tone.PLAIN
) -> AnswerCard:
    intent = filed.intent
    pairs = (
        ("Intent", intent.id),
        ("Status", intent.status),
        ("Type", intent.type or "not known yet"),
        ("Risk", intent.risk or "not known yet"),
        ("Source", intent.source),
        ("Part of", intent.parent or ""),
        ("Now", intents.waits(intent)),
        ("Session", filed.session[:8]),
    )
    body: list[Element] = [Fields(pairs=tuple(pair for pair in pairs if pair[1]))]
    if intent.body.strip():
        body.append(Prose(name=intent.id, markdown=intent.body[:SHOWN]))
    if intent.clarifications:
        asked = (f"{q.decision} {q.text} → {q.answer or 'open'}" for q in intent.clarifications)
        body.append(Bullets(items=tuple(asked)))
    if carried.session and (unheard := intents.unheard(filed, carried.session)):
        body.append(Bullets(items=unheard))
    choices = tuple(intents.choices(filed, carried.session, alone=carried.alone))
    if choices:
        body.append(Text(text=NO_PLAN))
    title = title or intent.title or intent.id
    return AnswerCard(key=key, title=title, tone=tone, body=tuple(body), choices=choices)


def problems(found: tuple[str, ...]) -> tuple[Element, ...]:
    if not found:
        return ()
    return (Text(text="Not read, and left as it is", strong=True), Bullets(items=found[:MOST]))
