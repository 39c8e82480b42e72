"""What every Registry must keep, the real one on files and the fake."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.registry import ForgeRegistry
from bot.core.errors import Refused
from bot.core.intent import Intent, Question, Risk, Source
from bot.core.projections.records import History, HistoryOutcome
from bot.core.projections.registry import (
    EvidenceType,
    FiledIntent,
    Ground,
    IntentDraft,
    IntentEdit,
    Observation,
    Observer,
)
from bot.core.states import IntentStatus
from bot.ports import Registry
from tests.fakes.registry import MemoryRegistry

AT = datetime(2026, 1, 1, 9, tzinfo=UTC)


class Place:
    """A registry, and a person who writes drafts there."""

    def __init__(self, real: Path | None) -> None:
        self._real = real
        self._fake = MemoryRegistry()
        self.registry: Registry = ForgeRegistry() if real else self._fake
        self.repository = str(real) if real else "/repository"

    async def person_drafts(self, name: str, body: str) -> None:
        if self._real is None:
            self._fake.drafts[name] = IntentDraft(name=name, digest="d1", title=body, body=body)
            return
        folder = self._real / ".forge" / "intent-drafts"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(body)


@pytest.fixture(params=["fake", "real"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(tmp_path if request.param == "real" else None)


def intent(id: str = "add-discounts", **more: object) -> Intent:
    told: dict[str, object] = {"title": "Add discounts", "body": "Codes.", "created_at": AT}
    return Intent.model_validate({"id": id, **told, **more})


def observation(id: str = "o1", **more: object) -> Observation:
    told: dict[str, object] = {
        "content": "Two parsers do the same.",
        "evidence": (Ground(type=EvidenceType.FILE, ref="src/a.py"),),
        "source": Observer.IMPLEMENT,
        "intent_id": "add-discounts",
        "created_at": AT,
    }
    return Observation.model_validate({"id": id, **told, **more})


@pytest.mark.covers("F-REGISTRY-2")
async def test_where_there_is_nothing_nothing_is_found(place: Place) -> None:
    shelf = await place.registry.shelf(place.repository)
    assert (shelf.intents, shelf.drafts, shelf.problems) == ((), (), ())
    assert (await place.registry.noticed(place.repository)).observations == ()
    assert await place.registry.histories(place.repository) == ()


async def test_an_intent_comes_back_as_it_was_put_there(place: Place) -> None:
    asked = (Question(number=1, text="Which?", answer="a"), Question(number=2, text="When?"))
    filed = FiledIntent(
        intent=intent(
            body="One.\n\n# Two: with marks\n  - and so on",
            type="fix",
            source=Source.REFLECTION,
            risk=Risk.HIGH,
            status=IntentStatus.APPROVED,
            parent="shop",
            clarifications=asked,
        ),
        session="s1",
        observations=("o1",),
    )
    assert await place.registry.add(place.repository, filed) == "add-discounts"
    [found] = (await place.registry.shelf(place.repository)).intents
    body = found.intent.body.strip()
    assert found.model_copy(
        update={"intent": found.intent.model_copy(update={"body": body})}
    ) == FiledIntent(**dict(filed))


async def test_an_intent_of_the_same_name_gets_a_number(place: Place) -> None:
    first = await place.registry.add(place.repository, FiledIntent(intent=intent(), draft="a"))
    second = await place.registry.add(place.repository, FiledIntent(intent=intent(), draft="b"))
    assert (first, second) == ("add-discounts", "add-discounts-2")


@pytest.mark.parametrize(
    "marks", [{"draft": "a"}, {"session": "s"}, {"observations": ("o1", "o2")}]
)
async def test_what_was_added_is_not_added_again(place: Place, marks: dict[str, object]) -> None:
    filed = FiledIntent.model_validate({"intent": intent(), **marks})
    for _ in range(2):
        assert await place.registry.add(place.repository, filed) == "add-discounts"
    assert len((await place.registry.shelf(place.repository)).intents) == 1


async def test_an_edit_changes_what_it_names_and_nothing_else(place: Place) -> None:
    await place.registry.add(place.repository, FiledIntent(intent=intent(type="fix")))
    edit = IntentEdit(status=IntentStatus.APPROVED, session="s1", type="feature", risk=Risk.LOW)
    changed = await place.registry.change(place.repository, "add-discounts", edit)
    told = changed.intent
    assert (told.status, changed.session) == (IntentStatus.APPROVED, "s1")
    assert (told.type, told.risk) == ("fix", Risk.LOW)  # the type was said already


@pytest.mark.covers("F-INTENT-OPEN")
async def test_an_answer_that_stands_there_is_left_alone(place: Place) -> None:
    asked = (Question(number=1, text="Which?", answer="a"), Question(number=2, text="When?"))
    await place.registry.add(place.repository, FiledIntent(intent=intent(clarifications=asked)))
    answers = {"Which?": "b", "When?": "now", "Why?": None}
    changed = await place.registry.change(
        place.repository, "add-discounts", IntentEdit(answers=answers)
    )
    found = [(q.text, q.answer) for q in changed.intent.clarifications]
    assert found == [("Which?", "a"), ("When?", "now"), ("Why?", None)]


async def test_a_change_of_what_has_changed_is_refused(place: Place) -> None:
    await place.registry.add(place.repository, FiledIntent(intent=intent(), session="s1"))
    approved = IntentEdit(status=IntentStatus.APPROVED)
    with pytest.raises(Refused, match="is proposed by now"):
        await place.registry.change(
            place.repository, "add-discounts", approved, seen=IntentStatus.BLOCKED
        )
    with pytest.raises(Refused, match="another session"):
        await place.registry.change(place.repository, "add-discounts", approved, session="s2")
    with pytest.raises(Refused, match="not there"):
        await place.registry.change(place.repository, "other", approved)
    [found] = (await place.registry.shelf(place.repository)).intents
    assert found.intent.status is IntentStatus.PROPOSED


async def test_a_draft_is_put_aside_once(place: Place) -> None:
    await place.person_drafts("add-codes.md", "Add codes")
    [draft] = (await place.registry.shelf(place.repository)).drafts
    assert (draft.name, draft.title, draft.body) == ("add-codes.md", "Add codes", "Add codes")
    for _ in range(2):
        await place.registry.put_aside(place.repository, draft)
    assert (await place.registry.shelf(place.repository)).drafts == ()


@pytest.mark.covers("F-ENTITY-Observation", "F-OBSERVE-1", "F-OBSERVE-5")
async def test_observations_are_appended_once_and_marked(place: Place) -> None:
    first, second = observation(), observation("o2", content="Dead code.", evidence=())
    for new in ((first,), (first, second), (second,)):
        await place.registry.observe(place.repository, new)
    await place.registry.mark(place.repository, {"o2"})
    found = (await place.registry.noticed(place.repository)).observations
    assert found == (first, second.model_copy(update={"processed": True}))


@pytest.mark.covers("F-ENTITY-History")
async def test_a_history_is_kept_and_brought_up_to_date(place: Place) -> None:
    history = History(
        intent_id="add-discounts",
        intent_type="feature",
        intent_risk="low",
        title="Add discounts",
        flow=("intake",),
        step_results=(),
        outcome=HistoryOutcome.FAILED,
        failure_reason="T001: it failed",
        created_at=AT,
    )
    for outcome in (HistoryOutcome.FAILED, HistoryOutcome.SUCCESS):
        told = history.model_copy(update={"outcome": outcome})
        await place.registry.keep_history(place.repository, "1a2b3c4d", told)
    assert await place.registry.histories(place.repository) == ("1a2b3c4d",)
