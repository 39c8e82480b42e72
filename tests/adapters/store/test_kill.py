"""Killed at any moment, the store has everything that was acknowledged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.store import JournalStore
from bot.core.snapshot import restore
from tests.adapters.store.saver import state

KILLS = 70


@pytest.fixture
def saver() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.adapters.store.saver"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as saver:
        yield saver
        assert saver.stdin
        saver.stdin.close()


def killed_after(saver: subprocess.Popen[str], home: Path, saves: int) -> int:
    """The last save that was acknowledged before the kill arrived."""
    assert saver.stdin
    assert saver.stdout
    saver.stdin.write(f"{home}\n")
    saver.stdin.flush()
    child = acknowledged = 0
    for line in saver.stdout:
        match line.split():
            case ["pid", number]:
                child = int(number)
            case ["gone"]:
                return acknowledged
            case numbers:
                acknowledged = max(acknowledged, *map(int, numbers))
                saves -= 1
        if child and saves <= 0:
            os.kill(child, signal.SIGKILL)
            child = 0
    raise AssertionError("the saver has gone")


@pytest.mark.covers("G-US7.1", "G-RULE-STORE-1", "G-FR-010", "G-SC-005", "O-P2")
def test_no_kill_loses_what_was_acknowledged(tmp_path: Path, saver: subprocess.Popen[str]) -> None:
    chance = random.Random(5)  # noqa: S311 - no secret
    for kill in range(KILLS):
        home = tmp_path / str(kill % 7)
        acknowledged = killed_after(saver, home, chance.randrange(1, 25))
        store = JournalStore(home, export_delay=3600)
        (record,) = store.load()
        assert store.broken == ()
        assert record.session.continues in (acknowledged, acknowledged + 1)
        assert record == state(record.session.continues)
        exported = home / "sessions" / "one.json"
        assert not exported.exists() or restore(exported.read_bytes())
        assert not list(home.rglob("*.tmp"))
