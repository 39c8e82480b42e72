"""What runs elsewhere is changed only where people have seen it in the plan."""

from __future__ import annotations

import pytest

from bot.core.git import Work
from bot.core.tampering.signs import MOST_UNPLANNED, Sign, unplanned_flags


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("uv.lock", "what is installed"),
        ("web/package-lock.json", "what is installed"),
        ("ios/Podfile.lock", "what is installed"),
        ("Package.resolved", "what is installed"),
        (".husky/pre-commit", "what runs on machines of others"),
        (".github/CODEOWNERS", "what runs on machines of others"),
    ],
)
def test_what_no_plan_names_is_told_with_what_it_decides(path: str, says: str) -> None:
    for work in (
        Work(head="c", changed_files=(path,)),
        Work(head="c", created_files=(path,)),
        Work(head="c", deleted_files=(path,)),
    ):
        [flag] = unplanned_flags(work, ["src/app.py"])
        assert (flag.sign, flag.path) == (Sign.REACHES_FURTHER, path)
        assert says in flag.says


def test_what_the_plan_names_has_been_seen() -> None:
    work = Work(head="c", changed_files=("web/package-lock.json", "uv.lock"))
    assert unplanned_flags(work, ["./web/package-lock.json", "uv.lock"]) == ()


@pytest.mark.parametrize("path", ["src/lock.py", "docs/github.md", ".github/workflows/ci.yml"])
def test_what_reaches_nowhere_and_what_has_a_sign_of_its_own_is_not_told(path: str) -> None:
    assert unplanned_flags(Work(head="c", changed_files=(path,)), ()) == ()


def test_of_very_many_so_many_are_told_and_the_rest_counted() -> None:
    paths = tuple(f"p{number}/uv.lock" for number in range(MOST_UNPLANNED + 5))
    found = unplanned_flags(Work(head="c", changed_files=paths), ())
    assert len(found) == MOST_UNPLANNED
    assert "There are 5 more such files." in found[-1].says
