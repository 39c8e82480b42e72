"""Watching a folder that an agent can remove: whoever wants its news looks for himself from then on."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from adapters.tmux.watch import Watch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of folders")


async def test_a_folder_that_was_removed_under_others_is_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "run-1"
    folder.mkdir()
    watch = Watch(sweep=300, poll=0.01)
    with watch.on(folder, 0) as first:
        shutil.rmtree(folder)
        assert await first.wait()  # its removal is news itself
        await asyncio.sleep(0)
        folder.mkdir()
        with watch.on(folder, 0) as second:
            assert not await second.wait()
    watch.close()
