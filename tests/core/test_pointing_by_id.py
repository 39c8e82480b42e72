"""Commands that name a session by its id: only of one's own organisation, and only where one may."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import product

import pytest

from bot.core.choices import Choice, Verb, Word
from bot.core.gate import Door, Gate
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.core.session import Session
from bot.core.states import Status
from tests.core.at_the_desk import (
    CHANNEL,
    CLOSED,
    DIRECT,
    LISTS,
    OPEN,
    OTHER_PLATFORM,
    OTHER_WORKSPACE,
    REFUSED,
    FailingChat,
    begun,
    command,
    desk_of,
    passed_on,
    press,
    statuses,
    titles,
)
from tests.fakes.chat import ANNA
from tests.steps import scenes
from tests.stories.stage import Stage

PAUSED, ACTIVE = Status.PAUSED, Status.ACTIVE


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    stage.chat, stage.gate = FailingChat(), Gate({"memory": Door(LISTS, OPEN | {"W1:C3"})})
    await stage.open()
    yield stage
    await stage.close()


def lodged(stage: Stage, place: Thread) -> Session:
    """A session that is on disk, and of a place the people here have nothing to do with."""
    session = scenes.awaiting_approval()
    session.thread, session.owner = place.model_copy(update={"root": "lodged"}), ANNA
    stage.store.save(Record(session=session))
    return session


@pytest.mark.parametrize("word", [Word.STOP, Word.RESUME, Word.DISCARD, Word.STATUS, Word.INFO])
@pytest.mark.parametrize("place", [OTHER_WORKSPACE, OTHER_PLATFORM], ids=["workspace", "platform"])
async def test_a_session_of_others_is_unknown_also_by_its_id(
    stage: Stage, word: Word, place: Thread
) -> None:
    session = lodged(stage, place)
    kept = dict(stage.store.records)
    await command(stage, word, session.short)
    assert titles(stage) == [f"I know no session {session.short}. sessions lists them."]
    verb = Verb(word) if word in set(Verb) else Verb.STOP
    await press(stage, Choice(label="forged", verb=verb, about=session.id))
    assert "I know no session" in titles(stage)[1]
    await command(stage, Word.SESSIONS)
    assert session.id[:8] not in stage.chat.whispered[-1][2].model_dump_json()
    assert stage.store.records == kept


@pytest.mark.parametrize("place", [CHANNEL, DIRECT], ids=["in a channel", "among the two"])
async def test_what_two_talk_of_alone_is_listed_only_there(stage: Stage, place: Thread) -> None:
    session = await begun(stage, DIRECT)
    await command(stage, Word.SESSIONS, place=place)
    listed = session.short in stage.chat.whispered[-1][2].model_dump_json()
    assert listed is (place == DIRECT)


@pytest.mark.parametrize("word", [Word.STOP, Word.DISCARD, Word.STATUS, Word.INFO])
async def test_a_session_of_a_place_that_is_closed_now_is_out_of_reach(
    stage: Stage, word: Word
) -> None:
    session = await begun(stage, CLOSED)
    stage.gate = Gate({"memory": Door(LISTS, OPEN)})
    await stage.revive()
    await stage.settle()
    kept, shown = dict(stage.store.records), len(stage.chat.shown)
    await command(stage, word, session.short)
    assert titles(stage) == [REFUSED]
    assert (stage.store.records, len(stage.chat.shown)) == (kept, shown)


@pytest.mark.parametrize(
    ("word", "with_id"),
    [
        (Word.USAGE, True),  # without an id it is about all sessions
        *product((Word.STATUS, Word.TASKS, Word.INFO, Word.LOGS, Word.RESUME), (True, False)),
    ],
)
async def test_what_is_asked_of_the_only_session_is_answered_in_its_thread(
    stage: Stage, word: Word, with_id: bool
) -> None:
    session = await begun(stage, CHANNEL)
    await press(stage, Choice(label="Stop", verb=Verb.STOP), place=session.thread)
    shown = len(stage.chat.shown)
    await command(stage, word, session.short if with_id else "")
    new = stage.chat.shown[shown:]
    assert new
    assert all(thread == session.thread for thread, _ in new)
    assert titles(stage) == [passed_on(stage.session(session.thread))]
    assert statuses(stage, session) == [ACTIVE if word is Word.RESUME else PAUSED]


async def test_a_session_that_is_over_is_found_by_its_id_and_stays_over(stage: Stage) -> None:
    session = await begun(stage, CHANNEL)
    await command(stage, Word.DISCARD, session.short)
    await stage.revive()
    assert desk_of(stage).actors() == ()
    await command(stage, Word.INFO, session.short)
    assert stage.chat.cards(session.thread)[-1].key.startswith("answer:")
    await command(stage, Word.RESUME, session.short)
    await command(stage, Word.STOP)
    assert "Nothing to resume: this session is discarded." in titles(stage)
    assert titles(stage)[-1] == "There is no session here to stop."
    assert statuses(stage, session) == [Status.DISCARDED]


async def test_in_its_own_thread_nothing_is_passed_on(stage: Stage) -> None:
    session = await begun(stage, CHANNEL)
    await command(stage, Word.STOP, session.short, place=session.thread)
    assert (statuses(stage, session), titles(stage)) == ([PAUSED], [])
