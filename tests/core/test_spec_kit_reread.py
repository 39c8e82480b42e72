"""What is written as tasks.md comes back as the same drafts, as far as the format holds them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.spec_kit.drafts import TaskDraft
from bot.core.spec_kit.spec import coverage
from bot.core.spec_kit.tasks_reader import drafts_from
from bot.core.spec_kit.tasks_writer import render_tasks


def rendered(drafts: list[TaskDraft]) -> str:
    return render_tasks("Log in", "SPEC-1a2b3c4d", drafts, "please", "2025-01-02")


WORDS = st.lists(
    st.sampled_from(
        ["ログイン", "model", "`x`", "[P]", "-", ":", "|", "*", "**bold**", "(a)", "→", "\\", "を", "1.", "#"]
    ),
    min_size=1,
    max_size=4,
).map(" ".join)  # fmt: skip
PROSE = st.text(
    st.one_of(st.sampled_from("[]()*_`\\#- \n:TP、"), st.characters(categories=["L", "N", "P"])),
    max_size=30,
)
PATHS = st.sampled_from(
    ["src/a.py", "tests/test_a.py", "Makefile", "README.md", "src/[id]/page.tsx", "LICENSE", "docs/", "a-b/c_d.ts"]
)  # fmt: skip
KEYS = [f"T{number:03}" for number in range(1, 8)]


def _draft(number: int) -> st.SearchStrategy[TaskDraft]:
    return st.builds(
        TaskDraft,
        key=st.just(KEYS[number]),
        title=WORDS,
        description=PROSE,
        story=st.sampled_from(["", "", "US1", "US2", "US12"]),
        parallel=st.booleans(),
        depends_on=st.lists(st.sampled_from(KEYS[:number]), unique=True, max_size=3).map(tuple)
        if number
        else st.just(()),
        files=st.lists(PATHS, unique=True, max_size=3).map(tuple),
        acceptance=st.lists(PROSE, max_size=2).map(tuple),
        requirements=st.sampled_from([(), ("FR-001",), ("FR-001–FR-003", "fr-005")]),
    )


DRAFTS = st.integers(1, len(KEYS)).flatmap(
    lambda count: st.tuples(*(_draft(number) for number in range(count))).map(list)
)


def line(text: str) -> str:
    return " ".join(text.split())


def held(draft: TaskDraft) -> TaskDraft:
    """What the format holds of a draft: every text as a line, a description only where it says more than the title."""
    said = line(draft.description)
    return draft.model_copy(
        update={
            "title": line(draft.title),
            "description": said if said != line(draft.title) else "",
            "acceptance": tuple(line(item) for item in draft.acceptance),
        }
    )


@settings(max_examples=100)
@given(DRAFTS)
def test_drafts_come_back_as_they_were_written(drafts: list[TaskDraft]) -> None:
    back = {draft.key: draft for draft in drafts_from(rendered(drafts))}
    assert back == {draft.key: held(draft) for draft in drafts}


@settings(max_examples=60)
@given(DRAFTS)
def test_what_is_read_back_is_written_as_before(drafts: list[TaskDraft]) -> None:
    text = rendered(drafts)
    again = rendered(list(drafts_from(text)))
    # The phases with all tasks; behind them, tasks are listed as they came.
    assert again.split("## Dep")[0] == text.split("## Dep")[0]
    assert rendered(list(drafts_from(again))) == again


def read(markdown: str) -> TaskDraft:
    (draft,) = drafts_from(markdown)
    return draft


@pytest.mark.parametrize(
    ("text", "title", "files"),
    [
        ("Add it in src/a.py", "Add it", ("src/a.py",)),
        ("Add it in src/a.py, b.py (depends on T002)", "Add it", ("src/a.py", "b.py")),
        ("Log in in src/login.py", "Log in", ("src/login.py",)),
        ("Add it in the middle", "Add it in the middle", ()),
        ("Mend src/a.py in tests/b.py", "Mend src/a.py", ("src/a.py", "tests/b.py")),
        ("Move `src/a.py` behind src/b/c.rs", "Move `src/a.py` behind src/b/c.rs", ("src/a.py", "src/b/c.rs")),
        ("See https://example.org/a.html", "See https://example.org/a.html", ()),
        ("Say and/or", "Say and/or", ()),
        ("Add it in Dockerfile", "Add it", ("Dockerfile",)),
    ],
)  # fmt: skip
def test_paths_are_files(text: str, title: str, files: tuple[str, ...]) -> None:
    draft = read(f"- [ ] T001 {text}")
    assert (draft.title, draft.files) == (title, files)


def test_notes_of_people_are_read_as_ours() -> None:
    draft = read(
        "- [x] T001 [US1-2] Add it\n  * **Acceptance**: it works\n  - 完了条件：落ちない\n"
        "  - Requirements: FR-001、FR-002\n  - [ ] first\n  1. second\n  why: because"
    )
    assert draft.acceptance == ("it works", "落ちない")
    assert draft.requirements == ("FR-001", "FR-002")
    assert draft.description == "first\nsecond\nwhy: because"
    # It serves more than one story.
    assert draft.story == ""


def test_what_serves_a_requirement_can_be_told_from_the_written_tasks() -> None:
    text = rendered([TaskDraft(key="T001", title="a", requirements=("FR-001–FR-002",))])
    spec = "- **FR-001**: a\n- **FR-002**: b\n- **FR-003**: c"
    assert [covered.tasks for covered in coverage(spec, drafts_from(text))] == [
        ("T001",),
        ("T001",),
        (),
    ]
