"""The lock on a disk that takes nothing: held where it can be, else a clear word instead of a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adapters.store import InstanceLock
from bot.core.errors import Unavailable

FULL = """
import resource, signal, sys
from pathlib import Path
from adapters.store import InstanceLock
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
with InstanceLock(Path(sys.argv[1])):
    print("held")
"""


def test_the_lock_is_held_although_nothing_can_be_written(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "home")],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert (done.stdout, done.returncode) == ("held\n", 0), done.stderr


def test_a_home_that_cannot_be_made_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable) as told:
        InstanceLock(tmp_path / "file" / "home").acquire()
    assert str(tmp_path / "file" / "home") in told.value.reason
    assert told.value.remedy
