"""The world a story plays in: every port in memory, outliving the bot, and a bot that may die and come back.

`Fate` decides when: before or after any call to a port. From then on nothing of that life reaches the world any more.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from adapters.demo.answers import evidence, met_by
from adapters.demo.brief import Brief
from bot.core import approval
from bot.core.cards import ApprovalCard
from bot.core.choices import Command, Verb, Word
from bot.core.desk import Desk
from bot.core.events import Commanded, Pressed, Said
from bot.core.gate import Gate, single_list_doors
from bot.core.masking import Masker
from bot.core.people import Thread
from bot.core.projections.registry_writer import RegistryWriter
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.core.rounds import observe, take_up, tick
from bot.core.runs import Executed
from bot.core.session import Session
from bot.core.states import Status
from bot.core.world import Rules, World
from tests.fakes.agents import FakeAgents
from tests.fakes.archive import MemoryArchive, MemoryLogs
from tests.fakes.chat import ANNA, THREAD, MemoryChat
from tests.fakes.clock import FakeClock
from tests.fakes.commands import PASSED, FakeCommands
from tests.fakes.keeping import FakeBindings, FakePreferences, MemoryAudit, MemoryQuestions
from tests.fakes.llm import Call, ScriptedLlm
from tests.fakes.panes import FakePanes
from tests.fakes.registry import MemoryRegistry
from tests.fakes.repository import FakeRepository
from tests.fakes.store import MemoryStore
from tests.fakes.worktrees import FakeWorktrees
from tests.prompts import plain_reply

FAILED = Executed(exit_code=1, seconds=0.1, output="AssertionError: 3 != 4")
QUESTIONS = {
    "title": "Add discounts",
    "type": "feature",
    "risk": "low",
    "questions": [
        {"text": "Combine codes?", "why": "Prices", "options": ["no", "yes"], "default": "no"},
        {"text": "Round how?", "options": ["up", "down"], "default": "up"},
    ],
}
SPEC = """# Feature Specification: Discounts

## User Scenarios & Testing

### User Story 1 - A code (Priority: P1)

A code lowers the price.

## Requirements

### Functional Requirements

- **FR-001**: The basket MUST take a code.

## Success Criteria

### Measurable Outcomes

- **SC-001**: Every code works.

## Assumptions

- One currency.
"""
PLAN = """# Implementation Plan: Discounts

## Summary

Discounts.

## Technical Context

**Testing**: make test

## Project Structure

