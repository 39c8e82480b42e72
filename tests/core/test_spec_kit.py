"""Spec Kit's documents: what is written can be read again, and what others wrote is read without losing a task."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.spec_kit.drafts import (
    TaskDraft,
    TaskType,
    WorktreeStrategy,
    dependency_graph,
    draft_problems,
)
from bot.core.spec_kit.spec import (
    check_plan,
    check_spec,
    requirement_ids,
    sections,
    story_titles,
    success_ids,
    with_clarifications,
)
from bot.core.spec_kit.tasks_reader import ParsedTask, parse_tasks
from bot.core.spec_kit.tasks_writer import render_tasks


def draft(
    key: str, *needs: str, story: str = "", parallel: bool = False, title: str = ""
) -> TaskDraft:
    return TaskDraft(
        key=key, title=title or f"Do {key}", depends_on=needs, story=story, parallel=parallel
    )


def rendered(*drafts: TaskDraft) -> str:
    return render_tasks(
        "Log in",
        "SPEC-1a2b3c4d",
        drafts,
        "please add log in",
        "2025-01-02",
        {"US1": "Log in by mail"},
    )


def read(markdown: str) -> ParsedTask:
    (task,) = parse_tasks(markdown).tasks
    return task


FEATURE = [
    TaskDraft(key="T001", title="Set up pytest", files=("pyproject.toml",)),
    TaskDraft(key="T002", title="User model", depends_on=("T001",), requirements=("FR-001", "FR-002")),
    TaskDraft(key="T003", title="Test log in", story="US1", parallel=True, files=("tests/test_login.py",), depends_on=("T002",)),
    TaskDraft(key="T004", title="Log in", story="US1", files=("src/login.py",), depends_on=("T003",), acceptance=("it works",)),
    TaskDraft(key="T005", title="Log out", story="US2", parallel=True, depends_on=("T002",), description="after T004 is nice"),
    TaskDraft(key="T006", title="Docs", depends_on=("T004", "T005"), type=TaskType.DOCUMENTATION, worktree=WorktreeStrategy.SHARED),
]  # fmt: skip


# --- tasks.md, written -------------------------------------------------------------------------------------------


@pytest.mark.covers("G-RULE-TASKS-1", "G-FR-003a", "G-DEP-5")
def test_tasks_stand_in_spec_kits_phases_in_order() -> None:
    headings = [section.title for section in sections(rendered(*FEATURE)) if section.level == 2]
    assert headings == [
        "Format: `[ID] [P?] [Story] Description`",
        "Path Conventions",
        "Phase 1: Setup (Shared Infrastructure)",
        "Phase 2: Foundational (Blocking Prerequisites)",
        "Phase 3: User Story 1 - Log in by mail (Priority: P1) 🎯 MVP",
        "Phase 4: User Story 2 (Priority: P2)",
        "Phase 5: Polish & Cross-Cutting Concerns",
        "Dependencies & Execution Order",
        "Parallel Example",
        "Implementation Strategy",
        "Notes",
    ]


@pytest.mark.covers("G-RULE-TASKS-1", "G-FR-003a")
def test_a_task_line_follows_the_grammar() -> None:
    text = rendered(*FEATURE).splitlines()
    assert "- [ ] T001 Set up pytest in pyproject.toml" in text
    assert "- [ ] T003 [P] [US1] Test log in in tests/test_login.py (depends on T002)" in text
    assert "  - Accepted when: it works" in text
    assert "  - Serves: FR-001, FR-002" in text


def test_the_document_begins_with_front_matter_and_title() -> None:
    assert rendered(*FEATURE).startswith(
        '---\ndescription: "Task list for Log in"\n---\n\n# Tasks: Log in\n\n'
    )


def test_what_does_not_apply_is_left_out_and_nothing_is_left_to_fill_in() -> None:
    text = rendered(draft("T001"))
    for absent in (
        "User Story",
        "Parallel",
        "Polish",
        "Path Conventions",
        "Strategy",
        "Dependencies &",
        "N/A",
        "Organization",
    ):
        assert absent not in text
    without_marks = re.sub(
        r"`[^`]*`|\*\*\[[^\]]*\]\*\*|- \[ \] T[0-9]+( \[P\])?( \[US[0-9]\])?",
        "",
        rendered(*FEATURE),
    )
    assert "[" not in without_marks


def test_a_task_of_no_story_stands_where_its_dependencies_allow() -> None:
    late = [
        draft("T001", story="US1"),
        draft("T002", "T001"),
        draft("T003", "T004", story="US1"),
        draft("T004"),
    ]
    phases = {task.key: task.phase for task in parse_tasks(rendered(*late)).tasks}
    assert phases["T002"].endswith("Polish & Cross-Cutting Concerns")
    assert "Setup" in phases["T004"]


def test_what_can_run_side_by_side_is_named() -> None:
    assert "- T003, T005 can run side by side" in rendered(*FEATURE)


def test_tasks_in_a_circle_can_still_be_shown() -> None:
    assert "T001" in rendered(draft("T001", "T002"), draft("T002", "T001"))


TITLES = st.text(
    st.one_of(st.sampled_from("[]()*_`\\#- \nTP"), st.characters(categories=["L", "N", "P"])),
    min_size=1,
    max_size=30,
)
KEYS = [f"T{number:03}" for number in range(1, 8)]
DRAFTS = st.lists(
    st.builds(
        TaskDraft,
        key=st.just(""),
        title=TITLES.map(lambda title: f"Do {title}x")
        | st.sampled_from(["[WIP] x", "\\x", "【共通】x", "［P］x", "[ ] x"]),
        story=st.sampled_from(["", "", "US1", "US2", "US12"]),
        parallel=st.booleans(),
        depends_on=st.lists(st.sampled_from(KEYS), unique=True, max_size=3).map(tuple),
        read_first=st.sampled_from([(), ("src/a.py:1-9",), ("src/a.py:1", "lib/b.go:30-70")]),
        acceptance=st.lists(TITLES.map(lambda text: f"it {text}"), max_size=2).map(tuple),
        requirements=st.sampled_from([(), ("FR-001",)]),
    ),
    min_size=1,
    max_size=7,
).map(
    lambda drafts: [
        one.model_copy(
            update={"key": key, "depends_on": tuple(need for need in one.depends_on if need < key)}
        )
        for key, one in zip(KEYS, drafts, strict=False)
    ]
)


@pytest.mark.covers("G-MODULE-5")
@settings(max_examples=150)
@given(DRAFTS)
def test_what_is_written_can_be_read_again(drafts: list[TaskDraft]) -> None:
    parsed = parse_tasks(rendered(*drafts))
    found = {task.key: task for task in parsed.tasks}
    assert parsed.warnings == ()
    assert set(found) == {one.key for one in drafts}
    for one in drafts:
        task = found[one.key]
        assert (task.parallel, task.stories, task.done) == (
            one.parallel,
            (one.story,) if one.story else (),
            False,
        )
        assert task.depends_on == one.depends_on
        assert task.text.startswith(" ".join(one.title.split()))
        assert task.tags == ()


# --- tasks.md, read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "key", "text"),
    [
        ("- [ ] T001 Add it", "T001", "Add it"),
        ("* [ ] **T001** Add it", "T001", "Add it"),
        ("- [ ] **T001**: Add it", "T001", "Add it"),
        ("  - [ ] T001a: Add it", "T001a", "Add it"),
        ("1. [ ] `T001` Add it", "T001", "Add it"),
        ("- [ ] [T001] Add it", "T001", "Add it"),
        ("- [ ] [P] T001 Add it", "T001", "Add it"),
        ("- [ ] T001 [the docs](x.md) mended", "T001", "[the docs](x.md) mended"),
        ("- [ ] T1234 認証を追加する", "T1234", "認証を追加する"),
    ],
)
def test_an_id_is_read_however_it_is_dressed(line: str, key: str, text: str) -> None:
    task = read(line)
    assert (task.key, task.text) == (key, text)
    assert parse_tasks(line).warnings == ()


@pytest.mark.parametrize(
    ("box", "done"),
    [("[x]", True), ("[X]", True), ("[✓]", True), ("[ ]", False), ("[-]", False), ("[]", False)],
)
def test_a_ticked_box_is_done(box: str, done: bool) -> None:
    assert read(f"- {box} T001 Add it").done is done


@pytest.mark.parametrize(
    ("tags", "parallel", "stories", "free"),
    [
        ("[P] [US1]", True, ("US1",), ()),
        ("[US2][P]", True, ("US2",), ()),
        ("[p] [US1-4]", True, ("US1", "US2", "US3", "US4"), ()),
        ("[US1, US3]", False, ("US1", "US3"), ()),
        ("[US1-US2]", False, ("US1", "US2"), ()),
        ("[共通]", False, (), ("共通",)),
        ("【共通】［P］", True, (), ("共通",)),
        ("[Story 1]", False, (), ("Story 1",)),
    ],
)
def test_tags_say_parallel_stories_or_something_of_their_own(
    tags: str, parallel: bool, stories: tuple[str, ...], free: tuple[str, ...]
) -> None:
    task = read(f"- [ ] T001 {tags} Add it")
    assert (task.parallel, task.stories, task.tags, task.text) == (
        parallel,
        stories,
        free,
        "Add it",
    )


BEFORE = "\n".join(f"- [ ] T{number:03} x" for number in range(1, 10))


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("Add it (depends on T001, T002)", "1 2"),
        ("Add it (depends on T001, T002 and T004)", "1 2 4"),
        ("Add it (Depends on: **T001**)", "1"),
        ("Add it (depends on tasks T001–T003)", "1 2 3"),
        ("Add it (depends on T002-T004, T007)", "2 3 4 7"),
        ("Add it (deps: T001)", "1"),
        ("Add it after T003", "3"),
        ("Add it, requires T001 to T003", "1 2 3"),
        ("Add it. Blocked by T005 & T006", "5 6"),
        ("追加する（T001の後に）", "1"),
        ("追加する (T001、T002の完了後)", "1 2"),
        ("T001〜T003の後に追加する", "1 2 3"),
        ("追加する（依存: T001, T002）", "1 2"),
        ("追加する。T004に依存", "4"),
        ("追加する（T001とT002が完了した後）", "1 2"),
        ("Mend the parser of T003", ""),
        ("Say what T001 and T002 do", ""),
        ("Update dependencies", ""),
    ],
)
def test_dependencies_are_read_from_prose(text: str, needs: str) -> None:
    task = parse_tasks(f"{BEFORE}\n- [ ] T010 {text}").tasks[-1]
    assert task.depends_on == tuple(f"T{int(number):03}" for number in needs.split())


def test_dependencies_may_stand_below_the_task() -> None:
    task = parse_tasks(
        f"{BEFORE}\n- [ ] T010 Add it\n  - **Depends on**: T001, T003\n  - after T002 it is easy?"
    ).tasks[-1]
    assert task.depends_on[:2] == ("T001", "T003")
    below = parse_tasks(f"{BEFORE}\n- [ ] T010 Add it\n  - What: see how it is after T002").tasks[
        -1
    ]
    assert below.depends_on == ()


def test_a_range_takes_only_what_is_there() -> None:
    parsed = parse_tasks("- [ ] T001 x\n- [ ] T003 x\n- [ ] T009 x (depends on T001-T005)")
    assert parsed.tasks[-1].depends_on == ("T001", "T003", "T005")
    assert parsed.warnings == ("line 3: T009 depends on T005, which is not there",)


def test_a_task_that_depends_on_itself_is_told() -> None:
    parsed = parse_tasks("- [ ] T001 x (depends on T001)")
    assert parsed.tasks[0].depends_on == ()
    assert "depends on itself" in parsed.warnings[0]


def test_tasks_know_their_phase_line_and_details() -> None:
    task = read(
        "# Tasks\n\n## Phase 1: Setup\n### Tests\n- [ ] T001 x\n  - a\n\n  b\n- no detail\n  c"
    )
    assert (task.phase, task.line, task.details) == ("Phase 1: Setup", 5, ("- a", "b"))


@pytest.mark.covers("O-M3")
def test_no_task_line_is_dropped_even_without_an_id_or_with_one_used_before() -> None:
    parsed = parse_tasks("- [ ] T001 a\n- [x] T001 b\n- [ ] c\n- [ ] t2 d\n- [ ]")
    assert [(task.key, task.text) for task in parsed.tasks] == [
        ("T001", "a"),
        ("T005", "b"),
        ("T003", "c"),
        ("T002", "d"),
        ("T004", ""),
    ]
    assert len(parsed.warnings) == 5


def test_a_box_without_an_id_below_a_task_is_one_of_its_steps() -> None:
    parsed = parse_tasks("- [ ] T001 a\n  - [ ] first\n  - [ ] T002 second")
    assert [(task.key, task.details) for task in parsed.tasks] == [
        ("T001", ("- [ ] first",)),
        ("T002", ()),
    ]


def test_examples_in_code_fences_are_no_tasks() -> None:
    assert [task.key for task in parse_tasks("```\n- [ ] T009 x\n```\n- [ ] T001 y").tasks] == [
        "T001"
    ]


def test_a_document_that_stands_in_a_fence_as_a_whole_is_read() -> None:
    assert [
        task.key
        for task in parse_tasks("Here it is:\n```markdown\n# Tasks\n- [ ] T001 y\n```").tasks
    ] == ["T001"]


@pytest.mark.covers("O-M3")
@settings(max_examples=150)
@given(
    st.lists(
        st.sampled_from(
            [
                "- [ ] ",
                "* [x] ",
                "1. [ ] ",
                "T001",
                "T1",
                "[P]",
                "[US1]",
                " depends on ",
                "-",
                "x",
                "[",
                "]",
                "**",
                "の後に",
                "、",
            ]
        )
    )
)
def test_no_line_makes_the_reading_fail_or_share_an_id(scraps: list[str]) -> None:
    markdown = "\n- [ ] ".join("".join(scraps[at : at + 5]) for at in range(0, len(scraps), 5))
    keys = [task.key for task in parse_tasks(markdown).tasks]
    assert len(keys) == len(set(keys))
    assert len(keys) >= markdown.count("\n- [ ] ")


# --- drafts ------------------------------------------------------------------------------------------------------


def test_where_dependencies_are_given_only_they_hold() -> None:
    assert dependency_graph([draft("T001"), draft("T002", "T001"), draft("T003")]) == {
        "T001": set(),
        "T002": {"T001"},
        "T003": set(),
    }


def test_where_none_are_given_tasks_follow_each_other_and_parallel_ones_run_side_by_side() -> None:
    drafts = [
        draft("T001"),
        draft("T002", parallel=True),
        draft("T003", parallel=True),
        draft("T004"),
        draft("T005", parallel=True),
    ]
    assert dependency_graph(drafts) == {
        "T001": set(),
        "T002": {"T001"},
        "T003": {"T001"},
        "T004": {"T002", "T003"},
        "T005": {"T004"},
    }


def test_where_none_are_given_stories_follow_the_setup_side_by_side_and_polish_follows_all() -> (
    None
):
    drafts = [
        draft("T001"),
        draft("T002", story="US1"),
        draft("T003", story="US1"),
        draft("T004", story="US2", parallel=True),
        draft("T005", story="US2", parallel=True),
        draft("T006"),
    ]
    assert dependency_graph(drafts) == {
        "T001": set(),
        "T002": {"T001"},
        "T003": {"T002"},
        "T004": {"T001"},
        "T005": {"T001"},
        "T006": {"T003", "T004", "T005"},
    }


@pytest.mark.covers("G-VALID-9")
def test_what_does_not_exist_is_no_edge() -> None:
    assert dependency_graph([draft("T001", "T001", "T009"), draft("T002", "T001")]) == {
        "T001": set(),
        "T002": {"T001"},
    }


def test_a_sound_plan_has_no_problems() -> None:
    assert draft_problems(FEATURE) == []


@pytest.mark.covers("G-VALID-9", "F-TASK-2")
@pytest.mark.parametrize(
    ("drafts", "problem"),
    [
        ([draft("T001"), draft("T001")], "T001 is used for 2 tasks"),
        ([draft("T001", "T009")], "T001 depends on T009, which does not exist"),
        ([draft("T001", "T001")], "T001 depends on itself"),
        ([draft("T001", title="  ")], "T001 has no title"),
        ([draft("T1")], "'T1' is not a task id like T001"),
        ([draft("T００1")], "'T００1' is not a task id like T001"),
        ([draft("T001", story="one")], "T001 names the story 'one', which is not like US1"),
        (
            [
                draft("T001", "T003"),
                draft("T002", "T001"),
                draft("T003", "T002"),
                draft("T004", "T003"),
            ],
            "dependencies run in a circle: T001 → T003 → T002 → T001",
        ),
    ],
)
def test_a_problem_is_named(drafts: list[TaskDraft], problem: str) -> None:
    assert draft_problems(drafts) == [problem]


@pytest.mark.covers("G-VALID-8")
def test_every_circle_is_named() -> None:
    drafts = [
        draft("T001", "T002"),
        draft("T002", "T001"),
        draft("T003", "T004", "T001"),
        draft("T004", "T003"),
    ]
    assert draft_problems(drafts) == [
        "dependencies run in a circle: T001 → T002 → T001",
        "dependencies run in a circle: T003 → T004 → T003",
    ]


def test_a_long_chain_is_no_circle() -> None:
    chain = [draft("T001"), *(draft(f"T{n:03}", f"T{n - 1:03}") for n in range(2, 3000))]
    assert draft_problems(chain) == []


# --- spec.md and plan.md -----------------------------------------------------------------------------------------

SPEC = """\
# Feature Specification: Log in

