"""What is kept is nobody else's to read, and one bot's at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.files import keep_private
from adapters.store import InstanceLock, JournalStore
from bot.core.errors import Refused
from bot.core.states import Status
from tests.adapters.store.samples import busy, record


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
        store.save(busy())
        store.save(record("over", status=Status.COMPLETED))
        store.sessions()
        store.close()
        assert len(list(home.rglob("*"))) >= 10
        assert modes(home) == {("directory", "0o700"), ("file", "0o600")}


@pytest.mark.usefixtures("open_umask")
def test_a_left_over_with_another_mode_does_not_give_it_to_the_journal(tmp_path: Path) -> None:
    store = JournalStore(tmp_path, export_delay=3600)
    (tmp_path / "sessions/unfinished/one.journal.tmp").touch(0o666)
    store.save(busy())
    assert oct((tmp_path / "sessions/unfinished/one.journal").stat().st_mode & 0o777) == "0o600"


@pytest.mark.usefixtures("open_umask")
def test_a_link_that_waits_for_a_write_is_not_followed(tmp_path: Path) -> None:
    store = JournalStore(tmp_path, export_delay=3600)
    (tmp_path / "sessions/unfinished/one.journal.tmp").symlink_to(tmp_path / "elsewhere")
    store.save(busy())
    assert not (tmp_path / "elsewhere").exists()
    assert not (tmp_path / "sessions/unfinished/one.journal").is_symlink()


@pytest.mark.usefixtures("open_umask")
def test_keeping_private_closes_a_home_that_was_open(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    keep_private(tmp_path)
    assert oct(tmp_path.stat().st_mode & 0o777) == "0o700"
    (tmp_path / "anything").touch()
    assert oct((tmp_path / "anything").stat().st_mode & 0o777) == "0o600"


@pytest.mark.covers("B-OP-claimNextTask", "B-STORE-6", "O-P8")
def test_a_second_instance_is_refused_with_the_first_ones_pid(tmp_path: Path) -> None:
    with InstanceLock(tmp_path), pytest.raises(Refused) as caught:
        InstanceLock(tmp_path).acquire()
    assert f"process {os.getpid()}" in caught.value.reason
    assert str(tmp_path) in caught.value.reason
    assert "GWT_HOME" in caught.value.remedy


def test_a_lock_that_was_let_go_can_be_had(tmp_path: Path) -> None:
    for _ in range(2):
        with InstanceLock(tmp_path):
            pass


def test_two_homes_are_two_locks(tmp_path: Path) -> None:
    with InstanceLock(tmp_path / "a"), InstanceLock(tmp_path / "b"):
        pass


HOLDER = """
import sys
from pathlib import Path
from adapters.store import InstanceLock
InstanceLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.covers("R-RULE-LOCK-1", "O-P8")
def test_the_lock_of_another_process_counts_until_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Refused, match=f"process {holder.pid}"):
            InstanceLock(tmp_path).acquire()
        holder.kill()
        holder.wait()
        with InstanceLock(tmp_path):
            pass
