"""One schedule: the real desk in a simulated world, some time in which anything goes wrong, then calm, and people who help.

Everything follows from the seed: the same seed is the same schedule, call by call.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

from bot.core.desk import Desk
from bot.core.errors import PortError
from bot.core.events import FromPeople, Pressed
from bot.core.masking import Masker
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.core.rounds import OBSERVE_SECONDS, observe, run_periodically, tick
from bot.core.states import Status
from bot.core.world import Rules, World
from tests.fakes.agents import FakeAgents
from tests.fakes.archive import MemoryArchive, MemoryLogs
from tests.fakes.chat import MemoryChat
from tests.fakes.keeping import FakeBindings, FakePreferences, MemoryAudit, MemoryQuestions
from tests.fakes.llm import ScriptedLlm
from tests.fakes.repository import FakeRepository
from tests.simulation import ending
from tests.simulation.loop import DeadlockError, VirtualLoop, run
from tests.simulation.misfortune import HOUR, NAMES, Misfortune
from tests.simulation.model import model
from tests.simulation.nature import CALM, Called, DiedError, Life, Mortal, Nature, Weather
from tests.simulation.people import GATE, THREADS, People, may
from tests.simulation.ports import (
    DurableStore,
    LivelyPanes,
    Wall,
    WallClock,
    WatchedCommands,
    WatchedForge,
    WatchedWorktrees,
)
from tests.simulation.watch import Watch
from tests.simulation.work import MOODS, Work

LONGEST = 2 * HOUR
"""In which everything must have ended once it is calm."""
MASKER = Masker({})


@dataclass(frozen=True)
class Outcome:
    seed: int
    faults: tuple[str, ...]
    seen: Mapping[str, int]
    struck: Mapping[str, int]
    lives: int
    calls: int
    seconds: float
    """Of virtual time."""


@dataclass(frozen=True)
class Plan:
    """What a seed stands for."""

    weather: Weather
    misfortunes: tuple[str, ...]
    hosted: bool
    threads: int
    wild_for: float
    moods: tuple[str, ...] = MOODS
    """How agents end while anything may happen."""
    sensible: bool = False
    """People do what leads on from the first, and nothing else."""
    at_call: Mapping[int, str] = field(default_factory=dict[int, str])

    @classmethod
    def quiet(cls, *, hosted: bool, at_call: Mapping[int, str], threads: int = 1) -> Plan:
        """Nothing goes wrong but that the bot dies at these calls."""
        return cls(
            CALM,
            (),
            hosted,
            threads=threads,
            wild_for=7200,
            moods=("well",),
            at_call=at_call,
            sensible=True,
        )

    @classmethod
    def of(cls, chance: Random) -> Plan:
        bad = chance.random() < 0.85
        weather = Weather(
            crash=chance.choice([0, 0.004, 0.012, 0.04]),
            failure=chance.choice([0, 0.01, 0.06]),
            lost=chance.choice([0, 0.01, 0.06]),
            full=chance.choice([0, 0, 0.01, 0.05]),
            nonsense=chance.choice([0, 0.05, 0.25]),
        )
        return cls(
            weather=weather if bad else CALM,
            misfortunes=tuple(chance.choices(NAMES, k=chance.choice([0, 1, 2, 3, 4, 6]))),
            hosted=chance.random() < 0.5,
            threads=1 if chance.random() < 0.85 else 2,
            wild_for=chance.choice([120, 300, 600, 1200]),
        )


class Scene:
    def __init__(self, seed: int, plan: Plan | None = None) -> None:
        self.seed = seed
        self.chance = Random(seed)  # noqa: S311 - the same world for the same seed
        self.plan = plan or Plan.of(self.chance)
        self.saved: Callable[[Record], None] = _unheard
        self.sent: Callable[[Thread, FromPeople], None] = _unheard
        self.befell: Callable[[str], None] = _unheard
        self.called: Called = _unheard
        """Whoever wants to follow a schedule is told."""

    def stream(self, name: str) -> Random:
        """Where the chance comes from for one part of the world. They all share one here."""
        return self.chance

    def play(self) -> Outcome:
        """What a schedule leaves behind is collected afterwards: else a fifth of the time goes there."""
        gc.disable()
        try:
            return run(self._played(), Random(self.seed))  # noqa: S311 - the same turns, too
        except DeadlockError as dead:
            self.watch.fault(f"deadlock: {dead}")
            return self._outcome(0)
        finally:
            gc.enable()

    async def _played(self) -> Outcome:
        self._build()
        log, handler = logging.getLogger("bot"), _Errors(self)
        log.addHandler(handler)
        log.propagate = False
        try:
            self._begin_life()
            self.people.begin()
            await self._wild()
            await self._calm()
        finally:
            log.removeHandler(handler)
            log.propagate = True
            self._end_life()
            await asyncio.sleep(0)
        return self._outcome(self.loop.time())

    def _outcome(self, seconds: float) -> Outcome:
        return Outcome(
            seed=self.seed,
            faults=tuple(self.watch.faults),
            seen=dict(self.watch.seen),
            struck=dict(self.nature.struck),
            lives=self.life.number,
            calls=self.nature.calls,
            seconds=seconds,
        )

    # the world

    def _build(self) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.set_exception_handler(self._unexpected)
        self.loop, self.main = loop, asyncio.current_task()
        self.life, self.desk = Life(0, alive=False), None
        self.wall = Wall(loop)
        self.watch = Watch(may, self.loop.lived)
        self.nature = Nature(self.stream, self.plan.weather, self.crash, self.called)
        self.nature.at_call = dict(self.plan.at_call)
        self.store = DurableStore(self.watch, self.saved)
        self.watch.records = self.store.records
        self.repository = FakeRepository()
        self.worktrees = WatchedWorktrees(self.watch, self.repository)
        self.watch.standing = self.worktrees.standing
        chance = self.stream("work")
        self.work = Work(loop, chance, self.watch, self.worktrees, self.plan.moods)
        self.panes = LivelyPanes(self.watch, self.work.begin)
        self.work.panes = self.panes
        self.commands = WatchedCommands(self.watch, self._test_fails)
        self.forge = WatchedForge(self.watch, self.repository) if self.plan.hosted else None
        self.llm = ScriptedLlm(model(self.stream("model"), lambda: self.nature.weather.nonsense))
        self.chat, self.agents = MemoryChat(), FakeAgents()
        self.archive, self.logs, self.audit = MemoryArchive(), MemoryLogs(), MemoryAudit()
        self.people = People(self.stream("people"), self.chat, self.wall, self, self.threads())
        self.misfortune = Misfortune(
            loop,
            self.stream("misfortune"),
            self.nature,
            self.wall,
            self.panes,
            self.repository,
            self.worktrees,
            self.crash,
            self.restart,
            self.befell,
        )
        self.calm = False

    def threads(self) -> tuple[Thread, ...]:
        return THREADS[: self.plan.threads]

    def _test_fails(self) -> bool:
        return not (self.calm or self.plan.sensible) and self.stream("tests").random() < 0.2

    def _world(self) -> World:
        life, nature = self.life, self.nature

        def mortal(name: str, port: object) -> Any:
            return Mortal(name, port, life, nature)

        return World(
            chats={"memory": mortal("chat", self.chat)},
            llm=mortal("model", self.llm),
            agents=mortal("agents", self.agents),
            panes=mortal("tmux", self.panes),
            repository=mortal("git", self.repository),
            worktrees=mortal("git", self.worktrees),
            commands=mortal("commands", self.commands),
            store=mortal("disk", self.store),
            clock=WallClock(self.wall),
            rules=Rules(repository=self.repository.path, agent="played"),
            masker=MASKER,
            home="/home/bot",
            archive=mortal("archive", self.archive),
            audit=mortal("audit", self.audit),
            logbook=TaskLogWriter(mortal("logs", self.logs)),
            bindings=FakeBindings(),
            questions=MemoryQuestions(),
            preferences=FakePreferences(),
            forge=mortal("forge", self.forge) if self.forge else None,
        )

    # lives

    def _begin_life(self) -> None:
        self.life = Life(self.life.number + 1)
        self.loop.create_task(self._live(self.life), name="life")

    async def _live(self, life: Life) -> None:
        world = self._world()
        desk = Desk(world, GATE)
        try:
            await desk.open()
        except PortError:
            # with a full disk the program does not come up; whoever watches over it starts it again
            self._another_life()
            return
        self.desk = desk
        seconds = world.rules.progress_seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(run_periodically(world, seconds, tick, desk.actors))
            group.create_task(run_periodically(world, OBSERVE_SECONDS, observe, desk.actors))

    def crash(self) -> None:
        """kill -9: nothing of that life happens any more; another one begins after a while."""
        if self.life.alive and not self.calm:
            self.befell("the bot is killed")
            self._another_life()

    def _another_life(self) -> None:
        self._end_life()
        self.loop.call_later(self.stream("lives").uniform(0.5, 120), self._begin_life)

    def _end_life(self) -> None:
        self.life.alive, self.desk = False, None
        for task in self.loop.born():
            if task is not self.main:
                task.cancel()

    def restart(self) -> None:
        """SIGTERM."""
        if self.life.alive and self.desk and not self.calm:
            desk, self.desk = self.desk, None
            self.loop.create_task(self._ended_in_order(desk), name="end")

    async def _ended_in_order(self, desk: Desk) -> None:
        await desk.close()
        self._another_life()

    # the phases

    async def _wild(self) -> None:
        plan = self.plan
        self.misfortune.befall(plan.misfortunes, plan.wild_for)
        end = self.loop.time() + plan.wild_for
        while self.loop.time() < end and not (plan.sensible and self._is_over()):
            await asyncio.sleep(self.stream("acts").uniform(5, 90))
            if plan.sensible:
                self._help()
            else:
                self.people.act()

    async def _calm(self) -> None:
        self.nature.weather, self.calm, self.work.calm = CALM, True, True
        self.misfortune.over = True
        self.nature.out.clear()
        self.repository.problem = self.worktrees.problem = None
        if not self.life.alive:
            await asyncio.sleep(121)
        await asyncio.sleep(200)
        ending.stopped(self)
        end = self.loop.time() + LONGEST
        while not self._is_over() and self.loop.time() < end:
            self._help()
            await asyncio.sleep(30)
        ending.reached(self)

    def _help(self) -> None:
        if self.desk is None:  # nobody presses what does not answer
            return
        for record in [*self.store.records.values()]:
            self.people.help(record.session.thread)

    def _is_over(self) -> bool:
        records = self.store.records.values()
        return len(records) >= self.plan.threads and all(
            r.session.status in (Status.COMPLETED, Status.DISCARDED)
            and not r.inbox
            and not r.outbox
            for r in records
        )

    # the platform

    def send(self, thread: Thread, event: FromPeople, *, again: int = 0) -> None:
        self.watch.does(thread, event)
        self.sent(thread, event)
        for _ in range(1 + again):
            chance = self.stream("post")
            late = 0.1 if self.calm else chance.choice([0.1, 1, 30])
            self.loop.call_later(chance.random() * late, self._arrives, thread, event)

    def _arrives(self, thread: Thread, event: FromPeople) -> None:
        desk = self.desk
        if desk is None or "chat" in self.nature.out:
            # what was pressed is not delivered again; what was said is
            if not isinstance(event, Pressed):
                self.loop.call_later(30, self._arrives, thread, event)
            return
        delivery = self.loop.create_task(self._delivered(desk, thread, event), name="delivery")
        delivery.add_done_callback(lambda done: self._came_to_nothing(done, thread, event))

    def _came_to_nothing(
        self, delivery: asyncio.Task[None], thread: Thread, event: FromPeople
    ) -> None:
        """The bot was killed, perhaps before the delivery had so much as begun."""
        if delivery.cancelled():
            self.loop.call_later(10, self._arrives, thread, event)

    async def _delivered(self, desk: Desk, thread: Thread, event: FromPeople) -> None:
        begun = self.watch.begun(thread)
        try:
            taken = await desk.take(thread, event)
        except PortError:
            self.loop.call_later(10, self._arrives, thread, event)
        except DiedError:
            self.loop.call_later(10, self._arrives, thread, event)
            raise
        else:
            self.watch.acknowledged(thread, event, taken=taken, begun=begun)

    # what nobody expects

    def _unexpected(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not _is_death(error):
            self.watch.fault(f"unexpected: {context.get('message')} {error!r}")

    def noted(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR and not (
            record.exc_info and _is_death(record.exc_info[1])
        ):
            error = record.exc_info[1] if record.exc_info else None
            self.watch.fault(f"logged: {record.getMessage()} {error!r}")


def _unheard(*_: object) -> None:
    return


def _is_death(error: BaseException | None) -> bool:
    """The bot was killed, whatever else came of that."""
    if isinstance(error, BaseExceptionGroup):
        errors = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return any(map(_is_death, errors))
    return isinstance(error, DiedError | asyncio.CancelledError)


class _Errors(logging.Handler):
    def __init__(self, scene: Scene) -> None:
        super().__init__(logging.ERROR)
        self._scene = scene

    def emit(self, record: logging.LogRecord) -> None:
        self._scene.noted(record)
