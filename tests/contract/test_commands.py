"""What every Commands must keep, the real one and the fake."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.commands.shell import ShellCommands
from bot.core.runs import Executed
from bot.ports import Commands
from tests.fakes.commands import FakeCommands


@pytest.fixture(params=["fake", "real"])
def commands(request: pytest.FixtureRequest) -> Commands:
    if request.param == "fake":
        return FakeCommands(
            [
                Executed(exit_code=0, seconds=0.1, output="fine\n"),
                Executed(exit_code=3, seconds=0.1, output="broken\n"),
            ]
        )
    return ShellCommands({"PATH": "/usr/bin:/bin"}, lambda text: text)


@pytest.mark.covers("G-US5.1", "G-RULE-VERIFY-1")
async def test_the_exit_code_and_the_output_are_told(commands: Commands, tmp_path: Path) -> None:
    log = str(tmp_path / "check.log")
    good = await commands.run(str(tmp_path), "echo fine", seconds=10, log=log)
    assert (good.exit_code, good.output, good.output_path) == (0, "fine\n", log)
    bad = await commands.run(str(tmp_path), "echo broken >&2; exit 3", seconds=10, log=log)
    assert (bad.exit_code, bad.output) == (3, "broken\n")
    assert bad.seconds > 0


async def test_a_program_that_is_not_there_is_told_and_nothing_is_started(
    commands: Commands, tmp_path: Path
) -> None:
    if isinstance(commands, FakeCommands):
        commands.missing = {"nonsense"}
    assert await commands.problem(str(tmp_path), "sh x") == ""
    assert "`nonsense`" in await commands.problem(str(tmp_path), "touch here && nonsense --all")
    assert not (tmp_path / "here").exists()
