"""What is kept beside the sessions: nobody else's to read, one bot's at a time, and never mended by guessing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.files import Disk, set_private_umask
from adapters.store import InstanceLock, JournalStore, ReplFile
from adapters.store.state_files import BindingsFile
from bot.core.errors import Refused, Unavailable
from bot.core.projections.records import ReplState
from bot.core.states import Status
from tests.adapters.store.samples import busy, record

ROOT = Path(__file__).parents[3]


@pytest.fixture
def open_umask() -> Iterator[None]:
    old = os.umask(0)
    yield
    os.umask(old)


def modes(home: Path) -> set[tuple[str, str]]:
    return {
        ("directory" if path.is_dir() else "file", oct(path.stat().st_mode & 0o7777))
        for path in [home, *home.rglob("*")]
    }


@pytest.mark.covers("G-RULE-STORE-3", "G-SEC-2")
@pytest.mark.usefixtures("open_umask")
def test_everything_under_home_is_its_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "a" / "home"
    with InstanceLock(home):
        store = JournalStore(home, export_delay=3600)
        left = home / "sessions/unfinished"
        (left / "one.journal.tmp").touch(0o666)  # a left-over does not give its mode to a journal,
        (left / "over.journal.tmp").symlink_to(tmp_path / "elsewhere")  # and no link is followed
        store.save(busy())
        store.save(record("over", status=Status.COMPLETED))
        store.sessions()
        store.close()
        assert len(list(home.rglob("*"))) >= 10
        assert modes(home) == {("directory", "0o700"), ("file", "0o600")}
        assert not (tmp_path / "elsewhere").exists()
        assert not [path for path in home.rglob("*") if path.is_symlink()]


@pytest.mark.usefixtures("open_umask")
def test_keeping_private_closes_a_home_that_was_open(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    set_private_umask(tmp_path)
    (tmp_path / "anything").touch()
    assert modes(tmp_path) == {("directory", "0o700"), ("file", "0o600")}


# --- the lock ---


@pytest.mark.covers("B-OP-claimNextTask", "B-STORE-6", "O-P8")
def test_a_second_instance_is_refused_with_the_first_ones_pid(tmp_path: Path) -> None:
    for _ in range(2):  # one that was let go can be had again, and two homes are two locks
        with InstanceLock(tmp_path), InstanceLock(tmp_path / "other"):
            with pytest.raises(Refused) as caught:
                InstanceLock(tmp_path).acquire()
            assert f"process {os.getpid()}" in caught.value.reason
            assert str(tmp_path) in caught.value.reason
            assert "GWT_HOME" in caught.value.remedy


HOLDER = """
import resource, signal, sys
from pathlib import Path
from adapters.store import InstanceLock
if sys.argv[2] == "full":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
InstanceLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.covers("R-RULE-LOCK-1", "O-P8")
@pytest.mark.parametrize("disk", ["roomy", "full"])
def test_the_lock_of_another_process_counts_until_it_is_killed(tmp_path: Path, disk: str) -> None:
    """Also where not even its pid can be written down."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path), disk]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=ROOT) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Refused, match="another" if disk == "full" else f"process {holder.pid}"):
            InstanceLock(tmp_path).acquire()
        holder.kill()
        holder.wait()
        with InstanceLock(tmp_path):
            pass


def test_a_home_that_cannot_be_made_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable) as told:
        InstanceLock(tmp_path / "file" / "home").acquire()
    assert str(tmp_path / "file" / "home") in told.value.reason
    assert told.value.remedy


# --- which channel works on which repository ---


class FullDisk(Disk):
    def replace(self, path: Path, data: bytes, **how: Any) -> None:
        raise OSError(28, "No space left on device")


def test_what_was_bound_is_known_in_the_next_life(tmp_path: Path) -> None:
    bound = BindingsFile(tmp_path)
    assert bound.of("slack:T1:C1") == ""
    for channel, name in (("C1", "web"), ("C2", "api"), ("C1", "shop")):
        bound.bind(f"slack:T1:{channel}", name)
    again = BindingsFile(tmp_path)
    assert (again.of("slack:T1:C1"), again.of("slack:T1:C2")) == ("shop", "api")
    assert (tmp_path / "bindings.json").stat().st_mode & 0o777 == 0o600
    full = BindingsFile(tmp_path, FullDisk())
    with pytest.raises(Unavailable):
        full.bind("slack:T1:C1", "api")
    assert full.of("slack:T1:C1") == "shop" == BindingsFile(tmp_path).of("slack:T1:C1")


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null", '{"a": ', "\udcff", "[" * 5_000])
def test_a_file_that_cannot_be_read_binds_nothing_and_can_be_written_again(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "bindings.json").write_bytes(text.encode(errors="surrogateescape"))
    bound = BindingsFile(tmp_path)
    assert bound.of("slack:T1:C1") == ""
    bound.bind("slack:T1:C1", "web")
    assert BindingsFile(tmp_path).of("slack:T1:C1") == "web"


# --- what the console remembers ---

WHOLE = ReplState.first().model_copy(
    update={
        "selected_provider": "openai",
        "updated_at": datetime(2026, 1, 2, tzinfo=UTC),
        "last_task_id": "t1",
    }
)


@pytest.mark.covers(
    *("R-ENTITY-ReplState", "R-REPL-STATE-1", "R-REPL-STATE-2", "R-REPL-STATE-5", "R-FILE-repl")
)
def test_what_was_saved_is_read_again_and_is_private(tmp_path: Path) -> None:
    assert ReplFile(tmp_path).load() == ReplState.first()
    assert list(tmp_path.iterdir()) == [], "none is made by looking"
    ReplFile(tmp_path).save(WHOLE)
    assert ReplFile(tmp_path).load() == WHOLE
    path = tmp_path / "repl.json"
    assert path.stat().st_mode & 0o777 == 0o600
    told = json.loads(path.read_text())
    assert list(told) == list(ReplState.model_fields)
    assert datetime.fromisoformat(told["updated_at"]) == WHOLE.updated_at


@pytest.mark.covers("R-REPL-STATE-5", "R-REPL-STATE-8")
@pytest.mark.parametrize("content", [
    "", "{", "[]", "{}", WHOLE.model_dump_json().replace("openai", "gemini"),
    WHOLE.model_dump_json().replace("2026", "the year 2026"),
])  # fmt: skip
def test_a_broken_file_is_e105_and_stays_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "repl.json"
    path.write_text(content)
    with pytest.raises(Refused, match=r"^E105: .*repl\.json"):
        ReplFile(tmp_path).load()
    assert path.read_text() == content
