"""Asks the model whether everything that was asked for is there, and for a summary of the session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from pydantic import Field

from bot.core.actions import JudgeWhole, SumUp
from bot.core.errors import PortError, Refused
from bot.core.events import SummedUp, WholeJudged
from bot.core.evidence import Judgement, Verdict
from bot.core.llm import ModelRole, Usage
from bot.core.session import Session
from bot.core.spec_kit import spec
from bot.core.states import TaskState
from bot.core.task import Acceptance, SmallerTask, Task
from bot.core.text import as_clause, cut
from bot.core.world import World
from bot.ports import Llm
from bot.steps.asking import ModelReply, ResultFields, SessionPrompt, json_parser
from bot.steps.execute.questions import ProposedTask, task_texts, validated_tasks
from bot.steps.judging import (
    LONGEST_PATCH,
    CriterionReply,
    PatchReading,
    claims,
    looker_at,
    read_patch,
    reader_at,
)
from bot.steps.looking import Looker
from bot.steps.prompt_data import (
    LONGEST_REPLY,
    Sentence,
    check_data,
    common_data,
    current_documents,
    document_excerpts,
    shortened,
    task_states,
    token_share,
)
from bot.steps.workspaces import verified_commit

MOST_NEW_TASKS = 10
"""Most tasks for what is missing."""
NO_VERDICT = "The model gave no verdict on the whole; this is what the tasks say."
_GONE = (TaskState.REPLACED, TaskState.CANCELLED)


class FinalReply(ModelReply):
    complete: bool
    reasons: list[Sentence] = Field(default_factory=list[Sentence], max_length=20)
    missing: list[Sentence] = Field(default_factory=list[Sentence], max_length=20)
    met_by: list[CriterionReply] = Field(default_factory=list[CriterionReply], max_length=500)
    tasks: list[ProposedTask] = Field(default_factory=list[ProposedTask], max_length=MOST_NEW_TASKS)
    score: float | None = Field(default=None, ge=0, le=100)


Whole = tuple[Verdict, tuple[SmallerTask, ...]]


@dataclass(frozen=True)
class FinalPrompt(
    SessionPrompt[Whole, JudgeWhole, WholeJudged],
    name="final",
    reply=FinalReply,
    role=ModelRole.JUDGE,
    asked_by=JudgeWhole,
):
    """DONE, or CONTINUE with what is missing and tasks for it. Without a usable answer the facts decide."""

    session: Session
    at: datetime
    patch: PatchReading | None = None
    """What all tasks have changed; none if nothing of it can be read any more."""
    repository: Looker | None = None

    @classmethod
    async def about(cls, world: World, session: Session, order: JudgeWhole) -> Self:
        patch = await _whole_patch(world, session)
        looker = looker_at(world, session, session.ending.merged_commit) if patch else None
        return cls(session, world.clock.now(), patch, looker)

    def looker(self) -> Looker | None:
        return self.repository

    async def prepared(self, llm: Llm) -> tuple[Self, Usage]:
        if self.patch is None:
            return self, Usage()
        about = common_data(self.session) | {"criteria": self._requirements()}
        patch, usage = await self.patch.read_in_parts(llm, self.name, self._without_patch(), about)
        return replace(self, patch=patch), usage

    def data(self) -> dict[str, object]:
        rest = self._without_patch()
        return self.patch.data(self.name, rest) if self.patch else rest

    def _without_patch(self) -> dict[str, object]:
        session = self.session
        return common_data(session) | {
            "spec": document_excerpts(session, token_share(session, 3)).get("spec", ""),
            "tasks": [_whole_task_data(session, task) for task in session.tasks],
            "requirements": _requirements_data(session),
            "not_done": list(unfulfilled_requirements(session)),
            "merged_commit": session.ending.merged_commit[:12],
        }

    def _requirements(self) -> list[dict[str, str]]:
        texts = _requirement_texts(self.session)
        return [{"id": id, "text": text} for id, text in texts.items()]

    def read(self, text: str) -> Whole:
        found, open_ones = json_parser(FinalReply, text), unfulfilled_requirements(self.session)
        if found.complete and open_ones:
            raise ValueError(f"complete: no completed task serves {', '.join(open_ones)}")
        if found.complete and found.missing:
            raise ValueError("complete: nothing may be missing of what is complete")
        if not (found.complete or found.missing):
            raise ValueError("missing: say what is missing")
        proposed = () if found.complete else validated_tasks(found.tasks, _criterion)
        verdict = Verdict(
            outcome=Judgement.DONE if found.complete else Judgement.CONTINUE,
            reasons=tuple(found.reasons),
            missing=tuple(found.missing),
            suggestions=tuple(one.name for one in proposed),
            score=found.score,
            criteria=claims(_requirement_texts(self.session), found.met_by) if self.patch else (),
            at=self.at,
        )
        return verdict, proposed

    async def complaint(self, found: Whole) -> str:
        return await self.patch.complaint(found[0]) if self.patch else ""

    def fallback(self) -> Whole:
        session = self.session
        return plain_verdict(session, self.at), _plain_tasks(
            session, unfulfilled_requirements(session)
        )

    def unasked(self, trouble: PortError) -> Whole:
        """The end never waits for a model that cannot be reached."""
        if not isinstance(trouble, Refused):
            return super().unasked(trouble)
        return plain_verdict(self.session, self.at), ()

    def prose(self, found: Whole) -> str:
        verdict, proposed = found
        return "\n".join([*verdict.reasons, *verdict.missing, task_texts(proposed)])

    async def event(self, world: World, found: Whole, fields: ResultFields) -> WholeJudged:
        verdict, proposed = found
        criteria = _requirement_texts(self.session)
        # without claims about them, the facts decided
        if self.patch and len(verdict.criteria) == len(criteria):
            verdict = await self.patch.settled(verdict, criteria)
        return WholeJudged(**fields, verdict=verdict, proposed=proposed)


async def _whole_patch(world: World, session: Session) -> PatchReading | None:
    """Return what was merged, or what the tasks have changed each on its branch."""
    done = [one for one in session.in_state(TaskState.COMPLETED) if one.workspace and one.commits]
    by_branch = {one.workspace.branch: one for one in done if one.workspace}
    base, merged = session.repository.base_commit, session.ending.merged_commit
    patches: list[str] = []
    unread: list[str] = []
    is_cut = False
    for task in by_branch.values():
        if task.workspace is None:
            continue
        since = base if merged else task.workspace.start or base
        until = merged or verified_commit(task)
        try:
            patch, more = await read_patch(world, task.workspace.path, since, until)
        except Refused as refusal:
            unread.append(f"the changes of {task.key} ({as_clause(refusal.reason)})")
            continue
        patches.append(patch)
        is_cut = is_cut or more
        if merged:  # any worktree shows the whole
            unread = []
            break
    if not patches:
        return None
    commits = (merged,) if merged else tuple(map(verified_commit, reversed(done)))
    return PatchReading(
        session,
        "".join(patches)[:LONGEST_PATCH],
        is_cut=is_cut or sum(map(len, patches)) > LONGEST_PATCH,
        changed=tuple(file.path for task in done for file in task.verified_files),
        read=reader_at(world, session.repository.path, commits),
        unread=tuple(unread),
        let_pass=frozenset(
            one for task in done for one in (task.verdicts[-1].unseen if task.verdicts else ())
        ),
    )


def unfulfilled_requirements(session: Session) -> tuple[str, ...]:
    """Return the requirements that no completed task serves."""
    completed = [task for task in session.tasks if task.state is TaskState.COMPLETED]
    covered = spec.coverage(current_documents(session).get("spec", ""), completed)
    return tuple(one.requirement for one in covered if not one.tasks)


def plain_verdict(session: Session, at: datetime) -> Verdict:
    """Return the verdict that follows from the tasks alone: every requirement needs a completed task, and no task may
    be unfinished.
    """
    left = [one for one in session.tasks if one.state not in (*_GONE, TaskState.COMPLETED)]
    missing = [f"{id} is served by no completed task." for id in unfulfilled_requirements(session)]
    missing += [cut(f"{task.key} is not completed: {task.name}", 200) for task in left]
    nothing = not any(task.state is TaskState.COMPLETED for task in session.tasks)
    if nothing and not missing:
        missing = ["No task was completed."]
    outcome = Judgement.CONTINUE if missing else Judgement.DONE
    return Verdict(outcome=outcome, reasons=(NO_VERDICT,), missing=tuple(missing), at=at)


def _criterion(at: int, number: int, said: str) -> Acceptance:
    return Acceptance(id=f"N{at}-A{number}", text=said)


def _plain_tasks(session: Session, open_ones: tuple[str, ...]) -> tuple[SmallerTask, ...]:
    """Return a task for each unfulfilled requirement, in the requirement's words."""
    said = _requirement_texts(session)
    return tuple(
        SmallerTask(
            name=f"Carry out {id}",
            description=cut(f"This requirement is not carried out yet: {said[id]}", LONGEST_REPLY),
            acceptance=(_criterion(at, 1, cut(said[id], 600)),),
        )
        for at, id in enumerate(open_ones[:MOST_NEW_TASKS], 1)
    )


