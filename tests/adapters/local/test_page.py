"""The local page, in a real browser."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from bot.core.states import Status
from tests.adapters.local.page_stage import PageStage, needs_chromium

pytestmark = [pytest.mark.asyncio(loop_scope="session"), needs_chromium]


async def test_a_request_is_made_answered_and_approved_by_mouse(
    stage: PageStage, tab: Page
) -> None:
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
        (listed,) = stage.store.sessions()
        assert listed.status == Status.ACTIVE
