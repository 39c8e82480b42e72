"""A browser for all tests of the page, and a tab for each."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.adapters.local.page_stage import Complaints, PageStage, running_browser


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    async with running_browser() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, stage: PageStage) -> AsyncGenerator[Page]:
    """An empty tab in a browser of its own; at the end it must have complained of nothing."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    page = await context.new_page()
    complaints = Complaints(page)
    stage.tabs.append(page)
    yield page
    await context.close()
    assert complaints.told == []


@pytest.fixture
def stage(tmp_path: Path) -> PageStage:
    return PageStage(tmp_path)