def _requirement_texts(session: Session) -> dict[str, str]:
    """Return the requirements that tasks serve, in the words of the specification."""
    lines = current_documents(session).get("spec", "").splitlines()
    ids = [str(one["id"]) for one in _requirements_data(session)]
    return {id: next((one.strip(" -*") for one in lines if id in one), id) for id in ids}


def _requirements_data(session: Session) -> list[dict[str, object]]:
    completed = [task for task in session.tasks if task.state is TaskState.COMPLETED]
    covered = spec.coverage(current_documents(session).get("spec", ""), completed)
    return [{"id": one.requirement, "completed_tasks": list(one.tasks)} for one in covered]


def _whole_task_data(session: Session, task: Task) -> dict[str, object]:
    """Return the task's state and the facts known about it."""
    verdict, pull = (task.verdicts[-1] if task.verdicts else None), task.pull_request
    known: dict[str, object] = {
        "requirements": list(task.requirements),
        "last_check": check_data(task.check) if task.check else None,
        "verdict": list(verdict.reasons[:3]) if verdict else None,
        "pull_request": ("merged" if pull.merged else "not merged") if pull else None,
        "report": shortened(task.report, 200) if task.type.value == "investigation" else None,
    }
    return task_states([task])[0] | {name: value for name, value in known.items() if value}


