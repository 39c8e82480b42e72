"""A bot in memory with the local page open in a real browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest
from playwright.async_api import Browser, Page, async_playwright

from adapters.local.chat import LocalChat
from adapters.local.page.server import PageServer
from bot import settings
from bot.cli.page import BotPage
from bot.core.choices import Word
from bot.core.events import Commanded, Pressed, Said
from bot.core.gate import Gate, single_list_doors
from bot.core.people import Person, Thread
from tests.fakes.chat import THREAD
from tests.fakes.clock import FakeClock
from tests.stories.stage import Stage

ME = Person(platform="console", id="local:1", name="Mika")
CHROMIUM = which("chromium") or which("google-chrome") or ""
needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="there is no chromium here")


class PageStage(Stage):
    """The stage of the stories, whose person sits at the local chat."""

    def __init__(self, home: Path, begin: datetime | None = None) -> None:
        super().__init__()
        self.platform = "console"
        # events of the page itself carry the time of the machine
        self.clock = FakeClock(begin or datetime.now(UTC))
        self.folder = home
        self.tabs: list[Page] = []
        """The tabs that are left when the server ends."""
        self.local = LocalChat(home, ME)
        self.chat = self.local  # pyright: ignore[reportAttributeAccessIssue] - another chat in its place
        self.gate = Gate(single_list_doors("console", frozenset({ME.id})), here="console")

    async def tell(self, event: Said | Pressed | Commanded, thread: Thread = THREAD) -> None:
        by = ME if thread.platform == ME.platform else event.by
        await super().tell(event.model_copy(update={"by": by, "at": self.clock.now()}), thread)

    async def is_asked_here(self, request: str, thread: Thread) -> None:
        """A request typed at this machine, up to its questions."""
        said = Said(id=f"typed-{request}", at=datetime.now(UTC), by=ME, text=request)
        await self.tell(said, thread)

    async def asks_for_status(self, thread: Thread) -> None:
        """Somebody asks how it stands: the status card is shown anew."""
        await self.commands_(Word.STATUS, thread=thread)

    @asynccontextmanager
    async def page_server(self) -> AsyncGenerator[PageServer]:
        """The bot at work, with the server of its page."""
        await self.open()
        assert self.desk
        hearing = asyncio.create_task(self.local.listen(self.desk.take))
        server = PageServer(self.local, BotPage(self.desk, settings.load))
        try:
            yield server
        finally:
            for tab in self.tabs:
                await tab.goto("about:blank")  # it would try to connect again
            await server.close()
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)
            await self.close()


_AXE = find_spec("axe_playwright_python")
AXE = Path(_AXE.origin or "").with_name("axe.min.js").read_text() if _AXE else ""
VIOLATIONS = """tags => axe.run({runOnly: tags}).then(found =>
    found.violations.map(one => one.id + ' ' + one.nodes[0].html.slice(0, 200)))"""


async def obstacles(tab: Page) -> list[str]:
    """What WCAG 2.2 AA says against the page, as far as a program can see, and whether it is wider than the screen."""
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    await tab.evaluate(AXE)
    found: list[str] = await tab.evaluate(VIOLATIONS, tags)
    wide = await tab.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [*found, "wider than the screen"] if wide else found


@asynccontextmanager
async def running_browser() -> AsyncGenerator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM)
        try:
            yield browser
        finally:
            await browser.close()


class Complaints:
    """What a browser complains of: errors of scripts, violations of the policy, requests that failed."""

    def __init__(self, page: Page) -> None:
        self.told: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.told.append(str(error)))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.told.append(text)
