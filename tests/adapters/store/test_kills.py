"""R1: each system call of a save is its last, or fails: what was acknowledged is there, all is readable, and private; logs too."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.store import JournalStore, TaskLogFiles
from bot.core.masking import Masker
from bot.core.projections import task_log_views
from bot.core.projections.task_logs import LogEventType
from bot.core.snapshot import restore
from bot.core.states import TaskState
from tests.adapters.git.killing import strace_works
from tests.adapters.store.saver import FIRST, LAST, wanted
from tests.faults.figures import Count
from tests.steps.scenes import executing, later, task, verifying

KILLED_AT = (
    *("openat", "pwrite64", "write", "fdatasync", "fsync", "ftruncate", "fchmod"),
    *("rename", "unlink", "mkdir", "close"),
)
FAILING = ("openat", "pwrite64", "fdatasync", "fsync", "ftruncate", "rename")
ERRORS = ("ENOSPC", pytest.param("EIO", marks=pytest.mark.faults))
MOST = 200
ROOT = Path(__file__).parents[3]


@dataclass
class Ended:
    acknowledged: int = 0
    refused: int = 0
    code: int = 0
    told: list[str] = field(default_factory=list[str])


class Saver:
    """Saves in one home after the other, each with another system call spoiled."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program

    def saves(self, home: Path, *spoil: str) -> Ended:
        assert self._program.stdin
        assert self._program.stdout
        self._program.stdin.write(f"{home}\n")
        self._program.stdin.flush()
        child = int(self._program.stdout.readline().split()[1])
        tracer = _attach(child, *spoil)
        os.kill(child, signal.SIGUSR1)
        ended = self._ended()
        tracer.communicate()
        return ended

    def _ended(self) -> Ended:
        assert self._program.stdout
        ended = Ended()
        for line in self._program.stdout:
            match line.split():
                case ["gone", code]:
                    ended.code = int(code)
                    return ended
                case ["refused"]:
                    ended.refused += 1
                case [number]:
                    ended.acknowledged = int(number)
                case _:
                    raise AssertionError(line)
        raise AssertionError("the saver has gone")


def _attach(child: int, *spoil: str) -> subprocess.Popen[str]:
    """Returns when it watches every thread of it."""
    command = ["strace", "-f", "-o", "/dev/null", "-p", str(child), *spoil]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert tracer.stderr
    said = tracer.stderr.readline()
    assert "attached" in said, said
    return tracer


@pytest.fixture(scope="module")
def saver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Saver]:
    if reason := strace_works(tmp_path_factory.mktemp("strace")):
        pytest.skip(f"system calls cannot be spoiled: {reason}")
    command = [sys.executable, "-m", "tests.adapters.store.saver"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as program:
        yield Saver(program)
        assert program.stdin
        program.stdin.close()


@pytest.mark.covers("G-US7.1", "G-RULE-STORE-1", "G-FR-010", "G-SC-005", "O-P2")
@pytest.mark.parametrize("call", KILLED_AT)
def test_killed_at_any_system_call_it_has_what_was_acknowledged(
    tmp_path: Path, saver: Saver, call: str, count: Count
) -> None:
    for nth in range(1, MOST):
        home = tmp_path / str(nth)
        spoil = ("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={nth}")
        ended = saver.saves(home, *spoil)
        is_sound(home, ended)
        if ended.code == 0:
            return
        assert ended.code == -signal.SIGKILL
        count("R1", kills=1)
        shutil.rmtree(home, ignore_errors=True)
    raise AssertionError("it never came to its end")


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("call", FAILING)
def test_whatever_system_call_fails_it_has_what_was_acknowledged(
    tmp_path: Path, saver: Saver, call: str, error: str, count: Count
) -> None:
    """Once, and from then on for ever."""
    for nth in range(1, MOST):
        for for_ever in ("", "+"):
            home = tmp_path / f"{nth}{for_ever}"
            spoil = (
                "-e",
                f"trace={call}",
                "-e",
                f"inject={call}:error={error}:when={nth}{for_ever}",
            )
            ended = saver.saves(home, *spoil)
            is_sound(home, ended)
            count("R1", failures=1)
            shutil.rmtree(home, ignore_errors=True)
        if ended.code == 0 and not ended.refused and nth > FIRST:
            break


def is_sound(home: Path, ended: Ended) -> None:
    """By somebody who starts on what is there."""
    if not home.exists():
        assert not ended.acknowledged
        return
    modes = {path: path.stat().st_mode & 0o777 for path in [home, *home.rglob("*")]}
    wrong = {p: oct(m) for p, m in modes.items() if m != (0o700 if p.is_dir() else 0o600)}
    assert not wrong
    store = JournalStore(home, export_delay=3600)
    store.load()
    record = store.find("one")
    assert store.broken == ()
    assert (record is not None) or not ended.acknowledged
    if record:
        number = record.session.ending.rounds
        assert record == wanted(number)
        assert max(ended.acknowledged, FIRST) <= number <= LAST
        assert number == ended.acknowledged or ended.code or ended.refused
    exported = home / "sessions" / "one.json"
    assert not exported.exists() or restore(exported.read_bytes())
    assert not list(home.rglob("*.tmp"))


@pytest.fixture
def writer() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.adapters.store.log_writer"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as writer:
        yield writer
        assert writer.stdin
        writer.stdin.close()


def killed_in(writer: subprocess.Popen[str], home: Path, write: int) -> int:
    """How many notes were written whole before the one in the middle of which it was killed."""
    assert writer.stdin
    assert writer.stdout
    writer.stdin.write(f"{home} {write}\n")
    writer.stdin.flush()
    return max([0, *map(int, iter(writer.stdout.readline, "gone\n"))])


def test_no_kill_breaks_a_log_and_the_next_note_makes_good_what_was_lost(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    for write in range(1, 25):
        home = tmp_path / str(write)
        written = killed_in(writer, home, write)
        for path in home.rglob("*.json"):
            json.loads(path.read_bytes())
        files = TaskLogFiles(home, Masker({}))
        now = executing(verifying("T001"), task("T002", TaskState.CANCELLED))
        logs = asyncio.run(files.read(now.id))
        # where only the index of all sessions is missing the logs are there, before anybody was told so
        assert [log.key for log in logs] == ["T001", "T002"] or not (written or logs)
        if written:
            tests = [e for e in logs[0].events if e.event_type is LogEventType.TEST_EXECUTION]
            assert len(tests) >= written
        now.updated_at = later(600)
        asyncio.run(files.note(now, {one.id: [] for one in now.tasks}))
        logs = asyncio.run(files.read(now.id))
        assert task_log_views.tasks_without_log(now, logs) == ()
        assert logs[1].events[-1].event_type is LogEventType.TASK_INCOMPLETE
