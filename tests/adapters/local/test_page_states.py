"""The board says of every session what `gwt-bot status --json` says of it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest

from bot.core.choices import Verb, Word
from bot.core.events import Broke
from bot.core.people import Thread
from bot.core.states import Status
from tests.adapters.local.page_stage import PageStage
from tests.adapters.local.test_page_door import Visitor, visitor

HERE = Thread(platform="console", channel="terminal", root="1")
OTHER = Thread(platform="console", channel="terminal", root="2")
State = Callable[[PageStage], Awaitable[None]]


async def asked(stage: PageStage) -> None:
    await stage.is_asked_here("Add discounts", HERE)


async def planned(stage: PageStage) -> None:
    await asked(stage)
    await stage.presses(Verb.DEFAULTS, thread=HERE)


async def building(stage: PageStage) -> None:
    await planned(stage)
    await stage.approves(HERE)


async def stopped(stage: PageStage) -> None:
    await building(stage)
    await stage.commands_(Word.STOP, thread=HERE)


async def built(stage: PageStage) -> None:
    await building(stage)
    await stage.agents_work(rounds=3)


async def merged(stage: PageStage) -> None:
    await built(stage)
    await stage.presses(Verb.MERGE, thread=HERE)


async def discarded(stage: PageStage) -> None:
    await asked(stage)
    await stage.presses(Verb.DISCARD, stage.session(HERE).id, thread=HERE)


async def failed(stage: PageStage) -> None:
    await building(stage)
    assert stage.desk
    (actor,) = stage.desk.actors()
    actor.tell(Broke(id="bug", at=stage.clock.now(), reason="a bug"))
    await stage.settle()
    assert stage.session(HERE).status is Status.FAILED


async def queued(stage: PageStage) -> None:
    """A second one in the same repository waits for its turn."""
    await building(stage)
    await stage.is_asked_here("Add a receipt", OTHER)
    await stage.presses(Verb.DEFAULTS, thread=OTHER)
    await stage.approves(OTHER)
    assert stage.session(OTHER).status is Status.QUEUED


STATES: tuple[State, ...] = (
    *(asked, planned, building, stopped, queued),
    *(built, merged, discarded, failed),
)


async def columns(page: Visitor) -> dict[str, list[str]]:
    """The sessions in each column of the board."""
    _, html = await page.get("/screen/board")
    parts = re.split(r'<section class="col[^"]*" id="(\w+)"', html)[1:]
    shown = dict(zip(parts[::2], parts[1::2], strict=True))
    return {name: re.findall(r'id="b-([0-9a-f-]+)"', part) for name, part in shown.items()}


@pytest.mark.parametrize("state", STATES)
async def test_the_board_has_each_session_where_its_status_says(
    stage: PageStage, state: State
) -> None:
    async with visitor(stage) as page:
        await page.comes_in()
        await state(stage)
        assert stage.desk
        told = await stage.desk.tell("status", "")
        assert isinstance(told, list)
        waits = [str(row["id"]) for row in told if isinstance(row, dict) and row["waits_for"]]
        at_work = [str(row["id"]) for row in told if isinstance(row, dict) and not row["waits_for"]]
        over = (Status.COMPLETED, Status.FAILED, Status.DISCARDED)
        done = [one.id for one in stage.store.sessions() if one.status in over]
        shown = {name: sorted(ids) for name, ids in (await columns(page)).items()}
        assert shown == {"need": sorted(waits), "work": sorted(at_work), "done": done}


async def test_the_states_that_were_tried_are_all_kinds_there_are(stage: PageStage) -> None:
    seen: set[str] = set()
    for state in STATES:
        one = PageStage(stage.folder / state.__name__)
        async with visitor(one) as page:
            await page.comes_in()
            await state(one)
            seen |= {name for name, ids in (await columns(page)).items() if ids}
    assert seen == {"need", "work", "done"}
