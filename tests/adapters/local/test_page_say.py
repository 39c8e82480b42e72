"""What the page does with what it is told: requests, commands, buttons of answers, things that are too long."""

from __future__ import annotations

from dataclasses import replace

import aiohttp
import pytest

from adapters.local.page import server as page
from bot.core.cards import AnswerCard
from bot.core.people import Thread
from tests.adapters.local.page_stage import PageStage
from tests.adapters.local.test_page_door import at, visitor
from tests.fakes.chat import THREAD

HERE = Thread(platform="console", channel="terminal", root="1")
THERE = Thread(platform="console", channel="terminal", root="2")
FILE = {"name": "notes.txt", "text": "Round down."}


async def test_a_button_of_an_answer_works(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        await stage.is_asked_here("Add discounts", HERE)
        await stage.is_asked_here("Add a receipt", THERE)
        await one.post("/say", {"text": "discard"})
        await stage.settle()
        _, html = await one.get("/screen/board")
        answers = html.partition('hx-target="#answers"')[2]
        name = answers.split('data-press="')[1].split('"')[0]
        assert "Which session?" in answers
        assert (await one.post("/press", {"button": name}))[0] == 200


async def test_only_the_plan_is_written_for_the_chosen_repository(stage: PageStage) -> None:
    stage.rules = replace(stage.rules, repositories={"till": "/srv/till"})
    async with visitor(stage) as one:
        await one.comes_in()
        asked = {"text": "spec Add discounts", "repository": "/srv/till"}
        assert (await one.post("/say", asked))[0] == 200
        (listed,) = stage.store.sessions()
        assert listed.repository == "/srv/till"


async def test_files_make_no_build_of_what_should_only_be_planned(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        status, told = await one.post("/say", {"text": "spec Add discounts", "files": [FILE]})
        assert (status, "Files" in told) == (400, True)
        assert stage.store.sessions() == []


async def test_a_folder_that_is_no_repository_of_the_bot_is_not_taken(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        status, told = await one.post("/say", {"text": "Add discounts", "repository": "/etc"})
        assert (status, "/etc" in told) == (400, False)
        assert stage.store.sessions() == []


async def test_what_is_too_long_is_said_and_nothing_asks_for_a_reload(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()
        status, told = await one.post("/say", {"text": "x" * 20_001})
        assert (status, told.partition(":")[0]) == (400, "That is too long")
        assert "20,000" in told
        assert "Reload" not in told


async def test_a_card_of_another_chat_is_news(stage: PageStage) -> None:
    async with visitor(stage) as one:
        await one.comes_in()

        async def state() -> int:
            async with one.http.get(one.origin + "/screen/board", headers=one.headers()) as answer:
                return int(answer.headers["X-State"])

        before = await state()
        stage.local.note_elsewhere(THREAD, AnswerCard(key="discarded", title="Discarded"))
        assert await state() > before


async def test_screens_that_were_looked_at_do_not_pile_up(
    stage: PageStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "LASTS_SECONDS", 0.0)
    async with stage.page_server() as server, aiohttp.ClientSession() as http:
        one = at(await server.address(), http)
        await one.comes_in()
        for word in range(5):
            assert (await one.get(f"/screen/history?find={word}"))[0] == 200
        assert len(server._made) == 1  # pyright: ignore[reportPrivateUsage] - what it keeps is seen nowhere else
