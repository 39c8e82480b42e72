"""What does the first worktree in a repository of 50,000 files cost, beside what git needs for it?

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
NO_POOL = (
    "no worktrees are kept in store: what is left in one (ignored files, caches, what an earlier agent has planted) would"
    " be another agent's beginning, and one or two seconds are nothing beside the minutes of its work"
)


async def main(rounds: int) -> None:
    ours, cold, switched = list[float](), list[float](), list[float]()
    with on_this_disk() as folder:
        top = folder / "shop"
        base = made(top, FILES)
        worktrees = GitWorktrees(folder / "home", environment(folder))
        for number in range(rounds):
            ours.append(await prepared(worktrees, top, number, base))
            path = str(folder / f"cold-{number}")
            cold.append(
                seconds_of(
                    lambda n=number, path=path: git(
                        top, "worktree", "add", "-q", "-b", f"cold-{n}", path
                    )
                )
            )
            switched.append(
                seconds_of(
                    lambda n=number, path=path: git(Path(path), "switch", "-q", "-c", f"next-{n}")
                )
            )
    what = f"a worktree of {FILES:,} files"
    own = median(ours)
    hand_in(
        beside("13", what, own, median(cold), of="git worktree add", most=1.5),
        beside(
            "13", what, own, median(switched), of="switch in a used one", most=2, because=NO_POOL
        ),
    )


async def prepared(worktrees: GitWorktrees, top: Path, number: int, base: str) -> float:
    path = top / ".worktrees" / f"agent-t{number}"
    begun = time.perf_counter()
    await worktrees.prepare(str(top), f"agent/t{number}", str(path), base)
    return time.perf_counter() - begun


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
