"""Intents as people see them in a chat: listed, shown, run, and what a file says that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.cards import AnswerCard
from bot.domain.intent import Intent, Question, Risk, Source
from bot.domain.registry import Filed, Shelf
from bot.domain.sheets import Tone
from bot.domain.states import IntentStatus
from bot.engine import intent_cards as cards
from bot.engine.intent_cards import Carried
from tests.looks.catalogue.entry import Entry
from tests.looks.catalogue.sample import NOW, REQUEST, planned

_BROKEN = "dark-mode-2.yaml: line 4 is no YAML: a value is missing behind risk:"
_QUESTION = Question(number=1, text="Does it follow the system's theme?", default="Yes")


def entries() -> Iterator[Entry]:
    proposed = _filed("dark-mode", IntentStatus.PROPOSED)
    asking = _filed("print-view", IntentStatus.PROPOSED, clarifications=(_QUESTION,))
    at_work = _filed("theme-guide", IntentStatus.EXECUTING, parent="dark-mode")
    blocked = _filed("old-browsers", IntentStatus.BLOCKED)
    few = (proposed, asking, at_work, blocked)
    many = tuple(_filed(f"wish-{n}", IntentStatus.DONE) for n in range(30))
    yield Entry("intents/none", _list(Shelf()), private=True)
    yield Entry("intents/a few", _list(Shelf(intents=few, problems=(_BROKEN,))), private=True)
    yield Entry("intents/many", _list(Shelf(intents=many)), private=True)
    yield Entry("intent/proposed", cards.shown("i", proposed, Carried()), private=True)
    yield Entry("intent/asks", cards.shown("i", asking, Carried()), private=True)
    yield Entry("intent/at work", cards.shown("i", at_work, Carried(planned())), private=True)
    approved = _filed("dark-mode", IntentStatus.APPROVED)
    title = "Intent dark-mode is approved, by Mika"
    yield Entry("intent/approved", cards.shown("i", approved, Carried(), title, Tone.SUCCESS))


def _filed(id: str, status: IntentStatus, **changes: object) -> Filed:
    intent = Intent(
        id=id,
        title=id.replace("-", " ").capitalize(),
        body=REQUEST,
        source=Source.HUMAN,
        risk=Risk.LOW,
        status=status,
        created_at=NOW,
    )
    return Filed(intent=intent.model_copy(update=changes))


def _list(shelf: Shelf) -> AnswerCard:
    at_work = {"theme-guide": Carried(planned())}
    body = cards.listed(shelf, lambda filed: at_work.get(filed.intent.id, Carried()))
    return AnswerCard(key="answer:intents", title="Intents", body=body)
