"""What a task is before anything of it exists: its kind, what must be so in the end, where it is worked on."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from bot.domain.facts import Fact


class TaskType(StrEnum):
    IMPLEMENTATION = "implementation"
    DOCUMENTATION = "documentation"
    INVESTIGATION = "investigation"
    INTEGRATION = "integration"


class Strategy(StrEnum):
    """A worktree of its own, or the predecessor's."""

    NEW = "New"
    SHARED = "Shared"


class Acceptance(Fact):
    """One thing that must be so when a task (or the whole) is done."""

    id: str
    text: str


class Workspace(Fact):
    """Branch and worktree of a task. The names are saved before anything of it exists."""

    branch: str
    path: str
    created_at: AwareDatetime
    task_ids: tuple[str, ...] = ()
    start: str = ""
    """The commit its own work began from, the predecessors' merged in; empty before."""
    ready: bool = False
    """Whether the worktree stands, as far as is known."""
    merged: tuple[str, ...] = ()
    """Ids of the predecessors whose branches are merged into it."""
