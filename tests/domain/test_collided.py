"""What an agent is told of a collision: which files, what both sides wanted, and what to do about it."""

from __future__ import annotations

from bot.domain.collided import MANY, told_of_base, told_of_task
from tests.flow.scenes import task


def test_both_intents_and_the_way_are_told() -> None:
    mine = task("T002", name="Receipt", description="Print it.\nWith care.")
    theirs = task("T001", name="Codes", description="Take codes.")
    told = told_of_task(mine, theirs, ("a.py", "b.py"))
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


def test_of_the_base_nobody_knows_the_intent_but_git() -> None:
    told = told_of_base(task("T002"), "1234567", ("a.py",))
    assert "git merge 1234567" in told
    assert "git log" in told


def test_very_many_files_are_only_counted() -> None:
    told = told_of_base(task("T002"), "main", tuple(f"f{n}.py" for n in range(MANY + 3)))
    assert f"f{MANY - 1}.py and 3 more files" in told
    assert f"f{MANY}.py" not in told
