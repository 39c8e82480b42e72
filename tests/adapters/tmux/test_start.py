"""Starting a run: once, with exactly the arguments, the prompt and the environment that were asked for."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from adapters.tmux import TmuxPanes
from adapters.tmux.spool import pane_script
from bot.core.errors import Lost, Refused, Unavailable
from bot.core.runs import Launch
from bot.core.states import Outcome
from tests.adapters.tmux.own_server import Tmux, until

pytestmark = pytest.mark.tmux
NASTY = "do `it`; #{pane_id} #(touch x) $(touch y) %H ~ \"double\" 'single' \\ 日本語🎌\n\ttab;"
COUNTS = Launch(argv=("sh", "-c", 'echo started >> "$GWT_SPOOL/starts"; exec sleep 300'))


@pytest.mark.covers("B-OP-executeTask")
async def test_a_run_started_twice_is_one_process(server: Tmux) -> None:
    panes = server.panes()
    both = await asyncio.gather(
        *(panes.start("run-1", str(server.worktree), COUNTS, "") for _ in range(2))
    )
    await panes.close()
    third = await server.panes().start("run-1", str(server.worktree), COUNTS, "")
    assert both[0] == both[1] == third
    starts = server.spool("run-1") / "starts"
    await until(starts.exists)
    assert starts.read_text() == "started\n"


@pytest.mark.covers("B-OP-executeTask")
async def test_a_run_whose_pane_is_lost_is_not_started_again(server: Tmux) -> None:
    panes = await server.begun(COUNTS)
    await until((server.spool("run-1") / "starts").exists)
    await server.tmux("kill-server")
    pane = await panes.start("run-1", str(server.worktree), COUNTS, "")
    assert pane.pid == 0
    assert await panes.names() == ()
    assert (server.spool("run-1") / "starts").read_text() == "started\n"


async def test_only_the_first_wrapper_runs_the_agent_even_if_tmux_is_asked_twice(
    server: Tmux,
) -> None:
    panes = server.panes()
    spool = server.spool("run-1")
    await panes.start("run-1", str(server.worktree), COUNTS, "")
    await until((spool / "starts").exists)
    again = server.worktree / "again.sh"
    again.write_text(
        pane_script(spool, str(server.worktree), COUNTS, "", {"GWT_SPOOL": str(spool)})
    )
    second = await asyncio.create_subprocess_exec(
        "/bin/sh", str(again), stderr=asyncio.subprocess.DEVNULL
    )
    assert await second.wait() == 125
    assert (spool / "starts").read_text() == "started\n"
    assert not (spool / "exit").exists()


async def test_a_wrapper_that_comes_after_the_stop_runs_no_agent(server: Tmux) -> None:
    spool = server.spool("run-1")
    spool.mkdir(parents=True)
    (spool / "prompt.md").touch()
    (spool / "stopped").touch()
    late = server.worktree / "late.sh"
    late.write_text(pane_script(spool, str(server.worktree), COUNTS, "", {"GWT_SPOOL": str(spool)}))
    wrapper = await asyncio.create_subprocess_exec("/bin/sh", str(late))
    await wrapper.wait()
    assert not (spool / "starts").exists()
    assert (spool / "exit").read_text() == "143\n"


async def test_a_run_prepared_but_not_begun_is_started(server: Tmux) -> None:
    panes = server.panes()
    spool = server.spool("run-1")
    spool.mkdir(parents=True)
    (spool / "prompt.md").write_text("half a pro")
    (spool / "run.sh.tmp").write_text("#!/bi")
    pane = await panes.start("run-1", str(server.worktree), COUNTS, "whole")
    assert pane.pid > 0
    assert (spool / "prompt.md").read_text() == "whole"


@pytest.mark.covers("G-US3.2")
async def test_a_prompt_arrives_byte_for_byte_as_argument_file_and_input(server: Tmux) -> None:
    panes = server.panes()
    copies = 'printf %s "$1" > argument; cat "$2" > file; cat > input'
    launch = Launch(argv=("sh", "-c", copies, "agent", "{prompt}", "{prompt_file}"), stdin="prompt")
    for number, prompt in enumerate((NASTY, NASTY * 3 + "\n\n", "", "\n", "-n", ";")):
        await panes.start(f"run-{number}", str(server.worktree), launch, prompt)
        assert (await panes.ended(f"run-{number}")).outcome is Outcome.FINISHED
        for copy in ("argument", "file", "input"):
            assert (server.worktree / copy).read_bytes() == prompt.encode()


async def test_a_long_prompt_arrives_by_file_and_as_argument_it_names_the_file(
    server: Tmux,
) -> None:
    panes = server.panes()
    prompt = (NASTY + "\n") * (300_000 // len(NASTY)) + "the end;"
    copies = 'printf %s "$1" > argument; cat "$2" > file; cat > input'
    launch = Launch(argv=("sh", "-c", copies, "agent", "{prompt}", "{prompt_file}"), stdin="prompt")
    await panes.start("run-1", str(server.worktree), launch, prompt)
    assert (await panes.ended("run-1")).outcome is Outcome.FINISHED
    assert len(prompt.encode()) > 300_000
    assert (server.worktree / "file").read_bytes() == prompt.encode()
    assert (server.worktree / "input").read_bytes() == prompt.encode()
    assert str(server.spool("run-1") / "prompt.md") in (server.worktree / "argument").read_text()


async def test_arguments_and_variables_are_taken_literally(server: Tmux) -> None:
    panes = server.panes()
    writes = "import os, sys; open('seen', 'w').write(repr([sys.argv[1:], os.environ['ODD']]))"
    odd = ("{prompt}x", NASTY, "", "*", "$HOME", "a'b", "--flag=1;")
    launch = Launch(argv=(sys.executable, "-c", writes, *odd), env={"ODD": NASTY})
    await panes.start("run-1", str(server.worktree), launch, "prompt")
    assert (await panes.ended("run-1")).outcome is Outcome.FINISHED
    assert (server.worktree / "seen").read_text() == repr([list(odd), NASTY])


@pytest.mark.covers("G-DEP-4")
async def test_files_of_the_launch_lie_beside_the_prompt_and_scripts_can_be_run(
    server: Tmux,
) -> None:
    panes = server.panes()
    files = {"hook.sh": "#!/bin/sh\necho hooked > hooked\n", "settings.toml": "日本"}
    launch = Launch(argv=("sh", "-c", '"$GWT_SPOOL/hook.sh"'), files=files)
    await panes.start("run-1", str(server.worktree), launch, "")
    assert (await panes.ended("run-1")).outcome is Outcome.FINISHED
    assert (server.worktree / "hooked").exists()
    assert (server.spool("run-1") / "settings.toml").read_text() == "日本"


async def test_no_file_of_a_launch_can_pass_for_one_of_the_runs_own(server: Tmux) -> None:
    panes = server.panes()
    for name in ("../x", "exit", "started", "", ".hidden", "a/b", "run.sh", "x\n"):
        launch = Launch(argv=("true",), files={name: ""})
        with pytest.raises(Refused):
            await panes.start("run-1", str(server.worktree), launch, "")
    assert await panes.names() == ()


async def test_a_missing_worktree_is_refused_and_nothing_is_started(server: Tmux) -> None:
    panes = server.panes()
    with pytest.raises(Lost, match="not there"):
        await panes.start("run-1", str(server.worktree / "gone"), COUNTS, "")
    assert await panes.names() == ()
    assert (await panes.start("run-1", str(server.worktree), COUNTS, "")).pid > 0


async def test_a_home_with_an_odd_name_works(server: Tmux) -> None:
    server.home = server.home.parent / 'it\'s a #home# 100%H "日本" $x'
    server.worktree = server.home.parent / "work #{pane_id} 'tree' $(touch z)"
    server.worktree.mkdir()
    launch = Launch(argv=("sh", "-c", "pwd > here; echo DONE-1; exec sleep 300"), marker="DONE-1")
    panes = await server.begun(launch)
    assert (await panes.ended("run-1")).outcome is Outcome.FINISHED
    assert (server.worktree / "here").read_text() == f"{server.worktree}\n"
    assert await panes.tail("run-1", 1) == "DONE-1"


@pytest.mark.covers("G-RULE-BRANCHMODE-4")
async def test_agents_do_not_know_where_tmux_is(server: Tmux) -> None:
    panes = await server.begun(Launch(argv=("sh", "-c", "env > seen")))
    await panes.ended("run-1")
    names = {line.partition("=")[0] for line in (server.worktree / "seen").read_text().splitlines()}
    assert names <= {*server.environment, "GWT_RUN", "GWT_SPOOL", "PWD", "OLDPWD", "SHLVL", "_"}


@pytest.mark.covers("G-RULE-TMUX-1", "G-RULE-TMUX-2", "G-LIMIT-1", "G-ASSUME-3")
@pytest.mark.parametrize(("answer", "problem"), [
    *((f"echo 'tmux {version}'", "") for version in ("3.2", "3.3a", "4.0", "next-3.5", "master")),
    *((answer, r"3\.2") for answer in ("echo 'tmux 3.1c'", "echo 'tmux 2.9a'", "exit 1")),
    ("", "tmux is required"),
])  # fmt: skip
async def test_a_tmux_that_is_missing_too_old_or_broken_is_told(
    tmp_path: Path, answer: str, problem: str
) -> None:
    program = tmp_path / "tmux"
    if answer:
        program.write_text(f"#!/bin/sh\n{answer}\n")
        program.chmod(0o755)
    environment = {"PATH": os.fspath(tmp_path)}
    panes = TmuxPanes("gwt-test-none", tmp_path, mask=str, environment=environment)
    if not problem:
        await panes.require()
        return
    with pytest.raises(Unavailable, match=problem) as told:
        await panes.require()
    assert answer == "" or "Install" in told.value.remedy
    if not answer:
        with pytest.raises(Unavailable, match=problem):
            await panes.start("run-1", str(tmp_path), COUNTS, "")


async def test_a_tmux_that_hangs_is_told_with_what_to_look_at_and_goes_on_later(
    server: Tmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.tmux.server.ANSWER_SECONDS", 1.0)
    panes = await server.begun(COUNTS)
    pid = int(await server.tmux("display-message", "-p", "#{pid}"))
    os.kill(pid, signal.SIGSTOP)
    try:
        for bot in (panes, server.panes()):
            with pytest.raises(Unavailable, match="tmux does not answer") as trouble:
                await bot.names()
            assert "hangs" in trouble.value.remedy
    finally:
        os.kill(pid, signal.SIGCONT)
    assert await panes.names() == ("run-1",)


async def test_a_program_of_that_name_that_hangs_is_told(
    server: Tmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.tmux.server.ANSWER_SECONDS", 0.2)
    (program := tmp_path / "bin" / "tmux").parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 300\n")
    program.chmod(0o755)
    path = f"{program.parent}:{server.environment['PATH']}"
    with pytest.raises(Unavailable, match="tmux does not answer"):
        await server.panes(environment=server.environment | {"PATH": path}).require()
