"""A trace is the same wherever it is recorded, and what the program does otherwise is found in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from pydantic import BaseModel

from tests.simulation.mutants import MUTANTS
from tests.traces import kept
from tests.traces.compared import Compared, compare
from tests.traces.schedules import traced
from tests.traces.values import Leaves

ROOT = Path(__file__).resolve().parents[2]
BUSY = 3
"""A seed in which much happens."""
PLANTED = {mutant.name: mutant for mutant in MUTANTS}
SAVED, POSTED = '[1.0, 1, "saved", {"phase": "intake"}]', '[1.0, 1, "chat.show", "Got it"]'


def _run(*words: str, folder: Path, hashes: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "tests.traces", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hashes, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_seed_leaves_the_same_trace_wherever_it_is_played(tmp_path: Path) -> None:
    for number in "12":
        words = ("record", str(tmp_path / f"to-{number}"), "--first", "2", "--seeds", "2")
        done = _run(
            *words, "--only-seeds", "--workers", "1", folder=tmp_path / number, hashes=number
        )
        assert done.returncode == 0, done.stderr
    both = (str(tmp_path / "to-1"), str(tmp_path / "to-2"))
    done = _run("compare", *both, folder=tmp_path, hashes="3")
    assert (done.returncode, done.stdout) == (0, "2 traces, 0 different\n")
    lines = kept.read(tmp_path / "to-1", "schedules/00003")
    kinds = Counter(json.loads(line)[2] for line in lines[:-1])
    told = ("people", "saved", "chat.show", "model.complete", "tmux.start", "git.prepare")
    assert {*told, "commands.test", "audit.note"} <= kinds.keys()


@pytest.mark.parametrize(
    "name", ["acts before it saves", "posts a card anew instead of editing it"]
)
def test_what_the_program_does_otherwise_is_in_its_trace(name: str) -> None:
    usual = traced(BUSY)
    with PLANTED[name].planted():
        other = traced(BUSY)
    assert other != usual
    assert traced(BUSY) == usual


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([SAVED, POSTED.replace("Got it", "Received")], '+ "Received"'),
        ([POSTED, SAVED], '+ "chat.show",'),
        ([SAVED], "1 differ first at chat.show"),
        ([SAVED, POSTED, POSTED], "1 differ first at the end"),
    ],
)
def test_another_text_another_order_less_or_more_is_found(
    tmp_path: Path, lines: list[str], told: str
) -> None:
    for folder, content in (("before", [SAVED, POSTED]), ("after", lines)):
        same = kept.write(tmp_path / folder, "schedules/00001", [SAVED])
        other = kept.write(tmp_path / folder, "schedules/00002", content)
        digests = {"schedules/00001": same, "schedules/00002": other}
        kept.write_digests(tmp_path / folder, digests)
    text, different = compare(tmp_path / "before", tmp_path / "after")
    assert different == 1
    assert "=== schedules/00002, line" in text
    assert told in text
    assert text.endswith("2 traces, 1 different")
    left_out = compare(tmp_path / "before", tmp_path / "after", Compared(without=("chat.",)))
    assert left_out[1] == 0
    (tmp_path / "after/digests.txt").write_text("")
    assert compare(tmp_path / "before", tmp_path / "after")[1] == 2


def test_what_was_renamed_on_purpose_is_no_difference(tmp_path: Path) -> None:
    for folder, name in (("before", "brought"), ("after", "attachments")):
        line = f'[1.0, 1, "saved", {{"{name}": 1, "state +": ["{name}=brought"]}}]'
        digest = kept.write(tmp_path / folder, "schedules/00001", [line])
        kept.write_digests(tmp_path / folder, {"schedules/00001": digest})
    assert compare(tmp_path / "before", tmp_path / "after")[1] == 1
    renamed = Compared(renamed={"brought": "attachments"})
    assert compare(tmp_path / "before", tmp_path / "after", renamed)[1] == 0


class _Step(BaseModel):
    asked: bool = False
    repairs: int = 0


class _Nested(BaseModel):
    title: str = ""
    clarify: _Step = _Step()


class _Flat(BaseModel):
    title: str = ""
    asked: bool = False
    repairs: int = 0
    new: str = "nothing yet"


def test_where_a_value_lies_makes_no_difference_and_a_default_says_nothing() -> None:
    flat = _Flat(title="Discounts", repairs=2)
    nested = _Nested(title="Discounts", clarify=_Step(repairs=2))
    assert Leaves().of(flat) == Leaves().of(nested) == ["title=Discounts", "repairs=2"]
