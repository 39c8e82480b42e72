"""The fakes, made watchful: each tells the watch what is about to take effect, and agents in panes come to life."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from bot.core.errors import Lost
from bot.core.forge import NOTHING_KNOWN, ChecksWanted, MergeTried, Pull, PullWanted
from bot.core.projections.records import Record
from bot.core.runs import Executed, Launch, Pane
from bot.ports import IndexedSession
from tests.fakes.commands import FakeCommands
from tests.fakes.forge import FakeForge
from tests.fakes.panes import FakePanes
from tests.fakes.repository import FakeRepository
from tests.fakes.store import StoredLine
from tests.fakes.worktrees import FakeWorktrees
from tests.simulation.loop import VirtualLoop
from tests.simulation.watch import Watch

BEGIN = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)


class Wall:
    """The wall clock of the machine: it may be set."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.loop = loop
        self.skew = 0.0
        self.ids = 0

    def shows(self) -> datetime:
        return BEGIN + timedelta(seconds=self.loop.time() + self.skew)


class WallClock:
    """The `Clock` port of one life: as the real one it never runs backwards, and its ticks do not depend on the wall."""

    def __init__(self, wall: Wall) -> None:
        self._wall = wall
        self._latest = wall.shows()

    def now(self) -> datetime:
        self._latest = max(self._latest, self._wall.shows())
        return self._latest

    def new_id(self) -> str:
        self._wall.ids += 1
        return str(UUID(int=self._wall.ids << 96 | self._wall.ids, version=4))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def every(self, seconds: float, name: str) -> AsyncGenerator[datetime, None]:
        due = self._wall.loop.time() + seconds
        while True:
            await asyncio.sleep(max(0.0, due - self._wall.loop.time()))
            yield self.now()
            missed = max(0, int((self._wall.loop.time() - due) / seconds))
            due += seconds * (1 + missed)


class DurableStore:
    """What was saved is there for the next life. It becomes text when one reads it: half of a schedule's time else."""

    def __init__(self, watch: Watch, saved: Callable[[Record], None]) -> None:
        self.records: dict[str, Record] = {}
        self.broken: tuple[str, ...] = ()
        self.saves = 0
        self._watch, self._saved = watch, saved

    def load(self) -> list[Record]:
        found = [self._read(record) for record in self.records.values()]
        return [r for r in found if not r.session.over or r.inbox or r.outbox]

    def find(self, session_id: str) -> Record | None:
        found = [r for id, r in self.records.items() if session_id and id.startswith(session_id)]
        return self._read(found[0]) if len(found) == 1 else None

    def save(self, record: Record) -> None:
        self._watch.saves(self.records.get(record.session.id), record)
        self.records[record.session.id] = record
        self.saves += 1
        self._saved(record)

    def sessions(self) -> list[IndexedSession]:
        lines = [
            StoredLine(
                id=session.id,
                thread=session.thread,
                title=session.title,
                status=session.status.value,
                phase=session.phase.value,
                repository=session.repository.path,
                updated_at=session.updated_at,
            )
            for session in (record.session for record in self.records.values())
        ]
        return [*sorted(lines, key=lambda line: line.updated_at, reverse=True)]

    def _read(self, record: Record) -> Record:
        return Record.model_validate_json(record.model_dump_json())


class LivelyPanes(FakePanes):
    def __init__(self, watch: Watch, comes_to_life: Callable[[str, str, str], None]) -> None:
        super().__init__()
        self._watch, self._comes_to_life = watch, comes_to_life

    async def start(self, name: str, cwd: str, launch: Launch, prompt: str) -> Pane:
        new = len(self.started)
        if name not in self.started:
            if self._watch.has_just_gone(cwd):
                raise Lost(f"The worktree {cwd} is not there.")
            self._watch.starts(name, cwd, self)
        pane = await super().start(name, cwd, launch, prompt)
        if len(self.started) > new:
            self._comes_to_life(name, cwd, prompt)
        return pane


class WatchedWorktrees(FakeWorktrees):
    def __init__(self, watch: Watch, *repositories: FakeRepository) -> None:
        super().__init__(*repositories)
        self._watch = watch

    def vanish(self, path: str) -> None:
        super().vanish(path)
        self._watch.vanished(path)

    async def prepare(self, repository: str, branch: str, path: str, start: str) -> str:
        self._watch.prepares(branch)
        return await super().prepare(repository, branch, path, start)

    async def move_base(self, repository: str, base_branch: str, commit: str) -> None:
        self._watch.moves_base(self._repositories[repository], commit)
        await super().move_base(repository, base_branch, commit)


class WatchedCommands(FakeCommands):
    """`fails` says whether a test run fails."""

    def __init__(self, watch: Watch, fails: Callable[[], bool]) -> None:
        super().__init__()
        self._watch, self._fails = watch, fails

    async def run(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        self._watch.tests(cwd)
        await asyncio.sleep(20)
        if self._fails():
            self.ran.append((cwd, command))
            return Executed(exit_code=1, seconds=20, output="AssertionError", output_path=log)
        return await super().run(cwd, command, seconds=seconds, log=log)

    async def test(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        if "/agent-base-" in cwd:
            await asyncio.sleep(20)
        return await super().test(cwd, command, seconds=seconds, log=log)


class WatchedForge(FakeForge):
    def __init__(self, watch: Watch, repository: FakeRepository) -> None:
        super().__init__(repository)
        self._watch = watch

    async def publish(self, repository: str, slug: str, branch: str, commit: str) -> None:
        self._watch.publishes(branch)
        await super().publish(repository, slug, branch, commit)

    async def open(self, slug: str, wanted: PullWanted) -> Pull:
        self._watch.publishes(wanted.branch)
        pull = await super().open(slug, wanted)
        self._watch.opened(self)
        return pull

    async def merge(
        self,
        slug: str,
        number: int,
        head: str,
        title: str,
        checks: ChecksWanted = NOTHING_KNOWN,
    ) -> MergeTried:
        self._watch.merges(self.pulls[number].branch)
        return await super().merge(slug, number, head, title, checks)
