"""A bot in a process of its own, so that it has no loop in common with whoever measures it; it ends with its reader.

A line on its input is a question: what has it cost so far? The end of its input is its end.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PATIENCE = 30.0


@dataclass(frozen=True)
class Cost:
    """What a process has spent since it began."""

    cpu: float
    """Seconds of the processor."""
    loop_syncs: int
    """Times everything stood still until the disk had it."""
    loop_seconds: float
    other_syncs: int
    """In the background."""

    def since(self, earlier: Cost) -> Cost:
        return Cost(
            self.cpu - earlier.cpu,
            self.loop_syncs - earlier.loop_syncs,
            self.loop_seconds - earlier.loop_seconds,
            self.other_syncs - earlier.other_syncs,
        )

    @classmethod
    def read(cls, line: bytes) -> Cost:
        return cls(**json.loads(line))

    @property
    def line(self) -> str:
        return json.dumps(asdict(self)) + "\n"


class Bot:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def cost(self) -> Cost:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(b"\n")
        async with asyncio.timeout(_PATIENCE):
            return Cost.read(await self._process.stdout.readline())


@asynccontextmanager
async def started(program: str, *arguments: str) -> AsyncGenerator[Bot, None]:
    """`program` is one of the modules here that speak as bots."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"benchmarks.chats.{program}",
        *arguments,
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Bot(process)
    finally:
        assert process.stdin
        process.stdin.close()
        try:
            async with asyncio.timeout(_PATIENCE):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
