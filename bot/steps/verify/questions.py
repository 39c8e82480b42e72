"""Asks the model whether a task is done. Its opinion cannot override failing tests and missing work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from pydantic import Field

from bot.core.actions import JudgeWork
from bot.core.errors import PortError, Refused
from bot.core.events import WorkJudged
from bot.core.evidence import Check, Judgement, Verdict
from bot.core.llm import ModelRole, Usage
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.tampering.signs import Flag
from bot.core.task import Task
from bot.core.world import World
from bot.ports import Llm
from bot.steps.asking import ModelReply, ResultFields, SessionPrompt, json_parser
from bot.steps.judging import (
    CriterionReply,
    PatchReading,
    claims,
    looker_at,
    read_patch,
    reader_at,
)
from bot.steps.looking import Looker
from bot.steps.prompt_data import (
    Sentence,
    check_data,
    common_data,
    shortened,
    task_data,
    token_share,
)


class VerdictReply(ModelReply):
    verdict: Judgement
    reasons: list[Sentence] = Field(default_factory=list[Sentence], max_length=20)
    missing: list[Sentence] = Field(default_factory=list[Sentence], max_length=20)
    suggestions: list[Sentence] = Field(default_factory=list[Sentence], max_length=10)
    criteria: list[CriterionReply] = Field(default_factory=list[CriterionReply], max_length=200)
    score: float | None = Field(default=None, ge=0, le=100)


@dataclass(frozen=True)
class JudgePrompt(
    SessionPrompt[Verdict, JudgeWork, WorkJudged],
    name="judge",
    reply=VerdictReply,
    role=ModelRole.JUDGE,
    asked_by=JudgeWork,
):
    """Is a task done? Tests that fail and things that are missing cannot be talked away."""

    session: Session
    task: Task
    at: datetime
    patch: PatchReading
    flags: Sequence[Flag] = ()
    report: str = ""
    commit: str = ""
    repository: Looker | None = None

    @classmethod
    async def about(cls, world: World, session: Session, order: JudgeWork) -> Self:
        task = session.task(order.task_id)
        if task is None or task.workspace is None:
            raise Refused("that task is no longer part of the plan")
        # the diff of that commit, which will be published, whatever is checked out by now
        place, commit = task.workspace, order.commit
        patch, is_cut = await read_patch(world, place.path, place.start, commit)
        tests = task.check.tests if task.check else None
        reading = PatchReading(
            session,
            patch,
            is_cut=is_cut,
            changed=tuple(one.path for one in task.verified_files),
            read=reader_at(world, session.repository.path, (commit,)),
            passed=tests.added if tests else (),
            failed=tests.failed if tests else (),
            has_report=task.type is TaskType.INVESTIGATION and bool(task.report.strip()),
        )
        looker, now = looker_at(world, session, commit), world.clock.now()
        return cls(session, task, now, reading, task.flags, task.report, commit, looker)

    def looker(self) -> Looker | None:
        return self.repository

    async def prepared(self, llm: Llm) -> tuple[Self, Usage]:
        rest, about = self._without_patch(), self._task_data()
        patch, usage = await self.patch.read_in_parts(llm, self.name, rest, about)
        return replace(self, patch=patch), usage

    def data(self) -> dict[str, object]:
        return self.patch.data(self.name, self._without_patch())

    def _without_patch(self) -> dict[str, object]:
        task = self.task
        return self._task_data() | {
            "checks": [_check_data(task.check)] if task.check else [],
            "signs": [flag.model_dump(mode="json", exclude={"tests"}) for flag in self.flags],
            "signs_accepted": bool(task.work and task.work.head in task.accepted),
            "report": shortened(self.report, token_share(self.session, 6)),
        }

    def _task_data(self) -> dict[str, object]:
        told = task_data(self.session, self.task)
        del told["acceptance"]  # it follows with its ids
        criteria = [one.model_dump() for one in self.task.acceptance]
        return common_data(self.session) | {"task": told, "criteria": criteria}

    def read(self, text: str) -> Verdict:
        found, done = json_parser(VerdictReply, text), Judgement.DONE
        if found.verdict is done and (problem := self._not_done(found)):
            raise ValueError(f"verdict: {problem}")
        if found.verdict is not done and not (found.reasons or found.missing):
            raise ValueError("reasons: say why it is not done")
        return Verdict(
            outcome=found.verdict,
            reasons=tuple(found.reasons),
            missing=tuple(found.missing),
            suggestions=tuple(found.suggestions),
            score=found.score,
            criteria=claims((one.id for one in self.task.acceptance), found.criteria),
            at=self.at,
        )

    def _not_done(self, found: VerdictReply) -> str:
        """Return what contradicts a verdict of "done"; empty if nothing does."""
        if found.missing:
            return "nothing may be missing of what is done"
        if self.task.check and not self.task.check.passed:
            return "the tests fail, so it is not done"
        changed, reported = bool(self.patch.patch.strip()), bool(self.report.strip())
        if self.task.type is TaskType.INVESTIGATION:
            return "" if reported or changed else "there is no report, so it is not done"
        return "" if changed else "nothing was changed, so it is not done"

    async def complaint(self, found: Verdict) -> str:
        return await self.patch.complaint(found)

    def fallback(self) -> Verdict:
        return plain_verdict(self.task, self.at)

    def unasked(self, trouble: PortError) -> Verdict:
        """While the model does not answer it is waited for; one that cannot be used leaves the verdict to the facts."""
        return self.fallback() if isinstance(trouble, Refused) else super().unasked(trouble)

    def prose(self, found: Verdict) -> str:
        return "\n".join([*found.reasons, *found.missing, *found.suggestions])

    async def event(self, world: World, found: Verdict, fields: ResultFields) -> WorkJudged:
        criteria = {one.id: one.text for one in self.task.acceptance}
        if len(found.criteria) == len(self.task.acceptance):  # otherwise the facts decided
            found = await self.patch.settled(found, criteria)
        return WorkJudged(**fields, task_id=self.task.id, commit=self.commit, verdict=found)


def _check_data(check: Check) -> dict[str, object]:
    added = check.tests.added if check.tests else ()
    return check_data(check) | ({"new_tests_that_passed": list(added)} if added else {})


def plain_verdict(task: Task, at: datetime) -> Verdict:
    """Return the verdict without the model: by the tests, or an investigation's report; otherwise a person must decide."""
    outcome, reason = _facts_say(task)
    return Verdict(outcome=outcome, reasons=(f"The model gave no verdict{reason}",), at=at)


def _facts_say(task: Task) -> tuple[Judgement, str]:
    if task.check and not task.check.passed:
        return Judgement.CONTINUE, "; the tests fail."
    if task.type is TaskType.INVESTIGATION:
        if task.report.strip():
            return Judgement.DONE, "; there is a report."
        return Judgement.BLOCKED, ", and there is no report."
    if task.check:
        return Judgement.DONE, "; the tests pass."
    if task.type is TaskType.DOCUMENTATION and task.commits:
        return Judgement.DONE, "; it is documentation, and it is committed."
    return Judgement.BLOCKED, ", and no tests were run."
