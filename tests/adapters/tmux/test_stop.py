"""A stop: all that belongs to the run is dead within the grace, whole trees of every kind, and nothing else is."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from bot.core.runs import Launch
from bot.core.states import Outcome
from tests.adapters.tmux.own_server import Tmux, alive, own_server, pid_in, shows, until

pytestmark = pytest.mark.tmux

DEAF_GRANDCHILD = """
setsid sh -c 'trap "" TERM HUP INT; echo "$$" > "$GWT_SPOOL/deaf"; while :; do sleep 0.1; done' &
sh -c 'echo "$$" > "$GWT_SPOOL/child"; exec sleep 300' &
exec sleep 300
"""


def text_of(file: Path | str) -> str:
    return Path(file).read_text()


@pytest.mark.covers("G-RULE-STOP-3")
async def test_a_grandchild_in_a_session_of_its_own_that_ignores_sigterm_is_dead_after_the_grace(
    server: Tmux,
) -> None:
    panes = server.panes(grace=0.3)
    launch = Launch(argv=("sh", "-c", DEAF_GRANDCHILD), stdin="nothing")
    pane = await panes.start("run-1", str(server.worktree), launch, "")
    pids = [await pid_in(server.spool("run-1") / name) for name in ("deaf", "child")]
    left = await panes.stop("run-1")
    assert left == ()
    assert not any(alive(pid) for pid in (*pids, pane.pid))
    assert await panes.find("run-1") is None


@pytest.mark.covers("G-RULE-STOP-3", "G-FR-024")
async def test_a_stop_with_the_usual_grace_leaves_nobody_after_five_seconds(server: Tmux) -> None:
    launch = Launch(argv=("sh", "-c", DEAF_GRANDCHILD), stdin="nothing")
    panes = await server.begun(launch, server.panes(grace=5.0))
    deaf = await pid_in(server.spool("run-1") / "deaf")
    before = time.monotonic()
    assert await panes.stop("run-1") == ()
    assert not alive(deaf)
    assert time.monotonic() - before >= 5.0  # it had its time to end by itself


@pytest.mark.covers("G-RULE-STOP-2")
async def test_an_agent_whose_parent_has_left_is_found(server: Tmux) -> None:
    panes = server.panes()
    leaves = """
