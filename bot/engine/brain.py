"""The questions to the LLM, one function each. Its answers are checked; a wrong one is asked again twice, then done without.

A prompt file is the system message; everything that comes from outside travels as data in a message of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.domain import spec_kit
from bot.domain.intent import Question, Risk
from bot.domain.session import DocumentKind, Session
from bot.domain.spec_kit import TaskDraft
from bot.domain.world import Usage
from bot.ports import Llm

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
MAX_REASKS = 2
MAX_QUESTIONS = 5
MAX_PARALLEL = 10


class Answer(BaseModel):
    """What the model sends: strict about what is needed, deaf to what is not."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)


class AskedQuestion(Answer):
    text: str = Field(min_length=1)
    why: str = ""
    options: list[str] = Field(default_factory=list[str], max_length=8)
    default: str = Field(min_length=1)


class Questions(Answer):
    title: str = Field(default="", max_length=120)
    type: str = "feature"
    risk: Risk | None = None
    questions: list[AskedQuestion] = Field(default_factory=list[AskedQuestion])

    def numbered(self) -> tuple[Question, ...]:
        """The recommended option first, whether the model put it there or not."""
        return tuple(
            Question(number=n, text=q.text, why=q.why, options=_options(q), default=q.default)
            for n, q in enumerate(self.questions[:MAX_QUESTIONS], 1)
        )


class Breakdown(Answer):
    parallelism: int = Field(default=2, ge=1, le=MAX_PARALLEL)
    tasks: list[TaskDraft] = Field(min_length=1)


@dataclass(frozen=True)
class Written:
    text: str
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 1


def _options(question: AskedQuestion) -> tuple[str, ...]:
    others = [option for option in question.options if option != question.default]
    return (question.default, *others) if question.options else ()


async def questions(llm: Llm, session: Session) -> tuple[Questions, Usage]:
    """What must be settled before planning. Nothing usable: no questions, and planning goes on."""
    return await _ask(
        llm, "clarify", material(session), _parsed(Questions), lambda: Questions(), Questions
    )


async def document(
    llm: Llm, session: Session, kind: DocumentKind, today: date
) -> tuple[Written, Usage]:
    match kind:
        case DocumentKind.SPEC:
            written, usage = await _prose(llm, "specify", session, spec_kit.check_spec, _plain_spec)
            pairs = [(q.text, q.answer or q.default) for q in session.intent.clarifications]
            text = (
                spec_kit.with_clarifications(written, today.isoformat(), pairs)
                if pairs
                else written
            )
            return Written(text), usage
        case DocumentKind.PLAN:
            written, usage = await _prose(llm, "plan", session, spec_kit.check_plan, _plain_plan)
            return Written(written), usage
        case DocumentKind.TASKS:
            return await _tasks(llm, session, today)


async def _prose(
    llm: Llm,
    name: str,
    session: Session,
    check: Callable[[str], list[str]],
    fallback: Callable[[Session], str],
) -> tuple[str, Usage]:
    def parse(text: str) -> str:
        markdown = unfenced(text)
        missing = check(markdown)
        if missing:
            raise ValueError("missing: " + "; ".join(missing))
        return markdown.rstrip() + "\n"

    return await _ask(llm, name, material(session), parse, lambda: fallback(session), None)


async def _tasks(llm: Llm, session: Session, today: date) -> tuple[Written, Usage]:
    def parse(text: str) -> Breakdown:
        breakdown = _parsed(Breakdown)(text)
        problems = spec_kit.problems(breakdown.tasks)
        if problems:
            raise ValueError("; ".join(problems))
        return breakdown

    def single() -> Breakdown:
        draft = TaskDraft(key="T001", title=session.title, description=session.intent.body)
        return Breakdown(parallelism=1, tasks=[draft])

    breakdown, usage = await _ask(llm, "tasks", material(session), parse, single, Breakdown)
    spec_id = session.spec.id if session.spec else ""
    text = spec_kit.render_tasks(
        session.title, spec_id, breakdown.tasks, session.intent.body, today.isoformat()
    )
    return Written(text, tuple(breakdown.tasks), breakdown.parallelism), usage


