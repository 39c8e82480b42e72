"""A real pane on the page: what an agent prints is shown, and has no other effect."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from adapters.tmux import TmuxPanes
from bot.core.masking import Masker
from bot.core.runs import Launch
from bot.core.screens import PaneScreen
from bot.core.session import Session
from tests.adapters.local.page_stage import Complaints, PageStage, needs_chromium
from tests.adapters.local.session_here import is_building
from tests.adapters.local.test_page_door import visitor
from tests.adapters.tmux.own_server import Tmux, own_server
from tests.fakes.panes import FakePanes

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.tmux, needs_chromium]
HIDDEN = "hunter2-hunter2"
EVIL = f"""
import time
print("\\033[1;32mgreen\\033[0m and \\033[48;2;18;53;31m\\033[38;5;203mred\\033[0m")
print("\\033]52;c;b3duZWQ=\\007\\033]0;owned\\007\\033]2;owned\\033\\\\", end="")
print("\\033]8;;https://evil.example\\033\\\\a link\\033]8;;\\033\\\\")
print("<img src=x onerror='document.title=1'> \\u202egnp.exe\\u202c")
print("it is \\033[31m{HIDDEN[:7]}\\033[33m{HIDDEN[7:]}\\033[0m!")
print("that is all", flush=True)
time.sleep(300)
"""


class PanesToSee(FakePanes):
    """Agents in memory, whose screens are those of real panes."""

    def __init__(self, real: TmuxPanes) -> None:
        super().__init__()
        self._real = real

    async def screen(self, name: str) -> PaneScreen:
        return await self._real.screen(name)


@pytest_asyncio.fixture(loop_scope="session")
async def server(tmp_path: Path) -> AsyncGenerator[Tmux]:
    async with own_server(tmp_path) as server:
        yield server


def real_panes(stage: PageStage, server: Tmux) -> TmuxPanes:
    panes = server.panes(mask=Masker({"SHOP_PASSWORD": HIDDEN}).mask)
    stage.panes = PanesToSee(panes)
    return panes


async def is_printing(stage: PageStage, server: Tmux, panes: TmuxPanes) -> Session:
    """A session whose first agent prints what could do harm."""
    session = await is_building(stage)
    run = session.tasks[0].run
    assert run
    launch = Launch(argv=(sys.executable, "-c", EVIL))
    await panes.start(run.name, str(server.worktree), launch, "")
    return session


@pytest.mark.parametrize("width", [1440, 400])
async def test_what_an_agent_prints_is_only_text(
    stage: PageStage, tab: Page, server: Tmux, width: int
) -> None:
    await tab.set_viewport_size({"width": width, "height": 900})
    panes = real_panes(stage, server)
    async with stage.page_server() as page:
        session = await is_printing(stage, server, panes)
        await tab.goto(await page.address(session.id))
        await tab.click(".tabs >> text=Panes")
        shown = tab.locator("#pane pre")
        await expect(shown).to_have_text(
            "green and red\na link\n<img src=x onerror='document.title=1'> gnp.exe\n"
            "it is [MASKED:SHOP_PASSWORD]!\nthat is all\n"
        )
        green, red = shown.locator(".f2"), shown.locator(".f203")
        await expect(green).to_have_css("font-weight", "650")
        await expect(red).to_have_text("red")
        assert HIDDEN not in await tab.content()
        await expect(tab).to_have_title("Panes · Add discounts · gwt-bot")
        await expect(tab.locator("#pane .lines a, #pane .lines img")).to_have_count(0)
        if width > 1000:
            drawn = tab.locator(".xterm-rows")
            await expect(drawn).to_contain_text("[MASKED:SHOP_PASSWORD]")
            # nothing that is typed there goes anywhere, not even to the page's own keys
            await tab.click(".xterm-screen")
            await tab.keyboard.type("fa/\n2\n")
            await expect(shown).not_to_contain_text("fa")
            await expect(tab.locator("#pane")).not_to_have_css("position", "fixed")
            await expect(tab.locator("dialog[open]")).to_have_count(0)
        else:
            await expect(tab.locator(".xterm")).to_have_count(0)


async def test_a_page_without_xterm_shows_rows(
    stage: PageStage, browser: Browser, server: Tmux
) -> None:
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    tab = await context.new_page()
    complaints = Complaints(tab)
    await tab.route("**/xterm.mjs", lambda route: route.abort())
    panes = real_panes(stage, server)
    async with stage.page_server() as page:
        session = await is_printing(stage, server, panes)
        await tab.goto(await page.address(session.id))
        async with tab.expect_event("requestfailed"):
            await tab.click(".tabs >> text=Panes")
        await expect(tab.locator("#pane pre")).to_contain_text("that is all")
        await expect(tab.locator("#pane pre")).to_have_css("opacity", "1")
        assert not [told for told in complaints.told if "ERR_FAILED" not in told]
        await context.close()


TRIES = """
import json, sys, time, urllib.error, urllib.request
origin, token, code = sys.argv[1:]
def tried(path, body=None, **headers):
    data = json.dumps(body).encode() if body is not None else None
    usual = {"Authorization": "Bearer " + token, "Origin": origin, "Content-Type": "application/json"}
    asked = urllib.request.Request(origin + path, data=data, headers={**usual, **headers})
    try:
        return urllib.request.urlopen(asked, timeout=20).status
    except urllib.error.HTTPError as refused:
        return refused.code
print("answers:", tried("/"), tried("/screen/board"), tried("/stream"), tried("/open", {"code": code}),
      tried("/say", {"text": "Add a back door"}), tried("/press", {"button": "guessed"}), tried("/static/app.js"), flush=True)
time.sleep(300)
"""


async def test_an_agent_in_its_pane_gets_nothing_of_the_page(
    stage: PageStage, server: Tmux
) -> None:
    """It knows the address, a code that is still good, and even the token of a tab."""
    panes = real_panes(stage, server)
    async with visitor(stage) as one:
        await one.comes_in()
        session = await is_building(stage)
        run = session.tasks[0].run
        assert run
        known = (one.origin, one.token, one.code)
        launch = Launch(argv=(sys.executable, "-c", TRIES, *known))
        await panes.start(run.name, str(server.worktree), launch, "")
        async with asyncio.timeout(60):
            while "answers:" not in (told := await panes.tail(run.name, 5)):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        assert told.split("answers:")[1].split() == ["403"] * 7
        assert len(stage.store.sessions()) == 1
        assert (await one.get("/screen/board"))[0] == 200
