"""Cards of work that goes on in another thread: the parts of a large wish, an earlier session, a session's own root."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.cards import EarlierCard, PartsCard, RootCard
from bot.domain.choices import Choice, Style, Verb
from bot.domain.layout.phrases import counted, decided_by
from bot.domain.sheets import Element, Fields, Pointer, Sheet, Table, Text, Tone


def parts(card: PartsCard) -> Sheet:
    title = "This is too large for one plan"
    body = tuple(_parts(card))
    if card.decided:
        return Sheet(title=title, body=body, footer=decided_by(card.decided))
    sessions = counted(len(card.parts), "session")
    choices = (
        Choice(
            label=f"Open {sessions}",
            verb=Verb.SPLIT,
            style=Style.PRIMARY,
            confirm=f"Open {sessions}, each in a thread of its own?",
        ),
        Choice(label="Plan it as one", verb=Verb.WHOLE),
    )
    return Sheet(
        title=title,
        tone=Tone.NEEDS_YOU,
        body=body,
        choices=choices,
        footer="Each part gets a plan of its own, and is approved by itself.",
    )


def _parts(card: PartsCard) -> Iterator[Element]:
    if not card.decided:
        yield Text(
            text="I would rather make these parts of it, one after the other or side by side:"
        )
    rows = tuple((str(n), part.title, part.body) for n, part in enumerate(card.parts, 1))
    yield Table(head=("Part", "What", "It asks for"), rows=rows)
    for part in card.parts:
        if part.thread:
            yield Pointer(text=part.title, thread=part.thread)


def earlier(card: EarlierCard) -> Sheet:
    title = "This seems to go on with something I have built"
    session = Fields(pairs=(("Session", f"{card.session} · {card.title}"),))
    body: tuple[Element, ...] = (session, Text(text=card.reason)) if card.reason else (session,)
    if card.decided:
        return Sheet(title=title, body=body, footer=decided_by(card.decided))
    choices = (
        Choice(label="Continue there", verb=Verb.THERE, about=card.session, style=Style.PRIMARY),
        Choice(label="Plan it here", verb=Verb.HERE, about=card.session),
    )
    return Sheet(
        title=title,
        tone=Tone.NEEDS_YOU,
        body=body,
        choices=choices,
        footer="There its spec is extended and tasks are added; here it begins from nothing.",
    )


def root(card: RootCard) -> Sheet:
    body: list[Element] = [Text(text=card.request)]
    if card.by:
        body.append(Fields(pairs=(("Asked for by", card.by),)))
    if card.origin:
        body.append(Pointer(text=card.origin_title or "where it was asked for", thread=card.origin))
    return Sheet(
        title=card.title, tone=Tone.PROGRESS, body=tuple(body), footer=f"session {card.session}"
    )
