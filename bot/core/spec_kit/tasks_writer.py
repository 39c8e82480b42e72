"""Writes tasks.md in Spec Kit's format. Sections that do not apply are left out; there are no placeholders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from bot.core.spec_kit.drafts import Phases, TaskDraft, dependency_graph, phases

# at the start of a title a bracket would be read as a tag, the other characters as the separator after the id
_READ_AS_MARK = re.compile(r"[\[\\【［:.：、]|[-–—|](?: |$)")
_TEST_FILE = re.compile(r"(?:^|[/_.-])(?:tests?|specs?|__tests__)(?=$|[/_.-])", re.IGNORECASE)


def render_tasks(
    feature: str,
    spec_id: str,
    drafts: Sequence[TaskDraft],
    request: str,
    date: str,
    stories: Mapping[str, str] | None = None,
) -> str:
    """Return the document. `stories` maps US1 to the user story's title."""
    ordered = phases(drafts)
    named = _named_phases(ordered, stories or {})
    parts = [
        *_head(feature, spec_id, drafts, request, date),
        *(part for phase in named for part in _phase(*phase)),
        *_order(drafts, ordered, [title for title, _, _ in named]),
        *_strategy(ordered),
        *_notes(drafts),
    ]
    return "\n\n".join(parts) + "\n"


def _head(
    feature: str, spec_id: str, drafts: Sequence[TaskDraft], request: str, date: str
) -> Iterator[str]:
    name = _line(feature) or spec_id
    yield f"---\ndescription: {json.dumps(f'Task list for {name}', ensure_ascii=False)}\n---"
    yield f"# Tasks: {name}"
    yield (
        f"**Input**: “{_line(request)}”; design documents from `specs/{spec_id}/`"
        if request.strip()
        else (f"**Input**: design documents from `specs/{spec_id}/`")
    )
    yield f"**Created**: {date}"
    yield "**Prerequisites**: spec.md, plan.md"
    yield "**Tests**: every task writes its tests first, sees them fail, then makes them pass."
    if any(draft.story for draft in drafts):
        yield "**Organization**: tasks are grouped by user story, so that each story can be built and tested alone."
    yield "## Format: `[ID] [P?] [Story] Description`"
    marks = ["- **[P]**: may run in parallel: other files, no dependency on an unfinished task"]
    if any(draft.story for draft in drafts):
        marks.append("- **[US1]**, **[US2]** …: the user story the task belongs to")
    yield "\n".join(marks)
    if any(draft.files for draft in drafts):
        yield "## Path Conventions"
        yield "Paths are relative to the top of the repository."


def _named_phases(
    ordered: Phases, titles: Mapping[str, str]
) -> list[tuple[str, list[str], list[TaskDraft]]]:
    """Return heading, purpose and tasks of every phase that has tasks, numbered in sequence."""
    groups: list[tuple[str, list[str], list[TaskDraft]]] = [
        (
            "Setup (Shared Infrastructure)",
            ["**Purpose**: what every later task stands on."],
            ordered.setup,
        ),
        (
            "Foundational (Blocking Prerequisites)",
            ["**Purpose**: what must be complete before any later phase begins."],
            ordered.foundation,
        ),
    ]
    for place, (number, tasks) in enumerate(sorted(ordered.stories.items())):
        title = _line(titles.get(f"US{number}", ""))
        name = f"User Story {number}{f' - {title}' if title else ''} (Priority: P{number}){'' if place else ' 🎯 MVP'}"
        purpose = [f"**Goal**: {title or f'user story {number} works from end to end'}"]
        checks = [_line(item) for task in tasks for item in task.acceptance]
        if checks:
            purpose.append(f"**Independent Test**: {_line('; '.join(checks))}")
        groups.append((name, purpose, tasks))
    groups.append(
        (
            "Polish & Cross-Cutting Concerns",
            ["**Purpose**: what concerns all of it."],
            ordered.polish,
        )
    )
    present = [group for group in groups if group[2]]
    return [
        (f"Phase {n}: {name}", purpose, tasks)
        for n, (name, purpose, tasks) in enumerate(present, 1)
    ]


def _phase(heading: str, purpose: list[str], tasks: list[TaskDraft]) -> Iterator[str]:
    yield f"## {heading}"
    yield from purpose
    tests = 0
    while tests < len(tasks) and _is_test(tasks[tests]):
        tests += 1
    story = re.search("User Story [0-9]+", heading)
    if story and 0 < tests < len(tasks):
        yield f"### Tests for {story[0]} (written first, and failing)"
        yield "\n".join(line for task in tasks[:tests] for line in _task(task))
        tasks = tasks[tests:]
    if story:
        yield f"### Implementation for {story[0]}"
    yield "\n".join(line for task in tasks for line in _task(task))
    done = (
        f"{story[0]} works and can be tested alone."
        if story
        else "everything above is complete and its tests pass."
    )
    yield f"**Checkpoint**: {done}"


