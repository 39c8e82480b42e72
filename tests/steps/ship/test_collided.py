"""What an agent is told of a collision: which files, what both sides wanted, and what to do about it."""

from __future__ import annotations

import pytest

from bot.core.pull_text import (
    MOST_FILES_NAMED,
    base_conflict_instructions,
    task_conflict_instructions,
)
from tests.steps.scenes import task


@pytest.mark.covers("G-EDGE-6")
def test_both_intents_and_the_way_are_told() -> None:
    mine = task("T002", name="Receipt", description="Print it.\nWith care.")
    theirs = task("T001", name="Codes", description="Take codes.")
    told = task_conflict_instructions(mine, theirs, ("a.py", "b.py"))
    for part in (
        "git merge agent/t001",
        "a.py, b.py",
        "T002 “Receipt”: Print it.",
        "T001 “Codes”: Take codes.",
        "both",
        "tests",
        "commit",
    ):
        assert part in told


@pytest.mark.covers("G-US5.5")
def test_of_the_base_nobody_knows_the_intent_but_git() -> None:
    told = base_conflict_instructions(task("T002"), "1234567", ("a.py",))
    assert "git merge 1234567" in told
    assert "git log" in told


def test_very_many_files_are_only_counted() -> None:
    told = base_conflict_instructions(
        task("T002"), "main", tuple(f"f{n}.py" for n in range(MOST_FILES_NAMED + 3))
    )
    assert f"f{MOST_FILES_NAMED - 1}.py and 3 more files" in told
    assert f"f{MOST_FILES_NAMED}.py" not in told


def test_a_task_without_words_or_a_branch_is_named_all_the_same() -> None:
    mine, theirs = task("T002", description=""), task("T001", workspace=None, description="")
    told = task_conflict_instructions(mine, theirs, ("a.py",))
    assert "git merge T001" in told
    assert "T002 “Task T002”" in told
    assert "”:" not in told


def test_a_long_story_is_told_by_its_first_line_only() -> None:
    told = base_conflict_instructions(
        task("T002", description="x" * 900 + "\nsecret plan"), "main", ("a.py",)
    )
    assert "x" * 300 in told
    assert "x" * 301 not in told
    assert "secret plan" not in told


def test_exactly_as_many_files_as_are_named_are_not_counted() -> None:
    files = tuple(f"f{n}.py" for n in range(MOST_FILES_NAMED))
    assert "more files" not in base_conflict_instructions(task("T002"), "main", files)
