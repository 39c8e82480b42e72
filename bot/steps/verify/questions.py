"""Asks the model whether a task is done. Its opinion cannot override failing tests and missing work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from pydantic import Field

from bot.core.actions import JudgeWork
from bot.core.errors import PortError, Refused
from bot.core.events import WorkJudged
from bot.core.evidence import Judgement, Verdict
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.tampering.signs import Flag
from bot.core.task import Task
from bot.core.world import World
from bot.steps.asking import ModelReply, ResultFields, SessionPrompt, json_parser
from bot.steps.prompt_data import (
    Sentence,
    check_data,
    common_data,
    diff_excerpt,
    masked_diff,
    shortened,
    task_data,
    token_share,
)


class VerdictReply(ModelReply):
    verdict: Judgement
    reasons: list[Sentence] = Field(default_factory=list[Sentence], max_length=20)
    missing: list[Sentence] = Field(default_factory=list[Sentence], max_length=20)
    suggestions: list[Sentence] = Field(default_factory=list[Sentence], max_length=10)
    score: float | None = Field(default=None, ge=0, le=100)

    def at(self, moment: datetime) -> Verdict:
        return Verdict(
            outcome=self.verdict,
            reasons=tuple(self.reasons),
            missing=tuple(self.missing),
            suggestions=tuple(self.suggestions),
            score=self.score,
            at=moment,
        )


@dataclass(frozen=True)
class JudgePrompt(
    SessionPrompt[VerdictReply, JudgeWork, WorkJudged],
    name="judge",
    reply=VerdictReply,
    asked_by=JudgeWork,
):
    """Is a task done? Tests that fail and things that are missing cannot be talked away."""

    session: Session
    task: Task
    diff: str
    flags: Sequence[Flag] = ()
    report: str = ""
    commit: str = ""

    @classmethod
    async def about(cls, world: World, session: Session, order: JudgeWork) -> Self:
        task = session.task(order.task_id)
        if task is None or task.workspace is None:
            raise Refused("that task is no longer part of the plan")
        # the diff of that commit, which will be published, whatever is checked out by now
        diff = await masked_diff(world, task.workspace, order.commit)
        return cls(session, task, diff, task.flags, task.report, order.commit)

    def data(self) -> dict[str, object]:
        session, task = self.session, self.task
        return common_data(session) | {
            "task": task_data(session, task),
            "acceptance": [one.text for one in task.acceptance],
            "diff": diff_excerpt(session, self.diff),
            "checks": [check_data(task.check)] if task.check else [],
            "signs": [flag.model_dump(mode="json", exclude={"tests"}) for flag in self.flags],
            "signs_accepted": bool(task.work and task.work.head in task.accepted),
            "report": shortened(self.report, token_share(session, 6)),
        }

    def read(self, text: str) -> VerdictReply:
        found, done = json_parser(VerdictReply, text), Judgement.DONE
        if found.verdict is done and (problem := self._not_done(found)):
            raise ValueError(f"verdict: {problem}")
        if found.verdict is not done and not (found.reasons or found.missing):
            raise ValueError("reasons: say why it is not done")
        return found

    def _not_done(self, found: VerdictReply) -> str:
        """Return what contradicts a verdict of "done"; empty if nothing does."""
        if found.missing:
            return "nothing may be missing of what is done"
        if self.task.check and not self.task.check.passed:
            return "the tests fail, so it is not done"
        changed, reported = bool(self.diff.strip()), bool(self.report.strip())
        if self.task.type is TaskType.INVESTIGATION:
            return "" if reported or changed else "there is no report, so it is not done"
        return "" if changed else "nothing was changed, so it is not done"

    def fallback(self) -> VerdictReply:
        return plain_verdict(self.task)

    def unasked(self, trouble: PortError) -> VerdictReply:
        """While the model does not answer it is waited for; one that cannot be used leaves the verdict to the facts."""
        return self.fallback() if isinstance(trouble, Refused) else super().unasked(trouble)

    def prose(self, found: VerdictReply) -> str:
        return "\n".join([*found.reasons, *found.missing, *found.suggestions])

    async def event(self, world: World, found: VerdictReply, fields: ResultFields) -> WorkJudged:
        verdict = found.at(fields["at"])
        return WorkJudged(**fields, task_id=self.task.id, commit=self.commit, verdict=verdict)


def plain_verdict(task: Task) -> VerdictReply:
    """Return the verdict without the model: by the tests, or an investigation's report; otherwise a person must decide."""
    outcome, reason = _facts_say(task)
    return VerdictReply(verdict=outcome, reasons=[f"The model gave no verdict{reason}"])


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
