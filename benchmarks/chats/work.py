"""What runs in the process of a bot: the desk on a real disk in a world of fakes, its costs counted, until the input ends."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.clock import SystemClock
from adapters.log import start_logging
from adapters.store import AuditFile, EvidenceFiles, JournalStore, TaskLogFiles
from benchmarks.chats.process import Cost
from bot.core.desk import Desk
from bot.core.gate import Door, Gate
from bot.core.masking import Masker
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.core.world import Rules, World
from bot.ports import Chat, Store
from tests.fakes.agents import FakeAgents
from tests.fakes.commands import FakeCommands
from tests.fakes.keeping import FakeBindings, FakePreferences, MemoryQuestions
from tests.fakes.llm import ScriptedLlm
from tests.fakes.panes import FakePanes
from tests.fakes.repository import FakeRepository
from tests.fakes.worktrees import FakeWorktrees

Sync = Callable[[int], None]


class Syncs:
    """Counts every wait for the disk of this process, and times those of the event loop."""

    def __init__(self) -> None:
        self._loop = threading.current_thread()
        self._count, self._seconds, self._others = 0, 0.0, 0
        os.fsync, os.fdatasync = self._counted(os.fsync), self._counted(os.fdatasync)

    @property
    def cost(self) -> Cost:
        return Cost(time.process_time(), self._count, self._seconds, self._others)

    def _counted(self, sync: Sync) -> Sync:
        def counted(fd: int) -> None:
            begun = time.perf_counter()
            sync(fd)
            if threading.current_thread() is self._loop:
                self._count += 1
                self._seconds += time.perf_counter() - begun
            else:
                self._others += 1

        return counted


@asynccontextmanager
async def at_the_desk(
    home: Path, platform: str, chat: Chat, door: Door
) -> AsyncGenerator[Desk, None]:
    """A bot at work whose model never answers: it surveys the repository, says so, and waits."""
    store = JournalStore(home)
    try:
        async with open_desk(world_at(home, {platform: chat}, store), platform, door) as desk:
            yield desk
    finally:
        store.close()


@asynccontextmanager
async def open_desk(world: World, platform: str, door: Door) -> AsyncGenerator[Desk, None]:
    desk = Desk(world, Gate({platform: door}))
    try:
        await desk.open()
        yield desk
    finally:
        await desk.close()


def world_at(home: Path, chats: dict[str, Chat], store: Store) -> World:
    masker, repository, llm = Masker({}), FakeRepository(), ScriptedLlm()
    start_logging(home, home, masker.mask_personal)
    llm.hold()
    return World(
        chats=chats,
        llm=llm,
        agents=FakeAgents(),
        panes=FakePanes(),
        repository=repository,
        worktrees=FakeWorktrees(repository),
        commands=FakeCommands(),
        store=store,
        clock=SystemClock(),
        rules=Rules(repository=repository.path, agent="played"),
        masker=masker,
        home=str(home),
        archive=EvidenceFiles(home, masker),
        audit=AuditFile(home, masker),
        logbook=TaskLogWriter(TaskLogFiles(home, masker)),
        bindings=FakeBindings(),
        questions=MemoryQuestions(),
        preferences=FakePreferences(),
    )


async def until_asked_to_end(syncs: Syncs, listening: Awaitable[object]) -> None:
    """Listen, and tell what it costs whenever a line comes in."""
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    ear = asyncio.ensure_future(listening)
    try:
        while not ear.done() and await lines.readline():
            sys.stdout.write(syncs.cost.line)
            sys.stdout.flush()
    finally:
        ear.cancel()
        await asyncio.gather(ear, return_exceptions=True)
