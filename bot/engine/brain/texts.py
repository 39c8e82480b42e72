"""Texts about work that was done: for pull requests, for the thread; and the verdict on it. Each has a plain stand-in
that is made of facts alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from pydantic import Field

from bot.domain.conventional import problem_of, title_for
from bot.domain.diffs import bounded
from bot.domain.evidence import Check, Judgement, Verdict
from bot.domain.session import Session
from bot.domain.states import TaskState
from bot.domain.tampering import Flag
from bot.domain.tasks import PullText, Task, TaskType
from bot.domain.tokens import BYTES_PER_TOKEN
from bot.domain.world import Usage
from bot.engine.brain.asking import Answer, ask, parsed
from bot.engine.brain.standing import (
    Sentence,
    basics,
    brief,
    check_told,
    part_of,
    plans,
    shortened,
    states,
)
from bot.ports import Llm

LONGEST_BODY = 20_000
MANY = 50
"""Commits and files beyond these are only counted."""


class PullReply(Answer):
    title: str = Field(min_length=1)
    body: str = Field(min_length=1)


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


class SumReply(Answer):
    text: str = Field(min_length=1)


async def describe(
    llm: Llm, session: Session, task: Task, diff: str, checks: Sequence[Check]
) -> tuple[PullText, Usage]:
    """Title and body for the pull request of a task."""
    data = basics(session) | {
        "task": _told(session, task),
        "commits": _subjects(task),
        "diff": _shown(session, diff),
        "checks": [check_told(check) for check in checks],
    }

    def parse(text: str) -> PullText:
        found = parsed(PullReply)(text)
        if problem := problem_of(found.title):
            raise ValueError(f"title: {problem}")
        return PullText(title=found.title, body=brief(found.body, LONGEST_BODY))

    def plain() -> PullText:
        return plain_pull_text(session, task, checks)

    return await ask(llm, "pull_request", data, parse, plain, PullReply, lambda one: one.body)


def plain_pull_text(session: Session, task: Task, checks: Sequence[Check]) -> PullText:
    """What git and the tests say, and nothing else."""
    implementing = task.type is TaskType.IMPLEMENTATION
    title = title_for(session.intent.type if implementing else task.type, task.name)
    return PullText(title=title, body=brief("\n\n".join(_facts(task, checks)), LONGEST_BODY))


def _facts(task: Task, checks: Sequence[Check]) -> Iterator[str]:
    yield f"## {task.key}: {task.name}"
    if task.description:
        yield task.description
    if task.acceptance:
        yield "### Done when\n\n" + _bullets(one.text for one in task.acceptance)
    if subjects := _subjects(task):
        yield "### Commits\n\n" + _bullets(subjects)
    if touched := _touched(task):
        yield "### Impact\n\nIt touches:\n\n" + _bullets(touched)
    if checks:
        told = (check_told(check) for check in checks)
        yield "### Checks\n\n" + _bullets(
            f"`{one['command']}` {one['result']} on {one['commit']}" for one in told
        )


def _touched(task: Task) -> list[str]:
    """What git says has changed: so far reaches what nobody but the model could say more of."""
    work = task.work
    if work is None:
        return []
    files = dict.fromkeys((*work.created_files, *work.changed_files, *work.deleted_files))
    told = [f"`{path}`" for path in list(files)[:MANY]]
    return [*told, f"… and {len(files) - MANY} more"] if len(files) > MANY else told


def _bullets(texts: Iterator[str] | Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


async def judge(
    llm: Llm, session: Session, task: Task, diff: str, flags: Sequence[Flag] = (), report: str = ""
) -> tuple[VerdictReply, Usage]:
    """Is a task done? Tests that fail and things that are missing cannot be talked away."""
    check = task.check
    data = basics(session) | {
        "task": _told(session, task),
        "acceptance": [one.text for one in task.acceptance],
        "diff": _shown(session, diff),
        "checks": [check_told(check)] if check else [],
        "signs": [flag.model_dump(mode="json", exclude={"tests"}) for flag in flags],
        "signs_accepted": bool(task.work and task.work.head in task.accepted),
        "report": shortened(report, part_of(session, 6)),
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


async def sum_up(llm: Llm, session: Session) -> tuple[str, Usage]:
    """What came of a session, in a few sentences for the thread."""
    data = basics(session) | {
        "tasks": states(session.tasks),
        "checks": [
            {"task": task.key, **check_told(task.check)} for task in session.tasks if task.check
        ],
    }

    def parse(text: str) -> str:
        return brief(parsed(SumReply)(text).text)

    return await ask(
        llm, "summary", data, parse, lambda: _plain_sum(session), SumReply, lambda one: one
    )


def _plain_sum(session: Session) -> str:
    planned = [task for task in session.tasks if task.state is not TaskState.REPLACED]
    done = [task for task in planned if task.state is TaskState.COMPLETED]
    sentences = [f"{len(done)} of {len(planned)} tasks are completed."]
    if done:
        sentences.append("Completed: " + _names(done) + ".")
    if others := [task for task in planned if task not in done]:
        sentences.append("Not completed: " + _names(others) + ".")
    checks = [task.check for task in planned if task.check]
    if checks:
        passed = sum(check.passed for check in checks)
        sentences.append(f"The last tests passed for {passed} of {len(checks)} tasks.")
    return brief(" ".join(sentences))


def _names(tasks: Sequence[Task]) -> str:
    return ", ".join(f"{task.key} {task.name}" for task in tasks)


def _told(session: Session, task: Task) -> dict[str, object]:
    told = plans(session, [task], part_of(session, 6))[0]
    return told | {"type": task.type.value, "requirements": list(task.requirements)}


def _subjects(task: Task) -> list[str]:
    """The oldest first, as one tells what one did."""
    subjects = [commit.subject for commit in reversed(task.commits)]
    more = len(subjects) - MANY
    return [*subjects[:MANY], f"… and {more} more commits"] if more > 0 else subjects


def _shown(session: Session, diff: str) -> str:
    """A third of what the model is told; where characters take several bytes, so many fewer of them."""
    most = part_of(session, 3) * BYTES_PER_TOKEN
    size = len(diff.encode("utf-8", "replace"))
    return bounded(diff, most * len(diff) // size if size else 0)
