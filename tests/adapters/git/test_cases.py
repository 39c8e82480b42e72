"""Commits on which a model can be tried are found in a real history."""

from __future__ import annotations

from pathlib import Path

from adapters.git import GitRepository
from tests.adapters.git.worlds import RealWorld

SHOP = {"shop/discounts.py": "def apply(order):\n    return order\n", "README.md": "A shop.\n"}


async def test_small_commits_that_say_what_for_are_cases(tmp_path: Path) -> None:
    world = RealWorld(tmp_path)
    world.home.mkdir()
    world.person_commits("main", SHOP)
    start = world.tip("main") or ""
    wanted = "Give every order a discount of ten percent"
    world.agent_commits(
        world.path, {"shop/discounts.py": "def apply(order):\n    return 9\n"}, wanted
    )
    world.agent_commits(world.path, {"shop/discounts.py": "x = 1\n"}, "wip")
    world.agent_commits(
        world.path, {"README.md": "Words.\n"}, "Say more about the shop in its readme"
    )
    world.agent_commits(
        world.path, {f"lib/f{n}.py": "x\n" for n in range(40)}, "Add a whole library at once"
    )
    repository = GitRepository(world.home)
    [case] = await repository.history_cases(world.path, world.tip("main") or "", 10)
    assert (case.request, case.touched, case.parent) == (wanted, ("shop/discounts.py",), start)
    assert "+    return 9" in case.patch
    assert await repository.history_cases(world.path, start, 10) == []
