"""Titles of pull requests: what is refused, and that a made one never is."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.pull_text import COMMIT_TYPES, LONGEST_TITLE, title_for, title_problem
from bot.core.spec_kit.drafts import TaskType

patiently = settings(max_examples=60)
"""Nothing here is about time."""


@pytest.mark.parametrize(
    "title",
    [
        "feat: add discounts",
        "fix(basket): round prices down",
        "feat(api)!: drop v1",
        "refactor!: one module",
        "docs(SPEC-7682b3a8): describe it",
        "feat: 割引コードを追加",
        "chore: " + "x" * (LONGEST_TITLE - 7),
    ],
)
def test_a_title_as_it_should_be_has_no_problem(title: str) -> None:
    assert title_problem(title) == ""


@pytest.mark.covers("G-RULE-PR-6")
@pytest.mark.parametrize(
    ("title", "problem"),
    [
        ("", "must read"),
        ("Add discounts", "must read"),
        ("feat:add discounts", "must read"),
        ("feat : add discounts", "must read"),
        ("feat:  two blanks", "must read"),
        ("feature: add discounts", "no known type"),
        ("Feat: add discounts", "no known type"),
        ("機能: 割引", "no known type"),
        ("feat(): add discounts", "scope"),
        ("feat(バスケット): add discounts", "scope"),
        ("feat(two words): add discounts", "scope"),
        ("feat: add discounts.", "dot"),
        ("feat: 割引を追加する。", "dot"),
        ("feat: add discounts ", "blank"),
        ("feat: feat: add discounts", "once more"),
        ("feat: fix(basket): add discounts", "once more"),
        ("feat: Feat: add discounts", "once more"),
        ("feat: add\ndiscounts", "one line"),
        ("feat: add\u2028discounts", "one line"),
        ("feat: add\x1b[31m discounts", "one line"),
        ("feat: add \u202estnuocsid\u202c", "one line"),
        ("chore: " + "x" * (LONGEST_TITLE - 6), "73 characters"),
    ],
)
def test_what_is_wrong_with_a_title_is_said(title: str, problem: str) -> None:
    assert problem in title_problem(title)


@pytest.mark.covers("B-TYPE-documentation", "B-OP-generateCommitMessage")
@pytest.mark.parametrize("kind", TaskType)
def test_every_type_of_task_has_a_type_of_commit(kind: TaskType) -> None:
    prefix = title_for(kind, "Work on it").partition(":")[0]
    assert prefix in COMMIT_TYPES
    assert (prefix == "chore") == (kind is TaskType.INVESTIGATION)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Add discounts", "feat: add discounts"),
        ("Python 3.13 is supported", "feat: Python 3.13 is supported"),
        ("CSV export of orders", "feat: CSV export of orders"),
        ("OAuth for guests", "feat: OAuth for guests"),
        ("Node.js 24", "feat: Node.js 24"),
        (".env is read.", "feat: .env is read"),
        ("割引コードを追加する。", "feat: 割引コードを追加する"),
        ("fix: wrong total", "fix: wrong total"),
        ("Fix: feat: wrong total.", "fix: wrong total"),
        ("two\nlines", "feat: two lines"),
        ("", "feat: the work of this task"),
    ],
)
def test_a_title_is_made_of_a_name(name: str, title: str) -> None:
    assert title_for(TaskType.IMPLEMENTATION, name) == title


def test_a_name_that_is_too_long_is_cut_between_words() -> None:
    title = title_for("docs", "word " * 40)
    assert title.endswith(" word")
    assert len(title) <= LONGEST_TITLE


@pytest.mark.covers("G-RULE-PR-6")
@patiently
@given(st.sampled_from([*TaskType, "feature", "", "nonsense"]), st.text(max_size=120))
@example("implementation", "feat: .")
@example("implementation", "feat:\x85fix：docs(a)!: x")
@example("integration", "\ud800" * 80)
@example("implementation", "a" * 66 + ". b")
def test_a_made_title_never_has_a_problem(kind: str, name: str) -> None:
    assert title_problem(title_for(kind, name)) == ""
