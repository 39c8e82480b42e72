"""A stop ends whole trees of processes, of every kind that agents and their tools grow."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from bot.core.runs import Launch
from bot.core.states import Outcome
from tests.adapters.tmux.own_server import OwnServer, until

pytestmark = pytest.mark.tmux

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


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


async def _grown(server: OwnServer, run: str, number: int) -> list[int]:
    file = server.spool(run) / "pids"
    await until(lambda: file.exists() and file.read_text().count("\n") == number)
    return [int(line) for line in text_of(file).split()]


def text_of(file: Path) -> str:
    return file.read_text()


def _tree(script: str) -> Launch:
    return Launch(argv=("sh", "-c", script), env={"DEAF": _DEAF}, stdin="nothing")


@pytest.mark.parametrize("kind", TREES)
async def test_nobody_of_a_tree_outlives_a_stop(server: OwnServer, kind: str) -> None:
    script, number = TREES[kind]
    panes = server.panes(grace=0.3)
    await panes.start("run-1", str(server.worktree), _tree(script), "")
    pids = await _grown(server, "run-1", number)
    assert await panes.stop("run-1") == ()
    assert [pid for pid in pids if _alive(pid)] == []
    assert (await panes.ended("run-1")).outcome is Outcome.KILLED


async def test_a_frozen_tree_is_ended(server: OwnServer) -> None:
    panes = server.panes(grace=0.3)
    await panes.start("run-1", str(server.worktree), _tree(_FROZEN), "")
    pids = await _grown(server, "run-1", 3)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    assert await panes.stop("run-1") == ()
    assert [pid for pid in pids if _alive(pid)] == []


async def test_a_tree_that_goes_on_growing_is_ended(server: OwnServer) -> None:
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
    assert [pid for pid in pids if _alive(pid)] == []


async def test_stops_of_many_trees_at_once_leave_other_runs_alone(server: OwnServer) -> None:
    panes = server.panes(grace=0.3)
    script, number = TREES["a tool in a session of its own"]
    runs = [f"run-{index}" for index in range(6)]
    for run in runs:
        await panes.start(run, str(server.worktree), _tree(script), "")
    pids = {run: await _grown(server, run, number) for run in runs}
    left = await asyncio.gather(*(panes.stop(run) for run in runs[:3]))
    assert left == [()] * 3
    assert not [pid for run in runs[:3] for pid in pids[run] if _alive(pid)]
    assert all(_alive(pid) for run in runs[3:] for pid in pids[run])
    assert await panes.names() == tuple(runs[3:])


async def test_of_twenty_agents_half_are_killed_and_every_code_is_right(server: OwnServer) -> None:
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
