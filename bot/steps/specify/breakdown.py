"""Asks the model to break the plan down into tasks.

They are graded, and written again once if the grade is poor; the better version counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from bot.core.llm import Usage
from bot.core.session import Session
from bot.core.spec_kit import drafts, spec, tasks_reader, tasks_writer
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.spec_kit.spec import coverage, requirement_ids
from bot.core.task import drafts_of
from bot.core.text import cut
from bot.ports import Llm
from bot.steps.asking import (
    ModelReply,
    Prompt,
    ask,
    json_parser,
    session_tokens,
    without_code_fence,
)
from bot.steps.looking import Looker
from bot.steps.prompt_data import (
    LONGEST_LINE,
    Sentence,
    affected_keys,
    change_request,
    current_documents,
    findings,
    is_never_done,
    kept_tasks,
    question_data,
    tasks_now,
)

MAX_PARALLEL = 10
MAX_TASKS = 100
"""In addition to existing tasks. Nobody could seriously review more."""
GOOD_SCORE = 70
"""Out of 100. A worse breakdown is written again once before anybody sees it."""


class Breakdown(ModelReply):
    parallelism: int = Field(default=2, ge=1, le=MAX_PARALLEL)
    tasks: list[TaskDraft]


class Quality(ModelReply):
    score: int = Field(ge=0, le=100)
    issues: list[Sentence] = Field(default_factory=list[Sentence], max_length=50)


@dataclass(frozen=True)
class GradedBreakdown:
    """A breakdown, its evident flaws, and the model's grade."""

    breakdown: Breakdown
    own: tuple[str, ...]
    score: int | None
    issues: tuple[str, ...]
    plain: bool = False
    """The model gave no valid tasks."""

    @property
    def poor(self) -> bool:
        return bool(self.own) or (self.score is not None and self.score < GOOD_SCORE)

    @property
    def rank(self) -> tuple[int, int]:
        return (-len(self.own), self.score or 0)


async def break_down(
    llm: Llm, session: Session, looker: Looker | None = None
) -> tuple[GradedBreakdown, Usage]:
    """Return the tasks. Without a valid reply, a single task does everything."""
    spec = spec_text(session)
    question = TasksPrompt(session, looker)
    found, usage = await ask(llm, question, session_tokens(session))
    if found is None:
        single = _single_task(session, spec)
        return GradedBreakdown(single, (), None, (), plain=True), usage
    first, judging = await _graded(llm, session, found, spec)
    usage += judging
    if not first.poor:
        return first, usage
    again, asking = await ask(llm, TasksPrompt(session, looker, first), session_tokens(session))
    usage += asking
    if again is None or again == found:
        return first, usage
    second, judging = await _graded(llm, session, again, spec)
    return max(first, second, key=lambda one: one.rank), usage + judging


def spec_text(session: Session) -> str:
    """Return the current specification."""
    return current_documents(session).get("spec", "")


@dataclass(frozen=True)
class TasksPrompt(Prompt[Breakdown | None], name="tasks", reply=Breakdown):
    """Asks for the tasks. `poor`: the version to improve."""

    session: Session
    repository: Looker | None = None
    poor: GradedBreakdown | None = None

    def looker(self) -> Looker | None:
        return self.repository

    async def complaint(self, found: Breakdown | None) -> str:
        cited = "\n".join(
            place for task in (found.tasks if found else ()) for place in task.read_first
        )
        wrong = await self.repository.doubts(cited, lines_only=True) if self.repository else ()
        return "; ".join(wrong)

    def data(self) -> dict[str, object]:
        now, poor = tasks_now(self.session), self.poor
        existing = {"tasks_now": now} if now else {}
        data = question_data(
            self.session,
            "tasks",
            looks=self.repository is not None,
            findings=findings(self.session),
            **existing,
        )
        if poor is None:
            return data
        shown = [draft.model_dump(mode="json") for draft in poor.breakdown.tasks]
        return {**data, "issues": [*poor.own, *poor.issues], "your_last_tasks": shown}

    def read(self, text: str) -> Breakdown:
        try:
            breakdown = json_parser(Breakdown, text)
        except ValueError:
            # some models write the tasks.md itself
            drafts = tasks_reader.drafts_from(without_code_fence(text))
            if not drafts:
                raise
            breakdown = Breakdown(tasks=list(drafts))
        return _with_kept_tasks(self.session, breakdown)

    def fallback(self) -> None:
        return None

    def prose(self, found: Breakdown | None) -> str:
        return "\n".join(
            text
            for task in (found.tasks if found else ())
            for text in (task.title, task.description, *task.acceptance)
        )


