"""Twenty agents on one repository at once: they commit by plain git while the bot works beside them, and nothing is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.adapters.git.worlds import RealWorld, git

AGENTS = 20


async def test_twenty_agents_and_the_bot_are_in_nobody_s_way(tmp_path: Path) -> None:
    world = RealWorld(tmp_path)
    first, everyone = git(world.top, "rev-parse", "HEAD"), range(AGENTS)
    branches = tuple(f"agent/t{n}" for n in everyone)
    heads = await asyncio.gather(*(_prepared(world, n, first) for n in everyone))
    assert heads == [first] * AGENTS
    await asyncio.gather(*(_works(world, n, first) for n in everyone))
    assert await world.worktrees.collisions(world.path, branches) == ()
    proved = {name: world.tip(name) or "" for name in branches}
    merged = await world.worktrees.merge_all(world.path, "main", proved, world.at("scratch"))
    names = git(world.top, "ls-tree", "--name-only", merged.commit).splitlines()
    assert {f"own{n}.{kind}" for n in everyone for kind in ("py", "md")} <= set(names)
    await world.worktrees.remove_scratch(world.path, world.at("scratch"))
    removals = await asyncio.gather(
        *(
            world.worktrees.remove(world.path, world.at(f"t{n}"), f"agent/t{n}", merged.commit)
            for n in everyone
        )
    )
    assert [(one.worktree_gone, one.branch_gone) for one in removals] == [(True, True)] * AGENTS
    assert git(world.top, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert git(world.top, "status", "--porcelain") == ""
    git(world.top, "fsck", "--strict", "--no-dangling")


async def _prepared(world: RealWorld, n: int, first: str) -> str:
    return await world.worktrees.prepare(world.path, f"agent/t{n}", world.at(f"t{n}"), first)


async def _works(world: RealWorld, n: int, first: str) -> None:
    """One task: its agent commits while the bot looks, then the bot commits and merges its neighbour in."""
    path, branch, neighbour = world.at(f"t{n}"), f"agent/t{n}", f"agent/t{(n + 1) % AGENTS}"
    agent = asyncio.to_thread(
        lambda: [world.agent_commits(path, {f"own{n}.py": f"{i}\n"}) for i in (1, 2)]
    )
    looking = world.worktrees.collisions(world.path, (branch, neighbour))
    _, found = await asyncio.gather(agent, looking)
    assert found == ()
    await world.worktrees.commit_files(path, {f"own{n}.md": "own\n"}, "docs: own")
    merged = await world.worktrees.merge(path, neighbour, "Merge the neighbour")
    assert merged.conflicts == ()
    work = await world.worktrees.work(path, first)
    assert (work.head, work.uncommitted) == (merged.commit, ())
    assert {f"own{n}.py", f"own{n}.md"} <= set(work.created_files)
