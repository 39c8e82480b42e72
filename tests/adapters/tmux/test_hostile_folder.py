"""An agent can write to the folder of its own run: whatever it puts there, the bot goes on, and a stop stops it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.descendants import KnownProcess
from adapters.tmux.spool import MOST_HOOKS, LaunchRecord, Spool, SpoolReport, recorded_end
from adapters.tmux.terminal import LARGEST_OUTPUT, PaneOutput
from bot.core.errors import Unavailable
from bot.core.runs import CompletionSource, Launch
from tests.adapters.tmux.own_server import OwnServer

MARKER = "GWT_DONE_1"
PLANTED: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "nothing": lambda path: path.symlink_to("nowhere"),
    "folder": lambda path: path.mkdir(),
    "no text": lambda path: path.write_bytes(b"\xff" * 100),
    "huge": lambda path: path.touch() or os.truncate(path, 1 << 30),
}


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    (tmp_path / "run-1").mkdir()
    return Spool(tmp_path, "run-1")


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_whatever_stands_in_a_files_place_is_as_if_there_were_none(
    spool: Spool, plant: Callable[[Path], object]
) -> None:
    for name in ("exit", "launch", "pasted", "report", "heeded", "1-Stop.json", "output"):
        plant(spool.path / name)
    assert recorded_end(spool, process_gone=False, source=CompletionSource.SWEEP) is None
    assert spool.kept == LaunchRecord()
    assert (spool.output_begins, spool.report) == (0, SpoolReport())
    output = PaneOutput(spool.output, MARKER)
    output.read()
    assert not output.done


def test_of_output_that_grew_beyond_measure_the_end_is_read(spool: Spool) -> None:
    output = PaneOutput(spool.output, MARKER)
    spool.output.write_text("")
    os.truncate(spool.output, 3 * LARGEST_OUTPUT)
    output.read()
    assert (output.done, output.position) == (False, 3 * LARGEST_OUTPUT)
    with spool.output.open("a") as file:
        file.write(f"\n{MARKER}\n")
    output.read()
    assert output.done


def test_of_hooks_without_number_the_last_ones_are_heard(spool: Spool) -> None:
    for number in range(2 * MOST_HOOKS):
        (spool.path / f"{number:06}.json").write_text(json.dumps({"event": "Notification"}))
    (spool.path / "999999.json").write_text(json.dumps({"event": "Stop"}))
    heard = list(spool.named_hooks())
    assert len(heard) == MOST_HOOKS
    assert heard[-1] == ("999999.json", {"event": "Stop"})
    assert [name for name, _ in heard] == sorted(name for name, _ in heard)


@pytest.mark.parametrize("usage", [
    {"input_tokens": 10**4200},
    {"output_tokens": -1},
    {"cost": float("inf")},
    {"cost": float("nan")},
    {"cost": -3.5},
])  # fmt: skip
def test_a_number_that_nobody_can_have_used_is_not_believed(
    spool: Spool, usage: dict[str, float]
) -> None:
    told = {"message": "done", "usage": usage}
    (spool.path / "report").write_text(json.dumps(told))
    assert spool.report == SpoolReport(message="done")


@pytest.mark.tmux
async def test_an_agent_that_has_spoilt_its_folder_is_stopped_all_the_same(
    server: OwnServer,
) -> None:
    panes = server.panes(grace=0.2)
    launch = Launch(argv=("sleep", "300"), stdin="nothing")
    pane = await panes.start("run-1", str(server.worktree), launch, "")
    agent = KnownProcess(pane.pid)
    planted = server.spool("run-1") / "stopped.tmp"
    planted.mkdir()
    with pytest.raises(Unavailable):
        await panes.stop("run-1")
    assert not agent.alive
    planted.rmdir()
    assert await panes.stop("run-1") == ()
