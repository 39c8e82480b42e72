"""Spec Kit's documents: how spec, plan and tasks are written, read and checked. Text in, text out."""

from bot.domain.spec_kit.clarified import with_clarifications
from bot.domain.spec_kit.compared import TaskView, difference, view_of_draft
from bot.domain.spec_kit.covered import coverage
from bot.domain.spec_kit.drafts import TaskDraft, TaskType, WorktreeStrategy, graph, problems
from bot.domain.spec_kit.graded import breakdown_issues
from bot.domain.spec_kit.parsed import ParsedTask, ParsedTasks, parse_tasks
from bot.domain.spec_kit.rendered import render_tasks
from bot.domain.spec_kit.replanned import merged
from bot.domain.spec_kit.reread import drafts_from
from bot.domain.spec_kit.sections import Section, sections
from bot.domain.spec_kit.specified import (
    check_plan,
    check_spec,
    requirement_ids,
    story_titles,
    success_ids,
)

__all__ = [
    "ParsedTask",
    "ParsedTasks",
    "Section",
    "TaskDraft",
    "TaskType",
    "TaskView",
    "WorktreeStrategy",
    "breakdown_issues",
    "check_plan",
    "check_spec",
    "coverage",
    "difference",
    "drafts_from",
    "graph",
    "merged",
    "parse_tasks",
    "problems",
    "render_tasks",
    "requirement_ids",
    "sections",
    "story_titles",
    "success_ids",
    "view_of_draft",
    "with_clarifications",
]
