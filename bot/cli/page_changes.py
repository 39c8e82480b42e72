"""Reads for the page what a session has changed: from its base to what was merged, or branch by branch."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import replace

from adapters.local.page.data import ChangedPart
from adapters.local.page.diff import with_hidden_named
from bot.core.errors import PortError
from bot.core.session import Session
from bot.core.states import TaskState
from bot.core.task import Task, Workspace
from bot.core.world import World
from bot.steps.verify.work import OUR_FILES

MAX_PATCH_CHARS = 400_000
"""Of one branch."""
MAX_KEPT_CHARS = 8_000_000
"""Patches that are kept so that the same commits are not read twice."""
LARGE_PATCH_CHARS = 50_000
"""Such patches are masked in a thread: it would take longer than the page may wait."""
_AT_ONCE = 4
_DONE = (TaskState.COMPLETED, TaskState.CANCELLED, TaskState.REPLACED)


class ChangesReader:
    def __init__(self, world: World) -> None:
        self._world = world
        self._patches: dict[tuple[str, str, str], tuple[str, bool]] = {}
        """Whole or cut, by repository and commits."""
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def changes(self, session: Session, task: str) -> tuple[ChangedPart, ...]:
        """Return what the session has changed, or one task with this key."""
        merged = session.ending.merged_commit
        if merged and not task:
            return (await self._part(session, (), session.repository.base_commit, merged),)
        branches = [
            (workspace, tasks)
            for workspace, tasks in _branches(session)
            if not task or any(task == one.key for one in tasks)
        ]
        parts = await asyncio.gather(
            *(self._branch(session, workspace, tasks) for workspace, tasks in branches)
        )
        return tuple(parts)

    async def _branch(
        self, session: Session, workspace: Workspace, tasks: list[Task]
    ) -> ChangedPart:
        async with self._turn:
            since = workspace.start or session.repository.base_commit
            keys = tuple(task.key for task in tasks)
            # the branch is deleted once it is merged; its commits are still there
            until = next((task.work.head for task in reversed(tasks) if task.work), since)
            with contextlib.suppress(PortError):
                until = await self._world.repository.tip(session.repository.path, workspace.branch)
            part = await self._part(session, keys, since, until)
            if session.over or all(task.state in _DONE for task in tasks) or not workspace.ready:
                return part
            return replace(part, uncommitted=await self._uncommitted(workspace, since))

    async def _part(
        self, session: Session, tasks: tuple[str, ...], since: str, until: str
    ) -> ChangedPart:
        path = session.repository.path
        key = (path, since, until)
        if key not in self._patches:
            try:
                patch = await self._world.repository.patch(path, since, until, MAX_PATCH_CHARS)
            except PortError as problem:
                return ChangedPart(tasks, since, until, problem=problem.reason)
            cut = len(patch) >= MAX_PATCH_CHARS
            # half a secret at the end would not be recognised
            whole_lines = patch.rpartition("\n")[0] if cut else patch
            self._keep(key, (await self._masked(with_hidden_named(whole_lines)), cut))
        patch, cut = self._patches[key]
        return ChangedPart(tasks, since, until, patch, cut)

    async def _masked(self, patch: str) -> str:
        mask = self._world.masker.mask
        return (
            await asyncio.to_thread(mask, patch) if len(patch) > LARGE_PATCH_CHARS else mask(patch)
        )

    def _keep(self, key: tuple[str, str, str], patch: tuple[str, bool]) -> None:
        self._patches[key] = patch
        while sum(len(text) for text, _ in self._patches.values()) > MAX_KEPT_CHARS:
            del self._patches[next(iter(self._patches))]

    async def _uncommitted(self, workspace: Workspace, since: str) -> tuple[str, ...]:
        try:
            return (await self._world.worktrees.work(workspace.path, since, OUR_FILES)).uncommitted
        except PortError:
            return ()


def _branches(session: Session) -> Iterator[tuple[Workspace, list[Task]]]:
    """Yield each branch with the tasks that worked on it, in the order of the plan."""
    found: dict[str, tuple[Workspace, list[Task]]] = {}
    for task in session.tasks:
        if task.workspace:
            found.setdefault(task.workspace.branch, (task.workspace, []))[1].append(task)
    yield from found.values()
