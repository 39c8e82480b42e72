"""What anybody can see is wrong with a breakdown into tasks, without asking a model: one sentence each."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from bot.domain.spec_kit.covered import coverage, served
from bot.domain.spec_kit.drafts import TaskDraft, TaskType, graph, reachable
from bot.domain.spec_kit.specified import requirement_ids

MOST_REQUIREMENTS = 6
MOST_FILES = 12
_TESTS = re.compile(
    r"(?<![a-z])(?:py|vi|go|c|unit)?tests?(?![a-z])|testing|rspec|jest|mocha|テスト", re.IGNORECASE
)
_BUILDS = (TaskType.IMPLEMENTATION, TaskType.INTEGRATION)


def breakdown_issues(
    drafts: Sequence[TaskDraft], spec_markdown: str, *, has_tests: bool
) -> list[str]:
    """What should be mended before people see the tasks; empty: nothing that can be seen from here."""
    return [
        *_uncovered(drafts, spec_markdown),
        *_unaccepted(drafts),
        *([] if has_tests else _without_tests(drafts)),
        *_too_large(drafts, requirement_ids(spec_markdown)),
        *_colliding(drafts),
    ]


def _uncovered(drafts: Sequence[TaskDraft], spec_markdown: str) -> Iterator[str]:
    for covered in coverage(spec_markdown, drafts):
        if not covered.tasks:
            yield f"{covered.requirement} is served by no task"


def _unaccepted(drafts: Sequence[TaskDraft]) -> Iterator[str]:
    for draft in drafts:
        if not any(item.strip() for item in draft.acceptance):
            yield f"{draft.key} does not say when it is accepted"


def _without_tests(drafts: Sequence[TaskDraft]) -> Iterator[str]:
    """Where nothing can be tested yet, the first task changes that, and what is built waits for it."""
    if not any(draft.type in _BUILDS for draft in drafts):
        return
    first, *others = drafts
    if not _sets_up_tests(first):
        yield f"the repository has no tests to run, and {first.key}, the first task, does not set them up"
        return
    edges = graph(drafts)
    for draft in others:
        if draft.type in _BUILDS and first.key not in reachable({draft.key}, edges):
            yield f"{draft.key} does not depend on {first.key}, which sets up the tests"


def _sets_up_tests(draft: TaskDraft) -> bool:
    return any(_TESTS.search(text) for text in (draft.title, draft.description, *draft.files))


def _too_large(drafts: Sequence[TaskDraft], stated: Sequence[str]) -> Iterator[str]:
    for draft in drafts:
        serves = max(len(served(draft.requirements, stated)), len(set(draft.requirements)))
        if serves > MOST_REQUIREMENTS:
            yield f"{draft.key} serves {serves} requirements: too large, split it"
        if len(set(draft.files)) > MOST_FILES:
            yield f"{draft.key} names {len(set(draft.files))} files: too large, split it"


def _colliding(drafts: Sequence[TaskDraft]) -> Iterator[str]:
    """Files that tasks name which may run at once; a sentence per file, however many they are."""
    edges = graph(drafts)
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
