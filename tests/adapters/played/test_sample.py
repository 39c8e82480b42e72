"""The sample repository: made once, whole, and never over somebody's files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from adapters.demo.sample import make_sample
from adapters.git.projects import build_commands
from bot.core.errors import Refused
from tests.adapters.played.conftest import TESTS, git, run_tests


def test_the_sample_is_a_clean_repository_on_main_with_its_marker_committed(sample: Path) -> None:
    assert git(sample, "branch", "--show-current") == "main"
    assert git(sample, "status", "--porcelain") == ""
    assert git(sample, "cat-file", "-t", "HEAD:.gwt-sample") == "blob"
    assert git(sample, "config", "--local", "user.name") == "Sample Owner"


def test_the_tests_of_the_sample_pass_and_leave_it_clean(sample: Path) -> None:
    assert run_tests(sample).returncode == 0
    assert git(sample, "status", "--porcelain") == ""


def test_the_bot_recognises_how_its_tests_are_run(sample: Path) -> None:
    manifest = (sample / "pyproject.toml").read_text(encoding="utf-8")
    files = git(sample, "ls-files").splitlines()
    assert build_commands(files, {"pyproject.toml": manifest})[1] == " ".join(TESTS)


def test_making_it_again_changes_nothing_not_even_what_a_person_did_in_it(sample: Path) -> None:
    (sample / "README.md").write_text("mine", encoding="utf-8")
    before = git(sample, "rev-parse", "HEAD")
    make_sample(sample)
    assert git(sample, "rev-parse", "HEAD") == before
    assert (sample / "README.md").read_text(encoding="utf-8") == "mine"


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    make_sample(tmp_path)
    assert (tmp_path / ".gwt-sample").is_file()


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(Refused, match="not the demo's sample") as refusal:
        make_sample(tmp_path)
    assert refusal.value.remedy
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_repository_of_somebody_is_left_alone(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "README.md").write_text("somebody's", encoding="utf-8")
    with pytest.raises(Refused):
        make_sample(tmp_path)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "somebody's"


def test_a_making_that_was_cut_short_is_finished(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    (tmp_path / ".gwt-sample").write_text("This is the sample", encoding="utf-8")
    make_sample(tmp_path)
    assert git(tmp_path, "status", "--porcelain") == ""
    assert run_tests(tmp_path).returncode == 0


def test_a_sample_inside_another_repository_is_one_of_its_own(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    make_sample(tmp_path / "inside")
    assert git(tmp_path / "inside", "rev-parse", "--show-toplevel") == str(tmp_path / "inside")