async def _ask(
    llm: Llm,
    name: str,
    data: dict[str, object],
    parse: Callable[[str], T],
    fallback: Callable[[], T],
    schema: type[BaseModel] | None,
) -> tuple[T, Usage]:
    """Ask; say what was wrong and ask again, twice at most; then do without."""
    usage = Usage()
    asked = dict(data)
    for _ in range(1 + MAX_REASKS):
        wanted = _json_schema(schema) if schema else None
        reply = await llm.complete(
            prompt(name), json.dumps(asked, ensure_ascii=False), schema=wanted
        )
        usage += reply.usage
        try:
            return parse(reply.text), usage
        except (ValueError, RecursionError) as wrong:
            asked = {**data, "your_last_answer": reply.text[:4000], "what_was_wrong": _told(wrong)}
    return fallback(), usage


def _told(wrong: Exception) -> str:
    if isinstance(wrong, ValidationError):
        problems = wrong.errors(include_url=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in problems[:10])
    return str(wrong)[:1000]


def _parsed(model: type[M]) -> Callable[[str], M]:
    def parse(text: str) -> M:
        return model.model_validate_json(json_in(text))

    return parse


def json_in(text: str) -> str:
    """The outermost object of an answer, whatever stands around it."""
    body = unfenced(text)
    start, end = body.find("{"), body.rfind("}")
    if start < 0 or end < start:
        raise ValueError("the answer holds no JSON object")
    return body[start : end + 1]


def unfenced(text: str) -> str:
    """Without the code fence some models wrap a whole answer in."""
    body = text.strip()
    if body.startswith("```") and body.endswith("```") and "\n" in body:
        body = body[body.index("\n") + 1 : -3].strip()
    return body


def prompt(name: str) -> str:
    return (resources.files("bot.prompts") / f"{name}.md").read_text(encoding="utf-8")


def material(session: Session) -> dict[str, object]:
    """What every question may need: the request, the repository, the decisions, the documents so far."""
    scan = session.scan
    former = {document.kind.value: document.text for document in session.previous}
    written = {document.kind.value: document.text for document in session.documents}
    return {
        "request": session.intent.body,
        "title": session.title,
        "spec_id": session.spec.id if session.spec else "",
        "base_branch": session.base_branch,
        "repository": scan.model_dump(mode="json") if scan else {},
        "decisions": [
            {"id": q.decision, "question": q.text, "answer": q.answer}
            for q in session.intent.clarifications
            if q.answer
        ],
        "change_request": session.change_request,
        "previous": former,
        "spec": written.get("spec", ""),
        "plan": written.get("plan", ""),
    }


def _plain_spec(session: Session) -> str:
    """What stands in for a specification when the model cannot write one: the request itself."""
    quoted = session.intent.body.replace("\n", " ")
    return (
        f"# Feature Specification: {session.title}\n\n**Status**: Draft\n\n**Input**: “{quoted}”\n\n"
        "## User Scenarios & Testing\n\n### User Story 1 - The request as it stands (Priority: P1)\n\n"
        f"{session.intent.body}\n\n## Requirements\n\n### Functional Requirements\n\n"
        f"- **FR-001**: The system MUST do what was asked for: {quoted}\n\n"
        "## Success Criteria\n\n### Measurable Outcomes\n\n"
        "- **SC-001**: The tests written for this request pass.\n\n"
        "## Assumptions\n\n- The model could not write a fuller specification; the request is taken literally.\n"
    )


def _plain_plan(session: Session) -> str:
    command = session.test_command or "to be set up"
    return (
        f"# Implementation Plan: {session.title}\n\n## Summary\n\n{session.intent.body}\n\n"
        f"## Technical Context\n\n**Testing**: {command}\n\n"
        "## Project Structure\n\n**Structure Decision**: as the repository is laid out today.\n"
    )


@cache
def _json_schema(model: type[BaseModel]) -> dict[str, object]:
    """Making it takes longer than all else a question costs here."""
    return model.model_json_schema()
