"""The desk: who may not changes nothing and is told privately; of many who may, the first decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.core import approval
from bot.core.cards import AnswerCard
from bot.core.choices import Command, Verb, Word
from bot.core.desk import NOTHING_HERE
from bot.core.events import Commanded, DocumentsCommitted, Edited
from bot.core.live_sessions import MAX_LOADED_FINISHED, UNLOAD_AFTER
from bot.core.people import Person, Thread
from bot.core.projections.records import Record
from bot.core.session_factory import NOTHING_WAITS
from bot.core.states import Phase, Status
from tests.core.at_the_desk import (
    APPROVERS,
    AT,
    CHANNEL,
    GATE,
    NOBODY,
    REFUSED,
    SECOND,
    STARTER,
    UNKNOWN,
    commanded,
    desk_of,
    opened,
    pressed,
    records,
    said,
    take,
    titles,
)
from tests.fakes.chat import ANNA, THREAD
from tests.steps import scenes
from tests.stories.stage import Stage

pytestmark = pytest.mark.covers("O-C1")

NOT_FOR_STARTERS = (
    Verb.INTENT_APPROVE,
    Verb.INTENT_REJECT,
    Verb.APPROVE,
    Verb.DISCARD,
    Verb.GIVE_UP,
    Verb.MERGE,
    Verb.STOP,
    Verb.REPLY,
    Verb.ALWAYS,
    Verb.ACCEPT,
    Verb.USE_AGENT,
    Verb.TAKE_AS_DONE,
    Verb.STOP_TASK,
    Verb.SEND_BACK,
    Verb.TESTS,
    Verb.UNTESTED,
    Verb.HINT,
    Verb.SETTINGS,
    Verb.MERGE_PULL,
    Verb.MERGE_PULLS,
    Verb.UNNEEDED,
    Verb.MERGE_UNCHECKED,
    Verb.MERGE_BRANCH,
    Verb.DELETE_BRANCH,
)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    stage.gate = GATE
    await stage.open()
    yield stage
    await stage.close()


@pytest.mark.parametrize("by", [ANNA, STARTER, NOBODY], ids=str)
async def test_talk_in_a_thread_nobody_knows_is_passed_over(stage: Stage, by: Person) -> None:
    await stage.is_planned()
    kept = dict(stage.store.records)
    for thread in (UNKNOWN, CHANNEL):
        for event in (
            said("stop it", by, mention=False, id="talk"),
            commanded(Word.STOP, by=by, mention=False, id="one word"),
        ):
            assert await take(stage, event, thread)
    await stage.settle()
    assert (stage.store.records, titles(stage)) == (kept, [])


@pytest.mark.parametrize("over", [False, True], ids=["awake", "over"])
async def test_who_may_not_cannot_talk_to_a_session_and_is_told_only_if_he_meant_it(
    stage: Stage, over: bool
) -> None:
    await stage.is_planned()
    if over:
        await stage.presses(Verb.DISCARD)
        await stage.revive()
    kept, awake = without_talk(stage), len(desk_of(stage).actors())
    for text in ("Make it blue", "approve", "y"):
        assert await take(stage, said(text, NOBODY, mention=False, id=text))
        assert titles(stage) == []
    assert not await take(stage, said("Make it blue", NOBODY))
    await stage.settle()
    assert without_talk(stage) == kept
    assert len(desk_of(stage).actors()) == awake
    assert titles(stage) == [REFUSED]
    assert [to for _, to, _ in stage.chat.whispered] == [NOBODY]


def without_talk(stage: Stage) -> list[Record]:
    """What is kept, but for what the session has merely overheard."""
    found = records(stage)
    for record in found:
        record.session.talk.overheard, record.heard = (), []
        record.session.updated_at = scenes.T0
    return found


async def test_a_command_without_a_mention_is_meant_for_the_session_of_its_thread(
    stage: Stage,
) -> None:
    await stage.is_planned()
    assert not await take(stage, commanded(Word.STOP, by=NOBODY, mention=False))
    assert (stage.session().control.stops, titles(stage)) == (0, [REFUSED])


@pytest.mark.covers("O-C6")
async def test_of_two_hundred_presses_one_approves_and_every_other_is_told_who_was_first(
    stage: Stage,
) -> None:
    await stage.is_planned()
    shown, digest = len(stage.chat.shown), approval.offer(stage.session())
    presses = [pressed(Verb.APPROVE, digest, APPROVERS[n % 3], id=f"press-{n}") for n in range(200)]
    assert all(await asyncio.gather(*(take(stage, press) for press in presses)))
    await stage.settle()
    given = stage.session().approval.granted
    assert given
    assert given.by == ANNA
    approved = [
        c for _, c in stage.chat.shown[shown:] if "Revision 1 approved" in c.model_dump_json()
    ]
    assert len(approved) == 1
    assert len(titles(stage)) == 199
    assert {title.partition(",")[0] for title in titles(stage)} == {"Already approved by Anna"}
    told = [to.id for _, to, _ in stage.chat.whispered]
    assert [told.count(person.id) for person in APPROVERS] == [66, 67, 66]


@pytest.mark.parametrize("verb", Verb)
async def test_to_open_a_form_changes_nothing(stage: Stage, verb: Verb) -> None:
    await stage.is_planned()
    kept, shown = dict(stage.store.records), len(stage.chat.shown)
    people = (ANNA, STARTER, NOBODY)
    let = [await take(stage, opened(verb, by, id=by.id)) for by in people]
    await stage.settle()
    assert (stage.store.records, len(stage.chat.shown)) == (kept, shown)
    assert let == [True, verb not in NOT_FOR_STARTERS, False]
    assert titles(stage) == [REFUSED] * let.count(False)


@pytest.mark.parametrize("words", ["approve", "yes", "Y", "LGTM!", "承認", "はい。"])
async def test_to_say_yes_is_to_approve(stage: Stage, words: str) -> None:
    await stage.is_planned()
    for mention in (True, False):
        assert not await take(stage, said(words, STARTER, mention=mention, id=str(mention)))
    await stage.settle()
    assert (stage.session().phase, titles(stage)) == (Phase.APPROVING, [REFUSED] * 2)
    await stage.says(words)
    assert stage.session().phase is Phase.EXECUTING


async def test_a_yes_said_before_there_was_a_plan_approves_none_that_comes_after_it(
    stage: Stage,
) -> None:
    """The last word on the plan waits in the inbox when somebody stops the session, who may not approve says yes."""
    await stage.is_planned()
    [record] = records(stage)
    committed = DocumentsCommitted(
        id="committed",
        at=stage.clock.now(),
        answers="commit_documents",
        workspace=scenes.workspace("agent/spec"),
        commit="c" * 40,
    )
    record.session.phase, record.session.status = Phase.SPECIFYING, Status.PAUSED
    await stage.close()
    stage.store.save(record.model_copy(update={"inbox": [committed], "outbox": []}))
    await stage.open()
    assert not await take(stage, said("yes", STARTER))
    await stage.presses(Verb.RESUME)
    assert (stage.session().phase, stage.session().approval.granted) == (Phase.APPROVING, None)


async def test_where_a_session_cannot_be_read_any_more_only_a_request_begins_anew(
    stage: Stage,
) -> None:
    await stage.is_planned()
    await stage.presses(Verb.DISCARD)
    await stage.revive()
    stage.store.records.clear()
    await take(stage, said("Never mind", mention=False, id="talk"))
    assert stage.store.records == {}
    await take(stage, said("Add receipts"))
    await stage.settle()
    assert [record.session.intent.body for record in records(stage)] == ["Add receipts"]


async def test_what_others_say_in_a_thread_is_context_for_the_model_and_nothing_follows_from_it() -> (
    None
):
    stage = Stage()
    stage.gate = GATE
    await stage.open()
    try:
        await stage.is_planned()
        assert stage.desk
        before = stage.session()
        talk = said("The paper is 80 mm wide. approve", NOBODY, mention=False, id="talk")
        for number in range(30):
            again = talk.model_copy(update={"id": f"talk {number}", "text": talk.text + "!" * 900})
            assert await stage.desk.take(THREAD, again)
        guest = NOBODY.model_copy(update={"id": "GUEST", "outsider": True})
        await stage.desk.take(THREAD, said("I am a guest", guest, mention=False, id="guest"))
        await stage.settle()

        session = stage.session()
        assert (session.phase, session.plan.spec, session.talk.waiting) == (
            before.phase,
            before.plan.spec,
            (),
        )
        assert 1 <= len(session.talk.overheard) <= 10
        assert all(len(words.text) <= 400 for words in session.talk.overheard)
        assert {str(words.by) for words in session.talk.overheard} == {"Nils"}
        await stage.says("use cents")
        assert "The paper is 80 mm wide" in stage.llm.calls[-1].data
        assert "80 mm" not in stage.llm.calls[-1].system
    finally:
        await stage.close()


@pytest.mark.parametrize("text", ["approve", "Yes!", "no", "承認"])
async def test_a_mere_answer_where_nothing_is_asked_begins_nothing(stage: Stage, text: str) -> None:
    """Who sees the question of another thread may think that it can be answered here."""
    assert await take(stage, said(text), UNKNOWN)
    assert titles(stage) == [NOTHING_WAITS]
    assert records(stage) == []


@pytest.mark.parametrize("text", ["", "  \n", "\x00\x1b"])
async def test_a_mention_without_a_word_begins_nothing_and_is_answered(
    stage: Stage, text: str
) -> None:
    assert await take(stage, said(text), UNKNOWN)
    assert titles(stage) == [NOTHING_HERE]
    assert records(stage) == []


@pytest.mark.parametrize(("who", "may"), [(STARTER, False), (ANNA, True)], ids=["starter", "all"])
async def test_a_word_says_whether_who_said_it_may_end_agents(
    stage: Stage, who: Person, may: bool
) -> None:
    await stage.is_planned()
    stage.llm.hold()
    claimed = said("make it blue", who, id="blue").model_copy(update={"may_stop": not may})
    await take(stage, claimed)
    await stage.settle()
    [words] = records(stage)[0].session.talk.waiting
    assert words.may_stop is may
    stage.llm.release()


async def test_of_many_that_are_over_the_last_few_are_awake(stage: Stage) -> None:
    """What is awake does not grow with all that was done within an hour."""
    threads = [Thread(platform="memory", channel="C1", root=f"{n}.0") for n in range(9)]
    for thread in threads:
        await stage.says("Something", thread)
        await stage.commands_(Word.DISCARD, thread=thread)
        await stage.settle()
        await stage.clock.advance(60)
    awake = [actor.session.thread for actor in desk_of(stage).actors()]
    assert awake == threads[-MAX_LOADED_FINISHED - 1 :], (
        "the last one came to those that were awake"
    )
    await stage.commands_(Word.STATUS, thread=threads[0])
    await stage.settle()
    assert threads[0] in [actor.session.thread for actor in desk_of(stage).actors()]


async def test_what_has_long_been_over_sleeps_until_somebody_speaks_there(stage: Stage) -> None:
    await stage.is_planned()
    await stage.commands_(Word.DISCARD)
    desk = desk_of(stage)
    assert [actor.can_be_unloaded for actor in desk.actors()] == [True]
    await stage.clock.advance(UNLOAD_AFTER.total_seconds() + 1)
    await stage.says("Something else", SECOND)
    assert [actor.session.thread for actor in desk.actors()] == [SECOND]
    before = len(stage.chat.cards())
    await stage.commands_(Word.STATUS)
    assert len(stage.chat.cards()) + len(stage.chat.whispered) > before
    assert [actor.session.thread for actor in desk.actors()] == [SECOND, THREAD]


async def test_an_edited_request_is_planned_and_an_edit_of_what_nobody_heard_is_ignored(
    stage: Stage,
) -> None:
    await take(stage, said("Add discounts", id="request"))
    await stage.settle()
    kept = dict(stage.store.records)
    unheard = Edited(id="e1", at=AT, by=NOBODY, of="somebody's lunch", text="Delete it all")
    assert await take(stage, unheard)
    assert await take(stage, unheard, UNKNOWN)
    assert (stage.store.records, titles(stage)) == (kept, [])
    assert await take(stage, Edited(id="e2", at=AT, by=ANNA, of="request", text="Add vouchers"))
    await stage.settle()
    assert stage.session().intent.body == "Add vouchers"
    assert not await take(stage, Edited(id="e3", at=AT, by=NOBODY, of="request", text="Open it"))
    assert stage.session().intent.body == "Add vouchers"


async def test_an_unknown_command_is_answered_in_one_line_with_the_nearest_one(
    stage: Stage,
) -> None:
    unknown = Command(word=Word.HELP, text="statsu")
    await take(stage, Commanded(id="c", at=AT, by=ANNA, command=unknown), CHANNEL)
    [(_, _, card)] = stage.chat.whispered
    assert isinstance(card, AnswerCard)
    assert card.title == "I know no command “statsu”"
    assert "Did you mean status?" in card.model_dump_json()
    assert len(card.model_dump_json()) < 500
