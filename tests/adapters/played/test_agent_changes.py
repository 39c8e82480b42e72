"""The played agent when something else is wanted: before it starts, in the middle, after it has committed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.adapters.played.conftest import (
    RECEIPT_FAILED,
    add_worktree,
    git,
    replied,
    run_agent,
    run_python,
    run_tests,
    subjects,
)

PRINT = (
    "from basket.items import Item; from basket.receipt import receipt; "
    "print(receipt([Item('A tea with a name that is far too long', 325, 12), Item('Cup', 990)]))"
)


def prompt(key: str = "T002", change: str = "", *, feedback: str = "", former: str = "") -> str:
    """A task as the bot tells it to an agent."""
    tasks = replied("tasks", change_request=change, previous={"spec": former})["tasks"]
    task = next(task for task in tasks if task["key"] == key)
    return "\n\n".join(
        [
            f"# Task {key}: {task['title']}",
            task["description"],
            "## It is done when\n" + listed(task["acceptance"]),
            "## Files it is about\n" + listed(task["files"]),
            *([f"## What came of the last try\n{feedback}"] if feedback else []),
            "## How to work\n- Test first.",
            "## Other tasks, done by others\n- T001: Discount codes",
        ]
    )


def listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def printed(worktree: Path) -> set[int]:
    """How wide the lines of a receipt are."""
    done = run_python(worktree, "-c", PRINT)
    return {len(line) for line in done.stdout.splitlines()}


WISHES = ["Receipts of 40 columns", "レシートは４０桁に", "a receipt of 40-column paper"]


@pytest.mark.parametrize("wish", WISHES)
def test_a_change_that_comes_before_the_start_is_built_at_once(worktree: Path, wish: str) -> None:
    assert run_agent(worktree, prompt(change=wish) + RECEIPT_FAILED)[0] == 0
    assert printed(worktree) == {40}
    assert run_tests(worktree).returncode == 0
    assert len(subjects(worktree)) == 3
    assert "only noted" not in (worktree / "basket" / "receipt.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("flags", [(), ("--resume",)], ids=["a new conversation", "resumed"])
def test_a_change_that_comes_after_the_commits_edits_what_is_there(
    worktree: Path, flags: tuple[str, ...]
) -> None:
    run_agent(worktree, prompt() + RECEIPT_FAILED)
    assert printed(worktree) == {32}
    code, shown = run_agent(worktree, prompt(change=WISHES[0]), *flags)
    assert code == 0
    assert "something else is wanted" in shown
    assert printed(worktree) == {40}
    assert subjects(worktree)[-2:] == [
        "test(receipt): expect lines of 40 columns",
        "feat(receipt): print lines of 40 columns",
    ]
    assert run_tests(worktree).returncode == 0
    assert git(worktree, "status", "--porcelain") == ""


def test_another_wish_is_noted_in_the_module_and_the_tests_still_pass(worktree: Path) -> None:
    run_agent(worktree, prompt() + RECEIPT_FAILED)
    wish = 'Name the cents in the receipt, please. """ 領収書'
    for _ in range(2):
        assert run_agent(worktree, prompt(change=wish))[0] == 0
    module = (worktree / "basket" / "receipt.py").read_text(encoding="utf-8")
    assert module.count(f"# Wanted, and only noted, because this work is played: {wish}") == 1
    assert subjects(worktree)[-1] == "docs(receipt): note what else is wanted"
    assert run_tests(worktree).returncode == 0


def test_a_fresh_try_goes_on_from_what_a_stopped_one_left(worktree: Path) -> None:
    run_agent(worktree, prompt())
    receipt = worktree / "basket" / "receipt.py"
    receipt.write_text("WIDTH = 4", encoding="utf-8")
    git(worktree, "add", "basket/receipt.py")
    lock = git(worktree, "rev-parse", "--path-format=absolute", "--git-path", "index.lock")
    Path(lock).touch()
    code, shown = run_agent(worktree, prompt())
    assert code == 0
    assert "committed already" in shown
    assert git(worktree, "status", "--porcelain") == ""
    assert len(subjects(worktree)) == 2


@pytest.mark.parametrize(
    ("change", "module"),
    [("Also add a CSV export", "export"), ("注文履歴も追加", "history")],
)
def test_work_that_was_wished_for_later_is_done_and_passes_its_own_tests(
    sample: Path, change: str, module: str
) -> None:
    codes, more = add_worktree(sample, "codes"), add_worktree(sample, "more")
    run_agent(codes, prompt("T001"))
    git(more, "merge", "--quiet", "--no-edit", "agent/codes")
    code, shown = run_agent(more, prompt("T004", change=change))
    assert code == 0
    assert f"Write basket/{module}.py" in shown
    done = run_tests(more)
    assert done.returncode == 0
    assert ran(done.stderr) == 13
    assert git(more, "status", "--porcelain") == ""
    (more / "basket" / f"{module}.py").write_text("", encoding="utf-8")
    assert run_tests(more).returncode == 1


def ran(told: str) -> int:
    """How many tests ran."""
    return int(re.findall(r"Ran (\d+) tests", told)[0])
