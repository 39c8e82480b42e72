"""Proposed tasks: their dependencies, their phases, and what is wrong with them; and merging a new breakdown into the
one being carried out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from bot.core.facts import Fact
from bot.core.spec_kit.spec import coverage, requirement_ids, served_requirements

_KEY = re.compile(r"T[0-9]{3,4}[a-z]?")
_STORY = re.compile(r"US([0-9]{1,3})")


class TaskType(StrEnum):
    IMPLEMENTATION = "implementation"
    DOCUMENTATION = "documentation"
    INVESTIGATION = "investigation"
    INTEGRATION = "integration"


class WorktreeStrategy(StrEnum):
    """`shared`: the task follows its dependency in the same worktree and on the same branch."""

    NEW = "new"
    SHARED = "shared"


class TaskDraft(Fact):
    """A task before it is approved."""

    key: str
    """Spec Kit's id, T001."""
    title: str
    description: str = ""
    story: str = ""
    """US1; empty if the task serves all stories."""
    parallel: bool = False
    """It touches other files than its neighbours and may run in parallel with them: Spec Kit's [P]."""
    depends_on: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    read_first: tuple[str, ...] = ()
    """The places in the code to read before it begins: path:first-last."""
    acceptance: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    """The ids of the requirements it serves, FR-001."""
    type: TaskType = TaskType.IMPLEMENTATION
    worktree: WorktreeStrategy = WorktreeStrategy.NEW
    complexity: str = ""
    """low, med or high; decides how much detail its agent gets."""
    agent: str = ""


class Phases(NamedTuple):
    """The drafts grouped as in tasks.md: setup, foundation, the stories in parallel, polish."""

    setup: list[TaskDraft]
    foundation: list[TaskDraft]
    stories: dict[int, list[TaskDraft]]
    polish: list[TaskDraft]


def story_number(draft: TaskDraft) -> int:
    """Return the number of its story, or 0 without one."""
    found = _STORY.fullmatch(draft.story)
    return int(found[1]) if found else 0


def phases(drafts: Sequence[TaskDraft]) -> Phases:
    """Sort every draft into its phase.

    A draft without a story goes where its dependencies allow, or else stays where it was listed.
    """
    edges = _stated_dependencies(drafts)
    with_story = {draft.key for draft in drafts if story_number(draft)}
    before_stories = reachable(with_story, edges)
    after_stories = {draft.key for draft in drafts if reachable({draft.key}, edges) & with_story}
    found = Phases([], [], {}, [])
    story_seen = False
    for draft in drafts:
        if number := story_number(draft):
            story_seen = True
            found.stories.setdefault(number, []).append(draft)
        elif draft.key in after_stories or (story_seen and draft.key not in before_stories):
            found.polish.append(draft)
        elif edges[draft.key]:
            found.foundation.append(draft)
        else:
            found.setup.append(draft)
    return found


def dependency_graph(drafts: Sequence[TaskDraft]) -> dict[str, set[str]]:
    """Return what each task depends on: as the drafts say, or, if none says anything, as phases and [P] imply."""
    edges = _stated_dependencies(drafts)
    if any(draft.depends_on for draft in drafts):
        return edges
    ordered = phases(drafts)
    done = _chain(ordered.setup, set(), edges)
    done = _chain(ordered.foundation, done, edges)
    ends = [_chain(story, done, edges) for _, story in sorted(ordered.stories.items())]
    _chain(ordered.polish, {key for end in ends for key in end} or done, edges)
    return edges


def reachable(starts: set[str], edges: dict[str, set[str]]) -> set[str]:
    """Return everything the tasks depend on, directly or indirectly."""
    found: set[str] = set()
    ahead = list(starts)
    while ahead:
        fresh = edges[ahead.pop()] - found
        found |= fresh
        ahead += fresh
    return found


