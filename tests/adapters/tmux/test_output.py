"""The file a pane is piped into lies within the agent's reach: whatever it makes of it, nothing else is touched."""

from __future__ import annotations

import os
from pathlib import Path

from adapters.tmux.terminal import LARGEST_OUTPUT, PaneOutput

MARKER = "DONE-1"


def test_a_file_that_has_grown_large_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"x" * (LARGEST_OUTPUT + 1))
    output = PaneOutput(path, MARKER)
    output.read()
    output.shorten()
    assert (path.stat().st_size, output.position) == (0, 0)


def test_a_link_in_its_place_empties_no_other_file(tmp_path: Path) -> None:
    precious, path = tmp_path / "precious", tmp_path / "output"
    precious.write_text("somebody's work")
    path.symlink_to(precious)
    output = PaneOutput(path, MARKER, LARGEST_OUTPUT + 1)
    output.read()
    output.shorten()
    assert precious.read_text() == "somebody's work"


def test_a_pipe_in_its_place_keeps_nobody_waiting(tmp_path: Path) -> None:
    path = tmp_path / "output"
    os.mkfifo(path)
    output = PaneOutput(path, MARKER, LARGEST_OUTPUT + 1)
    output.read()
    output.shorten()
    assert not output.done
