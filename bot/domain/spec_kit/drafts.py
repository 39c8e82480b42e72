"""Tasks as they are proposed: what they depend on, in which phase they stand, and what is wrong with them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from bot.domain.facts import Fact

_KEY = re.compile(r"T[0-9]{3,4}[a-z]?")
_STORY = re.compile(r"US([0-9]{1,3})")


class TaskType(StrEnum):
    IMPLEMENTATION = "implementation"
    DOCUMENTATION = "documentation"
    INVESTIGATION = "investigation"
    INTEGRATION = "integration"


class WorktreeStrategy(StrEnum):
    """`shared`: the task works after its predecessor, in the same worktree and on the same branch."""

    NEW = "new"
    SHARED = "shared"


class TaskDraft(Fact):
    """A task before it is approved."""

    key: str
    """Spec Kit's id, T001."""
    title: str
    description: str = ""
    story: str = ""
    """US1; empty: the task serves all stories."""
    parallel: bool = False
    """It touches other files than its neighbours and may run beside them: Spec Kit's [P]."""
    depends_on: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    """The FR ids it serves."""
    type: TaskType = TaskType.IMPLEMENTATION
    worktree: WorktreeStrategy = WorktreeStrategy.NEW
    complexity: str = ""
    """low, med or high: how much its agent is told."""
    agent: str = ""


class Phases(NamedTuple):
    """The drafts as tasks.md groups them: setup, then foundation, then the stories side by side, then polish."""

    setup: list[TaskDraft]
    foundation: list[TaskDraft]
    stories: dict[int, list[TaskDraft]]
    polish: list[TaskDraft]


def story_number(draft: TaskDraft) -> int:
    """0: of no story."""
    found = _STORY.fullmatch(draft.story)
    return int(found[1]) if found else 0


def phases(drafts: Sequence[TaskDraft]) -> Phases:
    """Put every draft into its phase. One of no story stands where its dependencies allow, else where it was named."""
    edges = _explicit(drafts)
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


def graph(drafts: Sequence[TaskDraft]) -> dict[str, set[str]]:
    """What each task waits for: what the drafts say; where none says anything, what phases and [P] imply."""
    edges = _explicit(drafts)
    if any(draft.depends_on for draft in drafts):
        return edges
    ordered = phases(drafts)
    done = _chain(ordered.setup, set(), edges)
    done = _chain(ordered.foundation, done, edges)
    ends = [_chain(story, done, edges) for _, story in sorted(ordered.stories.items())]
    _chain(ordered.polish, {key for end in ends for key in end} or done, edges)
    return edges


def reachable(starts: set[str], edges: dict[str, set[str]]) -> set[str]:
    """Everything the tasks need, directly or not."""
    found: set[str] = set()
    ahead = list(starts)
    while ahead:
        fresh = edges[ahead.pop()] - found
        found |= fresh
        ahead += fresh
    return found


def problems(drafts: Sequence[TaskDraft]) -> list[str]:
    """What must be mended before these tasks can be carried out, one sentence each."""
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
        f"dependencies run in a circle: {' → '.join(cycle)}" for cycle in _cycles(_explicit(drafts))
    ]


def _explicit(drafts: Sequence[TaskDraft]) -> dict[str, set[str]]:
    """Dependencies on tasks that exist, and not on oneself."""
    edges: dict[str, set[str]] = {draft.key: set() for draft in drafts}
    for draft in drafts:
        edges[draft.key] |= {key for key in draft.depends_on if key in edges and key != draft.key}
    return edges


def _chain(tasks: list[TaskDraft], before: set[str], edges: dict[str, set[str]]) -> set[str]:
    """Order the tasks of a phase after `before`: one after the other, those marked [P] side by side.

    Returns the tasks that the next phase waits for.
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
    """Circles that share no task, so that each mending is asked for once."""
    core = {key: sorted(needs) for key, needs in edges.items()}
    found: list[list[str]] = []
    while core := _knot(core):
        path = [min(core)]
        while (needed := core[path[-1]][0]) not in path:
            path.append(needed)
        circle = path[path.index(needed) :]
        first = circle.index(min(circle))
        circle = circle[first:] + circle[:first]
        found.append([*circle, circle[0]])
        core = {key: needs for key, needs in core.items() if key not in circle}
    return found


def _knot(edges: dict[str, list[str]]) -> dict[str, list[str]]:
    """Only the tasks that can never start: each waits for another of them."""
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