**Structure Decision**: as it is.
"""


def draft(key: str, title: str, *after: str) -> dict[str, object]:
    return {
        "key": key,
        "title": title,
        "description": f"Do {title}",
        "depends_on": list(after),
        "acceptance": [f"{title} works"],
        "requirements": ["FR-001"],
    }


THREE = [
    draft("T001", "Discount codes"),
    draft("T002", "Receipt"),
    draft("T003", "Checkout", "T001"),
]


ANSWERS: dict[str, object] = {
    "clarify": QUESTIONS,
    "breakdown": {"score": 90, "issues": []},
    "words": {"kind": "change", "reason": "Something else is wanted."},
    "impact": {"affected": [], "reason": "Nothing is touched."},
    "continue": {"verdict": "new", "reason": "It is something else."},
    "pull_request": {"title": "feat: discounts", "body": "What: discounts."},
    "branch": {"text": "It adds a file."},
    "summary": {"text": "All of it was built."},
    "compress": {"summary": "They talked."},
    "estimate": {"type": "feature", "risk": "med", "reason": "It is neither small nor dangerous."},
    "replan": {"tasks": []},
}
"""To the questions of the model that want more than the plainest reply, and do not depend on what is told."""


def proper_judgement(heading: str, told: dict[str, Any]) -> dict[str, Any]:
    """All is done, shown by the first line that was changed."""
    brief = Brief("", "", told)
    match heading:
        case "judge":
            return {"verdict": "done", "criteria": met_by(brief, "criteria"), "score": 100}
        case "final":
            return {"complete": True, "met_by": met_by(brief, "requirements")}
        case _:
            return evidence(brief)


class CrashError(BaseException):
    """The bot was killed."""


class Fate:
    """Kills a life at chosen calls: `strikes` are (number of the call, before or after)."""

    def __init__(self, *strikes: tuple[int, str]) -> None:
        self.strikes = set(strikes)
        self.calls = 0
        self.life = 0
        self.dead = False
        self.where = ""

    def strike(self, life: int, when: str, name: str) -> None:
        if life != self.life or self.dead:
            raise CrashError
        if when == "before":
            self.calls += 1
        if (self.calls, when) in self.strikes:
            self.strikes.discard((self.calls, when))
            self.dead = True
            self.where = f"{when} {name}"
            raise CrashError


class Mortal:
    """A port as one life sees it: every call may be its last."""

    def __init__(self, port: object, fate: Fate) -> None:
        self._port, self._fate, self._life = port, fate, fate.life

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._port, name)
        if inspect.iscoroutinefunction(attribute):
            return self._awaited(name, attribute)
        return self._called(name, attribute) if inspect.ismethod(attribute) else attribute

    def _awaited(self, name: str, call: Callable[..., Awaitable[object]]) -> Any:
        async def mortal(*args: object, **kwargs: object) -> object:
            self._fate.strike(self._life, "before", name)
            result = await call(*args, **kwargs)
            self._fate.strike(self._life, "after", name)
            return result

        return mortal

    def _called(self, name: str, call: Callable[..., object]) -> Any:
        def mortal(*args: object, **kwargs: object) -> object:
            self._fate.strike(self._life, "before", name)
            result = call(*args, **kwargs)
            self._fate.strike(self._life, "after", name)
            return result

        return mortal


class Stage:
    def __init__(
        self,
        fate: Fate | None = None,
        drafts: list[dict[str, object]] | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        self.fate = fate or Fate()
        self.masker = Masker(secrets or {})
        self.chat = MemoryChat()
        self.store = MemoryStore()
        self.archive, self.logs, self.audit = MemoryArchive(), MemoryLogs(), MemoryAudit()
        self.registry, self.keeps = MemoryRegistry(), True
        self.panes = FakePanes()
        self.repository = FakeRepository()
        self.worktrees = FakeWorktrees(self.repository)
        self.commands = FakeCommands([PASSED])
        self.agents = FakeAgents()
        self.clock = FakeClock()
        self.bindings, self.preferences = FakeBindings(), FakePreferences()
        self.questions = MemoryQuestions()
        self.llm = ScriptedLlm(self.model, mask=self.masker.mask)
        self.drafts = drafts or THREE
        self.rules = Rules(repository=self.repository.path, agent="played")
        self.home = "/home/bot"
        self.platform = "memory"
        self.more_chats: dict[str, MemoryChat] = {}
        self.gate = Gate(single_list_doors("memory", frozenset({ANNA.id})))
        self.heard = 0
        self.desk: Desk | None = None

    def model(self, call: Call) -> str:
        """What the model answers, unless a story says otherwise."""
        heading = call.system.partition("\n")[0].removeprefix("# ")
        told = json.loads(call.data)
        if heading in (documents := {"specify": SPEC, "plan": PLAN}):
            return documents[heading]
        return json.dumps(self.answers(heading, told))

    def answers(self, heading: str, told: dict[str, Any]) -> object:
        """The one question of that name, answered by its data alone."""
        if heading == "tasks":
            return {"parallelism": 2, "tasks": self.drafts}
        if heading == "next_step":
            return {"choice": told["default"], "reason": "It is the plain thing to do."}
        if heading in ("judge", "final", "evidence"):
            return proper_judgement(heading, told)
        return ANSWERS.get(heading) or plain_reply(heading)

    async def open(self, only: frozenset[str] | None = None) -> None:
        """A new life of the bot. One that dies while it opens is followed by another."""
        while True:
            self.fate.life += 1
            self.fate.dead = False
            self.world = self._world()
            self.desk = Desk(self.world, self.gate)
            try:
                await self.desk.open(only)
            except CrashError:
                await self.desk.close()
            else:
                return

    def _chats(self) -> dict[str, MemoryChat]:
        return {self.platform: self.chat, **self.more_chats}

    def _world(self) -> World:
        def mortal(port: object) -> Any:
            return Mortal(port, self.fate)

        return World(
            chats={name: mortal(chat) for name, chat in self._chats().items()},
            llm=mortal(self.llm),
            agents=mortal(self.agents),
            panes=mortal(self.panes),
            repository=mortal(self.repository),
            worktrees=mortal(self.worktrees),
            commands=mortal(self.commands),
            store=mortal(self.store),
            clock=self.clock,
            rules=self.rules,
            masker=self.masker,
            home=self.home,
            archive=mortal(self.archive),
            audit=self.audit,
            logbook=TaskLogWriter(self.logs),
            bindings=self.bindings,
            questions=mortal(self.questions),
            registrar=RegistryWriter(
                self.registry if self.keeps else None, self.worktrees.hide, self.masker
            ),
            preferences=self.preferences,
        )

    async def ticks(self) -> None:
        """It is time to say how things stand."""
        assert self.desk
        await tick(self._world(), self.desk.actors())
        await self.settle()

    async def looks_around(self) -> None:
        """It is time to look whether the world is still as it should be."""
        assert self.desk
        await observe(self._world(), self.desk.actors())
        await self.settle()

    async def takes_up(self) -> None:
        """It is time to look for drafts."""
        assert self.desk
        await take_up(self.world, self.desk.actors())
        await self.settle()

    async def close(self) -> None:
        if self.desk:
            await self.desk.close()

    async def settle(self) -> None:
        """Until nothing moves any more; a bot that died on the way is started again."""
        quiet = 0
        while quiet < 25:
            before = self.fate.calls
            await asyncio.sleep(0)
            quiet = quiet + 1 if self.fate.calls == before else 0
            if self.fate.dead:
                await self.revive()
                quiet = 0

    async def revive(self) -> None:
        await self.close()
        await self.open()

    async def tell(self, event: Said | Pressed | Commanded, thread: Thread = THREAD) -> None:
        """What a platform does: deliver until it was taken, the same event again after a crash."""
        while True:
            assert self.desk
            try:
                await self.desk.take(thread, event)
            except CrashError:
                await self.revive()
            else:
                break
        await self.settle()

    async def says(self, text: str, thread: Thread = THREAD) -> None:
        await self.tell(Said(**self._mark(), text=text), thread)

    async def presses(
        self, verb: Verb, about: str = "", text: str = "", thread: Thread = THREAD
    ) -> None:
        await self.tell(Pressed(**self._mark(), verb=verb, about=about, text=text), thread)

    async def commands_(self, word: Word, argument: str = "", thread: Thread = THREAD) -> None:
        command = Command(word=word, argument=argument)
        await self.tell(Commanded(**self._mark(), command=command), thread)

    def _mark(self) -> Any:
        self.heard += 1
        return {"id": f"heard-{self.heard}", "at": self.clock.now(), "by": ANNA}

    async def approves(self, thread: Thread = THREAD) -> None:
        await self.presses(Verb.APPROVE, approval.offer(self.session(thread)), thread=thread)

    async def is_planned(self, request: str = "Add discounts", thread: Thread = THREAD) -> None:
        """From the request to the approval card."""
        await self.says(request, thread)
        await self.presses(Verb.DEFAULTS, thread=thread)

    async def agents_work(self, *, rounds: int = 1) -> None:
        """Every agent at work commits something and ends."""
        for _ in range(rounds):
            for name in self.panes.running():
                folder = self.panes.folders[name]
                self.worktrees.agent_commits(folder, {f"{name}.py": "x = 1\n"}, f"feat: {name}")
                self.panes.finish(name)
            await self.settle()

    async def has_built(self) -> Session:
        """From the request to the merged whole."""
        await self.is_planned()
        await self.approves()
        await self.agents_work(rounds=3)
        await self.presses(Verb.MERGE)
        built = self.session()
        assert built.status is Status.COMPLETED
        return built

    def session(self, thread: Thread = THREAD) -> Session:
        """As it stands on disk."""
        listed = next(line for line in self.store.sessions() if line.thread == thread)
        record = self.store.find(listed.id)
        assert record
        return record.session

    def approval_card(self) -> ApprovalCard:
        found = [card for card in self.chat.cards() if isinstance(card, ApprovalCard)]
        return found[-1]
