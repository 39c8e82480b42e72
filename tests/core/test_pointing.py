"""Commands that name no session: which one is meant, and that no other is touched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from bot.core.choices import Choice, Command, Style, Verb, Word
from bot.core.errors import Refused, Unavailable
from bot.core.gate import Door, Gate
from bot.core.people import Thread
from bot.core.session_commands import MAX_NAMED_SESSIONS, matching_sessions
from bot.core.states import Status
from tests.core.at_the_desk import (
    ANDY,
    CHANNEL,
    CLOSED,
    DIRECT,
    ELSEWHERE,
    LISTS,
    NOBODY,
    OPEN,
    OTHER_WORKSPACE,
    REFUSED,
    STARTER,
    FailingChat,
    begun,
    choices,
    command,
    commanded,
    passed_on,
    press,
    records,
    statuses,
    take,
    titles,
)
from tests.fakes.chat import ANNA
from tests.steps.scenes import asked, executing, running
from tests.stories.stage import Stage

pytestmark = pytest.mark.covers("O-C9")

PAUSED, ACTIVE = Status.PAUSED, Status.ACTIVE


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    stage.chat, stage.gate = FailingChat(), Gate({"memory": Door(LISTS, OPEN | {"W1:C3"})})
    await stage.open()
    yield stage
    await stage.close()


async def test_where_no_session_is_there_is_none_to_stop(stage: Stage) -> None:
    others = [await begun(stage, ELSEWHERE, ANDY), await begun(stage, OTHER_WORKSPACE)]
    await command(stage, Word.STOP)
    assert titles(stage) == ["There is no session here to stop."]
    assert statuses(stage, *others) == [ACTIVE] * 2


@pytest.mark.parametrize("place", [CHANNEL, DIRECT], ids=["channel", "direct"])
async def test_the_only_session_of_the_place_is_meant_whoever_began_it(
    stage: Stage, place: Thread
) -> None:
    here, own = await begun(stage, place, ANDY), await begun(stage, ELSEWHERE, ANNA)
    await command(stage, Word.STOP, place=place)
    assert statuses(stage, here, own) == [PAUSED, ACTIVE]
    assert titles(stage) == [passed_on(stage.session(here.thread))]
    assert "stopped" in [card.kind for card in stage.chat.cards(here.thread)]


async def test_of_several_one_is_picked_and_only_that_one_stops(stage: Stage) -> None:
    sessions = [await begun(stage, CHANNEL, by) for by in (ANNA, ANDY, ANNA)]
    paused = await begun(stage, CHANNEL)
    await press(stage, Choice(label="Stop", verb=Verb.STOP, about=paused.id))
    await command(stage, Word.STOP)
    assert statuses(stage, *sessions) == [ACTIVE] * 3
    assert {choice.about for choice in choices(stage)} == {session.id for session in sessions}
    [chosen] = [choice for choice in choices(stage) if choice.about == sessions[1].id]
    assert (chosen.verb, chosen.style) == (Verb.STOP, Style.DANGER)
    assert chosen.label == f"Stop {sessions[1].short} {stage.session(sessions[1].thread).title}"
    await press(stage, chosen)
    assert statuses(stage, *sessions) == [ACTIVE, PAUSED, ACTIVE]


async def test_where_none_is_here_ones_own_elsewhere_are_meant(stage: Stage) -> None:
    first, other = await begun(stage, ELSEWHERE), await begun(stage, ELSEWHERE, ANDY)
    await command(stage, Word.STOP)
    assert statuses(stage, first, other) == [PAUSED, ACTIVE]
    two = [await begun(stage, place) for place in (ELSEWHERE, DIRECT)]
    await command(stage, Word.STOP)
    assert {choice.about for choice in choices(stage)} == {session.id for session in two}


@pytest.mark.parametrize("argument", ["mine", "all-mine"])
async def test_all_that_one_has_begun_can_be_stopped_at_once(stage: Stage, argument: str) -> None:
    places = (CHANNEL, CHANNEL, ELSEWHERE, DIRECT)
    own = [await begun(stage, place) for place in places]
    others = [await begun(stage, CHANNEL, ANDY), await begun(stage, OTHER_WORKSPACE)]
    closed = await begun(stage, CLOSED)
    stage.gate = Gate({"memory": Door(LISTS, OPEN)})
    await stage.revive()
    await command(stage, Word.STOP, argument, place=own[0].thread)
    assert statuses(stage, *own) == [PAUSED] * 4
    assert statuses(stage, *others, closed) == [ACTIVE] * 3
    assert titles(stage).count(REFUSED) == 1


async def test_in_the_thread_of_a_session_that_one_is_meant(stage: Stage) -> None:
    first, second = await begun(stage, CHANNEL), await begun(stage, CHANNEL)
    await command(stage, Word.STOP, place=first.thread)
    assert (statuses(stage, first, second), titles(stage)) == ([PAUSED, ACTIVE], [])


@pytest.mark.parametrize("word", [Word.STATUS, Word.TASKS, Word.CATCH_UP, Word.INFO, Word.LOGS])
async def test_what_is_asked_of_several_is_told_of_the_one_that_is_picked(
    stage: Stage, word: Word
) -> None:
    await command(stage, word)
    assert titles(stage) == ["There is no session here."]
    sessions = [await begun(stage, CHANNEL) for _ in range(2)]
    await command(stage, word)
    assert titles(stage)[-1] == "Which session?"
    picked = [choice for choice in choices(stage) if choice.about.endswith(sessions[1].id)]
    assert [choice.verb for choice in picked] == [Verb.TELL]
    assert await press(stage, picked[0])
    await stage.settle()
    assert [record.heard.count(f"command:{word}") for record in records(stage)] == [0, 0]
    assert [len(record.heard) for record in records(stage)] == [1, 2]


@pytest.mark.parametrize("word", [Word.TESTS, Word.SET_UP])
async def test_a_command_that_is_set_goes_to_the_session_that_is_picked(
    stage: Stage, word: Word
) -> None:
    sessions = [await begun(stage, CHANNEL) for _ in range(2)]
    said = commanded(word, by=ANNA, id=stage.clock.new_id())
    await take(stage, said.model_copy(update={"command": Command(word=word, text="a: b")}), CHANNEL)
    await stage.settle()
    assert titles(stage)[-1] == "Which session?"
    [picked] = [choice for choice in choices(stage) if sessions[1].id in choice.about]
    assert await press(stage, picked)
    set_to = [
        record.session.tests.command if word is Word.TESTS else record.session.repository.set_up
        for record in records(stage)
    ]
    assert set_to.count("a: b") == 1


def test_to_stop_means_the_only_one_at_work() -> None:
    waits, at_work = asked(), executing(running("T001"))
    for sessions in ([waits, at_work], [at_work, waits]):
        meant = matching_sessions(Word.STOP, "", sessions, waits.thread, waits.owner)
        assert [session is at_work for session in meant] == [True]
    both = [at_work, executing(running("T001"))]
    assert len(matching_sessions(Word.STOP, "", both, waits.thread, waits.owner)) == 2
    assert (
        len(matching_sessions(Word.DISCARD, "", [waits, at_work], waits.thread, waits.owner)) == 2
    )


async def test_a_discard_without_an_id_is_always_picked_and_confirmed(stage: Stage) -> None:
    session = await begun(stage, CHANNEL)
    await command(stage, Word.DISCARD)
    assert statuses(stage, session) == [ACTIVE]
    [choice] = choices(stage)
    assert choice.confirm
    assert not await press(stage, choice, by=STARTER)
    assert statuses(stage, session) == [ACTIVE]
    await press(stage, choice)
    assert statuses(stage, session) == [Status.DISCARDED]


async def test_only_paused_sessions_are_offered_to_go_on(stage: Stage) -> None:
    sessions = [await begun(stage, CHANNEL) for _ in range(3)]
    for session in sessions[:2]:
        await command(stage, Word.STOP, session.short)
    await command(stage, Word.RESUME)
    assert {choice.about for choice in choices(stage)} == {s.id for s in sessions[:2]}
    await press(stage, choices(stage)[0])
    assert sorted(statuses(stage, *sessions)) == [ACTIVE, ACTIVE, PAUSED]


async def test_a_picker_that_is_stale_changes_nothing_and_says_so_to_one_person(
    stage: Stage,
) -> None:
    sessions = [await begun(stage, CHANNEL) for _ in range(2)]
    await command(stage, Word.STOP)
    stale = next(choice for choice in choices(stage) if choice.about == sessions[0].id)
    await press(stage, stale, by=ANDY)
    shown = len(stage.chat.shown)
    await press(stage, stale)
    assert not await press(stage, stale, by=NOBODY)
    told = [
        (to, title) for (_, to, _), title in zip(stage.chat.whispered, titles(stage), strict=True)
    ]
    assert (ANNA, "Nothing to stop: this session is paused.") in told
    assert told[-1] == (NOBODY, REFUSED)
    assert (len(stage.chat.shown), stage.session(sessions[0].thread).control.stops) == (shown, 1)
    assert statuses(stage, *sessions) == [PAUSED, ACTIVE]


async def test_nobody_has_to_pick_from_more_than_fits(stage: Stage) -> None:
    for _ in range(MAX_NAMED_SESSIONS + 1):
        await begun(stage, CHANNEL)
    await command(stage, Word.STOP)
    assert len(choices(stage)) == MAX_NAMED_SESSIONS


async def test_a_stop_that_comes_again_because_its_answer_was_lost_stops_no_other_session(
    stage: Stage,
) -> None:
    assert isinstance(stage.chat, FailingChat)
    here, own = await begun(stage, CHANNEL), await begun(stage, ELSEWHERE)
    stop = commanded(Word.STOP, id="again")
    stage.chat.failures = 1
    with pytest.raises(Unavailable):
        await take(stage, stop, CHANNEL)
    await stage.settle()
    assert await take(stage, stop, CHANNEL)
    await stage.revive()
    assert await take(stage, stop, CHANNEL)
    await stage.settle()
    assert statuses(stage, here, own) == [PAUSED, ACTIVE]
    assert [record.heard.count("again") for record in records(stage)] == [1, 0]


async def test_a_stop_of_all_that_was_interrupted_goes_on_when_it_comes_again(stage: Stage) -> None:
    assert isinstance(stage.chat, FailingChat)
    own = [await begun(stage, CHANNEL) for _ in range(3)]
    stop = commanded(Word.STOP, "all-mine", id="again")
    stage.chat.failures = 1
    with pytest.raises(Unavailable):
        await take(stage, stop, CHANNEL)
    await stage.settle()
    assert statuses(stage, *own).count(PAUSED) == 1
    assert await take(stage, stop, CHANNEL)
    await stage.settle()
    assert statuses(stage, *own) == [PAUSED] * 3


@pytest.mark.covers("B-FLOW-CONTINUE-1", "B-CMD-continue")
async def test_to_continue_without_an_id_means_the_session_that_ended_last_here(
    stage: Stage,
) -> None:
    older, newer = await begun(stage, CHANNEL), await begun(stage, CHANNEL)
    elsewhere = await begun(stage, ELSEWHERE)
    for minutes, session in ((1, older), (5, newer), (9, elsewhere)):
        record = stage.store.find(session.id)
        assert record
        record.session.status = Status.COMPLETED
        record.session.updated_at += timedelta(minutes=minutes)
        stage.store.save(record)

    await command(stage, Word.CONTINUE)

    heard = [stage.store.find(session.id) for session in (older, newer, elsewhere)]
    assert [len(record.heard) for record in heard if record] == [1, 2, 1]


async def test_what_failed_is_resumed_without_its_id_where_nothing_is_paused(stage: Stage) -> None:
    stage.repository.problem = Refused("no such repository")
    failed = await begun(stage, CHANNEL)
    assert statuses(stage, failed) == [Status.FAILED]
    stage.repository.problem = None
    await command(stage, Word.RESUME)
    assert statuses(stage, failed) == [ACTIVE]


async def test_of_what_is_under_way_resume_says_that_it_goes_on(stage: Stage) -> None:
    session = await begun(stage, CHANNEL)
    await command(stage, Word.RESUME)
    assert "This session is not stopped: it goes on by itself." in titles(stage)
    assert statuses(stage, session) == [ACTIVE]
