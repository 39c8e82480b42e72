"""Whoever runs the bot and sits at its machine stops sessions of other chats, and has them go on: nobody else may."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.core.cards import AnswerCard
from bot.core.choices import Word
from bot.core.gate import Door, Gate, single_list_doors
from bot.core.people import Person, Role, Thread
from bot.core.projections.audit import Decision
from bot.core.states import Status
from tests.core.at_the_desk import CHANNEL, DIRECT, LISTS, begun, command, statuses
from tests.fakes.chat import MemoryChat
from tests.stories.stage import Stage

OWNER = Person(platform="console", id="local:0", name="root")
HERE = Thread(platform="console", channel="terminal", root="")
PAUSED, ACTIVE = Status.PAUSED, Status.ACTIVE


def gate(*, here: str = "console", roles: frozenset[Role] = frozenset(Role)) -> Gate:
    local = Door(dict.fromkeys(roles, frozenset({OWNER.id})))
    return Gate({"memory": Door(LISTS), "console": local}, here=here)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    stage.gate, stage.more_chats = gate(), {"console": MemoryChat(HERE, OWNER)}
    await stage.open()
    yield stage
    await stage.close()


async def says(stage: Stage, word: Word, id: str) -> str:
    """What whoever says it at the machine is told there."""
    before = len(stage.more_chats["console"].whispered)
    await command(stage, word, id, place=HERE, by=OWNER)
    told = stage.more_chats["console"].whispered[before:]
    assert all(person == OWNER and thread.platform == "console" for thread, person, _ in told)
    return " ".join(card.title for _, _, card in told if isinstance(card, AnswerCard))


@pytest.mark.parametrize("place", [CHANNEL, DIRECT], ids=["channel", "direct"])
async def test_a_session_of_another_chat_is_stopped_and_goes_on_from_here(
    stage: Stage, place: Thread
) -> None:
    session, other = await begun(stage, place), await begun(stage, CHANNEL)
    told = await says(stage, Word.STOP, session.short)
    assert told == f"Passed on to session {session.short} in memory: {session.title}"
    assert statuses(stage, session, other) == [PAUSED, ACTIVE]
    await says(stage, Word.RESUME, session.short)
    assert statuses(stage, session, other) == [ACTIVE, ACTIVE]
    allowed = [one for one in stage.audit.entries if one.decision is Decision.ALLOWED]
    assert (allowed[-1].who, allowed[-1].session) == ("console:local:0", session.id)


async def test_what_would_come_to_nothing_is_told_here_and_not_there(stage: Stage) -> None:
    session = await begun(stage, CHANNEL)
    shown = len(stage.chat.shown)
    told = await says(stage, Word.RESUME, session.short)
    assert told == f"Nothing to resume: session {session.short} is active."
    assert await says(stage, Word.CONTINUE, session.short)
    assert len(stage.chat.shown) == shown


@pytest.mark.parametrize("word", [Word.DISCARD, Word.INFO, Word.LOGS])
async def test_no_other_word_reaches_into_another_chat(stage: Stage, word: Word) -> None:
    session = await begun(stage, CHANNEL)
    told = await says(stage, word, session.short)
    assert told == f"I know no session {session.short}. sessions lists them."
    assert statuses(stage, session) == [ACTIVE]


@pytest.mark.parametrize(
    "shut",
    [
        pytest.param(gate(here=""), id="where no machine is known"),
        pytest.param(gate(roles=frozenset({Role.START})), id="who may not stop here"),
        pytest.param(
            Gate(single_list_doors("memory", frozenset({"U1"})), here="console"), id="no door"
        ),
    ],
)
async def test_without_the_right_here_nothing_is_stopped(stage: Stage, shut: Gate) -> None:
    session = await begun(stage, CHANNEL)
    await stage.close()
    stage.gate = shut
    await stage.open()
    await says(stage, Word.STOP, session.short)
    assert statuses(stage, session) == [ACTIVE]


async def test_people_of_other_chats_reach_no_session_of_this_machine(stage: Stage) -> None:
    session = await begun(stage, HERE, OWNER)
    await command(stage, Word.STOP, session.short, place=CHANNEL)
    assert statuses(stage, session) == [ACTIVE]


async def test_where_its_chat_is_not_at_work_a_session_does_not_go_on(stage: Stage) -> None:
    session = await begun(stage, CHANNEL)
    await stage.close()
    stage.platform, stage.chat = "console", stage.more_chats["console"]
    await stage.open()
    await stage.settle()
    # nobody could be told how it goes on, so it was stopped when the bot came back
    assert statuses(stage, session) == [PAUSED]
    told = await says(stage, Word.RESUME, session.short)
    assert "gwt-bot serve" in told
    assert statuses(stage, session) == [PAUSED]
    assert "Passed on" in await says(stage, Word.STOP, session.short)


async def test_only_the_sessions_that_are_wanted_are_brought_back(stage: Stage) -> None:
    one, other = await begun(stage, CHANNEL), await begun(stage, CHANNEL)
    await stage.close()
    assert stage.desk
    await stage.open(only=frozenset({one.id}))
    assert [actor.session.id for actor in stage.desk.actors()] == [one.id]
    assert statuses(stage, one, other) == [ACTIVE, ACTIVE]
