"""The plan cut into tasks: written, judged, and once more where the judgement is poor. The better one counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pydantic import Field

from bot.domain import spec_kit
from bot.domain.drafted import drafts_of
from bot.domain.session import Session
from bot.domain.spec_kit import TaskDraft
from bot.domain.world import Usage
from bot.engine.brain.asking import Answer, ask, parsed, unfenced
from bot.engine.brain.material import (
    affected_keys,
    findings,
    is_gone,
    kept_tasks,
    tasks_now,
    told,
    wanted_change,
    written,
)
from bot.engine.brain.standing import LINE, Sentence, brief
from bot.ports import Llm

MAX_PARALLEL = 10
MAX_TASKS = 100
"""Beside those that are there already. Nobody approves more of them with open eyes."""
GOOD = 70
"""Of 100. What is worse is made again once before anybody sees it."""


class Breakdown(Answer):
    parallelism: int = Field(default=2, ge=1, le=MAX_PARALLEL)
    tasks: list[TaskDraft]


class Quality(Answer):
    score: int = Field(ge=0, le=100)
    issues: list[Sentence] = Field(default_factory=list[Sentence], max_length=50)


@dataclass(frozen=True)
class Graded:
    """A breakdown, what is plainly wrong with it, and what the model thinks of it."""

    breakdown: Breakdown
    own: tuple[str, ...]
    score: int | None
    issues: tuple[str, ...]

    @property
    def poor(self) -> bool:
        return bool(self.own) or (self.score is not None and self.score < GOOD)

    @property
    def rank(self) -> tuple[int, int]:
        return (-len(self.own), self.score or 0)


async def break_down(llm: Llm, session: Session) -> tuple[Graded, Usage]:
    """The tasks. Without a usable answer a single one does all of it."""
    spec = spec_text(session)
    data = _data(session)
    found, usage = await _asked(llm, session, data, lambda: None)
    if found is None:
        return Graded(_single(session, spec), (), None, ()), usage
    first, judging = await _graded(llm, session, found, spec)
    usage += judging
    if not first.poor:
        return first, usage
    wrong = [*first.own, *first.issues]
    shown = [draft.model_dump(mode="json") for draft in found.tasks]
    again, asking = await _asked(
        llm, session, {**data, "issues": wrong, "your_last_tasks": shown}, lambda: None
    )
    usage += asking
    if again is None or again == found:
        return first, usage
    second, judging = await _graded(llm, session, again, spec)
    return max(first, second, key=lambda one: one.rank), usage + judging


def spec_text(session: Session) -> str:
    """The specification as it is now."""
    return written(session).get("spec", "")


def _data(session: Session) -> dict[str, object]:
    now = tasks_now(session)
    existing = {"tasks_now": now} if now else {}
    return told(session, "tasks", findings=findings(session), **existing)


async def _asked(
    llm: Llm, session: Session, data: dict[str, object], otherwise: Callable[[], Breakdown | None]
) -> tuple[Breakdown | None, Usage]:
    return await ask(
        llm, "tasks", data, partial(_parse, session), otherwise, Breakdown, prose=_read_by_people
    )


def _parse(session: Session, text: str) -> Breakdown | None:
    try:
        breakdown = parsed(Breakdown)(text)
    except ValueError:
        # some models write the tasks.md itself
        drafts = spec_kit.drafts_from(unfenced(text))
        if not drafts:
            raise
        breakdown = Breakdown(tasks=list(drafts))
    return _laid_over(session, breakdown)


def _laid_over(session: Session, breakdown: Breakdown) -> Breakdown:
    """With the tasks that stay as they are. A ValueError says what cannot be carried out."""
    kept = _kept(session)
    proposed = _proposed(kept, breakdown.tasks)
    tasks = list(spec_kit.merged(kept, proposed, affected_keys(session)))
    gone = {task.key for task in kept_tasks(session) if is_gone(task)}
    problems = [
        f"{draft.key} was another task before; use a new key"
        for draft in tasks
        if draft.key in gone
    ]
    if len(tasks) > len(kept) + MAX_TASKS:
        raise ValueError(f"there are {len(tasks)} tasks; at most {MAX_TASKS} new ones are allowed")
    problems += spec_kit.problems(tasks)
    if not tasks:
        problems = ["there is no task"]
    if problems:
        raise ValueError("; ".join(problems))
    return breakdown.model_copy(update={"tasks": tasks})


def _proposed(kept: list[TaskDraft], drafts: list[TaskDraft]) -> list[TaskDraft]:
    """What the model may say of a task. Which agent carries it out is for people to say."""
    agents = {draft.key: draft.agent for draft in kept}
    return [
        draft.model_copy(
            update={
                "title": brief(" ".join(draft.title.split()), LINE),
                "agent": agents.get(draft.key, ""),
            }
        )
        for draft in drafts
    ]


def _kept(session: Session) -> list[TaskDraft]:
    """Nobody waits for a task that nobody does."""
    kept = kept_tasks(session)
    return list(drafts_of([task for task in kept if not is_gone(task)]))


def _read_by_people(breakdown: Breakdown | None) -> str:
    tasks = breakdown.tasks if breakdown else []
    return "\n".join(
        text for task in tasks for text in (task.title, task.description, *task.acceptance)
    )


async def _graded(
    llm: Llm, session: Session, breakdown: Breakdown, spec: str
) -> tuple[Graded, Usage]:
    """What anybody can see first; a judgement that cannot be had counts for nothing."""
    scan = session.scan
    tests = bool(session.test_command or (scan and scan.has_tests))
    settled = tuple(
        task.key for task in kept_tasks(session) if task.key not in affected_keys(session)
    )
    own = [
        issue
        for issue in spec_kit.breakdown_issues(breakdown.tasks, spec, has_tests=tests)
        if not issue.startswith(settled)  # what stays as it is cannot be mended here
    ]
    shown = [draft.model_dump(mode="json") for draft in breakdown.tasks]
    quality, usage = await ask(
        llm,
        "breakdown",
        told(session, "breakdown", tasks=shown),
        parsed(Quality),
        lambda: None,
        Quality,
    )
    issues = tuple(quality.issues) if quality else ()
    return Graded(breakdown, tuple(own), quality.score if quality else None, issues), usage


def _single(session: Session, spec: str) -> Breakdown:
    """One task for all that is wanted; tasks that are there already stay."""
    now = _kept(session)
    wish = wanted_change(session) if now else ""
    used = [int(re.sub("[^0-9]", "", task.key) or 0) for task in kept_tasks(session)]
    draft = TaskDraft(
        key=f"T{max(used, default=0) + 1:03}",
        title=wish.partition("\n")[0][:72] or session.title,
        description=wish or session.intent.body,
        acceptance=("The tests written for this pass.",),
        requirements=_unserved(spec, now),
    )
    return Breakdown(parallelism=session.parallelism if now else 1, tasks=[*now, draft])


def _unserved(spec: str, now: list[TaskDraft]) -> tuple[str, ...]:
    open_ones = [c.requirement for c in spec_kit.coverage(spec, now) if not c.tasks]
    return tuple(open_ones) or spec_kit.requirement_ids(spec)


def rendered(session: Session, breakdown: Breakdown, today: str) -> str:
    """The tasks.md of it."""
    return spec_kit.render_tasks(
        session.title,
        session.spec.id if session.spec else "",
        breakdown.tasks,
        session.intent.body,
        today,
        spec_kit.story_titles(spec_text(session)),
    )