def _task(draft: TaskDraft) -> Iterator[str]:
    title = _line(draft.title)
    title = f"\\{title}" if _READ_AS_MARK.match(title) else title
    marks = f"{'[P] ' if draft.parallel else ''}{f'[{draft.story}] ' if draft.story else ''}"
    paths = [path for path in draft.files if path not in title]
    where = f" in {', '.join(paths)}" if paths else ""
    needs = f" (depends on {', '.join(draft.depends_on)})" if draft.depends_on else ""
    yield f"- [ ] {draft.key} {marks}{title}{where}{needs}"
    if draft.description.strip() and _line(draft.description) != _line(draft.title):
        yield f"  - What: {_line(draft.description)}"
    if draft.read_first:
        yield f"  - Read first: {', '.join(map(_line, draft.read_first))}"
    yield from (f"  - Accepted when: {_line(item)}" for item in draft.acceptance)
    if draft.requirements:
        yield f"  - Serves: {', '.join(draft.requirements)}"


def _order(drafts: Sequence[TaskDraft], ordered: Phases, headings: list[str]) -> Iterator[str]:
    if len(drafts) < 2:
        return
    yield "## Dependencies & Execution Order"
    if len(headings) > 1:
        yield "### Phase Dependencies"
        yield "\n".join(_phase_lines(drafts, ordered, headings))
    if ordered.stories:
        yield "### User Story Dependencies"
        yield "\n".join(_story_lines(drafts, ordered))
        yield "### Within Each User Story"
        yield "- Tests are written and fail before what they test is built\n- A task starts when all it depends on is complete"
    waves = [wave for wave in _waves(drafts) if len(wave) > 1]
    if waves:
        yield "### Parallel Opportunities"
        yield "\n".join(
            f"- {', '.join(task.key for task in wave)} can run side by side" for wave in waves
        )
        yield "## Parallel Example"
        lines = [f'Task: "{task.key} {_line(task.title)}"' for task in max(waves, key=len)]
        yield "\n".join(["```text", *lines, "```"])


def _phase_lines(
    drafts: Sequence[TaskDraft], ordered: Phases, headings: list[str]
) -> Iterator[str]:
    opening = bool(ordered.setup) + bool(ordered.foundation)
    closing = len(headings) - 1 if ordered.polish else len(headings)
    builds_on = [others for _, others in _stories_needed(drafts, ordered)]
    for at, heading in enumerate(headings):
        name = heading.split(" (")[0]
        others = builds_on[at - opening] if opening <= at < closing else []
        if others:
            yield f"- **{name}**: after {_stories(others)}"
        elif at == 0 or (opening <= at < closing and opening == 0):
            yield f"- **{name}**: no dependencies, can start at once"
        elif at < opening:
            yield f"- **{name}**: after phase {at}"
        elif at < closing:
            yield f"- **{name}**: after phase {opening}, beside the other stories"
        else:
            yield f"- **{name}**: after everything it builds on"


def _story_lines(drafts: Sequence[TaskDraft], ordered: Phases) -> Iterator[str]:
    for number, others in _stories_needed(drafts, ordered):
        needs = f"builds on {_stories(others)}" if others else "needs no other story"
        yield f"- **User Story {number} (P{number})**: {needs}"


def _stories(numbers: list[int]) -> str:
    return ", ".join(f"User Story {number}" for number in numbers)


def _stories_needed(
    drafts: Sequence[TaskDraft], ordered: Phases
) -> Iterator[tuple[int, list[int]]]:
    """Yield each story in order with the stories it depends on."""
    story_of = {task.key: number for number, tasks in ordered.stories.items() for task in tasks}
    edges = dependency_graph(drafts)
    for number, tasks in sorted(ordered.stories.items()):
        needed = {story_of[key] for task in tasks for key in edges[task.key] if key in story_of}
        yield number, sorted(needed - {number})


def _waves(drafts: Sequence[TaskDraft]) -> list[list[TaskDraft]]:
    """Return which tasks can run at the same time if all take equally long. Tasks in a cycle are left out."""
    edges = dependency_graph(drafts)
    done: set[str] = set()
    waves: list[list[TaskDraft]] = []
    ahead = list(drafts)
    while wave := [task for task in ahead if edges[task.key] <= done]:
        waves.append(wave)
        done |= {task.key for task in wave}
        ahead = [task for task in ahead if task.key not in done]
    return waves


def _strategy(ordered: Phases) -> Iterator[str]:
    if not ordered.stories:
        return
    first, *others = sorted(ordered.stories)
    opening = ordered.setup or ordered.foundation
    yield "## Implementation Strategy"
    yield "### MVP First"
    start = "Complete what blocks the stories, then" if opening else "Complete"
    yield f"{start} User Story {first}; stop and see that it works alone."
    if others:
        yield "### Incremental Delivery"
        yield f"Add User Story {', '.join(map(str, others))} one by one; each adds value and breaks none before it."


def _notes(drafts: Sequence[TaskDraft]) -> Iterator[str]:
    yield "## Notes"
    notes = ["- Each task has a branch of its own and is committed when it is done"]
    if any(draft.worktree == "shared" for draft in drafts):
        notes = [
            "- Each task is committed when it is done; tasks that share a worktree follow each other on one branch"
        ]
    yield "\n".join([*notes, "- A box is ticked when the task's tests pass"])


def _is_test(draft: TaskDraft) -> bool:
    return bool(draft.files) and all(_TEST_FILE.search(path) for path in draft.files)


def _line(text: str) -> str:
    return " ".join(text.split())
