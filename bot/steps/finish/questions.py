"""Asks the model whether everything that was asked for is there, and for a summary of the session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from bot.core.evidence import Judgement, Verdict
from bot.core.llm import Usage
from bot.core.session import Session
from bot.core.spec_kit import spec
from bot.core.states import TaskState
from bot.core.task import Acceptance, SmallerTask, Task
from bot.ports import Llm
from bot.steps.asking import Answer, ask, parsed
from bot.steps.execute.questions import Proposed, checked_tasks, task_texts
from bot.steps.prompt_data import (
    Sentence,
    basics,
    brief,
    check_data,
    current_documents,
    document_excerpts,
    shortened,
    task_states,
    token_share,
)

MOST_NEW_TASKS = 10
"""Tasks for what is missing."""
NO_VERDICT = "The model gave no verdict on the whole; this is what the tasks say."
_GONE = (TaskState.REPLACED, TaskState.CANCELLED)


class FinalReply(Answer):
    complete: bool
    reasons: list[Sentence] = Field(default_factory=list[Sentence], max_length=20)
    missing: list[Sentence] = Field(default_factory=list[Sentence], max_length=20)
    tasks: list[Proposed] = Field(default_factory=list[Proposed], max_length=MOST_NEW_TASKS)
    score: float | None = Field(default=None, ge=0, le=100)


Whole = tuple[Verdict, tuple[SmallerTask, ...]]


async def judge_whole(
    llm: Llm, session: Session, at: datetime
) -> tuple[Verdict, tuple[SmallerTask, ...], Usage]:
    """DONE, or CONTINUE with what is missing and tasks for it. Without a usable answer the facts decide."""
    open_ones = not_done(session)
    data = basics(session) | {
        "spec": document_excerpts(session, token_share(session, 3)).get("spec", ""),
        "tasks": [_whole_task_data(session, task) for task in session.tasks],
        "requirements": _requirements_data(session),
        "not_done": list(open_ones),
        "merged_commit": session.merged_commit[:12],
    }

    def parse(text: str) -> Whole:
        found = parsed(FinalReply)(text)
        if found.complete and open_ones:
            raise ValueError(f"complete: no completed task serves {', '.join(open_ones)}")
        if found.complete and found.missing:
            raise ValueError("complete: nothing may be missing of what is complete")
        if not (found.complete or found.missing):
            raise ValueError("missing: say what is missing")
        proposed = () if found.complete else checked_tasks(found.tasks, _criterion)
        return _verdict(found, proposed, at), proposed

    def plain() -> Whole:
        return plain_verdict(session, at), _plain_tasks(session, open_ones)

    (verdict, proposed), usage = await ask(llm, "final", data, parse, plain, FinalReply, _prose)
    return verdict, proposed, usage


def not_done(session: Session) -> tuple[str, ...]:
    """Requirements that no completed task serves."""
    completed = [task for task in session.tasks if task.state is TaskState.COMPLETED]
    covered = spec.coverage(current_documents(session).get("spec", ""), completed)
    return tuple(one.requirement for one in covered if not one.tasks)


def plain_verdict(session: Session, at: datetime) -> Verdict:
    """What the tasks say by themselves: each requirement needs a completed one, and none may be left undone."""
    left = [one for one in session.tasks if one.state not in (*_GONE, TaskState.COMPLETED)]
    missing = [f"{id} is served by no completed task." for id in not_done(session)]
    missing += [brief(f"{task.key} is not completed: {task.name}", 200) for task in left]
    nothing = not any(task.state is TaskState.COMPLETED for task in session.tasks)
    if nothing and not missing:
        missing = ["No task was completed."]
    outcome = Judgement.CONTINUE if missing else Judgement.DONE
    return Verdict(outcome=outcome, reasons=(NO_VERDICT,), missing=tuple(missing), at=at)


def _verdict(found: FinalReply, proposed: Sequence[SmallerTask], at: datetime) -> Verdict:
    return Verdict(
        outcome=Judgement.DONE if found.complete else Judgement.CONTINUE,
        reasons=tuple(found.reasons),
        missing=tuple(found.missing),
        suggestions=tuple(one.name for one in proposed),
        score=found.score,
        at=at,
    )


def _prose(whole: Whole) -> str:
    verdict, proposed = whole
    return "\n".join([*verdict.reasons, *verdict.missing, task_texts(proposed)])


def _criterion(at: int, number: int, said: str) -> Acceptance:
    return Acceptance(id=f"N{at}-A{number}", text=said)


def _plain_tasks(session: Session, open_ones: tuple[str, ...]) -> tuple[SmallerTask, ...]:
    """A task for each requirement that is not carried out, in its own words."""
    lines = current_documents(session).get("spec", "").splitlines()
    said = {id: next((one.strip(" -*") for one in lines if id in one), id) for id in open_ones}
    return tuple(
        SmallerTask(
            name=f"Carry out {id}",
            description=brief(f"This requirement is not carried out yet: {said[id]}"),
            acceptance=(_criterion(at, 1, brief(said[id], 600)),),
        )
        for at, id in enumerate(open_ones[:MOST_NEW_TASKS], 1)
    )


def _requirements_data(session: Session) -> list[dict[str, object]]:
    completed = [task for task in session.tasks if task.state is TaskState.COMPLETED]
    covered = spec.coverage(current_documents(session).get("spec", ""), completed)
    return [{"id": one.requirement, "completed_tasks": list(one.tasks)} for one in covered]


def _whole_task_data(session: Session, task: Task) -> dict[str, object]:
    """How far it is, and what of it can be known for certain."""
    verdict, pull = (task.verdicts[-1] if task.verdicts else None), task.pull_request
    known: dict[str, object] = {
        "requirements": list(task.requirements),
        "last_check": check_data(task.check) if task.check else None,
        "verdict": list(verdict.reasons[:3]) if verdict else None,
        "pull_request": ("merged" if pull.merged else "not merged") if pull else None,
        "report": shortened(task.report, 200) if task.type.value == "investigation" else None,
    }
    return task_states([task])[0] | {name: value for name, value in known.items() if value}


class SumReply(Answer):
    text: str = Field(min_length=1)


async def sum_up(llm: Llm, session: Session) -> tuple[str, Usage]:
    """What came of a session, in a few sentences for the thread."""
    data = basics(session) | {
        "tasks": task_states(session.tasks),
        "checks": [
            {"task": task.key, **check_data(task.check)} for task in session.tasks if task.check
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
        sentences.append("Completed: " + _task_names(done) + ".")
    if others := [task for task in planned if task not in done]:
        sentences.append("Not completed: " + _task_names(others) + ".")
    checks = [task.check for task in planned if task.check]
    if checks:
        passed = sum(check.passed for check in checks)
        sentences.append(f"The last tests passed for {passed} of {len(checks)} tasks.")
    return brief(" ".join(sentences))


def _task_names(tasks: Sequence[Task]) -> str:
    return ", ".join(f"{task.key} {task.name}" for task in tasks)
