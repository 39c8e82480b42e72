"""Asks the model whether a task is done. Failing tests and missing work cannot be talked away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from bot.core.evidence import Judgement, Verdict
from bot.core.llm import Usage
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.tampering.signs import Flag
from bot.core.task import Task
from bot.ports import Llm
from bot.steps.asking import Answer, ask, parsed
from bot.steps.prompt_data import (
    Sentence,
    basics,
    check_data,
    diff_excerpt,
    shortened,
    task_data,
    token_share,
)


class VerdictReply(Answer):
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


async def judge(
    llm: Llm, session: Session, task: Task, diff: str, flags: Sequence[Flag] = (), report: str = ""
) -> tuple[VerdictReply, Usage]:
    """Is a task done? Tests that fail and things that are missing cannot be talked away."""
    check = task.check
    data = basics(session) | {
        "task": task_data(session, task),
        "acceptance": [one.text for one in task.acceptance],
        "diff": diff_excerpt(session, diff),
        "checks": [check_data(check)] if check else [],
        "signs": [flag.model_dump(mode="json", exclude={"tests"}) for flag in flags],
        "signs_accepted": bool(task.work and task.work.head in task.accepted),
        "report": shortened(report, token_share(session, 6)),
    }

    def parse(text: str) -> VerdictReply:
        found = parsed(VerdictReply)(text)
        if found.verdict is Judgement.DONE and (problem := _not_done(found, task, diff, report)):
            raise ValueError(f"verdict: {problem}")
        if found.verdict is not Judgement.DONE and not (found.reasons or found.missing):
            raise ValueError("reasons: say why it is not done")
        return found

    def prose(one: VerdictReply) -> str:
        return "\n".join([*one.reasons, *one.missing, *one.suggestions])

    return await ask(llm, "judge", data, parse, lambda: plain_verdict(task), VerdictReply, prose)


def _not_done(found: VerdictReply, task: Task, diff: str, report: str) -> str:
    """What contradicts that it is done; empty: nothing."""
    if found.missing:
        return "nothing may be missing of what is done"
    if task.check and not task.check.passed:
        return "the tests fail, so it is not done"
    if task.type is TaskType.INVESTIGATION:
        return "" if report.strip() or diff.strip() else "there is no report, so it is not done"
    return "" if diff.strip() else "nothing was changed, so it is not done"


def plain_verdict(task: Task) -> VerdictReply:
    """Without the model the facts decide: the tests, of an investigation its report; else a person has to."""
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