@dataclass(frozen=True)
class BreakdownPrompt(Prompt[Quality | None], name="breakdown", reply=Quality):
    """Asks how good the tasks are. Without a valid reply there is no score."""

    session: Session
    tasks: Sequence[TaskDraft]

    def data(self) -> dict[str, object]:
        shown = [draft.model_dump(mode="json") for draft in self.tasks]
        return question_data(self.session, "breakdown", tasks=shown)

    def fallback(self) -> None:
        return None


def _with_kept_tasks(session: Session, breakdown: Breakdown) -> Breakdown:
    """Return the breakdown merged with the tasks that stay. Raises ValueError if it cannot be carried out."""
    kept = _kept_drafts(session)
    proposed = _proposed(kept, breakdown.tasks)
    tasks = list(drafts.merge_breakdown(kept, proposed, affected_keys(session)))
    gone = {task.key for task in kept_tasks(session) if is_never_done(task)}
    problems = [
        f"{draft.key} was another task before; use a new key"
        for draft in tasks
        if draft.key in gone
    ]
    if len(tasks) > len(kept) + MAX_TASKS:
        raise ValueError(f"there are {len(tasks)} tasks; at most {MAX_TASKS} new ones are allowed")
    problems += drafts.draft_problems(tasks)
    if not tasks:
        problems = ["there is no task"]
    if problems:
        raise ValueError("; ".join(problems))
    return breakdown.model_copy(update={"tasks": tasks})


def _proposed(kept: list[TaskDraft], drafts: list[TaskDraft]) -> list[TaskDraft]:
    # The model may not choose agents: only people decide who carries a task out.
    agents = {draft.key: draft.agent for draft in kept}
    return [
        draft.model_copy(
            update={
                "title": cut(" ".join(draft.title.split()), LONGEST_LINE),
                "agent": agents.get(draft.key, ""),
            }
        )
        for draft in drafts
    ]


def _kept_drafts(session: Session) -> list[TaskDraft]:
    # Without tasks that will never be done: nothing may depend on them.
    kept = kept_tasks(session)
    return list(drafts_of([task for task in kept if not is_never_done(task)]))


async def _graded(
    llm: Llm, session: Session, breakdown: Breakdown, spec: str
) -> tuple[GradedBreakdown, Usage]:
    """Collect the problems that can be found by rules, then ask the model for its judgement."""
    scan = session.repository.scan
    tests = bool(session.tests.command or (scan and scan.has_tests))
    settled = tuple(
        f"{task.key} " for task in kept_tasks(session) if task.key not in affected_keys(session)
    )
    own = [
        issue
        for issue in drafts.breakdown_issues(breakdown.tasks, spec, has_tests=tests)
        if not issue.startswith(settled)  # tasks that stay cannot be changed here
    ]
    grading = BreakdownPrompt(session, breakdown.tasks)
    quality, usage = await ask(llm, grading, session_tokens(session))
    issues = tuple(quality.issues) if quality else ()
    return GradedBreakdown(breakdown, tuple(own), quality.score if quality else None, issues), usage


def _single_task(session: Session, spec: str) -> Breakdown:
    """Return one task for everything that is wanted, plus the existing ones."""
    now = _kept_drafts(session)
    wish = change_request(session) if now else ""
    used = [int(re.sub("[^0-9]", "", task.key) or 0) for task in kept_tasks(session)]
    draft = TaskDraft(
        key=f"T{max(used, default=0) + 1:03}",
        title=wish.partition("\n")[0][:72] or session.title,
        description=wish or session.intent.body,
        acceptance=("The tests written for this pass.",),
        requirements=_unserved(spec, now),
    )
    return Breakdown(parallelism=session.plan.parallelism if now else 1, tasks=[*now, draft])


def _unserved(spec: str, now: list[TaskDraft]) -> tuple[str, ...]:
    open_ones = [c.requirement for c in coverage(spec, now) if not c.tasks]
    return tuple(open_ones) or requirement_ids(spec)


def render_tasks_md(session: Session, breakdown: Breakdown, today: str) -> str:
    """Return its tasks.md."""
    return tasks_writer.render_tasks(
        session.title,
        session.plan.spec.id if session.plan.spec else "",
        breakdown.tasks,
        session.intent.body,
        today,
        spec.story_titles(spec_text(session)),
    )
