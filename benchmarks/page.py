"""How quick is the local page, and what does it cost?

python -m benchmarks.page
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from statistics import median, quantiles
from typing import cast
from urllib.parse import urlsplit
from uuid import uuid4

import aiohttp
import psutil
from playwright.async_api import Browser

from adapters.local.page.server import PageServer
from adapters.store import JournalStore
from benchmarks.ground import on_this_disk
from benchmarks.table import Row, Unit, at_most, hand_in, lacking
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.core.states import Status
from tests.adapters.local.page_stage import CHROMIUM, PageStage, running_browser
from tests.adapters.store.disks import HastyDisk
from tests.fakes.store import MemoryStore

SESSIONS, UNFINISHED = 1_000, 20
STREAMS = 50
CHANGES = 30
TIMES = 10


async def main() -> None:
    with on_this_disk() as folder:
        store = JournalStore(folder, disk=HastyDisk())
        stage = PageStage(folder)
        stage.store = cast(
            "MemoryStore", store
        )  # as it is in the program: a list in memory, journals on disk
        async with stage.page_server() as server:
            before = psutil.Process().memory_info().rss
            rows = [*await small(stage, server, before)]
            await filled(stage)
            rows += [*await large(server)]
            rows += [*await in_browser(server)]
        store.close()
    hand_in(*rows)


def thread(number: int) -> Thread:
    return Thread(platform="console", channel="terminal", root=str(number))


async def filled(stage: PageStage) -> None:
    """Sessions that wait for answers, and many more that are over."""
    for number in range(1, UNFINISHED):
        await stage.is_asked_here(f"Add discount number {number}", thread(number))
    known = stage.session(thread(0))
    for number in range(UNFINISHED, SESSIONS):
        over = {"id": str(uuid4()), "status": Status.COMPLETED, "thread": thread(number)}
        stage.store.save(Record(session=known.model_copy(update=over)))


class Reader:
    """A tab: one stream, and the screen asked for again whenever it says so."""

    def __init__(self, http: aiohttp.ClientSession, origin: str, token: str) -> None:
        self._http = http
        self._origin = origin
        self._headers = {"Authorization": f"Bearer {token}", "Sec-Fetch-Site": "same-origin"}
        self.seen = asyncio.Event()
        self.at = 0.0

    async def board(self, turn: int = 0) -> tuple[float, int]:
        begun = time.perf_counter()
        async with self._http.get(
            f"{self._origin}/screen/board?turn={turn}", headers=self._headers
        ) as answer:
            size = int(answer.headers.get("Content-Length", "0"))
            await answer.read()
        return time.perf_counter() - begun, size

    async def read(self) -> None:
        async with self._http.get(self._origin + "/stream", headers=self._headers) as stream:
            async for line in stream.content:
                if line.startswith(b"event: changed"):
                    await self.board()
                    self.at = time.perf_counter()
                    self.seen.set()


@asynccontextmanager
async def visiting(server: PageServer) -> AsyncGenerator[Reader]:
    parts = urlsplit(await server.address())
    origin = f"http://{parts.netloc}"
    headers = {"Origin": origin, "Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http:
        body = json.dumps({"code": parts.fragment.removeprefix("code=")})
        async with http.post(f"{origin}/open", data=body, headers=headers) as answer:
            token = (await answer.json())["token"]
        yield Reader(http, origin, token)


async def small(stage: PageStage, server: PageServer, before: int) -> list[Row]:
    """A change, until fifty tabs have the new board."""
    await stage.is_asked_here("Add discounts", thread(0))
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        readers = [await stack.enter_async_context(visiting(server)) for _ in range(STREAMS)]
        reading = [group.create_task(reader.read()) for reader in readers]
        took: list[float] = []
        for number in range(CHANGES + 1):
            for reader in readers:
                reader.seen.clear()
            begun = time.perf_counter()
            if number:
                stage.world.visits.changed(stage.session(thread(0)).id)
            await asyncio.gather(*(reader.seen.wait() for reader in readers))
            took += [reader.at - begun for reader in readers] if number else []
            await asyncio.sleep(0.1)
        memory = (psutil.Process().memory_info().rss - before) / 1_000_000
        for task in reading:
            task.cancel()
    p95 = quantiles(took, n=20)[-1]
    return [
        at_most("", f"page: a change on {STREAMS} pages, p95", p95, 0.1),
        at_most("", f"page: memory with {STREAMS} pages", memory, 30, unit=Unit.MEGABYTES),
    ]


async def large(server: PageServer) -> list[Row]:
    async with visiting(server) as reader:
        boards = [await reader.board(turn) for turn in range(1, TIMES + 1)]
    what = f"page: board of {SESSIONS:,} sessions"
    return [
        at_most("", what, median(seconds for seconds, _ in boards), 1.0),
        at_most("", f"{what}, kB", boards[-1][1] / 1000, 20, unit=Unit.COUNT),
    ]


async def in_browser(server: PageServer) -> list[Row]:
    if not CHROMIUM:
        return [lacking("", "page: first paint", "there is no chromium here")]
    painted, boards, asked = list[float](), list[float](), 0
    async with running_browser() as browser:
        for _ in range(TIMES):
            first, whole, more = await opened(browser, server)
            painted.append(first)
            boards.append(whole)
            asked = max(asked, more)
    return [
        at_most("", "page: first paint in a browser", median(painted), 0.3),
        at_most("", f"page: board of {SESSIONS:,} sessions in a browser", median(boards), 1.0),
        at_most("", "page: requests of an idle page in 3 s", asked, 0, unit=Unit.COUNT),
    ]


async def opened(browser: Browser, server: PageServer) -> tuple[float, float, int]:
    """Seconds to the first paint and to the board; then how many requests an idle page makes."""
    context = await browser.new_context()
    page = await context.new_page()
    address = await server.address()
    await page.goto(address)
    await page.wait_for_selector(".board .card")
    whole = await page.evaluate("performance.now()")
    first = await page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await asyncio.sleep(0.5)
    asked.clear()
    await asyncio.sleep(3 / TIMES)
    await context.close()
    return first / 1000, whole / 1000, len(asked)


if __name__ == "__main__":
    asyncio.run(main())
