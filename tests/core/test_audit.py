"""What people want and what came of it is in the audit log before it counts; who only looks is not written down."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.core.choices import Verb, Word
from bot.core.errors import Unavailable
from bot.core.events import Configured, Pressed
from bot.core.people import Person
from bot.core.projections.audit import AuditEntry, Decision
from bot.core.states import Phase, Status
from tests.core.at_the_desk import AT, said
from tests.fakes.chat import ANNA, THREAD
from tests.stories.stage import Stage

NOBODY = Person(platform="memory", id="U3", name="Anna")


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.open()
    yield stage
    await stage.close()


def told(entries: list[AuditEntry]) -> list[tuple[str, str, str]]:
    return [(one.who.removeprefix("memory:"), one.what, one.decision.value) for one in entries]


async def test_the_story_of_a_session_can_be_read_in_it(stage: Stage) -> None:
    await stage.is_planned()
    plan = stage.session()
    stage.audit.entries.clear()
    await stage.approves()
    allowed, done = stage.audit.entries
    assert told([allowed, done]) == [("U1", "press approve", "allowed"), ("U1", "approved", "done")]
    assert allowed.about.startswith(done.digest)
    assert (done.session, done.about) == (plan.id, "revision 1")
    assert "phase approving → executing" in done.why
    assert allowed.event == done.event

    stage.audit.entries.clear()
    await stage.commands_(Word.STOP)
    assert told(stage.audit.entries) == [
        ("U1", "command stop", "allowed"),
        ("U1", "command stop", "done"),
    ]
    assert "status Active → Paused" in stage.audit.entries[-1].why


async def test_what_begins_a_session_is_written_down_before_it_is_begun(stage: Stage) -> None:
    stage.audit.full = True
    assert stage.desk
    with pytest.raises(Unavailable):
        await stage.desk.take(THREAD, said("Add discounts"))
    assert stage.store.records == {}
    stage.audit.full = False
    assert await stage.desk.take(THREAD, said("Add discounts"))
    assert len(stage.store.records) == 1
    assert told(stage.audit.entries)[0] == ("U1", "said", "allowed")


async def test_an_approval_that_cannot_be_written_down_does_not_count(stage: Stage) -> None:
    await stage.is_planned()
    stage.audit.full = True
    press = Pressed(id="p", at=AT, by=ANNA, verb=Verb.APPROVE, about=stage.approval_card().offer)
    assert stage.desk
    with pytest.raises(Unavailable):
        await stage.desk.take(THREAD, press)
    await stage.settle()
    assert stage.session().phase is Phase.APPROVING
    assert stage.session().approval.granted is None


async def test_a_stale_approval_is_there_with_nothing_that_came_of_it(stage: Stage) -> None:
    await stage.is_planned()
    await stage.presses(Verb.APPROVE, "an older digest")
    assert told(stage.audit.entries)[-2:] == [
        ("U1", "press approve", "allowed"),
        ("U1", "press approve", "nothing"),
    ]


async def test_who_may_not_is_there_with_the_reason(stage: Stage) -> None:
    await stage.is_planned()
    stage.audit.entries.clear()
    press = Pressed(id="p", at=AT, by=NOBODY, verb=Verb.APPROVE, about=stage.approval_card().offer)
    assert stage.desk
    assert not await stage.desk.take(THREAD, press)
    [entry] = stage.audit.entries
    assert (entry.decision, entry.who) == (Decision.REFUSED, "memory:U3")
    assert "may not" in entry.why


async def test_a_flood_of_strangers_does_not_fill_the_disk(stage: Stage) -> None:
    assert stage.desk
    for number in range(1000):
        by = Person(platform="memory", id=f"X{number}")
        await stage.desk.take(THREAD, said("Add discounts", by, id=f"x{number}"))
    assert 0 < len(stage.audit.entries) <= 20


async def test_who_only_looks_is_not_written_down(stage: Stage) -> None:
    await stage.is_planned()
    stage.audit.entries.clear()
    for word in (
        Word.STATUS,
        Word.TASKS,
        Word.HELP,
        Word.INBOX,
        Word.SESSIONS,
        Word.REPO,
        Word.MODEL,
    ):
        await stage.commands_(word)
    assert stage.audit.entries == []


async def test_settings_that_are_changed_are_there(stage: Stage) -> None:
    assert stage.desk
    chosen = Configured(id="c", at=AT, by=ANNA, base_url="https://a.example", model="m")
    assert await stage.desk.take(THREAD, chosen)
    [entry] = stage.audit.entries
    assert (entry.what, entry.about) == ("configured", "m at https://a.example")


async def test_the_same_event_again_is_no_second_entry(stage: Stage) -> None:
    assert stage.desk
    for _ in range(3):
        await stage.desk.take(THREAD, said("Add discounts"))
        await stage.settle()
    assert [one.what for one in stage.audit.entries if one.decision is Decision.ALLOWED] == ["said"]


async def test_words_are_kept_as_their_digest(stage: Stage) -> None:
    assert stage.desk
    await stage.desk.take(THREAD, said("Add discounts for Aki"))
    assert all("Aki" not in one.model_dump_json() for one in stage.audit.entries)
    assert len(stage.audit.entries[0].digest) == 64


async def test_what_is_given_up_is_there_with_what_became_of_it(stage: Stage) -> None:
    await stage.is_planned()
    await stage.presses(Verb.DISCARD)
    assert stage.session().status is Status.DISCARDED
    assert "status Active → Discarded" in stage.audit.entries[-1].why
