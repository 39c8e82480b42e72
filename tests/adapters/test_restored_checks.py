"""A task that changes how tests are run is tested with what the base says, in real git."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from adapters.commands.shell import ShellCommands
from bot.core.checks import compare
from tests.adapters.git.worlds import RealWorld

BRANCH = "agent/login"
TEST = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        import shop\n        self.assertEqual(shop.two(), 2)\n"


def files_of(folder: str) -> set[str]:
    return {one.name for one in Path(folder).glob("*")}


@pytest.mark.covers("O-X18")
async def test_settings_of_tests_are_as_they_were_and_a_fake_is_caught(tmp_path: Path) -> None:
    world = RealWorld(tmp_path)
    first = (await world.repository.base(world.path)).commit
    path, scratch = world.at("agent-login"), world.at("agent-restored")
    await world.worktrees.prepare(world.path, BRANCH, path, first)
    honest = world.agent_commits(
        path,
        {
            "shop.py": "def two():\n    return 2\n",
            "test_shop.py": TEST,
            "check.py": "import unittest\nunittest.main('test_shop')\n",
        },
    )
    faked = {
        "shop.py": "def two():\n    return 7\n",
        "check.py": "print('OK')\n",
        "pytest.ini": "[pytest]\n",
    }
    head = world.agent_commits(path, faked)

    commands, command = ShellCommands(os.environ, str), f"{sys.executable} check.py"
    await world.worktrees.scratch(world.path, scratch, honest)
    base = await commands.test(scratch, command, seconds=60, log=f"{tmp_path}/base.log")
    as_is = await commands.test(path, command, seconds=60, log=f"{tmp_path}/task.log")
    assert (base.exit_code, as_is.exit_code) == (0, 0)
    assert compare(as_is.report, base.report).signs

    names = ("check.py", "pytest.ini")
    await world.worktrees.scratch(world.path, scratch, head, restored=names, since=honest)
    assert "pytest.ini" not in files_of(scratch)
    restored = await commands.test(scratch, command, seconds=60, log=f"{tmp_path}/restored.log")
    assert compare(restored.report, base.report).new_failures == 1
    await world.worktrees.remove_scratch(world.path, scratch)
    assert files_of(scratch) == set()
