"""What tasks wait for: whatever is proposed, no circle goes unseen, no task is lost, and no text makes the reading fail."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.plan import Document, DocumentKind
from bot.core.spec_kit.comparison import difference
from bot.core.spec_kit.drafts import TaskDraft, dependency_graph, draft_problems, merge_breakdown
from bot.core.spec_kit.spec import requirement_ids, sections, story_titles, with_clarifications
from bot.core.spec_kit.tasks_reader import drafts_from, parse_tasks

KEYS = [f"T{number:03}" for number in range(1, 7)]


def some_drafts(
    keys: st.SearchStrategy[list[str]], needs: list[str]
) -> st.SearchStrategy[list[TaskDraft]]:
    """Drafts of these keys, in any order, each with any story and any needs."""

    def one(key: str) -> st.SearchStrategy[TaskDraft]:
        return st.builds(
            TaskDraft,
            key=st.just(key),
            title=st.sampled_from(["Add it", "Mend it", "Look at it"]),
            story=st.sampled_from(["", "", "US1", "US2", "US3"]),
            parallel=st.booleans(),
            depends_on=st.lists(st.sampled_from(needs), max_size=2).map(tuple)
            if needs
            else st.just(()),
        )

    return keys.flatmap(lambda chosen: st.tuples(*(one(key) for key in chosen)).map(list))


ANY_KEYS = st.lists(st.sampled_from(KEYS), unique=True, min_size=1).flatmap(st.permutations)
ANY = some_drafts(ANY_KEYS, KEYS)
SILENT = some_drafts(ANY_KEYS, [])
"""Drafts that say nothing about dependencies."""


def can_all_be_done(edges: dict[str, set[str]]) -> bool:
    """Do them one after the other, whichever may be done; in a circle nothing may."""
    left = dict(edges)
    while free := [key for key, needed in left.items() if not needed & left.keys()]:
        for key in free:
            del left[key]
    return not left


def all_needs(key: str, edges: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = {key}
    while ahead:
        ahead = {need for one in ahead for need in edges[one]} - found
        found |= ahead
    return found


@settings(max_examples=80)
@given(ANY)
def test_a_circle_is_a_problem_and_what_is_no_problem_can_be_done(drafts: list[TaskDraft]) -> None:
    edges = dependency_graph(drafts)
    assert set(edges) == {draft.key for draft in drafts}
    told = any("in a circle" in problem for problem in draft_problems(drafts))
    assert told is not can_all_be_done(edges)


@settings(max_examples=80)
@given(SILENT)
def test_where_nothing_is_said_every_phase_waits_for_all_of_the_one_before(
    drafts: list[TaskDraft],
) -> None:
    edges = dependency_graph(drafts)
    assert can_all_be_done(edges)
    stories = [at for at, draft in enumerate(drafts) if draft.story]
    setup = {draft.key for draft in drafts[: stories[0]]} if stories else set[str]()
    story = {draft.key: draft.story for draft in drafts if draft.story}
    for key, name in story.items():
        needs = all_needs(key, edges)
        assert setup <= needs
        # Stories run side by side.
        assert {story[need] for need in needs if need in story} <= {name}
    polish = {draft.key for draft in drafts} - setup - story.keys() if stories else set[str]()
    for key in polish:
        assert setup | story.keys() <= all_needs(key, edges)


@settings(max_examples=80)
@given(SILENT)
def test_where_nothing_is_said_serial_tasks_of_a_phase_follow_each_other(
    drafts: list[TaskDraft],
) -> None:
    edges = dependency_graph(drafts)
    for name in {draft.story for draft in drafts if draft.story}:
        tasks = [draft for draft in drafts if draft.story == name]
        for at, task in enumerate(tasks):
            for later in tasks[at + 1 :]:
                follows = task.key in all_needs(later.key, edges)
                between = tasks[at : tasks.index(later) + 1]
                assert follows or all(one.parallel for one in between)
                if all(one.parallel for one in between):
                    assert not follows


# --- a change laid over what is being done -------------------------------------------------------------------------


@settings(max_examples=80)
@given(ANY, ANY, st.sets(st.sampled_from(KEYS)))
def test_what_a_change_does_not_touch_is_neither_dropped_nor_changed(
    now: list[TaskDraft], new: list[TaskDraft], affected: set[str]
) -> None:
    result = {draft.key: draft for draft in merge_breakdown(now, new, affected)}
    here = {draft.key for draft in now}
    removed = (here & affected) - {draft.key for draft in new}
    for draft in now:
        if draft.key not in affected:
            needs = tuple(key for key in draft.depends_on if key not in removed)
            assert result[draft.key] == draft.model_copy(update={"depends_on": needs})
    assert not removed & set(result)
    assert set(result) == (here - removed) | {draft.key for draft in new}
    assert not any(set(draft.depends_on) & removed for draft in result.values())


@settings(max_examples=80)
@given(ANY, ANY, st.sets(st.sampled_from(KEYS)))
def test_a_circle_that_a_change_would_close_is_seen(
    now: list[TaskDraft], new: list[TaskDraft], affected: set[str]
) -> None:
    drafts = merge_breakdown(now, new, affected)
    told = any("in a circle" in problem for problem in draft_problems(drafts))
    assert told is not can_all_be_done(dependency_graph(drafts))


def test_a_change_keeps_the_places_of_tasks_and_puts_new_ones_behind() -> None:
    now = [TaskDraft(key=key, title=f"old {key}") for key in ("T002", "T001", "T003")]
    new = [TaskDraft(key=key, title=f"new {key}") for key in ("T005", "T001", "T002", "T004")]
    result = merge_breakdown(now, new, {"T001", "T003"})
    assert [draft.title for draft in result] == ["old T002", "new T001", "new T005", "new T004"]


def test_a_key_that_a_change_uses_twice_is_not_hidden() -> None:
    now = [TaskDraft(key="T001", title="a")]
    twice = [TaskDraft(key=key, title="b") for key in ("T001", "T001", "T002", "T002")]
    assert draft_problems(merge_breakdown(now, twice, {"T001"})) == [
        "T001 is used for 2 tasks",
        "T002 is used for 2 tasks",
    ]


# --- texts that nobody would write -------------------------------------------------------------------------------

LONG = 200_000
"""One line of it."""
MANY = 60_000
"""All lines of it."""
HOSTILE = {
    "ids": "- [ ] T001 x " + "T001," * (LONG // 5),
    "ranges": "- [ ] T001 after " + "T001-T9999," * (LONG // 11),
    "notes": "- [ ] T001 x" + " (depends on T001, T002" * (LONG // 23),
    "tags": "- [ ] T001 " + "[a]" * (LONG // 3),
    "brackets": "- [ ] T001 " + "[" * LONG,
    "stars": "- [ ] " + "*" * LONG,
    "spaces": "- [ ] T001" + " " * LONG + "x",
    "quotes": ">" * LONG + "- [ ] x",
    "paths": "- [ ] T001 x in " + "/a" * (LONG // 2) + "!",
    "signs": "- [ ] T001 " + "a@" * (LONG // 2),
    "japanese": "- [ ] T001 x " + "の後" * (LONG // 2) + "T001",
    "nameless": "- [ ] x\n" * (MANY // 8),
    "doubles": "- [ ] T001 x\n" * (MANY // 13),
    "steps": "- [ ] T001 x\n" + "  - y\n" * (MANY // 6),
    "fences": "```a\n" * (MANY // 5) + "- [ ] x",
    "headings": "### User Story 1" + " " * LONG + "x",
    "same": "## a\n" * (MANY // 10) + "x\n" * (MANY // 4),
}
TASKS = {
    "nameless": MANY // 8,
    "doubles": MANY // 13,
    "quotes": 0,
    "headings": 0,
    "same": 0,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_read_like_any_other(name: str) -> None:
    """Each is read in about a second; a pattern that tries everything would take hours."""
    text = HOSTILE[name]
    drafts = drafts_from(text)
    assert len(drafts) == TASKS.get(name, 1)
    assert [section for section in sections(text) if section.body or section.title]
    assert len(story_titles(text)) <= 1
    assert requirement_ids(text) == ()
    spec = Document(kind=DocumentKind.SPEC, revision=1, text=text, sha256="")
    changed = spec.model_copy(update={"text": text[:-9] + "\n## z\ny"})
    assert difference([spec], [changed], drafts, drafts, 1).sections
    assert "(D1)" in with_clarifications(text, "2025-01-02", [(1, "A?", "a")])


@settings(max_examples=80)
@given(st.text(st.sampled_from("-*[] xTP0123()`#>~\n\t、の後【】US.:—|"), max_size=200))
def test_no_text_makes_the_reading_fail(text: str) -> None:
    tasks = parse_tasks(text).tasks
    assert len({task.key for task in tasks}) == len(tasks)
    assert len(drafts_from(text)) == len(tasks)
    difference(
        [Document(kind=DocumentKind.PLAN, revision=1, text=text, sha256="")],
        [],
        drafts_from(text),
        [],
        1,
    )


@settings(max_examples=100)
@given(st.text(max_size=300), st.text(max_size=300))
def test_no_pair_of_texts_makes_the_comparison_fail(before: str, after: str) -> None:
    one, other = (
        [Document(kind=DocumentKind.SPEC, revision=1, text=text, sha256="")]
        for text in (before, after)
    )
    assert not difference(one, one, (), (), 1)
    difference(one, other, (), (), 1)
