"""Planted faults: one behaviour of the bot, or of what it stands on, made wrong in memory. Each must be caught.

`row` is what would go wrong in the world; `plan` raises it, so that few schedules are needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from bot.core import actor, approval, events, repository_queue
from bot.core.actions import StopRun
from bot.core.choices import Verb
from bot.core.errors import PortError, Unavailable
from bot.core.events import Pressed
from bot.core.gate import Gate
from bot.core.runs import CompletionSource, RunEnd
from bot.core.session_parts import Ending
from bot.core.states import Outcome, Phase, Status
from bot.steps import plan as session_plan
from bot.steps.blocked import troubles
from bot.steps.decisions import STEPS
from bot.steps.execute import work as execute_work
from bot.steps.finish import rules as finish
from bot.steps.finish import work as finish_work
from bot.steps.pull_requests import rules as pull_requests
from tests.fakes import worktrees
from tests.fakes.chat import MemoryChat
from tests.fakes.forge import FakeForge
from tests.fakes.panes import FakePanes
from tests.simulation.nature import CALM, Weather
from tests.simulation.ports import DurableStore
from tests.simulation.scene import Plan, Scene

Patch = tuple[Any, Any, Callable[..., Any]]
"""Where (a class, a module or a table), what, and what is there instead: made from what was there."""
ROUGH = Weather(crash=0.01, failure=0.03, lost=0.03, full=0.02)
BROKEN_DISK = Weather(full=0.2)
LOSSY = Weather(lost=0.2)
DEADLY = Weather(crash=0.02)
GONE = RunEnd(outcome=Outcome.VANISHED, source=CompletionSource.PROCESS_EXIT)


@dataclass(frozen=True)
class Mutant:
    name: str
    row: str
    patches: tuple[Patch, ...]
    plan: Plan = field(default_factory=lambda: plan())

    @contextmanager
    def planted(self) -> Generator[None]:
        before = [(where, what, _there(where, what)) for where, what, _ in self.patches]
        for (where, what, make), (_, _, old) in zip(self.patches, before, strict=True):
            _put(where, what, make(old))
        try:
            yield
        finally:
            for where, what, old in before:
                _put(where, what, old)


def _there(where: Any, what: Any) -> Any:
    return getattr(where, what) if not isinstance(what, Phase) else where[what]


def _put(where: Any, what: Any, new: Any) -> None:
    if isinstance(what, Phase):
        where[what] = new
    else:
        setattr(where, what, new)


def plan(weather: Weather = CALM, *misfortunes: str, **more: Any) -> Plan:
    usual = Plan(weather=weather, misfortunes=misfortunes, hosted=False, threads=1, wild_for=900)
    return replace(usual, **more)


def _instead(new: Any) -> Callable[[Any], Any]:
    return lambda old: new


async def _at_once(*_: Any, **__: Any) -> None:
    return None


def _hears_all_twice(old: Any) -> Any:
    def hear(self: Any, event: Any) -> None:
        heard = self._record.heard
        self._record.heard = [id for id in heard if id != event.id]
        try:
            old(self, event)
        finally:
            if event.id in heard:
                self._record.heard = [*self._record.heard, event.id]

    return hear


def _decides_in_memory(old: Any) -> Any:
    def save(self: Any, **change: Any) -> None:
        if change.get("session") is None:
            old(self, **change)
            return
        now = self._record
        self._record = now.model_copy(update={k: v for k, v in change.items() if v is not None})

    return save


def _acts_with_a_full_disk(old: Any) -> Any:
    def save(self: Any, **change: Any) -> None:
        try:
            old(self, **change)
        except Unavailable:
            now = self._record
            self._record = now.model_copy(update={k: v for k, v in change.items() if v is not None})

    return save


def _forgets_what_was_to_be_done(old: Any) -> Any:
    def load(self: Any) -> Any:
        return [record.model_copy(update={"outbox": []}) for record in old(self)]

    return load


def _forgets_what_was_heard(old: Any) -> Any:
    def load(self: Any) -> Any:
        return [record.model_copy(update={"inbox": []}) for record in old(self)]

    return load


def _any_offer_will_do(old: Any) -> Any:
    def decide(session: Any, event: Any) -> Any:
        if isinstance(event, Pressed) and event.verb is Verb.APPROVE:
            event = event.model_copy(update={"about": approval.offer(session)})
        return old(session, event)

    return decide


def _works_while_paused(old: Any) -> Any:
    def due(session: Any) -> Any:
        if session.status is Status.PAUSED:
            session = session.model_copy(update={"status": Status.ACTIVE})
        return old(session)

    return due


def _lets_agents_live(old: Any) -> Any:
    def end_run(task: Any, at: Any) -> Any:
        return (deed for deed in old(task, at) if not isinstance(deed, StopRun))

    return end_run


def _tries_once(old: Any) -> Any:
    async def patiently(world: Any, attempt: Any, tell: Any, **_: Any) -> Any:
        return await attempt()

    return patiently


def _gives_cards_up(old: Any) -> Any:
    async def patiently(world: Any, attempt: Any, tell: Any, **how: Any) -> Any:
        if not how["quiet"]:
            return await old(world, attempt, tell, **how)
        try:
            return await attempt()
        except Unavailable:
            return None

    return patiently


def _heeds_until_the_first_trouble(old: Any) -> Any:
    async def heed(world: Any, order: Any, run: Any, tell: Any) -> None:
        try:
            async for dialog in world.panes.dialogs(run.name):
                if dialog is not None:
                    mark = world.mark()
                    tell(
                        events.DialogOpened(**mark, answers=order.key, run_id=run.id, dialog=dialog)
                    )
        except PortError:
            return

    return heed


def _waits_for_those_it_sees(old: Any) -> Any:
    async def ended(self: Any, name: str) -> Any:
        if name in self._ends or name not in self._panes:
            await asyncio.Event().wait()
        return await old(self, name)

    return ended


def _does_not_see_it_go(old: Any) -> Any:
    def vanish(self: Any, name: str) -> None:
        self._panes.pop(name, None)
        self._ends.setdefault(name, GONE)

    return vanish


def _stays(session: Any) -> None:
    return


def _starts_again(old: Any) -> Any:
    async def start(self: Any, name: str, *more: Any) -> Any:
        self._panes.pop(name, None)
        self._ends.pop(name, None)
        return await old(self, name, *more)

    return start


def _posts_again(old: Any) -> Any:
    async def show(self: Any, thread: Any, card: Any) -> None:
        self.threads.setdefault(thread.key, []).append((card.key, card))

    return show


def _grants_all(old: Any) -> Any:
    def serve(self: Any) -> None:
        for one in (one for line in self._queues.values() for one in line):
            one.granted.set()

    return serve


def _merges_by_itself(old: Any) -> Any:
    def begin(session: Any, event: Any) -> Any:
        yield from old(session, event)
        if session.ending.choice is None:
            session.ending.choice = Ending.MERGE

    return begin


def _wanted_by_all(old: Any) -> Any:
    def ready(session: Any, task: Any) -> bool:
        pull = task.pull_request
        if pull and pull.wanted_by is None and pull.open:
            task.pull_request = pull.model_copy(update={"wanted_by": session.owner})
        found = old(session, task)
        task.pull_request = pull
        return found

    return ready


async def _as_it_stands(world: Any, session: Any, branch: str, *_: Any) -> str:
    return await world.repository.tip(session.repository.path, branch)


def _whoever(*_: Any) -> bool:
    return True


def _nowhere(*_: Any) -> None:
    return None


def _names_that_are_taken(old: Any) -> Any:
    async def prepare(self: Any, repository: str, branch: str, path: str, start: str) -> str:
        if path in self.standing:
            raise worktrees.Refused("taken", "It is there.")
        return await old(self, repository, branch, path, start)

    return prepare


def _takes_orders_off(old: Any) -> Any:
    """What is called off goes on all the same."""

    def act(self: Any, group: Any) -> None:
        self._cancelled.update(self._under_way)
        old(self, group)

    return act


MUTANTS = (
    Mutant(
        "hears the same event twice",
        "F13 events come twice, late and in any order",
        ((actor.Actor, "hear", _hears_all_twice),),
    ),
    Mutant(
        "acts before it saves",
        "F1 killed between any two steps",
        ((actor.Actor, "_save", _decides_in_memory),),
    ),
    Mutant(
        "forgets its outbox in a crash",
        "F1 killed between any two steps",
        ((DurableStore, "load", _forgets_what_was_to_be_done),),
        plan(DEADLY, sensible=True, wild_for=7200),
    ),
    Mutant(
        "forgets its inbox in a crash",
        "F1 killed between hearing and deciding",
        ((DurableStore, "load", _forgets_what_was_heard),),
        plan(DEADLY, sensible=True, wild_for=7200),
    ),
    Mutant(
        "starts an agent again whose pane it does not look for",
        "F1, F17 killed, or the answer lost, after the deed",
        ((FakePanes, "start", _starts_again),),
        plan(LOSSY),
    ),
    Mutant(
        "does not look whether the worktree is its own",
        "F2 killed after a worktree was made",
        ((worktrees.FakeWorktrees, "prepare", _names_that_are_taken),),
        plan(LOSSY),
    ),
    Mutant(
        "goes on in memory with a full disk",
        "F5 the disk is full",
        ((actor.Actor, "_save", _acts_with_a_full_disk),),
        plan(BROKEN_DISK),
    ),
    Mutant(
        "does not see who ended while it was away",
        "F6 agents end while the bot is down",
        ((FakePanes, "ended", _waits_for_those_it_sees),),
        plan(CALM, "killed", "killed", "killed"),
    ),
    Mutant(
        "does not see tmux die",
        "F7 the tmux server is killed",
        ((FakePanes, "vanish", _does_not_see_it_go),),
        plan(CALM, "tmux killed", "tmux killed", "tmux killed"),
    ),
    Mutant(
        "does not see a pane go",
        "F8 a pane is killed by hand",
        ((FakePanes, "vanish", _does_not_see_it_go),),
        plan(CALM, "pane killed", "pane killed", "pane killed"),
    ),
    Mutant(
        "starts agents where there is no worktree",
        "F9 a worktree is removed by hand",
        (
            (execute_work, "_require_worktree", _instead(_at_once)),
            (execute_work, "settings_changed", _instead(_at_once)),
        ),
        plan(CALM, *["worktree removed"] * 6),
    ),
    Mutant(
        "merges what a person has put on a branch untested",
        "F10 a branch is moved by hand",
        ((finish_work, "_verified_head", _instead(_as_it_stands)),),
        plan(CALM, *["branch gone on"] * 6, wild_for=1500),
    ),
    Mutant(
        "takes any approval for the plan that stands there",
        "F12 a button is pressed after the plan has changed",
        ((STEPS, Phase.APPROVING, _any_offer_will_do),),
    ),
    Mutant(
        "lets in whoever comes",
        "F12, T1 strangers press buttons",
        ((Gate, "grants", _instead(_whoever)),),
    ),
    Mutant(
        "gives up when the model is away",
        "F14 the model does not answer",
        ((actor, "with_retries", _tries_once),),
        plan(Weather(failure=0.05)),
    ),
    Mutant(
        "lets a card go that does not arrive",
        "F15 the chat does not answer",
        ((actor, "with_retries", _gives_cards_up),),
        plan(Weather(failure=0.4)),
    ),
    Mutant(
        "posts a card anew instead of editing it",
        "F15, F17 the answer of a post was lost",
        ((MemoryChat, "show", _posts_again),),
        plan(LOSSY),
    ),
    Mutant(
        "does not look whether the pull request is there",
        "F16, F17 the answer of GitHub was lost",
        ((FakeForge, "_found", _instead(_nowhere)),),
        plan(LOSSY, hosted=True),
    ),
    Mutant(
        "merges pull requests nobody wants merged",
        "no effect without approval",
        ((pull_requests, "ready_to_merge", _wanted_by_all),),
        plan(CALM, hosted=True),
    ),
    Mutant(
        "merges into the base unasked",
        "no effect without approval",
        ((finish, "begin", _merges_by_itself),),
    ),
    Mutant(
        "goes on with orders after a stop",
        "F22 stopped while something is under way",
        ((actor, "due", _works_while_paused), (session_plan, "release_place", _instead(_stays))),
        plan(CALM, wild_for=1500),
    ),
    Mutant(
        "leaves agents at work when it is stopped",
        "F22 stopped while something is under way",
        ((troubles, "end_run", _lets_agents_live),),
    ),
    Mutant(
        "does not call off what is under way",
        "F22 stopped while something is under way",
        ((actor.Actor, "_sync_tasks_with_outbox", _takes_orders_off),),
    ),
    Mutant(
        "lets two sessions work in one repository",
        "F24 two sessions on one repository",
        ((repository_queue.RepositoryQueue, "_grant_slots", _grants_all),),
        plan(CALM, threads=2),
    ),
    Mutant(
        "no longer heeds what agents ask after the first trouble",
        "F5, F8 an agent waits for a person while the disk is full",
        ((execute_work, "watch_dialogs", _heeds_until_the_first_trouble),),
        plan(BROKEN_DISK, moods=("asks",)),
    ),
)


def first_seed(mutant: Mutant, most: int, first: int = 0) -> tuple[int, str] | None:
    """The first schedule that catches it, and what it says. None: it is not caught."""
    with mutant.planted():
        for number in range(most):
            if faults := Scene(first + number, mutant.plan).play().faults:
                return number, faults[0]
    return None
