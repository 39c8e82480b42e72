"""The shipped suite is what it says: its changes apply and are right or not, and its questions can be told apart."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from adapters.git import GitRepository
from bot.core.languages import language_of
from bot.core.suites import (
    Edit,
    Label,
    SuiteRepository,
    SuiteRequest,
    covered,
    edited,
    is_executable,
    patch_of,
)
from bot.steps.suite_trials import SUITES, load_suite

REPOSITORIES = [one for name in SUITES for one in load_suite(name)]
REQUESTS = [(one, request) for one in REPOSITORIES for request in one.requests]


def name(one: object) -> str:
    return one.name if isinstance(one, SuiteRepository) else getattr(one, "id", "")


def written(folder: Path, tree: Mapping[str, str]) -> Path:
    for path, text in tree.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755 if is_executable(text) else 0o644)
    return folder


def passes(folder: Path, command: Sequence[str], sent: str = "") -> bool:
    ended = subprocess.run(
        command, check=False, cwd=folder, capture_output=True, timeout=120, input=sent.encode()
    )
    return ended.returncode == 0


def test_there_are_fifteen_changes_of_each_kind() -> None:
    labels = Counter(label for one, request in REQUESTS for label, _, _ in one.changes(request))
    assert labels == dict.fromkeys(Label, 15)
    languages = Counter(language_of(request.text) for _, request in REQUESTS)
    assert languages == {"English": 9, "German": 3, "Japanese": 3}


@pytest.mark.parametrize(("suite", "request_"), REQUESTS, ids=name)
def test_a_change_passes_the_tests_and_only_the_right_one_does_what_was_asked_for(
    suite: SuiteRepository, request_: SuiteRequest, tmp_path: Path
) -> None:
    if lacking := [one for one in (suite.tests[0], suite.checks[0]) if not shutil.which(one)]:
        pytest.skip(f"{lacking[0]} is not installed")
    before = suite.trees[-1][1]
    assert not passes(written(tmp_path / "before", before), [*suite.checks, request_.check])
    for number, (label, why, after) in enumerate(suite.changes(request_)):
        folder = written(tmp_path / f"{label}{number}", after)
        assert passes(folder, suite.tests), f"{label}: {why}"
        done = passes(folder, [*suite.checks, request_.check])
        assert done == (label is Label.RIGHT), f"{label}: {why}"


async def test_every_patch_applies_to_the_repository_as_it_is_made(tmp_path: Path) -> None:
    for suite in REPOSITORIES:
        top = tmp_path / suite.name
        top.mkdir()
        commit = await GitRepository(tmp_path / "home").make(top, suite.trees)
        assert passes(top, ["git", "reset", "--hard", commit])
        assert 5 <= len(suite.trees[-1][1]) <= 15
        for request in suite.requests:
            patches = {
                label: patch_of(suite.trees[-1][1], after)
                for label, _, after in suite.changes(request)
            }
            assert len({*patches.values()}) == len(patches)
            for label, patch in patches.items():
                assert passes(top, ["git", "apply", "--check"], patch), f"{request.id}, {label}"


async def test_a_repository_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    made: set[str] = set()
    for place in ("one", "other"):
        (tmp_path / place).mkdir()
        made.add(
            await GitRepository(tmp_path / "home").make(tmp_path / place, REPOSITORIES[0].trees)
        )
    assert len(made) == 1


@pytest.mark.parametrize(("suite", "request_"), REQUESTS, ids=name)
def test_points_are_told_apart(suite: SuiteRepository, request_: SuiteRequest) -> None:
    """A question that is worded as the suite words it counts as just that, and the decisions cover what a plan must."""
    for point in request_.open:
        assert covered(request_.open, [point.about]) == [point]
        assert covered(request_.settled, [point.about]) == []
        assert point.answer
    decided = [*request_.criteria, request_.text, *(one.answer for one in request_.open)]
    beside = [one.about for one in request_.must if one not in covered(request_.must, decided)]
    assert len(beside) < len(request_.must), beside
    assert suite.touched(request_)


def test_an_edit_whose_text_is_not_there_once_is_refused() -> None:
    assert edited({"a": "x\n"}, [Edit(path="a", old="x", new="y"), Edit(path="b", new="z")]) == {
        "a": "y\n",
        "b": "z",
    }
    for text in ("", "xx"):
        with pytest.raises(ValueError, match="times"):
            edited({"a": text}, [Edit(path="a", old="x", new="y")])
