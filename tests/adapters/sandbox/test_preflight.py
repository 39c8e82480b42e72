"""Where the sandbox cannot work everything says so and how it is mended, and nothing ever runs without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adapters.agents.launch import AgentClis
from adapters.commands.shell import ShellCommands
from adapters.sandbox import Bubblewrap
from bot.cli.process import absolute_search_path
from bot.core.errors import Unavailable
from tests.adapters.agents.programs import Programs

NO_NAMESPACES = (
    "#!/bin/sh\necho 'bwrap: No permissions to create new namespace, likely because the kernel does not allow "
    "non-privileged user namespaces.' >&2; exit 1\n"
)


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """Where programs are found: none is there yet."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def sandbox(tmp_path: Path, bin_folder: Path, home: str = "") -> Bubblewrap:
    path = (
        f"{bin_folder}:{os.environ['PATH']}" if (bin_folder / "bwrap").exists() else str(bin_folder)
    )
    return Bubblewrap(tmp_path / "home", {"PATH": path, "HOME": home or str(tmp_path / "user")})


def add(bin_folder: Path, script: str) -> None:
    program = bin_folder / "bwrap"
    program.write_text(script)
    program.chmod(0o755)


async def test_that_it_is_not_installed_is_told_with_what_to_install(
    tmp_path: Path, bin_folder: Path
) -> None:
    with pytest.raises(Unavailable, match="not installed") as told:
        await sandbox(tmp_path, bin_folder).require()
    assert "apt-get install bubblewrap" in told.value.remedy


async def test_that_the_machine_allows_no_namespaces_is_told_with_what_to_set(
    tmp_path: Path, bin_folder: Path
) -> None:
    add(bin_folder, NO_NAMESPACES)
    with pytest.raises(Unavailable, match="No permissions to create new namespace") as told:
        await sandbox(tmp_path, bin_folder).require()
    assert "unprivileged_userns_clone" in told.value.remedy
    assert "SANDBOX=none" in told.value.remedy


async def test_a_home_that_is_the_machine_itself_is_told(tmp_path: Path, bin_folder: Path) -> None:
    add(bin_folder, "#!/bin/sh\n")
    with pytest.raises(Unavailable, match="HOME is /"):
        await sandbox(tmp_path, bin_folder, home="/").require()


@pytest.mark.covers("G-RULE-TRUST-1")
async def test_no_agent_is_ready_without_it(tmp_path: Path, bin_folder: Path) -> None:
    programs = Programs(tmp_path / "programs")
    programs.add("codex")
    add(bin_folder, NO_NAMESPACES)
    clis = AgentClis(programs.environ, sandbox=sandbox(tmp_path, bin_folder))
    ready = await clis.ready("codex", str(tmp_path))
    assert not ready.ok
    assert "The sandbox (SANDBOX=bwrap) does not work here" in ready.problem
    assert ready.remedy


async def test_no_command_runs_where_it_is_not_installed(tmp_path: Path, bin_folder: Path) -> None:
    commands = ShellCommands(os.environ, str, sandbox=sandbox(tmp_path, bin_folder))
    with pytest.raises(Unavailable, match="not installed"):
        await commands.run(str(tmp_path), "touch ran", seconds=60, log=str(tmp_path / "log"))
    assert not (tmp_path / "ran").exists()


async def test_no_command_runs_where_it_does_not_work(tmp_path: Path, bin_folder: Path) -> None:
    add(bin_folder, NO_NAMESPACES)
    commands = ShellCommands(os.environ, str, sandbox=sandbox(tmp_path, bin_folder))
    log = str(tmp_path / "log")
    done = await commands.run(str(tmp_path), "touch ran", seconds=60, log=log)
    assert done.exit_code == 1
    assert "No permissions to create new namespace" in done.output
    assert not (tmp_path / "ran").exists()


async def test_a_program_that_cannot_start_in_it_is_told_with_what_to_show(
    tmp_path: Path, bin_folder: Path
) -> None:
    """Installed where the sandbox does not look."""
    programs = Programs(tmp_path / "programs")
    programs.add("codex", "#!/bin/sh\nexec /nowhere/to/be/seen --version\n")
    add(bin_folder, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    clis = AgentClis(programs.environ, sandbox=sandbox(tmp_path, bin_folder))
    ready = await clis.ready("codex", str(tmp_path / "repository"))
    assert not ready.ok
    assert "SANDBOX_READ" in ready.remedy


@pytest.mark.parametrize("entry", [".", "", "bin"])
async def test_neither_the_sandbox_nor_an_agent_is_a_program_of_the_folder_one_stands_in(
    tmp_path: Path, bin_folder: Path, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(bin_folder, "#!/bin/sh\nexit 0\n")
    (bin_folder / "codex").write_text("#!/bin/sh\necho 9.9.9\n")
    (bin_folder / "codex").chmod(0o755)
    monkeypatch.chdir(tmp_path if entry == "bin" else bin_folder)
    environ = {"PATH": absolute_search_path(f"{entry}:/nowhere"), "HOME": str(tmp_path / "user")}
    with pytest.raises(Unavailable, match="bubblewrap is not installed"):
        await Bubblewrap(tmp_path / "home", environ).require()
    ready = await AgentClis(environ).ready("codex", str(tmp_path))
    assert "is not on the PATH" in ready.problem
