"""The played agent, run as the executable it is, in real worktrees of a real sample repository."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.adapters.played.conftest import (
    RECEIPT_FAILED,
    add_worktree,
    git,
    run_agent,
    run_tests,
    start_agent,
    subjects,
)

T001 = "# Task T001: Discount codes\n\nWrite it.\n"
T002 = "# Task T002: Printable receipt\n\nWrite it.\n"
T003 = "# Task T003: Checkout with discounts\n\nWrite it.\n"


@pytest.mark.covers("B-TYPE-implementation", "R-EXECUTOR-3")
def test_a_task_is_done_tests_first_and_its_tests_pass(worktree: Path) -> None:
    code, _ = run_agent(worktree, T001)
    assert code == 0
    assert [subject.split(":")[0] for subject in subjects(worktree)] == [
        "test(discount)",
        "feat(discount)",
    ]
    assert git(worktree, "status", "--porcelain") == ""
    assert run_tests(worktree).returncode == 0


@pytest.mark.covers("O-K3")
def test_it_says_on_the_screen_that_it_is_played_and_what_it_does(worktree: Path) -> None:
    _, shown = run_agent(worktree, T001)
    assert "PLAYED AGENT" in shown
    assert "No model is at work" in shown
    assert "Write basket/discount.py" in shown
    assert "Done: 2 commits" in shown


def test_the_first_receipt_fails_the_test_it_came_with_and_the_second_run_repairs_it(
    worktree: Path,
) -> None:
    assert run_agent(worktree, T002)[0] == 0
    failed = run_tests(worktree)
    assert failed.returncode == 1
    assert "FAILED (failures=1)" in failed.stderr

    told = f"{T002}\n## What came of the last try\n\n{failed.stderr}"
    assert run_agent(worktree, told, "--resume")[0] == 0
    assert run_tests(worktree).returncode == 0
    assert subjects(worktree)[-1] == "fix(receipt): print cents with two digits"
    assert git(worktree, "status", "--porcelain") == ""


def test_a_failure_counts_only_where_the_last_try_is_told(worktree: Path) -> None:
    run_agent(worktree, T002)
    elsewhere = "\n## What came of the last try\nYou were stopped.\n\n## Rules\nNever FAIL.\n"
    run_agent(worktree, T002 + elsewhere, "--resume")
    assert run_tests(worktree).returncode == 1


def test_the_checkout_passes_only_after_the_discounts_were_merged(sample: Path) -> None:
    discounts, checkout = add_worktree(sample, "discounts"), add_worktree(sample, "checkout")
    run_agent(discounts, T001)
    assert run_agent(checkout, T003)[0] == 0
    assert "No module named 'basket.discount'" in run_tests(checkout).stderr

    git(checkout, "merge", "--quiet", "--no-edit", "agent/discounts")
    assert run_tests(checkout).returncode == 0


def test_the_work_of_all_tasks_merges_without_a_conflict_and_passes(sample: Path) -> None:
    for name, prompt in (("one", T001), ("two", T002 + RECEIPT_FAILED), ("three", T003)):
        assert run_agent(add_worktree(sample, name), prompt)[0] == 0
    for name in ("one", "two", "three"):
        git(sample, "merge", "--quiet", "--no-edit", f"agent/{name}")
    assert run_tests(sample).returncode == 0


@pytest.mark.parametrize("prompt", [T001, T002 + RECEIPT_FAILED, T003])
def test_doing_a_task_twice_changes_nothing(worktree: Path, prompt: str) -> None:
    run_agent(worktree, prompt)
    before = git(worktree, "rev-parse", "HEAD")
    code, shown = run_agent(worktree, prompt, "--resume")
    assert code == 0
    assert "changed nothing" in shown
    assert git(worktree, "rev-parse", "HEAD") == before


def test_after_a_stop_in_the_middle_it_goes_on_from_what_is_there(worktree: Path) -> None:
    with start_agent(worktree, T001, "--pace", "0.05") as process:
        read_until(process, "Commit test")
        process.terminate()
        assert process.wait(20) == -signal.SIGTERM
    # What a stop at a bad moment leaves behind: half a file, and git's lock.
    (worktree / "basket" / "discount.py").write_text("def reduc", encoding="utf-8")
    lock = git(worktree, "rev-parse", "--path-format=absolute", "--git-path", "index.lock")
    Path(lock).touch()

    assert run_agent(worktree, T001, "--resume")[0] == 0
    assert len(subjects(worktree)) == 2
    assert git(worktree, "status", "--porcelain") == ""
    assert run_tests(worktree).returncode == 0


def test_an_unknown_task_is_explained(worktree: Path) -> None:
    code, shown = run_agent(worktree, "# Task T009: Fly to the moon\n")
    assert code == 3
    assert "Fly to the moon" in shown
    assert "T001, T002, T003" in shown
    assert subjects(worktree) == []


@pytest.mark.covers("R-EXECUTOR-3", "O-K3")
@pytest.mark.parametrize("stage", ["", "production"])
def test_it_refuses_to_work_outside_demo_and_tests(worktree: Path, stage: str) -> None:
    code, shown = run_agent(worktree, T001, GWT_BOT_STAGE=stage)
    assert code == 4
    assert "only in the demo and in tests" in shown
    assert subjects(worktree) == []


def test_it_refuses_a_repository_that_is_not_the_sample(tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "--quiet", str(other))
    (other / ".gwt-sample").touch()
    git(other, "commit", "--quiet", "--allow-empty", "-m", "docs: begin")
    code, shown = run_agent(other, T001)
    assert code == 4
    assert ".gwt-sample is not here" in shown
    assert git(other, "log", "--oneline").count("\n") == 0


def test_it_commits_under_a_name_that_says_what_it_is(worktree: Path) -> None:
    run_agent(worktree, T001)
    assert git(worktree, "log", "-1", "--format=%an") == "Played Agent"


@pytest.mark.covers("R-EXECUTOR-5")
def test_a_played_error_ends_with_a_code_and_no_work(worktree: Path) -> None:
    code, shown = run_agent(worktree, T001, GWT_BOT_PLAY="error")
    assert code == 1
    assert "API Error" in shown
    assert subjects(worktree) == []


@pytest.mark.covers("R-EXECUTOR-4")
@pytest.mark.parametrize(("typed", "code", "commits"), [("", 5, 0), ("2\n", 5, 0), ("1\n", 0, 2)])
def test_a_blocked_one_goes_on_only_when_a_person_says_yes(
    worktree: Path, typed: str, code: int, commits: int
) -> None:
    ended, shown = run_agent(worktree, T001, typed=typed, GWT_BOT_PLAY="blocked")
    assert "Do you want to make this edit?" in shown
    assert (ended, len(subjects(worktree))) == (code, commits)


def read_until(process: subprocess.Popen[str], words: str) -> str:
    """The line with these words. The end of the output is a failure."""
    for line in process.stdout or ():
        if words in line:
            return line
    raise AssertionError(f"it never said: {words}")