class SumReply(ModelReply):
    text: str = Field(min_length=1)


@dataclass(frozen=True)
class SummaryPrompt(
    SessionPrompt[str, SumUp, SummedUp],
    name="summary",
    reply=SumReply,
    role=ModelRole.SMALL,
    asked_by=SumUp,
):
    """What came of a session, in a few sentences for the thread."""

    session: Session

    @classmethod
    async def about(cls, world: World, session: Session, order: SumUp) -> Self:
        return cls(session)

    def data(self) -> dict[str, object]:
        tasks = self.session.tasks
        checks = [{"task": task.key, **check_data(task.check)} for task in tasks if task.check]
        return common_data(self.session) | {"tasks": task_states(tasks), "checks": checks}

    def read(self, text: str) -> str:
        return cut(json_parser(SumReply, text).text, LONGEST_REPLY)

    def fallback(self) -> str:
        return _plain_sum(self.session)

    def unasked(self, trouble: PortError) -> str:
        """The end is told already: the model's words only come on top, and nobody waits for them."""
        return ""

    def prose(self, found: str) -> str:
        return found

    async def event(self, world: World, found: str, fields: ResultFields) -> SummedUp:
        return SummedUp(**fields, text=found)


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
    return cut(" ".join(sentences), LONGEST_REPLY)


def _task_names(tasks: Sequence[Task]) -> str:
    return ", ".join(f"{task.key} {task.name}" for task in tasks)
