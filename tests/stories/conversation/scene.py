"""Who takes part in a story, and how it is waited for that something is so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from adapters.demo.texts import REQUEST
from bot.core.session import Session
from bot.core.states import OverallStatus, Phase, Status
from bot.core.task import Task
from tests.stories.serving import BreakableModel, Hold, Serving

PATIENCE = 120.0
"""Seconds anything may take on a busy machine."""
LOOK_EVERY = 0.2


class Talker(Protocol):
    """A person in one chat, in the thread of one session at a time."""

    async def asks(self, text: str) -> None:
        """Ask for something new: it becomes a session, and from now on its thread is the one that is talked in."""
        ...

    async def says(self, text: str) -> None:
        """In the thread. Commands are said, too."""
        ...

    async def presses(self, label: str, on: str = "") -> None:
        """What is offered under this label, on the newest card that offers it (and says this); «are you sure?» is
        answered with yes."""
        ...

    async def sees(self, *words: str) -> None:
        """Wait until one card of the thread says all of this."""
        ...

    async def count(self, *words: str) -> int:
        """How many cards of the thread say all of this by now."""
        ...

    async def goes_to(self, session: Session) -> None:
        """Into the thread of another session."""
        ...

    async def sees_link_to(self, session: Session) -> None:
        """Wait until a card of the thread leads to the thread of that session."""
        ...


@dataclass(frozen=True)
class Scene:
    """One person, one bot at work, its model, and what holds its agents."""

    person: Talker
    bot: Serving
    model: BreakableModel
    hold: Hold


async def is_planned(scene: Scene, request: str = REQUEST) -> None:
    """From the request to the card that asks for approval."""
    await scene.person.asks(request)
    await scene.person.presses("Use all defaults")
    await scene.person.sees("revision 1?")


async def ends_complete(scene: Scene, of: int = -1) -> Session:
    """Merged, and cleaned up."""
    await is_so(scene, lambda one: one.phase is Phase.FINISHING and not one.ending.choice, of)
    await scene.person.presses("Merge into main", on="Everything is built")
    ended = await is_so(scene, lambda one: one.status is Status.COMPLETED, of)
    await scene.person.sees("COMPLETE", "merged into main")
    assert ended.ending.result
    assert ended.ending.result.overall_status is OverallStatus.COMPLETE
    assert scene.bot.git("branch", "--format=%(refname:short)") == "main"
    return ended


async def until(seen: Callable[[], object], wanted: Callable[[], str]) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while not seen():  # noqa: ASYNC110 - another process changes it
                await asyncio.sleep(LOOK_EVERY)
    except TimeoutError:
        raise AssertionError(f"it never came: {wanted()}") from None


async def sees_often(scene: Scene, times: int, *words: str) -> None:
    """Wait until so many cards say this."""
    try:
        async with asyncio.timeout(PATIENCE):
            while await scene.person.count(*words) < times:  # noqa: ASYNC110 - another process changes it
                await asyncio.sleep(LOOK_EVERY)
    except TimeoutError:
        raise AssertionError(f"{words} was not seen {times} times: {told(scene)}") from None
    assert await scene.person.count(*words) == times


async def is_so(scene: Scene, seen: Callable[[Session], object], of: int = -1) -> Session:
    """Wait until this is so on disk, of the newest session or another."""
    await until(lambda: scene.bot.sessions() and seen(session(scene, of)), lambda: told(scene))
    return session(scene, of)


def session(scene: Scene, number: int = -1) -> Session:
    return sorted(scene.bot.sessions(), key=lambda one: one.created_at)[number]


def told(scene: Scene) -> str:
    """How things stand."""
    lines = [
        f"{one.short} {one.status} {one.phase} {one.control.trouble} "
        f"{[(t.key, t.state, t.blocked or t.pull_problem) for t in one.tasks]} "
        f"{one.pulls.problem} {[t.pull_request for t in one.tasks if t.pull_request]}"
        for one in scene.bot.sessions()
    ]
    return "\n".join([*lines, scene.bot.out[-2000:]])


def task_of(session: Session, key: str) -> Task:
    return next(task for task in session.tasks if task.key == key)
