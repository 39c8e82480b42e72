"""A run's folder lies within its agent's reach: whatever is put there the bot goes on; and what is read of a screen, and typed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.tmux.screens import (
    MAX_TRANSCRIPT_BYTES,
    fit_transcript,
    last_lines,
    sanitize_input,
    sanitize_screen,
)
from adapters.tmux.spool import MAX_HOOKS, LaunchRecord, Spool, SpoolReport, recorded_end
from adapters.tmux.terminal import MAX_OUTPUT_BYTES, PaneOutput
from adapters.tmux.watch import Watch
from bot.core.errors import Unavailable
from bot.core.runs import CompletionSource, Launch
from tests.adapters.tmux.own_server import Tmux

MARKER = "DONE-4f"
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


def test_of_hooks_without_number_the_last_ones_are_heard(spool: Spool) -> None:
    for number in range(2 * MAX_HOOKS):
        (spool.path / f"{number:06}.json").write_text(json.dumps({"event": "Notification"}))
    (spool.path / "999999.json").write_text(json.dumps({"event": "Stop"}))
    heard = list(spool.named_hooks())
    assert (len(heard), heard[-1]) == (MAX_HOOKS, ("999999.json", {"event": "Stop"}))
    assert [name for name, _ in heard] == sorted(name for name, _ in heard)


@pytest.mark.parametrize("usage", [
    {"input_tokens": 10**4200}, {"output_tokens": -1}, {"cost": float("inf")}, {"cost": float("nan")}, {"cost": -3.5},
])  # fmt: skip
def test_a_number_that_nobody_can_have_used_is_not_believed(
    spool: Spool, usage: dict[str, float]
) -> None:
    (spool.path / "report").write_text(json.dumps({"message": "done", "usage": usage}))
    assert spool.report == SpoolReport(message="done")


@pytest.mark.tmux
async def test_an_agent_that_has_spoilt_its_folder_is_stopped_all_the_same(server: Tmux) -> None:
    panes = server.panes(grace=0.2)
    launch = Launch(argv=("sleep", "300"), stdin="nothing")
    pane = await panes.start("run-1", str(server.worktree), launch, "")
    planted = server.spool("run-1") / "stopped.tmp"
    planted.mkdir()
    with pytest.raises(Unavailable):
        await panes.stop("run-1")
    assert not psutil.pid_exists(pane.pid)
    planted.rmdir()
    assert await panes.stop("run-1") == ()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of folders")
async def test_a_folder_that_was_removed_under_others_is_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "run-1"
    folder.mkdir()
    watch = Watch(sweep=300, poll=0.01)
    with watch.watch_run(folder, 0) as first:
        shutil.rmtree(folder)
        assert await first.wait()  # its removal is news itself
        await asyncio.sleep(0)
        folder.mkdir()
        with watch.watch_run(folder, 0) as second:
            assert not await second.wait()
    watch.close()


# --- what is printed ---


def read_in_pieces(file: Path, printed: bytes, cut: int, marker: str = MARKER) -> PaneOutput:
    file.write_bytes(b"")
    output = PaneOutput(file, marker)
    for start in range(0, len(printed), cut):
        with file.open("ab") as more:
            more.write(printed[start : start + cut])
        output.read()
    return output


@pytest.mark.covers("G-RULE-END-3")
@pytest.mark.parametrize(("printed", "done"), [
    (b"DONE-4f\r\n", True),
    (b"words\r\n\x1b[32m\xe2\x8f\xba\x1b[0m DONE-4f\x1b[K\r\n", True),
    (b"\x1b]0;title DONE-4f\x07x\r\nDONE-4f\r", True),
    (b"\x1b[3;1H\xe2\x94\x82 DONE-4f \xe2\x94\x82\x1b[4;1H", True),
    (b"say DONE-4f\r\n", False), (b"DONE-4f2\r\n", False), (b"DONE-4f", False), (b"\x1b]0;DONE-4f\x07", False),
])  # fmt: skip
@pytest.mark.parametrize("cut", [1, 3, 1000])
def test_a_marker_on_a_line_of_its_own_is_seen_however_its_output_is_cut(
    tmp_path: Path, printed: bytes, done: bool, cut: int
) -> None:
    assert read_in_pieces(tmp_path / "output", printed, cut).done is done


@pytest.mark.parametrize("cut", [1, 4, 1000])
def test_asking_for_pasted_text_is_seen_however_it_is_cut(tmp_path: Path, cut: int) -> None:
    assert read_in_pieces(tmp_path / "output", b"hello \x1b[?25l\x1b[?2004h> ", cut, "").ready


def test_output_that_grew_beyond_measure_is_read_at_its_end_and_begun_anew(spool: Spool) -> None:
    output = PaneOutput(spool.output, MARKER)
    spool.output.write_text("")
    os.truncate(spool.output, 3 * MAX_OUTPUT_BYTES)
    output.read()
    assert (output.done, output.position) == (False, 3 * MAX_OUTPUT_BYTES)
    output.truncate()
    assert (spool.output.stat().st_size, output.position) == (0, 0)
    spool.output.write_text(f"{MARKER}\r\n")
    output.read()
    assert output.done


@pytest.mark.parametrize("planted", ["link", "pipe"])
def test_what_an_agent_puts_in_its_place_empties_no_file_and_keeps_nobody_waiting(
    spool: Spool, tmp_path: Path, planted: str
) -> None:
    (tmp_path / "precious").write_text("somebody's work")
    spool.output.symlink_to(tmp_path / "precious") if planted == "link" else os.mkfifo(spool.output)
    output = PaneOutput(spool.output, MARKER, MAX_OUTPUT_BYTES + 1)
    output.read()
    output.truncate()
    assert not output.done
    assert (tmp_path / "precious").read_text() == "somebody's work"


# --- what is read, typed and kept ---


@given(st.text())
def test_nothing_that_is_read_or_typed_can_steer_a_terminal(text: str) -> None:
    plain = [c for c in text if c in "\n\t" or (ord(c) >= 0x20 and not 0x7F <= ord(c) <= 0x9F)]
    assert sanitize_input(text) == "".join(plain)
    left = set(sanitize_screen(text))
    assert left <= set(plain)
    assert not left & set("\u200b\u200d\u202e\u2066\ufeff"), "nor turn the text around"


def test_the_last_lines_are_those_with_something_on_them() -> None:
    screen = "one\n\ntwo  \n   \nthree\n\n\nPane is dead (status 0, Wed Nov 18 13:00:00 2026)\n"
    assert [last_lines(screen, n) for n in (2, 9, 0)] == ["two\nthree", "one\ntwo\nthree", ""]


def test_of_a_long_transcript_the_beginning_and_the_end_are_kept_in_whole_lines() -> None:
    short = b"x" * (MAX_TRANSCRIPT_BYTES - 1) + b"\n"
    assert fit_transcript(short) == short
    lines = [f"line {number}\n".encode() for number in range(400_000)]
    text = b"".join(lines)
    kept = fit_transcript(text)
    assert len(kept) <= MAX_TRANSCRIPT_BYTES < len(text)
    told = kept.splitlines(keepends=True)
    [place] = [n for n, line in enumerate(told) if b"left out" in line]
    begin, end = told[:place], told[place + 1 :]
    assert (begin, end) == (lines[:place], lines[-len(end) :])
    assert sum(map(len, begin + end)) + int(told[place].split()[1]) == len(text)
    for endless in (b"x" * (3 * MAX_TRANSCRIPT_BYTES), b"x" * (3 * MAX_TRANSCRIPT_BYTES) + b"\n"):
        assert MAX_TRANSCRIPT_BYTES // 2 < len(fit_transcript(endless)) <= MAX_TRANSCRIPT_BYTES
