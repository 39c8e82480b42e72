"""How long does somebody wait for the first questions, apart from the time in which the model thinks?

    python -m benchmarks.first_answer

A real disk, real git and the played model behind a loopback socket, which does not think at all; chat and tmux are played
in memory. One person after the other asks, each in a new thread; the middle of all is shown, without the time of the calls to
the model, sockets included. Beside it stands what git needs to list the same files.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

from adapters.clock import SystemClock
from adapters.demo import STAGE_VARIABLE
from adapters.demo.model import PlayedModel
from adapters.git import GitRepository, GitWorktrees
from adapters.llm import LlmAccess, OpenAiLlm
from adapters.log import start_logging
from adapters.store import AuditFile, EvidenceFiles, JournalStore, TaskLogFiles
from benchmarks.ground import git, on_this_disk
from benchmarks.scan import made, seconds_of_the_list
from benchmarks.table import Row, Unit, at_most, beside, hand_in, told
from bot.core.cards import QuestionsCard
from bot.core.desk import Desk
from bot.core.gate import Gate, single_list_doors
from bot.core.git import Scan
from bot.core.llm import ModelRole, Reply, Tool, Turn
from bot.core.masking import Masker
from bot.core.people import Thread
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.core.world import Rules, World
from tests.fakes.agents import FakeAgents
from tests.fakes.chat import THREAD, MemoryChat
from tests.fakes.commands import FakeCommands
from tests.fakes.keeping import FakeBindings, FakePreferences, MemoryQuestions
from tests.fakes.panes import FakePanes

SIZES = (100, 50_000)
ROUNDS = 9
WARM = 3
PATIENCE = 60.0
PROMISED = 5.0
"""Seconds to the first answer."""
REQUEST = "Add a dark mode to the settings page, and remember what was chosen"
STAGE: Mapping[str, str] = {STAGE_VARIABLE: "tests"}
Result = TypeVar("Result")


class Stopwatch:
    def __init__(self) -> None:
        self.seconds = 0.0

    async def around(self, work: Awaitable[Result]) -> Result:
        start = time.perf_counter()
        try:
            return await work
        finally:
            self.seconds += time.perf_counter() - start

    def read(self) -> float:
        """What has gathered since it was read before."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


class TimedLlm(OpenAiLlm):
    def __init__(self, model: PlayedModel, masker: Masker) -> None:
        access = LlmAccess(model.base_url, model.name, model.key)
        super().__init__(access, mask=masker.mask)
        self.watch = Stopwatch()

    async def complete(
        self,
        system: str,
        data: str,
        *,
        schema: dict[str, object] | None,
        turns: Sequence[Turn] = (),
        tools: Sequence[Tool] = (),
        role: ModelRole = ModelRole.MAIN,
    ) -> Reply:
        return await self.watch.around(
            super().complete(system, data, schema=schema, turns=turns, tools=tools, role=role)
        )


class TimedRepository(GitRepository):
    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.watch = Stopwatch()

    async def scan(self, path: str, commit: str) -> Scan:
        return await self.watch.around(super().scan(path, commit))


@dataclass(frozen=True)
class Wait:
    """One person's, in seconds."""

    all: float
    model: float
    look: float


@dataclass(frozen=True)
class Bot:
    chat: MemoryChat
    llm: TimedLlm
    repository: TimedRepository

    async def asked(self, number: int) -> Wait:
        thread = THREAD.model_copy(update={"root": f"root-{number}"})
        start = time.perf_counter()
        await self.chat.say(REQUEST, thread=thread)
        await self.chat.until(lambda: self._answered(thread), seconds=PATIENCE)
        return Wait(
            time.perf_counter() - start, self.llm.watch.read(), self.repository.watch.read()
        )

    def _answered(self, thread: Thread) -> bool:
        return any(isinstance(card, QuestionsCard) for card in self.chat.cards(thread))


@asynccontextmanager
async def at_work(home: Path, top: Path) -> AsyncGenerator[Bot, None]:
    masker = Masker({})
    start_logging(home, top, masker.mask_personal)
    store = JournalStore(home)
    chat, repository = MemoryChat(), TimedRepository(home)
    async with PlayedModel(STAGE, delay=0) as model:
        llm = TimedLlm(model, masker)
        world = World(
            chats={THREAD.platform: chat},
            llm=llm,
            agents=FakeAgents(),
            panes=FakePanes(),
            repository=repository,
            worktrees=GitWorktrees(home),
            commands=FakeCommands(),
            store=store,
            clock=SystemClock(),
            rules=Rules(repository=str(top), agent="played"),
            masker=masker,
            home=str(home),
            archive=EvidenceFiles(home, masker),
            audit=AuditFile(home, masker),
            logbook=TaskLogWriter(TaskLogFiles(home, masker)),
            bindings=FakeBindings(),
            questions=MemoryQuestions(),
            preferences=FakePreferences(),
        )
        desk = Desk(world, Gate(single_list_doors(THREAD.platform, frozenset({chat.person.id}))))
        await desk.open()
        ear = asyncio.create_task(chat.listen(desk.take))
        try:
            yield Bot(chat, llm, repository)
        finally:
            chat.leave()
            await ear
            await desk.close()
            store.close()


async def main() -> None:
    rests, rows = list[float](), list[Row]()
    with on_this_disk() as folder:
        for size in SIZES:
            top = folder / str(size)
            commit = made(top, size)
            git(top, "reset", "--quiet", "--hard")
            async with at_work(folder / f"home-{size}", top) as bot:
                waits = [await bot.asked(number) for number in range(ROUNDS + WARM)][WARM:]
            least = median(seconds_of_the_list(top, commit) for _ in range(ROUNDS))
            rests.append(median(one.all - one.model for one in waits))
            look = told(median(one.look for one in waits), Unit.SECONDS)
            print(f"{size:,} files: {look} of it to look at the repository")
            what = f"the first questions in a repository of {size:,} files, without the model"
            rows.append(at_most("", what, rests[-1], PROMISED, floor=least, of="git ls-tree"))
    growth = f"the same: {SIZES[-1] // SIZES[0]:,} times the files"
    hand_in(*rows, beside("", growth, rests[-1], rests[0], of=f"{SIZES[0]:,} files", most=20))


if __name__ == "__main__":
    asyncio.run(main())
