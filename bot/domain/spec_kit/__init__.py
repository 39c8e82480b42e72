"""Spec Kit's documents: how spec, plan and tasks are written, read and checked. Text in, text out."""

from bot.domain.spec_kit.drafts import TaskDraft, TaskType, WorktreeStrategy, graph, problems
from bot.domain.spec_kit.parsed import ParsedTask, ParsedTasks, parse_tasks
from bot.domain.spec_kit.rendered import render_tasks
from bot.domain.spec_kit.sections import Section, sections
from bot.domain.spec_kit.specified import (
    check_plan,
    check_spec,
    requirement_ids,
    story_titles,
    success_ids,
    with_clarifications,
)

__all__ = [
    "ParsedTask",
    "ParsedTasks",
    "Section",
    "TaskDraft",
    "TaskType",
    "WorktreeStrategy",
    "check_plan",
    "check_spec",
    "graph",
    "parse_tasks",
    "problems",
    "render_tasks",
    "requirement_ids",
    "sections",
    "story_titles",
    "success_ids",
    "with_clarifications",
]