setsid sh -c 'echo "$$" > "$GWT_SPOOL/orphan"; exec sleep 300' &
while [ ! -s "$GWT_SPOOL/orphan" ]; do sleep 0.01; done
"""
    await panes.start("run-1", str(server.worktree), Launch(argv=("sh", "-c", leaves)), "")
    assert (await panes.ended("run-1")).outcome is Outcome.FINISHED
    orphan = await pid_in(server.spool("run-1") / "orphan")
    assert alive(orphan)
    await panes.keep_transcript("run-1")
    assert not alive(orphan)


async def test_a_child_without_the_runs_name_in_its_environment_is_found_by_its_parent(
    server: Tmux,
) -> None:
    child = 'env -i setsid sh -c \'echo "$$" > "$0"; exec sleep 300\' "$GWT_SPOOL/bare"; exit 0'
    launch = Launch(argv=("sh", "-c", child), stdin="nothing")
    panes = await server.begun(launch)
    bare = await pid_in(server.spool("run-1") / "bare")
    assert await panes.stop("run-1") == ()
    assert not alive(bare)


@pytest.mark.covers("G-RULE-STOP-2")
async def test_a_frozen_agent_is_stopped(server: Tmux) -> None:
    launch = Launch(argv=("sh", "-c", 'echo "$$" > "$GWT_SPOOL/agent"; exec sleep 300'))
    panes = await server.begun(launch)
    agent = await pid_in(server.spool("run-1") / "agent")
    os.kill(agent, signal.SIGSTOP)
    assert await panes.stop("run-1") == ()
    assert not alive(agent)
    assert (
        await panes.ended("run-1")
    ).exit_code == 143  # it heard the first signal, and needed no other


async def test_a_stopped_run_has_not_ended_before_its_process_has(server: Tmux) -> None:
    before = server.panes(grace=60.0)
    deaf = "trap '' TERM; echo $$ > \"$GWT_SPOOL/agent\"; while :; do sleep 0.05; done"
    pane = await before.start("run-1", str(server.worktree), Launch(argv=("sh", "-c", deaf)), "")
    await pid_in(server.spool("run-1") / "agent")
    stopping = asyncio.create_task(before.stop("run-1"))
    await until((server.spool("run-1") / "stopped").exists)
    stopping.cancel()  # the bot dies before its patience with the deaf agent ends
    await asyncio.wait({stopping})
    await before.close()
    panes = server.panes(grace=0.3)
    ending = asyncio.create_task(panes.ended("run-1"))
    await panes.names()
    assert alive(pane.pid)
    assert not ending.done()
    assert await panes.stop("run-1") == ()
    assert (await ending).outcome is Outcome.KILLED
    assert not alive(pane.pid)


async def test_a_stop_that_overtakes_the_start_leaves_no_agent(server: Tmux) -> None:
    panes = server.panes()
    starts = Launch(argv=("sh", "-c", 'echo "$$" > "$GWT_SPOOL/agent"; exec sleep 300'))
    runs = [f"run-{number}" for number in range(6)]
    for run in runs:
        starting = asyncio.create_task(panes.start(run, str(server.worktree), starts, ""))
        await asyncio.wait({starting}, timeout=0.004 * runs.index(run))
        assert await panes.stop(run) == ()
        await starting
        assert (await panes.ended(run)).outcome is Outcome.KILLED
        agent = server.spool(run) / "agent"
        assert not agent.exists() or not alive(int(agent.read_text()))
    assert await panes.names() == ()


@pytest.mark.covers("G-RULE-BRANCHMODE-4")
async def test_a_run_of_the_same_name_on_another_server_lives_on(
    server: Tmux, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    async with own_server(tmp_path / "other") as elsewhere:
        other = elsewhere.panes()
        sleeps = Launch(argv=("sleep", "300"), stdin="nothing")
        await server.panes().start("run-1", str(server.worktree), sleeps, "")
        pane = await other.start("run-1", str(server.worktree), sleeps, "")
        await server.panes().stop("run-1")
        assert alive(pane.pid)
        assert await other.find("run-1") == pane


async def test_what_was_on_the_screen_is_kept_when_a_run_is_stopped(server: Tmux) -> None:
    panes = server.panes(mask=lambda text: text.replace("hunter2", "[MASKED]"))
    says = "seq 1 500; echo 'password hunter2'; printf '\\033[31mred\\033[0m\\342\\200\\256\\n'; exec sleep 300"
    await panes.start("run-1", str(server.worktree), Launch(argv=("sh", "-c", says)), "")
    await shows(panes, "red")
    await panes.stop("run-1")
    log = server.home / "runs" / "run-1.log"
    lines = log.read_text().splitlines()
    assert lines[:500] == [str(number) for number in range(1, 501)]
    assert lines[500:502] == ["password [MASKED]", "red"]
    assert log.stat().st_mode & 0o777 == 0o600
    assert (await panes.tail("run-1", 2)).splitlines()[-1] != ""


async def test_a_full_screen_programs_last_screen_is_kept(server: Tmux) -> None:
    draws = (
        "printf '\\033[?1049h\\033[2;2Hin the box'; trap 'printf \"\\033[?1049l\"; exit 0' TERM;"
        " while :; do sleep 0.05; done"
    )
    panes = await server.begun(Launch(argv=("sh", "-c", draws)))
    await shows(panes, "in the box")
    path = await panes.keep_transcript("run-1")
    assert "in the box" in text_of(path)


_WRITES = 'echo "$$" >> "$GWT_SPOOL/pids";'
_SLEEPS = f"{_WRITES} exec sleep 300"
_DEAF = f"trap '' TERM HUP INT; {_WRITES} while :; do sleep 0.1; done"

TREES = {
    "a tool in a session of its own": (f"setsid sh -c '{_SLEEPS}' & {_SLEEPS}", 2),
    "a tool in a group of its own": (f"set -m; sh -c '{_SLEEPS}' & {_SLEEPS}", 2),
    "a daemon, forked twice": (
        f"(setsid sh -c '{_SLEEPS}' & exit 0); (setsid sh -c '(sh -c \"{_SLEEPS}\" &)' &); {_SLEEPS}".replace(
            '"$$"', "$$"
        ).replace('"$GWT_SPOOL/pids"', "$GWT_SPOOL/pids"),
        3,
    ),
    "a tool of a tool": (
        f"setsid sh -c 'setsid sh -c \"{_SLEEPS}\" & {_SLEEPS}' & {_SLEEPS}".replace(
            '"$$"', "$$"
        ).replace('"$GWT_SPOOL/pids"', "$GWT_SPOOL/pids"),
        3,
    ),
    "all of them deaf": (
        f'setsid sh -c "$DEAF" & nohup sh -c "$DEAF" >/dev/null 2>&1 & {_DEAF}',
        3,
    ),
}

_FROZEN = f"setsid sh -c '{_SLEEPS}' & setsid sh -c \"$DEAF\" & {_SLEEPS}"


async def _grown(server: Tmux, run: str, number: int) -> list[int]:
    file = server.spool(run) / "pids"
    await until(lambda: file.exists() and file.read_text().count("\n") == number)
    return [int(line) for line in text_of(file).split()]


def _tree(script: str) -> Launch:
    return Launch(argv=("sh", "-c", script), env={"DEAF": _DEAF}, stdin="nothing")


@pytest.mark.parametrize("kind", TREES)
async def test_nobody_of_a_tree_outlives_a_stop(server: Tmux, kind: str) -> None:
    script, number = TREES[kind]
    panes = await server.begun(_tree(script), server.panes(grace=0.3))
    pids = await _grown(server, "run-1", number)
    assert await panes.stop("run-1") == ()
    assert [pid for pid in pids if alive(pid)] == []
    assert (await panes.ended("run-1")).outcome is Outcome.KILLED


async def test_a_frozen_tree_is_ended(server: Tmux) -> None:
    panes = await server.begun(_tree(_FROZEN), server.panes(grace=0.3))
    pids = await _grown(server, "run-1", 3)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    assert await panes.stop("run-1") == ()
    assert [pid for pid in pids if alive(pid)] == []


async def test_a_tree_that_goes_on_growing_is_ended(server: Tmux) -> None:
    """Whoever is told to end starts another one first."""
    panes = server.panes(grace=0.3)
    regrows = (
        'trap \'setsid sh -c "$DEAF" & exit 0\' TERM; echo $$ >> "$GWT_SPOOL/pids";'
        " while :; do sleep 0.05; done"
    )
    await panes.start("run-1", str(server.worktree), _tree(regrows), "")
    await _grown(server, "run-1", 1)
    assert await panes.stop("run-1") == ()
    pids = [int(line) for line in text_of(server.spool("run-1") / "pids").split()]
    assert [pid for pid in pids if alive(pid)] == []


async def test_stops_of_many_trees_at_once_leave_other_runs_alone(server: Tmux) -> None:
    panes = server.panes(grace=0.3)
    script, number = TREES["a tool in a session of its own"]
    runs = [f"run-{index}" for index in range(6)]
    for run in runs:
        await panes.start(run, str(server.worktree), _tree(script), "")
    pids = {run: await _grown(server, run, number) for run in runs}
    left = await asyncio.gather(*(panes.stop(run) for run in runs[:3]))
    assert left == [()] * 3
    assert not [pid for run in runs[:3] for pid in pids[run] if alive(pid)]
    assert all(alive(pid) for run in runs[3:] for pid in pids[run])
    assert await panes.names() == tuple(runs[3:])


async def test_of_twenty_agents_half_are_killed_and_every_code_is_right(server: Tmux) -> None:
    """In bursts: those that are killed and those that end by themselves go at the same moment."""
    panes = server.panes()
    agent = (
        "import os, signal, sys; open(os.environ['GWT_SPOOL'] + '/pids', 'w').write(f'{os.getpid()}\\n');"
        "signal.signal(signal.SIGUSR1, lambda *_: os._exit(int(sys.argv[1])));"
        "[signal.pause() for _ in iter(int, 1)]"
    )
    codes = {f"run-{number}": number for number in range(20)}
    for run, code in codes.items():
        launch = Launch(argv=(sys.executable, "-S", "-c", agent, str(code)), stdin="nothing")
        await panes.start(run, str(server.worktree), launch, "")
    pids = {run: (await _grown(server, run, 1))[0] for run in codes}
    waiting = {run: asyncio.ensure_future(panes.ended(run)) for run in codes}
    await panes.names()
    for run, code in codes.items():
        await until(lambda pid=pids[run]: _heeds_usr1(pid))
        os.kill(pids[run], signal.SIGKILL if code % 2 else signal.SIGUSR1)
    ends = {run: await task for run, task in waiting.items()}
    assert {run: end.exit_code for run, end in ends.items()} == {
        run: 137 if code % 2 else code for run, code in codes.items()
    }


def _heeds_usr1(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(status.split("SigCgt:\t")[1].split("\n")[0], 16)
    return bool(caught & 1 << signal.SIGUSR1 - 1)