def draft_problems(drafts: Sequence[TaskDraft]) -> list[str]:
    """Return what must be fixed before these tasks can be carried out, one sentence each."""
    counted = Counter(draft.key for draft in drafts)
    found = [f"{key} is used for {times} tasks" for key, times in counted.items() if times > 1]
    for draft in drafts:
        if not _KEY.fullmatch(draft.key):
            found.append(f"{draft.key!r} is not a task id like T001")
        if not draft.title.strip():
            found.append(f"{draft.key} has no title")
        if draft.story and not story_number(draft):
            found.append(f"{draft.key} names the story {draft.story!r}, which is not like US1")
        if draft.key in draft.depends_on:
            found.append(f"{draft.key} depends on itself")
        unknown = [key for key in dict.fromkeys(draft.depends_on) if key not in counted]
        found += [f"{draft.key} depends on {key}, which does not exist" for key in unknown]
    return found + [
        f"dependencies run in a circle: {' → '.join(cycle)}"
        for cycle in _cycles(_stated_dependencies(drafts))
    ]


def _stated_dependencies(drafts: Sequence[TaskDraft]) -> dict[str, set[str]]:
    """Return the stated dependencies, without unknown tasks and self-references."""
    edges: dict[str, set[str]] = {draft.key: set() for draft in drafts}
    for draft in drafts:
        edges[draft.key] |= {key for key in draft.depends_on if key in edges and key != draft.key}
    return edges


def _chain(tasks: list[TaskDraft], before: set[str], edges: dict[str, set[str]]) -> set[str]:
    """Order the tasks of a phase after `before`: one after the other, those marked [P] in parallel.

    Return the tasks that the next phase waits for.
    """
    gate: set[str] = before
    beside: set[str] = set()
    for task in tasks:
        if task.parallel:
            edges[task.key] |= gate
            beside.add(task.key)
        else:
            edges[task.key] |= beside or gate
            gate = {task.key}
            beside = set()
    return beside or gate


def _cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return dependency cycles that share no task, so that each is reported once."""
    core = {key: sorted(needs) for key, needs in edges.items()}
    found: list[list[str]] = []
    while core := _stuck_tasks(core):
        path = [min(core)]
        while (needed := core[path[-1]][0]) not in path:
            path.append(needed)
        circle = path[path.index(needed) :]
        first = circle.index(min(circle))
        circle = circle[first:] + circle[:first]
        found.append([*circle, circle[0]])
        core = {key: needs for key, needs in core.items() if key not in circle}
    return found


def _stuck_tasks(edges: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return only the tasks that can never start, because each waits for another of them."""
    waiting: dict[str, list[str]] = {}
    for key, needs in edges.items():
        for needed in needs:
            waiting.setdefault(needed, []).append(key)
    left = {key: sum(needed in edges for needed in needs) for key, needs in edges.items()}
    free = [key for key, count in left.items() if not count]
    while free:
        key = free.pop()
        del left[key]
        for waiter in waiting.get(key, []):
            if waiter in left:
                left[waiter] -= 1
                if not left[waiter]:
                    free.append(waiter)
    return {key: [needed for needed in edges[key] if needed in left] for key in left}


# Flaws of a breakdown that can be found without asking a model, one sentence each.

MOST_REQUIREMENTS = 6
MOST_FILES = 12
_TESTS = re.compile(
    r"(?<![a-z])(?:py|vi|go|c|unit)?tests?(?![a-z])|testing|rspec|jest|mocha|テスト", re.IGNORECASE
)
_BUILDS = (TaskType.IMPLEMENTATION, TaskType.INTEGRATION)


def breakdown_issues(
    drafts: Sequence[TaskDraft], spec_markdown: str, *, has_tests: bool
) -> list[str]:
    """Return what should be fixed before users see the tasks; empty if no flaw is found."""
    return [
        *_uncovered(drafts, spec_markdown),
        *_without_acceptance(drafts),
        *([] if has_tests else _without_tests(drafts)),
        *_too_large(drafts, requirement_ids(spec_markdown)),
        *_shared_files(drafts),
    ]


