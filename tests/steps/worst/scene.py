"""The stage with eyes: it remembers what people did, what they were shown, what was saved, and when an agent was started."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.core.cards import ApprovalCard, Card, RootCard
from bot.core.choices import Verb
from bot.core.events import Commanded, FromPerson, Pressed, Said
from bot.core.gate import Gate, single_list_doors
from bot.core.people import Person, Thread
from bot.core.projections.records import Record
from bot.core.rounds import observe
from bot.core.runs import Launch, Pane, Run
from bot.core.session import Session
from bot.core.task import Task
from bot.core.world import Rules
from tests.fakes.agents import FakeAgents
from tests.fakes.chat import ANNA, MemoryChat
from tests.fakes.clock import FakeClock
from tests.fakes.llm import ScriptedLlm
from tests.fakes.panes import FakePanes
from tests.fakes.repository import FakeRepository
from tests.fakes.store import MemoryStore
from tests.fakes.worktrees import FakeWorktrees
from tests.steps.worst.model import TEMPERS, WorstModel
from tests.stories.stage import QUESTIONS, Stage

BEN = Person(platform="memory", id="U2", name="Ben")
MALLORY = Person(platform="memory", id="U9", name="Mallory")
"""May nothing."""
MAY = frozenset({ANNA.id, BEN.id})


@dataclass(frozen=True)
class Deed:
    """What somebody did in a thread."""

    thread: str
    event: Said | Pressed | Commanded


@dataclass
class Ledger:
    """What was seen. Nothing in it comes from the session itself."""

    deeds: list[Deed] = field(default_factory=list[Deed])
    plans: list[tuple[str, datetime, ApprovalCard]] = field(
        default_factory=list[tuple[str, datetime, ApprovalCard]]
    )
    """Each plan that was put to people, with the thread and the time."""
    roots: dict[str, RootCard] = field(default_factory=dict[str, RootCard])
    faults: list[str] = field(default_factory=list[str])

    def pressed(self, thread: Thread, verb: Verb) -> list[Pressed]:
        return [
            deed.event
            for deed in self.deeds
            if deed.thread == thread.key
            and isinstance(deed.event, Pressed)
            and deed.event.verb is verb
            and deed.event.by.id in MAY
        ]

    def said(self, thread: Thread) -> list[Said]:
        return [
            deed.event
            for deed in self.deeds
            if deed.thread == thread.key and isinstance(deed.event, Said)
        ]


class WatchedChat(MemoryChat):
    def __init__(self, ledger: Ledger, clock: FakeClock) -> None:
        super().__init__()
        self._ledger, self._clock = ledger, clock

    async def show(self, thread: Thread, card: Card) -> None:
        if isinstance(card, ApprovalCard) and card.decided is None:
            self._ledger.plans.append((thread.key, self._clock.now(), card))
        if isinstance(card, RootCard):
            self._ledger.roots[thread.key] = card
        await super().show(thread, card)


class WatchedStore(MemoryStore):
    """`last` is what was saved, before it became text. `moved` are the sessions of this turn, `touched` the tasks that
    changes of plan have named in it."""

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[str, Record] = {}
        self.moved: set[str] = set()
        self.touched: defaultdict[str, set[str]] = defaultdict(set)

    def save(self, record: Record) -> None:
        super().save(record)
        session = record.session
        self.last[session.id] = record
        self.moved.add(session.id)
        if session.change:
            named = {affected.task_id for affected in session.change.affected}
            self.touched[session.id] |= named | set(session.change.held)


class WatchedPanes(FakePanes):
    def __init__(self, look: Callable[[str, str, Launch], None]) -> None:
        super().__init__()
        self._look = look

    async def start(self, name: str, cwd: str, launch: Launch, prompt: str) -> Pane:
        if name not in self.started:
            self._look(name, cwd, launch)
        return await super().start(name, cwd, launch, prompt)


class WatchedWorktrees(FakeWorktrees):
    def __init__(self, repository: FakeRepository, look: Callable[[str], None]) -> None:
        super().__init__(repository)
        self._look = look

    async def move_base(self, repository: str, base_branch: str, commit: str) -> None:
        self._look(commit)
        await super().move_base(repository, base_branch, commit)


class TwoAgents(FakeAgents):
    """Each has flags of its own."""

    def __init__(self) -> None:
        super().__init__("played", "evil")
        self.auto_flags = "--yes"

    def flags(self, agent: str) -> str:
        return self.auto_flags if agent == "played" else "--evil"


class Scene(Stage):
    """Seed by seed another temper of the model, and other rules of the operator."""

    def __init__(
        self,
        seed: int,
        started: Callable[[Scene, str, str, Launch], Iterator[str]],
        merged: Callable[[Scene, str], Iterator[str]],
    ) -> None:
        super().__init__()
        self.seed = seed
        self.chance = random.Random(seed)  # noqa: S311 - a seed, so that a failing one can be played again
        self.ledger = Ledger()
        self.chat = WatchedChat(self.ledger, self.clock)
        self.store = self.watched = WatchedStore()
        self.agents = TwoAgents()
        faults = self.ledger.faults
        self.panes = WatchedPanes(
            lambda name, cwd, launch: faults.extend(started(self, name, cwd, launch))
        )
        self.worktrees = WatchedWorktrees(
            self.repository, lambda commit: faults.extend(merged(self, commit))
        )
        temper = TEMPERS[seed % len(TEMPERS)]
        self.worst = WorstModel(self.chance, temper, self.model, stubborn=seed % 3 == 2)
        self.llm = ScriptedLlm(self.worst)
        self.gate = Gate(single_list_doors("memory", MAY))
        self.rules = Rules(
            repository=self.repository.path,
            agent="played",
            high_risk_approvers=1 + seed % 2,
            hold_on_restart=seed % 5 == 4,
        )

    def answers(self, heading: str, told: dict[str, Any]) -> object:
        """Sense is, at times, also to go on with what is done, or to say that nothing is asked."""
        match heading:
            case "clarify":
                return {**QUESTIONS, "risk": self.chance.choice(["low", "high"])}
            case "continue":
                verdict = self.chance.choice(["continue", "continue", "new", "talk"])
                return {"verdict": verdict, "reason": "It reads so."}
            case "words":
                kind = "change" if "please" in told["said"].lower() else "talk"
                return {"kind": kind, "reason": "It reads so."}
            case "impact":
                found = [task["key"] for task in told["tasks"] if task["key"] in told["change"]]
                affected = [{"key": key, "why": "It is named."} for key in found]
                return {"affected": affected, "reason": "It reads so."}
            case _:
                return super().answers(heading, told)

    async def does(self, thread: Thread, event: Said | Pressed | Commanded) -> None:
        """Somebody does something, and all that follows from it happens."""
        self.ledger.deeds.append(Deed(thread.key, event))
        await self.tell(event, thread)

    async def looks_around(self) -> None:
        """It is time to hold the states against the world."""
        assert self.desk
        await observe(self._world(), self.desk.actors())
        await self.settle()

    @property
    def records(self) -> list[Record]:
        return list(self.watched.last.values())

    @property
    def sessions(self) -> list[Session]:
        return [record.session for record in self.records]

    def run_of_pane(self, name: str) -> tuple[Session, Task, Run] | None:
        """Of the session as it was saved last."""
        for session in self.sessions:
            for task in session.tasks:
                for run in task.runs:
                    if run.name == name:
                        return session, task, run
        return None

    def plan(self, thread: Thread, digest: str, until: datetime) -> ApprovalCard | None:
        """The plan of that digest, as people had been shown it last by then."""
        seen = [
            card
            for key, at, card in self.ledger.plans
            if key == thread.key and card.digest == digest and at <= until
        ]
        return seen[-1] if seen else None


def agrees(event: FromPerson, digest: str, is_yes: Callable[[str], bool]) -> bool:
    """Whether this is somebody's yes to that plan."""
    if event.by.id not in MAY:
        return False
    match event:
        case Pressed(verb=Verb.APPROVE, about=about):
            return about.startswith(digest)
        case Said(text=text):
            return is_yes(text)
        case _:
            return False
