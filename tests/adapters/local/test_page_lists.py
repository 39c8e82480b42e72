"""The screens of the page that list, and sessions of other chats."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from bot.core.gate import Gate, single_list_doors
from bot.core.people import Thread
from bot.core.states import Status
from tests.adapters.local.page_stage import PageStage, needs_chromium
from tests.fakes.chat import ANNA, THREAD, MemoryChat

pytestmark = [pytest.mark.asyncio(loop_scope="session"), needs_chromium]
HERE = Thread(platform="console", channel="terminal", root="1")


async def test_a_session_of_another_chat_is_shown_and_can_only_be_stopped_here(
    stage: PageStage, tab: Page
) -> None:
    stage.more_chats = {"memory": MemoryChat()}
    doors = single_list_doors("memory", frozenset({ANNA.id}))
    stage.gate = Gate({**stage.gate.doors, **doors}, here="console")
    async with stage.page_server() as server:
        stage.world.visits.shown = stage.local.note_elsewhere
        await stage.is_planned("Add discounts", THREAD)
        await tab.goto(await server.address())
        card = tab.locator("#need .card")
        await expect(card.locator("h3")).to_have_text("Add discounts")
        await expect(card.locator("button")).to_have_count(0)
        await card.locator("h3 a").click()
        await expect(tab.locator(".thread .msg h2").first).to_contain_text("Got it")
        await expect(tab.locator(".thread button")).to_have_count(0)
        await expect(tab.locator(".thread")).to_contain_text("This session lives in memory")
        await tab.click("button:has-text('Stop')")
        await expect(tab.locator(".title .tag")).to_have_text("Paused")
        assert stage.session(THREAD).status is Status.PAUSED


async def test_the_board_shows_what_is_chosen(stage: PageStage, tab: Page) -> None:
    stage.more_chats = {"memory": MemoryChat()}
    doors = single_list_doors("memory", frozenset({ANNA.id}))
    stage.gate = Gate({**stage.gate.doors, **doors}, here="console")
    async with stage.page_server() as server:
        await stage.is_planned("Add discounts", THREAD)
        await stage.is_asked_here("Add a receipt", HERE)
        await tab.goto(await server.address())
        await expect(tab.locator("#need .card")).to_have_count(2)
        await tab.select_option("select[name=who]", "mine")
        where = tab.locator("#need .card .meta span:first-child")
        await expect(where).to_have_text(["here"])
        await tab.select_option("select[name=who]", "")
        await tab.select_option("select[name=chat]", "memory")
        await expect(where).to_have_text(["memory"])


async def test_the_lists_have_what_their_commands_tell(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        await stage.is_asked_here("Add discounts", HERE)
        await tab.goto(await server.address())
        await tab.click("#nav-inbox")
        await expect(tab.locator(".card.need h3")).to_have_text("Add discounts")
        await tab.click("#nav-intents")
        await expect(tab.locator(".rows li")).to_contain_text("Add discounts")
        await tab.click("#nav-branches")
        await tab.click(".rows button:has-text('Show')")
        await expect(tab.locator(".side .msg h2")).to_contain_text("Branch ")
        await tab.click("#nav-history")
        await expect(tab.locator("tbody td").first).to_have_text("Add discounts")
        await tab.fill("[name=find]", "nothing like it")
        await tab.press("[name=find]", "Enter")
        await expect(tab.locator("tbody")).to_contain_text("Nothing is found.")


async def test_a_command_without_a_session_is_answered_until_it_is_closed(
    stage: PageStage, tab: Page
) -> None:
    async with stage.page_server() as server:
        await stage.is_asked_here("Add discounts", HERE)
        await tab.goto(await server.address())
        await tab.click("#need h3 a")
        await tab.click("[data-quick=context]")
        await expect(tab.locator("#answers")).to_contain_text("Lines shown")
        await tab.click("#answers [data-close]")
        await expect(tab.locator("#answers .answer")).to_have_count(0)
        await tab.fill(".composer textarea", "usage")
        await tab.press(".composer textarea", "Control+Enter")
        answer = tab.locator("#answers .answer")
        await expect(answer).to_contain_text("Usage")
        await answer.locator("[data-close]").click()
        await expect(answer).to_have_count(0)
