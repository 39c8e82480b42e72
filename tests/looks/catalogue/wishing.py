"""Intents as people see them in a chat: listed, shown, run, and what a file says that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.cards import AnswerCard
from bot.core.intent import Intent, Question, Risk, Source
from bot.core.projections.registry import FiledIntent, RegistryContents
from bot.core.sheets import Tone
from bot.core.states import IntentStatus
from bot.steps.intents import rules as intents
from bot.steps.intents.rules import IntentContext
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
    yield Entry("intents/none", _list(RegistryContents()), private=True)
    yield Entry(
        "intents/a few", _list(RegistryContents(intents=few, problems=(_BROKEN,))), private=True
    )
    yield Entry("intents/many", _list(RegistryContents(intents=many)), private=True)
    yield Entry(
        "intent/proposed", intents.intent_card("i", proposed, IntentContext()), private=True
    )
    yield Entry("intent/asks", intents.intent_card("i", asking, IntentContext()), private=True)
    yield Entry(
        "intent/at work", intents.intent_card("i", at_work, IntentContext(planned())), private=True
    )
    approved = _filed("dark-mode", IntentStatus.APPROVED)
    title = "Intent dark-mode is approved, by Mika"
    yield Entry(
        "intent/approved", intents.intent_card("i", approved, IntentContext(), title, Tone.SUCCESS)
    )


def _filed(id: str, status: IntentStatus, **changes: object) -> FiledIntent:
    intent = Intent(
        id=id,
        title=id.replace("-", " ").capitalize(),
        body=REQUEST,
        source=Source.HUMAN,
        risk=Risk.LOW,
        status=status,
        created_at=NOW,
    )
    return FiledIntent(intent=intent.model_copy(update=changes))


def _list(shelf: RegistryContents) -> AnswerCard:
    at_work = {"theme-guide": IntentContext(planned())}
    body = intents.intent_list(shelf, lambda filed: at_work.get(filed.intent.id, IntentContext()))
    return AnswerCard(key="answer:intents", title="Intents", body=body)
