"""What befalls the simulated world at random moments, beside what goes wrong with single calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from bot.core.errors import Away
from tests.fakes.panes import FakePanes
from tests.fakes.repository import FakeRepository
from tests.simulation.loop import VirtualLoop
from tests.simulation.nature import Nature
from tests.simulation.ports import Wall, WatchedWorktrees

HOUR = 3600.0
PORTS = ("chat", "model", "forge", "git", "tmux", "disk")
NAMES = (
    "killed",
    "told to end",
    "frozen",
    "clock an hour on",
    "clock an hour back",
    "tmux killed",
    "pane killed",
    "worktree removed",
    "branch deleted",
    "branch moved",
    "branch gone on",
    "base moved",
    "repository away",
    "short outage",
    "outage of an hour",
    "everything out",
)
AWAY = Away("repository not found at /repository", "Bring it back")


@dataclass(eq=False)
class Misfortune:
    loop: VirtualLoop
    chance: Random
    nature: Nature
    wall: Wall
    panes: FakePanes
    repository: FakeRepository
    worktrees: WatchedWorktrees
    kill: Callable[[], None]
    restart: Callable[[], None]
    befell: Callable[[str], None]
    over: bool = False
    """It is calm: what a frozen moment has put off until now befalls nobody any more."""

    def befall(self, names: Iterable[str], until: float) -> None:
        """Each once, spread over the time."""
        for name in names:
            self.loop.call_later(self.chance.uniform(5, until), self._strike, name)

    def _all(self) -> dict[str, Callable[[], None]]:
        return {
            "killed": self.kill,
            "told to end": self.restart,
            "frozen": lambda: self.loop.freeze(self.chance.uniform(60, 900)),
            "clock an hour on": lambda: self._set_clock(HOUR),
            "clock an hour back": lambda: self._set_clock(-HOUR),
            "tmux killed": self.panes.lose_server,
            "pane killed": self._kill_pane,
            "worktree removed": self._remove_worktree,
            "branch deleted": self._delete_branch,
            "branch moved": self._move_branch,
            "branch gone on": self._commit_to_branch,
            "base moved": self._commit_to_base,
            "repository away": self._take_repository_away,
            "short outage": lambda: self._outage(self.chance.uniform(10, 200)),
            "outage of an hour": lambda: self._outage(HOUR),
            "everything out": lambda: self._everything_out(self.chance.uniform(60, HOUR)),
        }

    def _strike(self, name: str) -> None:
        if self.over:
            return
        self.nature.struck[name] += 1
        self.befell(name)
        self._all()[name]()

    def _set_clock(self, by: float) -> None:
        self.wall.skew += by

    def _kill_pane(self) -> None:
        if running := self.panes.running():
            self.panes.vanish(self.chance.choice(running))

    def _own(self) -> list[str]:
        """Worktrees of the bot, and of no one else."""
        return sorted(path for path, here in self.worktrees.standing.items() if here.branch)

    def _remove_worktree(self) -> None:
        if paths := self._own():
            self.worktrees.vanish(self.chance.choice(paths))

    def _delete_branch(self) -> None:
        if paths := self._own():
            branch = self.worktrees.standing[self.chance.choice(paths)].branch
            if self.repository.heads.pop(branch, None):
                self.nature.struck["deleted"] += 1

    def _move_branch(self) -> None:
        if paths := self._own():
            branch = self.worktrees.standing[self.chance.choice(paths)].branch
            if branch in self.repository.heads:
                first = next(iter(self.repository.commits))
                self.repository.heads[branch] = first

    def _commit_to_branch(self) -> None:
        """A person works on the branch of a task."""
        if paths := self._own():
            branch = self.worktrees.standing[self.chance.choice(paths)].branch
            if branch in self.repository.heads:
                self.repository.commit(branch, {"sneaked.md": "in\n"}, "docs: sneaked in")

    def _take_repository_away(self) -> None:
        self.repository.problem = self.worktrees.problem = AWAY
        self.loop.call_later(self.chance.uniform(30, 300), self._bring_repository_back)

    def _bring_repository_back(self) -> None:
        self.repository.problem = self.worktrees.problem = None

    def _commit_to_base(self) -> None:
        self.repository.commit("main", {"notes.md": "by a person\n"}, "docs: by a person")

    def _outage(self, seconds: float) -> None:
        self._out(self.chance.choice(PORTS), seconds)

    def _everything_out(self, seconds: float) -> None:
        for port in PORTS:
            self._out(port, seconds)

    def _out(self, port: str, seconds: float) -> None:
        self.nature.out.add(port)
        self.loop.call_later(seconds, self.nature.out.discard, port)
