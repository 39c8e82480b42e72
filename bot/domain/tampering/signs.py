"""The signs of tampering with tests, and of work that reaches further than its plan; and where one stands."""

from __future__ import annotations

from enum import StrEnum

from bot.domain.facts import Fact


class Sign(StrEnum):
    TEST_DELETED = "test_deleted"
    TEST_SKIPPED = "test_skipped"
    ASSERTION_WEAKENED = "assertion_weakened"
    CI_CHANGED = "ci_changed"
    TEST_SETTINGS_CHANGED = "test_settings_changed"
    RUNNER_TOUCHED = "runner_touched"
    """What runs the tests is ended early, patched or replaced by the code itself."""
    TESTS_MISSING = "tests_missing"
    """Tests that ran at the base did not run, or nobody can see whether they did."""
    REACHES_FURTHER = "reaches_further"
    """What runs elsewhere was changed, and the plan does not name it."""


class Flag(Fact):
    """One such sign, and where it stands."""

    sign: Sign
    path: str
    says: str
    """In a sentence, for people."""
    tests: tuple[str, ...] = ()
    """Tests that are gone or skipped, by the names the code gives them; an empty name is every test of the file."""
