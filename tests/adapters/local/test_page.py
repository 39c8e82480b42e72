"""The local page, in a real browser."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from bot.core.states import Status
from tests.adapters.local.page_stage import PageStage, needs_chromium
from tests.adapters.local.session_here import is_building

pytestmark = [pytest.mark.asyncio(loop_scope="session"), needs_chromium]


async def test_the_whole_story_by_mouse(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        await tab.goto(await server.address())
        await expect(tab.locator("#state")).to_contain_text("Live")
        await tab.click("text=New request")
        await tab.fill("#request-text", "Add discounts")
        await tab.click("text=Ask for it")
        await tab.click("text=Send answers")
        await expect(tab.locator("h1")).to_have_text("Add discounts")
        await tab.click("button:has-text('Approve')")
        await expect(tab.locator(".steps [aria-current=step]")).to_have_text("Build")
        await stage.agents_work(rounds=3)
        await tab.click("nav.tabs >> text=Result")
        await tab.click("button:has-text('Merge into main')")
        await expect(tab.locator("#ask")).to_contain_text("into your local main?")
        await tab.click("#ask-yes")
        await expect(tab.locator(".title .tag.done")).to_contain_text("Completed")
        await tab.click("#nav-board")
        await expect(tab.locator("#done .card h3")).to_have_text("Add discounts")
        (listed,) = stage.store.sessions()
        assert listed.status == Status.COMPLETED
        noted = {entry.what for entry in stage.audit.entries if entry.event.startswith("web-")}
        assert {"said", "press answer", "press approve", "press merge"} <= noted
        assert {entry.who for entry in stage.audit.entries} == {"console:local:1"}


async def test_an_address_leads_to_a_screen_of_a_session(stage: PageStage, tab: Page) -> None:
    async with stage.page_server() as server:
        session = await is_building(stage)
        await tab.goto(await server.address(f"{session.short}/tasks"))
        await expect(tab.locator("nav.tabs [aria-current]")).to_contain_text("Tasks")
        await expect(tab.locator("h1")).to_have_text("Add discounts")
