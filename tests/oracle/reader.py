"""Somebody whose client is another one: what matrix-js-sdk makes of the bot's words, as Element would show it."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.beds.synapse import Login

SCRIPT = Path(__file__).with_name("reader.mjs")
PATIENCE = 120.0


def packages() -> Path:
    """Where `fetch` has put them."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("GWT_BOT_TEST_ORACLE") or home / "gwt-bot" / "oracle")


def node() -> Path:
    return packages() / "node_modules" / ".bin" / "node"


class Reader:
    def __init__(self, process: Process) -> None:
        self._process = process
        self.seen: list[dict[str, Any]] = []

    async def sees(self, words: str = "", sender: str = "") -> dict[str, Any]:
        """Wait for a message that says this, or that somebody has sent and that says anything or nothing."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for one in self.seen:
                    if words in one.get("body", "") and sender in one.get("sender", ""):
                        return one
                await self._read()

    async def is_ready(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while not any(one.get("ready") for one in self.seen):
                await self._read()

    async def says(self, words: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{words}\n".encode())
        await self._process.stdin.drain()

    async def _read(self) -> None:
        assert self._process.stdout
        line = await self._process.stdout.readline()
        assert line, f"it has ended; it saw {self.seen}"
        told = json.loads(line)
        assert "error" not in told, told
        self.seen.append(told)


@asynccontextmanager
async def reader(
    url: str, login: Login, room: str, bot: str, *, only_signed: bool
) -> AsyncGenerator[Reader]:
    told = {
        "packages": str(packages()),
        "url": url,
        "user": login.user_id,
        "device": login.device_id,
        "token": login.access_token,
        "room": room,
        "bot": bot,
        "onlySigned": only_signed,
    }
    environ = {"PATH": os.environ["PATH"], "READER": json.dumps(told)}
    process = await asyncio.create_subprocess_exec(
        str(node()), str(SCRIPT), stdin=PIPE, stdout=PIPE, env=environ
    )
    try:
        one = Reader(process)
        await one.is_ready()
        yield one
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
