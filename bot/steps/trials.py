"""Tries the model on a case of a repository's history: does it find the files, and does it judge the change rightly?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import Field

from bot.core.evidence import Judgement, Verdict
from bot.core.intent import Intent
from bot.core.llm import Usage, context_tokens, token_budget
from bot.core.people import Person, Thread
from bot.core.session import Session
from bot.core.session_parts import SessionRepository
from bot.core.tampering.signs import find_flags
from bot.core.task import Acceptance, Task
from bot.core.trials import TrialCase, TrialResult, recall, with_a_part_missing
from bot.ports import Llm, Repository
from bot.steps.asking import ModelReply, Prompt, ask, json_parser, session_tokens
from bot.steps.judging import PatchReading
from bot.steps.looking import Looker
from bot.steps.verify.questions import JudgePrompt

DAY = datetime(2026, 1, 5, tzinfo=UTC)
MOST_FILES = 10
FIND, LOCATE, JUDGE = "find", "locate", "judge"


class LocateReply(ModelReply):
    files: list[str] = Field(max_length=50)


@dataclass(frozen=True)
class LocatePrompt(Prompt[list[str]], name="locate", reply=LocateReply):
    """Which files a request will change. Without a valid reply: none."""

    request: str
    context: str
    repository: Looker

    def looker(self) -> Looker:
        return self.repository

    def data(self) -> dict[str, object]:
        return {"request": self.request, "context": self.context}

    def read(self, text: str) -> list[str]:
        found = json_parser(LocateReply, text).files
        return [path.strip().removeprefix("./") for path in found][:MOST_FILES]

    def fallback(self) -> list[str]:
        return []


@dataclass(frozen=True)
class Trials:
    """`window`, `judge_window`: how many tokens the model, and the one that judges, accepts; 0 means unknown."""

    llm: Llm
    repository: Repository
    path: str
    window: int
    judge_window: int

    async def find(self, case: TrialCase, most: Sequence[int] = (10, 20)) -> list[TrialResult]:
        """Without the model: which of the touched files stand among the first ones?"""
        context = await self.repository.find_context(
            self.path, case.parent, case.request, context_tokens(self.window)
        )
        paths = [file.path for file in context.files]
        return [
            result(f"{FIND}, first {n}", case.id, recall(paths[:n], case.touched), Usage())
            for n in most
        ]

    async def locate(self, case: TrialCase) -> list[TrialResult]:
        """With the model: which of the touched files does it name, after it could look around?"""
        tokens = context_tokens(self.window)
        context = await self.repository.find_context(self.path, case.parent, case.request, tokens)
        looker = self.looker(case.parent)
        question = LocatePrompt(case.request, context.text, looker)
        named, usage = await ask(self.llm, question, token_budget(self.window))
        detail = f"{', '.join(named) or 'nothing'} ({len(looker.seen)} looks)"
        return [result(LOCATE, case.id, recall(named, case.touched), usage, detail)]

    async def judge(self, case: TrialCase) -> list[TrialResult]:
        """With the model: is the whole change found to be done, and one with a part missing not?"""
        results: list[TrialResult] = []
        for name, patch in (
            ("whole", case.patch),
            ("part missing", with_a_part_missing(case.patch)),
        ):
            title = case.request.partition("\n")[0][:120]
            session = trial_session(case, self.path, self.judge_window)
            session.tasks = [trial_task(case.request, (title,))]
            verdict, usage = await self.verdict(session, PatchReading(session, patch))
            right = (verdict.outcome is Judgement.DONE) == (name == "whole")
            detail = f"{verdict.outcome}: {'; '.join(verdict.reasons)[:200]}"
            results.append(result(f"{JUDGE}, {name}", case.id, float(right), usage, detail))
        return results

    async def verdict(self, session: Session, patch: PatchReading) -> tuple[Verdict, Usage]:
        """Return what the model says of the first task of a session."""
        task = session.tasks[0]
        question = JudgePrompt(session, task, DAY, patch, find_flags(patch.patch))
        prepared, reading = await question.prepared(self.llm)
        verdict, usage = await ask(self.llm, prepared, session_tokens(session))
        return verdict, usage + reading

    def looker(self, commit: str) -> Looker:
        return Looker(self.repository, self.path, commit, context_tokens(self.window))


def result(
    part: str, case: str, score: float, usage: Usage, detail: str = "", asked: int = 0
) -> TrialResult:
    """Return a result with what the model took for it. The time is the model's own, so a replay gives the same."""
    return TrialResult(
        part=part,
        case=case,
        score=round(score, 4),
        detail=detail,
        model=usage.model,
        asked=asked,
        tokens=usage.tokens,
        seconds=usage.milliseconds / 1000,
    )


def trial_task(request: str, criteria: Sequence[str]) -> Task:
    """Return a task with which all of a request is done."""
    title = request.partition("\n")[0][:120]
    task = Task(id="trial", key="T001", number=1, name=title, created_at=DAY)
    task.description = request
    task.acceptance = tuple(
        Acceptance(id=f"T001-A{number}", text=text) for number, text in enumerate(criteria, 1)
    )
    return task


def trial_session(case: TrialCase, path: str, window: int) -> Session:
    """Return a session that begins with the request. Its date is fixed: what is asked must be the same at each replay."""
    session = Session(
        id="trial",
        created_at=DAY,
        updated_at=DAY,
        thread=Thread(platform="trial", channel="", root="trial"),
        owner=Person(platform="trial", id="trial"),
        intent=Intent(id="trial", body=case.request, created_at=DAY),
        repository=SessionRepository(path=path, base_branch="main", base_commit=case.parent),
    )
    session.llm.context_window = window
    return session
