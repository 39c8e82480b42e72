"""Tasks and drafts, one made from the other: what is planned, what is shown, and what is compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import AwareDatetime

from bot.domain.spec_kit import TaskDraft, WorktreeStrategy
from bot.domain.spec_kit import TaskType as DraftType
from bot.domain.tasks import Acceptance, Strategy, Task, TaskType


def drafts_of(tasks: Sequence[Task]) -> tuple[TaskDraft, ...]:
    """The tasks as they would be proposed today."""
    keys = {task.id: task.key for task in tasks}
    return tuple(_draft(task, keys) for task in tasks)


def _draft(task: Task, keys: Mapping[str, str]) -> TaskDraft:
    return TaskDraft(
        key=task.key,
        title=task.name,
        description=task.description,
        story=task.story,
        parallel=task.parallel,
        depends_on=tuple(keys[id] for id in task.dependencies if id in keys),
        files=task.files,
        acceptance=tuple(acceptance.text for acceptance in task.acceptance),
        requirements=task.requirements,
        type=DraftType(task.type),
        worktree=WorktreeStrategy.SHARED
        if task.worktree_strategy is Strategy.SHARED
        else WorktreeStrategy.NEW,
        complexity=task.complexity,
        agent=task.agent,
    )


def task_from(
    draft: TaskDraft, *, id: str, number: int, dependencies: tuple[str, ...], at: AwareDatetime
) -> Task:
    task = Task(id=id, key=draft.key, number=number, name=draft.title, created_at=at)
    apply(draft, task, dependencies)
    return task


def apply(draft: TaskDraft, task: Task, dependencies: tuple[str, ...]) -> None:
    """Make the task what the draft says; its state, its runs and its branch stay."""
    task.name, task.description = draft.title, draft.description
    task.story, task.parallel = draft.story, draft.parallel
    task.type = TaskType(draft.type)
    task.dependencies, task.requirements = dependencies, draft.requirements
    task.acceptance = tuple(
        Acceptance(id=f"{draft.key}-A{n}", text=text) for n, text in enumerate(draft.acceptance, 1)
    )
    task.files, task.complexity, task.agent = draft.files, draft.complexity, draft.agent
    shared = draft.worktree is WorktreeStrategy.SHARED
    task.worktree_strategy = Strategy.SHARED if shared else Strategy.NEW
