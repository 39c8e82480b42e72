"""Tries the model on a case of a repository's history: does it find the files, and does it judge the change rightly?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import Field

from bot.core.evidence import Judgement
from bot.core.intent import Intent
from bot.core.llm import Usage, context_tokens, token_budget
from bot.core.people import Person, Thread
from bot.core.session import Session
from bot.core.session_parts import SessionRepository
from bot.core.task import Acceptance, Task
from bot.core.trials import HistoryCase, TrialResult, recall, with_a_part_missing
from bot.ports import Llm, Repository
from bot.steps.asking import ModelReply, Prompt, ask, json_parser, session_tokens
from bot.steps.judging import PatchReading
from bot.steps.looking import Looker
from bot.steps.verify.questions import JudgePrompt

MOST_FILES = 10
FIND, LOCATE, JUDGE = "find", "locate", "judge"
CALLS = {FIND: 0, LOCATE: 2, JUDGE: 2}
"""About how often the model is asked for one case."""


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

    async def find(self, case: HistoryCase) -> list[TrialResult]:
        """Without the model: which of the touched files stand among the first ten, and among the first twenty?"""
        begun = time.monotonic()
        context = await self.repository.find_context(
            self.path, case.parent, case.request, context_tokens(self.window)
        )
        paths, seconds = [file.path for file in context.files], time.monotonic() - begun
        return [
            TrialResult(
                part=f"{FIND}, first {most}",
                commit=case.commit,
                score=recall(paths[:most], case.touched),
                seconds=seconds,
            )
            for most in (10, 20)
        ]

    async def locate(self, case: HistoryCase) -> list[TrialResult]:
        """With the model: which of the touched files does it name, after it could look around?"""
        tokens, begun = context_tokens(self.window), time.monotonic()
        context = await self.repository.find_context(self.path, case.parent, case.request, tokens)
        looker = Looker(self.repository, self.path, case.parent, tokens)
        question = LocatePrompt(case.request, context.text, looker)
        named, usage = await ask(self.llm, question, token_budget(self.window))
        told = f"{', '.join(named) or 'nothing'} ({len(looker.seen)} looks)"
        return [_result(LOCATE, case, recall(named, case.touched), usage, begun, told)]

    async def judge(self, case: HistoryCase) -> list[TrialResult]:
        """With the model: is the whole change found to be done, and one with a part missing not?"""
        results: list[TrialResult] = []
        for name, patch in (
            ("whole", case.patch),
            ("part missing", with_a_part_missing(case.patch)),
        ):
            begun = time.monotonic()
            session = _session(case, self.path, self.judge_window)
            question = JudgePrompt(
                session, session.tasks[0], session.created_at, PatchReading(session, patch)
            )
            prepared, reading = await question.prepared(self.llm)
            verdict, usage = await ask(self.llm, prepared, session_tokens(session))
            right = (verdict.outcome is Judgement.DONE) == (name == "whole")
            told = f"{verdict.outcome}: {'; '.join(verdict.reasons)[:200]}"
            part = f"{JUDGE}, {name}"
            results.append(_result(part, case, float(right), usage + reading, begun, told))
        return results


def _result(
    part: str, case: HistoryCase, score: float, usage: Usage, begun: float, told: str
) -> TrialResult:
    return TrialResult(
        part=part,
        commit=case.commit,
        score=score,
        told=told,
        tokens=usage.tokens,
        seconds=time.monotonic() - begun,
    )


def _session(case: HistoryCase, path: str, window: int) -> Session:
    """A session with one task: what the message of the commit asks for."""
    now = datetime.now(UTC)
    title = case.request.partition("\n")[0][:120]
    wanted = Acceptance(id="T001-A1", text=title)
    task = Task(id="trial", key="T001", number=1, name=title, created_at=now)
    task.description, task.acceptance = case.request, (wanted,)
    session = Session(
        id="trial",
        created_at=now,
        updated_at=now,
        thread=Thread(platform="trial", channel="", root="trial"),
        owner=Person(platform="trial", id="trial"),
        intent=Intent(id="trial", body=case.request, created_at=now),
        repository=SessionRepository(path=path, base_commit=case.parent),
        tasks=[task],
    )
    session.llm.context_window = window
    return session
