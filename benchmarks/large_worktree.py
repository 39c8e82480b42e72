"""What does a worktree in a repository of 50,000 files cost, beside what git needs for it?

python -m benchmarks.large_worktree [rounds]
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from statistics import median

from adapters.git.worktrees import GitWorktrees
from benchmarks.ground import environment, git, on_this_disk, seconds_of
from benchmarks.scan import made
from benchmarks.table import beside, hand_in

FILES = 50_000
NO_STORE = (
    "no worktrees are kept in store: what is left in one (ignored files, caches, what an earlier agent has planted) would"
    " be another agent's beginning, and a few seconds are nothing beside the minutes of its work"
)


async def main(rounds: int) -> None:
    ours, cold, switched = list[float](), list[float](), list[float]()
    with on_this_disk() as folder:
        top = folder / "shop"
        base = made(top, FILES)
        worktrees = GitWorktrees(folder / "home", environment(folder))
        added(top, "first")  # it reads the repository from the disk, as none after it does
        for number in range(rounds):
            ours.append(await prepared(worktrees, top, f"t{number}", base))
            cold.append(added(top, f"cold-{number}"))
            switched.append(switched_to(top / f"cold-{number}", f"next-{number}"))
    what, own = f"a worktree of {FILES:,} files", median(ours)
    used = "switch in a used one"
    hand_in(
        beside("13", what, own, median(cold), of="git worktree add", most=1.5),
        beside("13", what, own, median(switched), of=used, most=2, because=NO_STORE),
    )


async def prepared(worktrees: GitWorktrees, top: Path, name: str, base: str) -> float:
    path = top / ".worktrees" / f"agent-{name}"
    begun = time.perf_counter()
    await worktrees.prepare(str(top), f"agent/{name}", str(path), base)
    return time.perf_counter() - begun


def added(top: Path, name: str) -> float:
    """By git alone."""
    return seconds_of(lambda: git(top, "worktree", "add", "-q", "-b", name, str(top / name)))


def switched_to(path: Path, name: str) -> float:
    return seconds_of(lambda: git(path, "switch", "-q", "-c", name))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
