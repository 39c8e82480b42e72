"""Whose work a branch is: its session and task, as far as somebody may know of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bot.domain.people import Thread
from bot.domain.session import Session
from bot.domain.tasks import Task
from bot.engine.overview import seen_from
from bot.engine.world import World

ENDED = 200
"""Sessions that are over and that are asked for their branches: each is read from disk once."""


@dataclass(frozen=True)
class Carried:
    """What a branch is to a session."""

    session: Session
    task: Task | None = None
    """None: it holds the documents of the session."""

    @property
    def worktree(self) -> str:
        if self.task is None:
            return self.session.spec.workspace.path if self.session.spec else ""
        return self.task.workspace.path if self.task.workspace else ""

    def told(self) -> str:
        """In a few words."""
        what = f"{self.task.key} {self.task.state}" if self.task else "its documents"
        over = f" ({self.session.status.lower()})" if self.session.over else ""
        return f"{what} · {self.session.short}{over}"


Works = Mapping[str, Carried]
"""By the name of the branch."""


@dataclass(frozen=True)
class Whose:
    world: World
    awake: Callable[[], Iterable[Session]]
    _over: dict[str, tuple[str, Session]] = field(default_factory=dict[str, tuple[str, Session]])
    """Sessions that were read already, with the moment they changed last."""

    def works(self, repository: str) -> Works:
        """The newest session counts: a branch may be taken up again."""
        mine = [one for one in self._known() if one.repository == repository]
        mine.sort(key=lambda one: (not one.over, one.updated_at))
        return {name: carried for session in mine for name, carried in _carried(session)}

    def needs(self, repository: str, branch: str) -> Session | None:
        """A session at work that starts from the branch, or has its documents there: without it, it cannot go on."""
        for session in self.awake():
            if session.over or session.repository != repository:
                continue
            spec = session.spec.workspace.branch if session.spec else ""
            if branch in (session.base_branch, spec):
                return session
        return None

    def _known(self) -> Iterable[Session]:
        awake = list(self.awake())
        there = {one.id for one in awake}
        yield from awake
        over = [one for one in self.world.store.sessions() if one.id not in there][:ENDED]
        for gone in self._over.keys() - {one.id for one in over}:
            del self._over[gone]
        for listed in over:
            if session := self._read(listed.id, listed.updated_at.isoformat()):
                yield session

    def _read(self, session_id: str, changed: str) -> Session | None:
        known = self._over.get(session_id)
        if known and known[0] == changed:
            return known[1]
        record = self.world.store.find(session_id)
        if record is None:
            return None
        self._over[session_id] = (changed, record.session)
        return record.session


def may_know(thread: Thread, carried: Carried | None) -> Carried | None:
    """What two talk of alone is told nowhere else."""
    return carried if carried and seen_from(thread, carried.session.thread) else None


def _carried(session: Session) -> Iterable[tuple[str, Carried]]:
    if session.spec:
        yield session.spec.workspace.branch, Carried(session)
    for task in session.tasks:
        if task.workspace:
            yield task.workspace.branch, Carried(session, task)
