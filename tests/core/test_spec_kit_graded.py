"""What anybody can see is wrong with a breakdown, and which requirement is served by which task."""

from __future__ import annotations

import pytest

from bot.core.plan import RequirementCoverage
from bot.core.spec_kit.comparison import TaskView
from bot.core.spec_kit.drafts import TaskDraft, TaskType, breakdown_issues
from bot.core.spec_kit.spec import coverage


def spec(*ids: str) -> str:
    return "\n".join(f"- **{id}**: it MUST be" for id in ids)


def draft(key: str, *needs: str, **more: object) -> TaskDraft:
    """A task without a fault."""
    given = {"title": f"Do {key}", "acceptance": ("it works",), "depends_on": needs, **more}
    return TaskDraft.model_validate({"key": key, **given})


def issues(*drafts: TaskDraft, ids: tuple[str, ...] = (), has_tests: bool = True) -> list[str]:
    return breakdown_issues(drafts, spec(*ids), has_tests=has_tests)


SIX = tuple(f"FR-{number:03}" for number in range(1, 7))


@pytest.mark.parametrize(
    ("named", "served"),
    [
        ("FR-002", "FR-002"),
        ("fr-002", "FR-002"),
        ("FR-2", "FR-002"),
        ("FR002", "FR-002"),
        ("ＦＲ－００２", "FR-002"),
        ("**FR-002**: log in", "FR-002"),
        ("FR-002, FR-004 and FR-006", "FR-002 FR-004 FR-006"),
        ("FR-001–FR-003", "FR-001 FR-002 FR-002a FR-003"),
        ("FR-001 - FR-003", "FR-001 FR-002 FR-002a FR-003"),
        ("FR-001-003", "FR-001 FR-002 FR-002a FR-003"),
        ("FR-001..FR-002", "FR-001 FR-002"),
        ("FR-003 to FR-005", "FR-003 FR-004 FR-005"),
        ("FR-003〜FR-005", "FR-003 FR-004 FR-005"),
        ("FR-003からFR-005", "FR-003 FR-004 FR-005"),
        ("FR-002–FR-002a", "FR-002 FR-002a"),
        ("FR-002a", "FR-002a"),
        ("FR-009", ""),
        ("FR-003–FR-001", "FR-001 FR-003"),
        ("SC-001", ""),
        ("FR-", ""),
        ("", ""),
    ],
)
def test_requirements_are_named_one_by_one_or_in_ranges(named: str, served: str) -> None:
    ids = ("FR-001", "FR-002", "FR-002a", *SIX[2:])
    found = coverage(spec(*ids), [draft("T001", requirements=(named,))])
    assert " ".join(one.requirement for one in found if one.tasks) == served


def test_coverage_follows_the_order_of_the_spec_and_of_the_tasks() -> None:
    tasks = [
        TaskView("T003", "a", requirements=("FR-001",)),
        TaskView("T001", "b", requirements=("FR-001", "FR-002", "fr-1")),
    ]
    assert coverage(spec("FR-002", "FR-001", "FR-003"), tasks) == (
        RequirementCoverage(requirement="FR-002", tasks=("T001",)),
        RequirementCoverage(requirement="FR-001", tasks=("T003", "T001")),
        RequirementCoverage(requirement="FR-003"),
    )


def test_a_sound_breakdown_has_no_issues() -> None:
    assert issues(draft("T001", requirements=("FR-001",)), draft("T002", "T001"), ids=SIX[:1]) == []


def test_a_requirement_that_no_task_serves_is_an_issue() -> None:
    assert issues(draft("T001", requirements=("FR-001",)), ids=("FR-001", "FR-002")) == [
        "FR-002 is served by no task"
    ]


def test_a_task_that_cannot_be_accepted_is_an_issue() -> None:
    assert issues(draft("T001", acceptance=(" ",)), draft("T002", acceptance=())) == [
        "T001 does not say when it is accepted",
        "T002 does not say when it is accepted",
    ]


@pytest.mark.covers("G-RULE-TASKS-8")
def test_where_there_are_no_tests_the_first_task_sets_them_up() -> None:
    assert issues(draft("T001"), draft("T002", "T001"), has_tests=False) == [
        "the repository has no tests to run, and T001, the first task, does not set them up"
    ]


@pytest.mark.parametrize(
    "first",
    [
        {"title": "Set up pytest"},
        {"title": "試験の枠: テストを用意する"},
        {"description": "So that there are unit tests."},
        {"files": ("tests/conftest.py",)},
    ],
)
def test_and_the_others_wait_for_it(first: dict[str, object]) -> None:
    setup = draft("T001", **first)
    directly, later = draft("T002", "T001"), draft("T003", "T002")
    assert issues(setup, directly, later, has_tests=False) == []
    assert issues(setup, directly, draft("T004"), has_tests=False) == [
        "T004 does not depend on T001, which sets up the tests"
    ]


def test_the_latest_is_no_test() -> None:
    assert len(issues(draft("T001", title="Show the latest contest"), has_tests=False)) == 1


def test_whoever_builds_nothing_needs_no_tests() -> None:
    report = draft("T002", type=TaskType.INVESTIGATION)
    assert issues(report, has_tests=False) == []
    assert (
        issues(draft("T001", title="Set up tests"), draft("T003", "T001"), report, has_tests=False)
        == []
    )


@pytest.mark.covers("G-RULE-TASKS-7")
def test_a_task_that_is_too_large_is_to_be_split() -> None:
    many = tuple(f"FR-{number:03}" for number in range(1, 8))
    assert issues(draft("T001", requirements=many)) == [
        "T001 serves 7 requirements: too large, split it"
    ]
    assert issues(draft("T001", requirements=("FR-001–FR-007",)), ids=many) == [
        "T001 serves 7 requirements: too large, split it"
    ]
    assert issues(draft("T001", requirements=many[:6])) == []
    files = tuple(f"{number}.py" for number in range(13))
    assert issues(draft("T001", files=files)) == ["T001 names 13 files: too large, split it"]
    assert issues(draft("T001", files=files[:12])) == []


def test_tasks_that_may_run_at_once_name_no_file_together() -> None:
    one, two, three = (
        draft("T001", files=("a.py", "b.py")),
        draft("T002", files=("./a.py",), parallel=True),
        draft("T003", files=("b.py", "a.py"), parallel=True),
    )
    after = draft("T004", "T001", "T002", "T003", files=("a.py",))
    assert issues(one, two, three, after) == [
        "T001, T002 and T003 may run at once and name the same file a.py",
        "T001 and T003 may run at once and name the same file b.py",
    ]


def test_tasks_that_follow_each_other_may_name_the_same_file() -> None:
    first, second, third = (
        draft("T001", files=("a.py",)),
        draft("T002", "T001"),
        draft("T003", "T002", files=("a.py",)),
    )
    assert issues(first, second, third) == []
