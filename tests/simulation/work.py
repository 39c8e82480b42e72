"""Agents of the simulated world: they work for minutes, and end well or badly; well only, once everything is calm."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from bot.core.errors import Refused
from bot.core.runs import Dialog, DialogKind, DialogOption
from bot.core.states import TaskState
from bot.core.task import Task
from tests.fakes.panes import FakePanes
from tests.fakes.worktrees import FakeWorktrees
from tests.simulation.loop import VirtualLoop
from tests.simulation.watch import Watch

MOODS = ("well",) * 12 + ("fails", "idle", "dirty", "vanishes", "asks", "limited", "slow")
DIALOG = Dialog(
    id="d1",
    kind=DialogKind.MENU,
    title="Do you want to proceed?",
    options=(DialogOption(id="1", label="Yes"), DialogOption(id="2", label="No")),
    topic="allow",
)


@dataclass(eq=False)
class Work:
    loop: VirtualLoop
    chance: Random
    watch: Watch
    worktrees: FakeWorktrees
    moods: tuple[str, ...] = MOODS
    panes: FakePanes | None = None
    calm: bool = False
    commits: dict[str, str] = field(default_factory=dict[str, str])
    """File of each commit of an agent's, by the commit."""

    def begin(self, name: str, cwd: str, prompt: str) -> None:
        self.loop.call_later(self.chance.uniform(20, 240), self._work, name, cwd)

    def _work(self, name: str, cwd: str) -> None:
        """A process that was ended does nothing more."""
        if self.panes is None or name not in self.panes.running():
            return
        mood = "well" if self.calm else self.chance.choice(self.moods)
        match mood:
            case "fails":
                self.panes.finish(name, exit_code=2)
            case "idle":
                self.panes.finish(name)
            case "vanishes":
                self.panes.vanish(name)
            case "limited":
                self.panes.finish(name, exit_code=1, message="LIMIT reached")
            case "slow":
                self.loop.call_later(1800, self._work, name, cwd)
            case "asks":
                self.panes.asks(name, DIALOG)
                self.loop.call_later(20, self._wait, name, cwd)
            case _:
                self._commit(name, cwd, dirty=mood == "dirty")

    def _wait(self, name: str, cwd: str) -> None:
        """Until somebody has answered."""
        assert self.panes
        if name in self.panes.asked:
            self.loop.call_later(20, self._wait, name, cwd)
        else:
            self._work(name, cwd)

    def _commit(self, name: str, cwd: str, *, dirty: bool) -> None:
        assert self.panes
        here = self.worktrees.standing.get(cwd)
        if here is None or here.branch not in here.repository.heads:
            self.panes.finish(name, exit_code=128)
            return
        try:
            self._merge(cwd)
        except Refused:
            self.panes.finish(name, exit_code=128)
            return
        made = {**here.left, f"{name}.py": "x = 1\n"}
        commit = self.worktrees.agent_commits(cwd, made, f"feat: {name}")
        self.commits[commit] = f"{name}.py"
        if dirty:
            self.worktrees.agent_leaves(cwd, {"notes.txt": "left"})
        self.panes.finish(name)

    def _merge(self, cwd: str) -> None:
        """Agents are told what their branch lacks."""
        here = self.worktrees.standing[cwd]
        for session, task in self.watch.tasks():
            if task.workspace is None or task.workspace.path != cwd:
                continue
            wanted = [task.workspace.start] if task.workspace.start else []
            wanted += [_head(other) for other in map(session.task, task.workspace.merged) if other]
            for commit in wanted:
                if commit in here.repository.commits:
                    here.merge(commit, "chore: merge")


def _head(task: Task) -> str:
    return task.work.head if task.work and task.state is TaskState.COMPLETED else ""
