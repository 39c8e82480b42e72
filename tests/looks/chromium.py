"""A browser without a window, driven over its own socket: it opens pages, types, clicks, and takes pictures."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO_GET = "chromium is needed to take pictures: apt install chromium fonts-noto-cjk fonts-noto-color-emoji fonts-lato"
SECONDS = 60
_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--remote-debugging-port=0",
    "--remote-debugging-address=127.0.0.1",
)


def program() -> str | None:
    """Where it is; none: it is not installed."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Tab:
    """One page of the browser."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        async with asyncio.timeout(SECONDS):
            async for told in self._socket:
                if told.type is not WSMsgType.TEXT:
                    break
                answer = json.loads(told.data)
                if answer.get("id") == number:
                    if "error" in answer:
                        raise RuntimeError(f"{method}: {answer['error']}")
                    return answer["result"]
        raise RuntimeError(f"{method}: the browser is gone")

    async def run(self, script: str) -> Any:
        """What a script gives back; it may wait."""
        answer = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if problem := answer.get("exceptionDetails"):
            raise RuntimeError(f"{script[:80]}: {problem.get('exception', problem)}")
        return answer["result"].get("value")

    async def size(self, width: int, height: int = 900, scale: float = 1) -> None:
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    async def open(self, url: str) -> None:
        await self.call("Page.navigate", url=url)
        await self.until("document.readyState === 'complete'")

    async def show(self, html: str) -> None:
        """A page that comes from nowhere."""
        tree = await self.call("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        await self.call("Page.setDocumentContent", frameId=frame, html=html)
        await self.run("document.fonts.ready.then(() => true)")

    async def until(self, script: str, seconds: float = SECONDS) -> None:
        """Wait until a script says yes."""
        async with asyncio.timeout(seconds):
            while not await self.run(f"Boolean({script})"):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)

    async def picture(self, path: Path, *, whole: bool = True, tallest: int = 16_000) -> None:
        """Of the whole page, or of what the window shows of it."""
        height = await self.run("document.documentElement.scrollHeight") if whole else 0
        clip: dict[str, Any] = {}
        if whole:
            width = await self.run("document.documentElement.clientWidth")
            area = {"x": 0, "y": 0, "width": width, "height": min(height, tallest), "scale": 1}
            clip = {"clip": area, "captureBeyondViewport": True}
        shot = await self.call("Page.captureScreenshot", format="png", **clip)
        await asyncio.to_thread(_keep, path, base64.b64decode(shot["data"]))


@asynccontextmanager
async def tab() -> AsyncGenerator[Tab, None]:
    """A browser with one page; it ends with the block."""
    binary = program()
    if binary is None:
        raise SystemExit(HOW_TO_GET)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            binary,
            *_ARGUMENTS,
            f"--user-data-dir={profile}",
            "about:blank",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with ClientSession() as http:
                url = await _page(http, Path(profile) / "DevToolsActivePort")
                async with http.ws_connect(url, max_msg_size=0) as socket:
                    yield Tab(socket)
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


async def _page(http: ClientSession, port: Path) -> str:
    """Where the first page listens. The browser writes down its port when it is ready."""
    async with asyncio.timeout(SECONDS):
        while not (number := _written(port)):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    async with http.get(f"http://127.0.0.1:{number}/json/list") as answer:
        pages = [one for one in await answer.json() if one["type"] == "page"]
    return str(pages[0]["webSocketDebuggerUrl"])


def _written(port: Path) -> str:
    words = port.read_text().split() if port.exists() else []
    return words[0] if words else ""


def _keep(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