def _uncovered(drafts: Sequence[TaskDraft], spec_markdown: str) -> Iterator[str]:
    for covered in coverage(spec_markdown, drafts):
        if not covered.tasks:
            yield f"{covered.requirement} is served by no task"


def _without_acceptance(drafts: Sequence[TaskDraft]) -> Iterator[str]:
    for draft in drafts:
        if not any(item.strip() for item in draft.acceptance):
            yield f"{draft.key} does not say when it is accepted"


def _without_tests(drafts: Sequence[TaskDraft]) -> Iterator[str]:
    """Yield an issue unless, in a repository without tests, the first task sets them up and everything built depends on
    it.
    """
    if not any(draft.type in _BUILDS for draft in drafts):
        return
    first, *others = drafts
    if not _sets_up_tests(first):
        yield f"the repository has no tests to run, and {first.key}, the first task, does not set them up"
        return
    edges = dependency_graph(drafts)
    for draft in others:
        if draft.type in _BUILDS and first.key not in reachable({draft.key}, edges):
            yield f"{draft.key} does not depend on {first.key}, which sets up the tests"


def _sets_up_tests(draft: TaskDraft) -> bool:
    return any(_TESTS.search(text) for text in (draft.title, draft.description, *draft.files))


def _too_large(drafts: Sequence[TaskDraft], stated: Sequence[str]) -> Iterator[str]:
    for draft in drafts:
        serves = max(
            len(served_requirements(draft.requirements, stated)), len(set(draft.requirements))
        )
        if serves > MOST_REQUIREMENTS:
            yield f"{draft.key} serves {serves} requirements: too large, split it"
        if len(set(draft.files)) > MOST_FILES:
            yield f"{draft.key} names {len(set(draft.files))} files: too large, split it"


def _shared_files(drafts: Sequence[TaskDraft]) -> Iterator[str]:
    """Yield a sentence for each file that is named by several tasks which may run at once."""
    edges = dependency_graph(drafts)
    needs = {key: reachable({key}, edges) for key in edges}
    naming: defaultdict[str, list[str]] = defaultdict(list)
    for draft in drafts:
        for path in dict.fromkeys(path.strip().removeprefix("./") for path in draft.files):
            naming[path].append(draft.key)
    for path, keys in naming.items():
        together = [
            key
            for key in keys
            if any(key != o and o not in needs[key] and key not in needs[o] for o in keys)
        ]
        if together:
            yield f"{_listed(together)} may run at once and name the same file {path}"


def _listed(keys: Sequence[str]) -> str:
    return f"{', '.join(keys[:-1])} and {keys[-1]}"


# Merges a new breakdown into the one being carried out: what a change does not touch stays as it is.


def merge_breakdown(
    now: Sequence[TaskDraft], new: Sequence[TaskDraft], affected: Collection[str]
) -> tuple[TaskDraft, ...]:
    """Return the current tasks with the affected ones taken from `new`, followed by tasks that are new.

    An affected task missing in `new` is removed, also from dependencies. What `new` says about other tasks is ignored.
    The result may be invalid: check it with `draft_problems`.
    """
    here = {draft.key for draft in now}
    laid = list(_merged_drafts(now, new, affected))
    laid += [draft for draft in new if draft.key not in here]
    removed = here - {draft.key for draft in laid}
    return tuple(_without(draft, removed) for draft in laid)


def _merged_drafts(
    now: Sequence[TaskDraft], new: Sequence[TaskDraft], affected: Collection[str]
) -> Iterator[TaskDraft]:
    # a key that `new` uses twice stays double, so that the problem is found
    edited: defaultdict[str, list[TaskDraft]] = defaultdict(list)
    for draft in new:
        edited[draft.key].append(draft)
    for draft in now:
        if draft.key in affected:
            yield from edited.pop(draft.key, [])
        else:
            yield draft


def _without(draft: TaskDraft, removed: Collection[str]) -> TaskDraft:
    if not any(key in removed for key in draft.depends_on):
        return draft
    kept = tuple(key for key in draft.depends_on if key not in removed)
    return draft.model_copy(update={"depends_on": kept})
