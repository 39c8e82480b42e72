"""What a new revision changes: told by section and by task, in few and short lines, and nothing else is told."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.plan import Alteration, Altered, Difference, Document, DocumentKind
from bot.core.spec_kit.comparison import TaskView, difference, view_of_draft
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.spec_kit.spec import sections

SPEC = """\
# Feature Specification: Log in

**Feature Branch**: `agent/log-in`

**Created**: 2025-01-02

**Status**: Draft

## User Scenarios & Testing *(mandatory)*

### User Story 1 - Log in by mail (Priority: P1)

A person logs in.

**Why this priority**: nothing works without it

---

### User Story 2 - Log out (Priority: P2)

A person logs out.

## Requirements *(mandatory)*

### Functional Requirements

- **FR-001**: Users MUST log in.
- **FR-002**: Users MUST log out.

## Success Criteria *(mandatory)*

- **SC-001**: In 5 seconds.
"""
PLAN = """\
# Implementation Plan: Log in

**Branch**: `agent/log-in` | **Date**: 2025-01-02 | **Spec**: spec.md

## Summary

Passwords are hashed.

## Project Structure

```text
src/
  # comment
```
"""


def document(text: str, kind: DocumentKind = DocumentKind.SPEC) -> Document:
    return Document(kind=kind, revision=1, text=text, sha256="")


def compared(before: str, after: str, kind: DocumentKind = DocumentKind.SPEC) -> Difference:
    return difference([document(before, kind)], [document(after, kind)], (), (), 1)


def told(found: Difference) -> list[tuple[Altered, str, tuple[str, ...]]]:
    return [(one.what, one.name, one.details) for one in found.sections]


def tasks(before: list[TaskDraft], after: list[TaskDraft]) -> list[Alteration]:
    return list(difference((), (), before, after, 3).tasks)


def test_what_is_as_it_was_is_no_change() -> None:
    found = difference([document(SPEC)], [document(SPEC)], (), (), 4)
    assert not found
    assert found.since == 4


def test_a_changed_line_is_told_under_its_heading() -> None:
    after = SPEC.replace("MUST log out.", "MUST log out at once.").replace(
        "5 seconds.\n", "2 seconds.\n- **SC-002**: Always.\n"
    )
    assert told(compared(SPEC, after)) == [
        (
            Altered.CHANGED,
            "Requirements › Functional Requirements",
            (
                "− - **FR-002**: Users MUST log out.",
                "+ - **FR-002**: Users MUST log out at once.",
            ),
        ),
        (
            Altered.CHANGED,
            "Success Criteria",
            (
                "− - **SC-001**: In 5 seconds.",
                "+ - **SC-001**: In 2 seconds.",
                "+ - **SC-002**: Always.",
            ),
        ),
    ]


def test_spec_and_plan_are_compared_and_the_text_of_the_tasks_is_not() -> None:
    kinds = DocumentKind.SPEC, DocumentKind.PLAN, DocumentKind.TASKS
    before = [document("## A\nx", kind) for kind in kinds]
    after = [document("## A\ny", kind) for kind in reversed(kinds)]
    assert [one.where for one in difference(before, after, (), (), 1).sections] == [
        "spec.md",
        "plan.md",
    ]


def test_new_sections_and_those_that_are_gone_are_told_with_what_they_say() -> None:
    after = SPEC.replace("## Success Criteria *(mandatory)*\n\n- **SC-001**: In 5 seconds.\n", "")
    after += "## Assumptions\n\n- Mail works.\n\n- People can read.\n"
    assert told(compared(SPEC, after)) == [
        (Altered.ADDED, "Assumptions", ("+ - Mail works.", "+ - People can read.")),
        (Altered.REMOVED, "Success Criteria", ("− - **SC-001**: In 5 seconds.",)),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2025-01-02", "2025-06-30"),
        ("**Status**: Draft", "**Status**: Approved"),
        ("`agent/log-in`", "`agent/log-in-2`"),
        ("*(mandatory)*", ""),
        ("---\n", ""),
        ("- **FR", "* **FR"),
        ("logs in.", "logs  in."),
        ("\n", "\r\n"),
        ("\n\n", "\n\n\n"),
        ("# Feature", "---\ndescription: x\n---\n\n# Feature"),
    ],
)
def test_dates_metadata_and_the_look_of_things_are_no_change(old: str, new: str) -> None:
    assert old in SPEC
    assert told(compared(SPEC, SPEC.replace(old, new))) == []


def test_the_metadata_of_a_plan_are_no_change_but_its_tree_is() -> None:
    kind = DocumentKind.PLAN
    assert not compared(PLAN, PLAN.replace("2025-01-02", "2025-06-30"), kind)
    assert told(compared(PLAN, PLAN.replace("  # comment", "    # comment"), kind)) == [
        (Altered.CHANGED, "Project Structure", ("−   # comment", "+     # comment"))
    ]


@pytest.mark.parametrize(
    "line", ["**Last Updated**: {}", "- **Date:** {}", "Created: {}", "更新日：{}", "*Updated*: {}"]
)
def test_when_a_section_was_written_is_no_change(line: str) -> None:
    before, after = (f"## A\n\nx\n\n{line.format(day)}\n" for day in ("2025-01-02", "2025-06-30"))
    assert not compared(before, after)


def test_a_date_in_the_text_is_a_change() -> None:
    spec = SPEC.replace("A person logs in.", "**Deadline**: 2025-01-02")
    assert compared(spec, spec.replace("**Deadline**: 2025-01-02", "**Deadline**: 2025-02-02"))
    assert compared(
        "## Key Entities\n- **Date**: of birth", "## Key Entities\n- **Date**: of death"
    )


def test_a_section_that_only_moved_is_no_change() -> None:
    parts = [f"## {name}\n\ntext of {name}\n\n" for name in "ABC"]
    assert not compared("".join(parts), "".join(reversed(parts)))
    below = "## A\n\n### Notes\n\nx\n\n## B\n\ny\n"
    assert not compared(below, "## A\n\n## B\n\ny\n\n### Notes\n\nx\n")
    assert not compared("## A\n\nx\n\n## A\n\ny\n", "## A\n\ny\n\n## A\n\nx\n")


def test_headings_that_skip_a_level_stand_beside_each_other() -> None:
    (change,) = compared("### A\n\nx\n\n### B\n\ny\n", "### A\n\nx\n\n### B\n\nz\n").sections
    assert change.name == "B"


def test_another_title_is_told_and_not_the_whole_section() -> None:
    after = SPEC.replace("# Feature Specification: Log in", "# Feature Specification: Sign in")
    after = after.replace("(Priority: P2)", "(Priority: P1)")
    assert told(compared(SPEC, after)) == [
        (
            Altered.CHANGED,
            "opening",
            ("− Feature Specification: Log in", "+ Feature Specification: Sign in"),
        ),
        (
            Altered.CHANGED,
            "User Scenarios & Testing › User Story 2 - Log out (Priority: P1)",
            ("− User Story 2 - Log out (Priority: P2)", "+ User Story 2 - Log out (Priority: P1)"),
        ),
    ]


def test_stories_that_are_counted_anew_are_still_themselves() -> None:
    after = SPEC.replace("### User Story 2 - Log out", "### User Story 3 - Log out")
    after = after.replace(
        "### User Story 3",
        "### User Story 2 - Stay (Priority: P2)\n\nOne stays.\n\n### User Story 3",
    )
    after = after.replace("A person logs out.", "A person logs out at once.")
    found = [(one.what, one.name.partition(" › ")[2]) for one in compared(SPEC, after).sections]
    assert found == [
        (Altered.ADDED, "User Story 2 - Stay (Priority: P2)"),
        (Altered.CHANGED, "User Story 3 - Log out (Priority: P2)"),
    ]


def test_details_are_few_and_say_how_many_more_there_are() -> None:
    lines = [f"- line {number}" for number in range(10)]
    (change,) = compared("## A\nx", "## A\n\n" + "\n".join(lines)).sections
    assert change.details == (
        "− x",
        *(f"+ {line}" for line in lines[:4]),
        "… and 6 more lines",
    )


def test_long_lines_are_cut_but_never_where_they_differ() -> None:
    old, new = ("## A\n" + "same " * 100 + word for word in ("before", "after"))
    (change,) = compared(old, new).sections
    assert all(len(line) <= 160 for line in change.details)
    assert change.details[0].startswith("− …")
    assert change.details[0].endswith("before")
    assert change.details[1].endswith("after")
    (change,) = compared("## A\nx", "## A\n" + "y" * 500).sections
    assert len(change.details[1]) == 160
    assert change.details[1].endswith("…")


# --- tasks ---------------------------------------------------------------------------------------------------------

TASK = TaskDraft(
    key="T002",
    title="Log in",
    description="As said.",
    acceptance=("it works", "it is fast"),
    files=("a.py", "b.py"),
    requirements=("FR-001",),
    depends_on=("T001",),
)


def test_every_field_of_a_task_is_compared() -> None:
    changed = TaskDraft(
        key="T002",
        title="Sign in",
        description="As said before.",
        acceptance=("it is fast", "it is safe"),
        files=("b.py",),
        depends_on=("T001", "T003"),
        agent="codex",
    )
    (one,) = tasks([TASK], [changed])
    assert (one.what, one.where, one.name) == (Altered.CHANGED, "T002", "Sign in")
    assert one.details == (
        "name: Log in → Sign in",
        "description: − As said.",
        "description: + As said before.",
        "acceptance: − it works",
        "acceptance: + it is safe",
        "… and 4 more lines",
    )


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"files": ("b.py",)}, ["files: − a.py"]),
        ({"files": ("a.py", "b.py", "c.py")}, ["files: + c.py"]),
        ({"requirements": ("FR-002",)}, ["requirements: − FR-001", "requirements: + FR-002"]),
        ({"depends_on": ("T003",)}, ["depends on: T001 → T003"]),
        ({"depends_on": ()}, ["depends on: T001 → nothing"]),
        ({"depends_on": ("T010", "T003", "T001")}, ["depends on: T001 → T001, T003, T010"]),
        ({"agent": "codex"}, ["agent: any → codex"]),
        ({"description": ""}, ["description: − As said."]),
        ({"description": "As\n said."}, []),
        ({"files": ("b.py", "a.py")}, []),
        ({"acceptance": ("it is fast", "it works")}, []),
        ({"story": "US1", "parallel": True, "complexity": "high"}, []),
    ],
)
def test_a_change_of_a_task_is_told(change: dict[str, object], detail: list[str]) -> None:
    found = tasks([TASK], [TASK.model_copy(update=change)])
    assert [list(one.details) for one in found] == ([detail] if detail else [])


def test_new_tasks_and_those_that_are_gone_are_told_in_the_order_of_their_keys() -> None:
    gone = TASK.model_copy(update={"key": "T1000", "title": "Gone"})
    new = TaskDraft(key="T999", title="New", acceptance=("it works",), depends_on=("T002",))
    found = tasks([gone, TASK], [new, TASK.model_copy(update={"title": "Other"})])
    assert [(one.what, one.where, one.name, one.details) for one in found] == [
        (Altered.CHANGED, "T002", "Other", ("name: Log in → Other",)),
        (Altered.ADDED, "T999", "New", ("acceptance: + it works", "depends on: T002")),
        (Altered.REMOVED, "T1000", "Gone", ()),
    ]


def test_a_task_at_work_is_compared_with_what_is_proposed() -> None:
    view = TaskView(key="T002", name="Log in", acceptance=("it works",))
    assert not difference(
        (),
        (),
        [view],
        [view_of_draft(TaskDraft(key="T002", title="Log in", acceptance=("it works",)))],
        1,
    )
    (one,) = difference((), (), [view], [TASK], 1).tasks
    assert one.what is Altered.CHANGED


# --- whatever is compared ------------------------------------------------------------------------------------------

DOCUMENTS = st.lists(
    st.sampled_from(["# A", "## B", "### C", "### D (x)", "## B", "x", "y", "- z", "", "```", "#### e"]),
    max_size=14,
).map("\n".join)  # fmt: skip


def said(text: str) -> list[str]:
    """Every line with the heading it stands under, in any order."""
    heading, found = "", list[str]()
    fenced = [line for one in sections(text) for line in one.body.split("\n") if "```" in line]
    for line in text.split("\n"):
        if re.match("#{1,3} ", line) and not fenced:
            heading = line
        elif line:
            found.append(f"{heading} {line}")
    return sorted(found)


@settings(max_examples=100)
@given(DOCUMENTS, DOCUMENTS)
def test_whoever_says_something_else_differs(before: str, after: str) -> None:
    found = compared(before, after)
    if said(before) == said(after):
        return
    assert found or sorted(_bodies(before)) == sorted(_bodies(after))
    for one in found.sections:
        assert len(one.details) <= 6
        assert all(len(line) <= 160 for line in one.details)


def _bodies(text: str) -> list[str]:
    return [line for line in text.split("\n") if line and not line.startswith("#")]