**Status**: Draft

## User Scenarios & Testing *(mandatory)*

### User Story 1 - Log in by mail (Priority: P1)

text

### User Story 2: Log out

## Requirements *(mandatory)*

### Functional Requirements

- **FR-001**: Users MUST log in, see FR-009.
- **FR-002a**: Users MUST log out.
- FR-003: Mail addresses MUST be checked.

## Success Criteria *(mandatory)*

- **SC-001**: In 5 seconds.
"""
JAPANESE = """\
# 機能仕様: ログイン

## ユーザーシナリオとテスト *(必須)*

## 要件 *(必須)*

- **FR-001**: ログインできなければならない

## 成功基準 *(必須)*

- **SC-001**: 5秒以内
"""
PLAN = """\
# Implementation Plan: Log in

## Summary（概要）

## Technical Context

## Project Structure
"""


@pytest.mark.covers("G-DEP-5")
def test_a_whole_spec_and_a_whole_plan_lack_nothing() -> None:
    assert check_spec(SPEC) == []
    assert check_spec(JAPANESE) == []
    assert (
        check_spec(SPEC.replace("## Requirements *(mandatory)*", "## Requirements（要件）")) == []
    )
    assert check_plan(PLAN) == []
    assert check_plan("# 実装計画: x\n## 概要\n## 技術コンテキスト\n## プロジェクト構造") == []


@pytest.mark.parametrize(
    ("gone", "missing"),
    [
        ("# Feature Specification: Log in", "# Feature Specification"),
        ("## User Scenarios & Testing", "## User Scenarios & Testing"),
        ("## Requirements", "## Requirements"),
        ("## Success Criteria", "## Success Criteria"),
    ],
)
def test_a_missing_part_of_a_spec_is_named(gone: str, missing: str) -> None:
    (problem,) = check_spec(SPEC.replace(gone, "## Something else"))
    assert missing in problem


@pytest.mark.parametrize(
    "gone", ["# Implementation Plan", "## Summary", "## Technical Context", "## Project Structure"]
)
def test_a_missing_part_of_a_plan_is_named(gone: str) -> None:
    (problem,) = check_plan(PLAN.replace(gone, "## Something else"))
    assert gone in problem


def test_missing_ids_and_placeholders_left_are_named() -> None:
    assert check_spec(SPEC.replace("FR-", "R-").replace("SC-", "S-")) == [
        "there is no requirement: - **FR-001**: …",
        "there is no success criterion: - **SC-001**: …",
    ]
    assert check_spec(SPEC.replace("text", "[FEATURE NAME] of `[DATE]`")) == [
        "the placeholder [FEATURE NAME] is still there"
    ]


def test_headings_in_a_code_fence_do_not_count() -> None:
    assert len(check_spec(f"```\n{SPEC}```\n")) == 6


def test_ids_are_those_that_are_defined() -> None:
    assert requirement_ids(SPEC) == ("FR-001", "FR-002a", "FR-003")
    assert requirement_ids("It does FR-002 and FR-001, FR-002.") == ("FR-002", "FR-001")
    assert requirement_ids("| FR-004 | x |\n### FR-005: y") == ("FR-004", "FR-005")
    assert requirement_ids("- **FR-００1**: x") == ()
    assert success_ids(SPEC) == ("SC-001",)


def test_stories_have_titles() -> None:
    assert story_titles(SPEC) == {"US1": "Log in by mail", "US2": "Log out"}


# --- sections and clarifications ---------------------------------------------------------------------------------


def test_a_document_is_cut_at_its_headings_but_not_in_fences() -> None:
    text = "---\n# no: heading\n---\n# A\nx\n## B ##\n### C\n```sh\n## no heading\n~~~\n```\n## D\n~~~\n## no\n```\n~~~\ny"
    assert [(section.title, section.level) for section in sections(text)] == [
        ("", 0),
        ("A", 1),
        ("B", 2),
        ("D", 2),
    ]
    assert "## no heading" in sections(text)[2].body
    assert [section.title for section in sections("```\n```sh\n## no\n```\n## yes")] == ["", "yes"]


def test_a_fence_that_is_never_closed_hides_nothing() -> None:
    assert [section.title for section in sections("# A\n```sh\nx\n## B\n~~~\n## C")] == [
        "A",
        "B",
        "C",
    ]
    assert [task.key for task in parse_tasks("- [ ] T001 a\n````\n- [ ] T002 b\n```").tasks] == [
        "T001",
        "T002",
    ]


def test_front_matter_is_read_however_its_lines_end_and_is_no_rule_between_tasks() -> None:
    assert [one.title for one in sections("\ufeff---\r\n# no: heading\r\n---\r\n# A")] == ["", "A"]
    assert [task.key for task in parse_tasks("---\n- [ ] T001 a\n---\n- [ ] T002 b").tasks] == [
        "T001",
        "T002",
    ]
    assert [one.title for one in sections("---\n# A\n## B")] == ["", "A", "B"]


@given(
    st.lists(
        st.sampled_from(
            ["# A", "## B", "### C", "```", "~~~~", "````", "x", "", "---", "    ## code"]
        ),
        max_size=25,
    )
)
def test_no_line_is_lost_in_cutting(lines: list[str]) -> None:
    found = sections("\n".join(lines))
    kept = [
        line
        for section in found
        for line in [
            *(["#" * section.level + " " + section.title] if section.level else []),
            *section.body.split("\n"),
        ]
    ]
    assert [line for line in kept if line] == [line for line in lines if line]


def test_a_sign_that_belongs_to_the_title_stays() -> None:
    assert [section.title for section in sections("# In C#\n## F# ##\n## #")] == ["In C#", "F#", ""]


def test_answers_stand_before_what_they_explain() -> None:
    text = with_clarifications(
        SPEC, "2025-01-02", [(1, "JWT or\nOAuth?", "JWT"), (2, "Where?", "src/")]
    )
    assert (
        "## Clarifications\n\n### Session 2025-01-02\n\n- Q: JWT or OAuth? → A: JWT (D1)\n"
        "- Q: Where? → A: src/ (D2)\n\n## User Sc"
    ) in text
    assert text.startswith(
        "# Feature Specification: Log in\n\n**Status**: Draft\n\n## Clarifications"
    )
    assert text.replace(text[text.index("## Clar") : text.index("## User")], "") == SPEC


def clarifications(spec: str) -> str:
    (section,) = [section for section in sections(spec) if section.title == "Clarifications"]
    return section.body


def test_later_answers_join_their_day_or_open_a_new_one() -> None:
    first = with_clarifications(SPEC, "2025-01-02", [(1, "A?", "a")])
    second = with_clarifications(first, "2025-01-02", [(2, "B?", "b")])
    third = with_clarifications(second, "2025-01-03", [(3, "C?", "c")])
    fourth = with_clarifications(third, "2025-01-02", [(4, "D?", "d")])
    assert clarifications(fourth) == (
        "### Session 2025-01-02\n\n- Q: A? → A: a (D1)\n- Q: B? → A: b (D2)\n- Q: D? → A: d (D4)\n\n"
        "### Session 2025-01-03\n\n- Q: C? → A: c (D3)"
    )
    assert check_spec(fourth) == []


def test_writing_the_same_answers_again_changes_nothing() -> None:
    once = with_clarifications(SPEC, "2025-01-02", [(1, "A?", "a"), (1, "A?", "a")])
    assert once.count("Q: A?") == 1
    assert with_clarifications(once, "2025-01-02", [(1, "A?", "a")]) == once
    assert with_clarifications(once, "2025-01-03", [(1, "A?", "a")]) == once
    assert with_clarifications(SPEC, "2025-01-02", []) == SPEC


def test_a_newer_answer_takes_the_place_of_the_older_one() -> None:
    once = with_clarifications(SPEC, "2025-01-02", [(1, "A?", "a"), (2, "B?", "b")])
    again = with_clarifications(once, "2025-01-03", [(1, "A, asked anew?", "x"), (3, "C?", "c")])
    assert clarifications(again) == (
        "### Session 2025-01-02\n\n- Q: A, asked anew? → A: x (D1)\n- Q: B? → A: b (D2)\n\n"
        "### Session 2025-01-03\n\n- Q: C? → A: c (D3)"
    )


def test_what_the_model_wrote_of_an_answer_is_not_there_twice() -> None:
    block = "## Clarifications\n\n### Session 2025-01-02\n\n- Q: A? → A: a\n* Q: B? → A: old (D2)\n- Q: B? → A: older (D2)\n- Q: Who? → A: me\n\n"
    written = SPEC.replace("## User", f"{block}## User", 1)
    text = with_clarifications(written, "2025-01-02", [(1, "A?", "a"), (2, "B?", "b")])
    assert clarifications(text).splitlines()[2:] == [
        "- Q: A? → A: a (D1)",
        "- Q: B? → A: b (D2)",
        "- Q: Who? → A: me",
    ]
    assert text.replace(text[text.index("## Clar") : text.index("## User")], "") == SPEC


def test_lines_like_answers_outside_their_section_are_left_alone() -> None:
    spec = SPEC.replace("text", "- Q: A? → A: theirs (D1)")
    text = with_clarifications(spec, "2025-01-02", [(1, "A?", "a")])
    assert "- Q: A? → A: theirs (D1)" in text
    assert clarifications(text).endswith("- Q: A? → A: a (D1)")


def test_a_spec_that_ends_with_its_answers_or_has_no_sections_is_extended_too() -> None:
    bare = with_clarifications("# Feature Specification: x\n", "2025-01-02", [(1, "A?", "a")])
    assert bare.endswith(
        "# Feature Specification: x\n\n## Clarifications\n\n### Session 2025-01-02\n\n- Q: A? → A: a (D1)\n"
    )
    more = with_clarifications(bare, "2025-01-02", [(2, "B?", "b")])
    assert more.endswith("- Q: A? → A: a (D1)\n- Q: B? → A: b (D2)\n")


def test_a_story_that_builds_on_another_is_not_said_to_start_at_once() -> None:
    drafts = [
        TaskDraft(key="T001", title="Codes", story="US1"),
        TaskDraft(key="T002", title="Receipt", story="US2"),
        TaskDraft(key="T003", title="Checkout", story="US3", depends_on=("T001",)),
    ]
    text = render_tasks("Basket", "SPEC-1a2b3c4d", drafts, "a basket", "2026-01-02")
    assert "User Story 1**: no dependencies, can start at once" in text
    assert "User Story 2**: no dependencies, can start at once" in text
    assert "User Story 3**: after User Story 1" in text
