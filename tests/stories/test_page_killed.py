"""The bot is killed while somebody presses a button on its page: what was acknowledged holds, and nothing counts twice."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.test_house import ROOT

LATEST = 60
"""Seconds within which everything here has to happen, on any machine."""


@dataclass
class OpenPage:
    origin: str
    http: aiohttp.ClientSession
    token: str = ""

    async def post(self, path: str, body: object) -> tuple[int, dict[str, object]]:
        headers = {
            "Origin": self.origin,
            "Content-Type": "application/json",
            "Authorization": f"Bearer {self.token}",
        }
        async with self.http.post(self.origin + path, json=body, headers=headers) as answer:
            told = await answer.text()
            return answer.status, json.loads(told) if answer.status == 200 else {"why": told}

    async def screen(self, path: str) -> str:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self.http.get(f"{self.origin}/screen/{path}", headers=headers) as answer:
            return await answer.text()

    async def shows(self, path: str, wanted: str) -> str:
        """Ask for the screen until it matches, and return what was matched."""
        async with asyncio.timeout(LATEST):
            while not (found := re.search(wanted, await self.screen(path))):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return found[1]


@asynccontextmanager
async def demo(folder: Path) -> AsyncGenerator[tuple[OpenPage, asyncio.subprocess.Process]]:
    """The program itself, and its page."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "web", "--demo", "--no-open"),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    try:
        async with asyncio.timeout(LATEST):
            parts = urlsplit((await process.stdout.readline()).decode().strip())
        async with aiohttp.ClientSession() as http:
            page = OpenPage(f"http://{parts.netloc}", http)
            code = parts.fragment.removeprefix("code=")
            page.token = str((await page.post("/open", {"code": code}))[1]["token"])
            yield page, process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("after", [0.0, 0.002, 0.01, 0.05])
async def test_a_press_counts_once_or_not_at_all(tmp_path: Path, after: float) -> None:
    request = {"text": "Add discount codes and a printable receipt to the basket"}
    async with demo(tmp_path) as (page, process):
        session = str((await page.post("/say", request))[1]["session"])
        button = await page.shows(f"s/{session}", 'data-answers="([^"]+)"')
        answers = {"button": button, "answers": {"1": "Yes, one after the other"}}
        pressing = asyncio.create_task(page.post("/press", answers))
        await asyncio.sleep(after)
        process.kill()
        try:
            acknowledged = (await pressing)[0] == 200
        except aiohttp.ClientError:
            acknowledged = False
    async with demo(tmp_path) as (page, _):
        await page.shows(f"s/{session}", "(D2)")
        await page.post("/say", {"text": "defaults", "session": session})
        await page.shows(f"s/{session}", "(Shall I build)")
        html = await page.screen(f"s/{session}")
        assert len(re.findall(r"<h2>Shall I build", html)) == 1
        counted = html.count("→ Yes, one after the other")
        assert counted == 1 if acknowledged else counted <= 1
