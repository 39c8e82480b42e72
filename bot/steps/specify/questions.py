"""Asks the model for the specification and the implementation plan, and for an analysis of all three documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from pydantic import Field, field_validator

from bot.core.llm import Usage
from bot.core.plan import Analysis, Covered, DocumentKind, Finding, Severity
from bot.core.session import Session
from bot.core.spec_kit import spec
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.spec_kit.spec import with_clarifications
from bot.core.task import drafts_of
from bot.ports import Llm
from bot.steps.asking import Answer, ask, parsed, unfenced
from bot.steps.prompt_data import (
    Sentence,
    ShortLine,
    change_request,
    decisions,
    findings,
    former_documents,
    is_gone,
    live_change,
    question_data,
)
from bot.steps.specify.breakdown import break_down, rendered, spec_text

MAX_FINDINGS = 50
LONGEST_DOCUMENT = 100_000
"""Characters of a document: it is shown in full, in as many messages as that takes."""
_LETTERS = {
    "duplication": "D",
    "ambiguity": "A",
    "underspecification": "U",
    "constitution": "C",
    "coverage": "E",
    "inconsistency": "I",
}
_UNSETTLED = re.compile(r"\[\s*NEEDS CLARIFICATION", re.IGNORECASE)


class SeenFinding(Answer):
    category: Literal[
        "duplication",
        "ambiguity",
        "underspecification",
        "constitution",
        "coverage",
        "inconsistency",
    ]
    severity: Severity
    where: ShortLine = ""
    summary: Sentence = Field(min_length=1)
    recommendation: Sentence = ""

    @field_validator("category", mode="before")
    @classmethod
    def _lower(cls, category: object) -> object:
        return category.strip().lower() if isinstance(category, str) else category

    @field_validator("severity", mode="before")
    @classmethod
    def _upper(cls, severity: object) -> object:
        return severity.strip().upper() if isinstance(severity, str) else severity


class SeenFindings(Answer):
    findings: list[SeenFinding]


@dataclass(frozen=True)
class Written:
    text: str
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 1
    score: int | None = None
    """Of the tasks, of 100."""


async def document(
    llm: Llm, session: Session, kind: DocumentKind, today: date
) -> tuple[Written, Usage]:
    """One of the three, from the request, the decisions, and those that stand before it."""
    match kind:
        case DocumentKind.SPEC:
            text, usage = await _ask_for_document(
                llm, "specify", session, today, _check_spec(session), plain_spec
            )
            return Written(_with_decisions(session, text, today)), usage
        case DocumentKind.PLAN:
            text, usage = await _ask_for_document(
                llm, "plan", session, today, spec.check_plan, plain_plan
            )
            return Written(text), usage
        case DocumentKind.TASKS:
            graded, usage = await break_down(llm, session)
            found = graded.breakdown
            text = rendered(session, found, today.isoformat())
            return Written(text, tuple(found.tasks), found.parallelism, graded.score), usage


async def _ask_for_document(
    llm: Llm,
    name: str,
    session: Session,
    today: date,
    check: Callable[[str], list[str]],
    fallback: Callable[[Session], str],
) -> tuple[str, Usage]:
    def parse(text: str) -> str:
        markdown = unfenced(text)
        if len(markdown) > LONGEST_DOCUMENT:
            raise ValueError(
                f"the document has {len(markdown)} characters; at most {LONGEST_DOCUMENT} are allowed"
            )
        missing = check(markdown)
        if missing:
            raise ValueError("missing: " + "; ".join(missing))
        return markdown.rstrip() + "\n"

    data = question_data(
        session, name, findings=findings(session), facts=_document_head(session, today)
    )
    return await ask(llm, name, data, parse, lambda: fallback(session), None, prose=str)


def _document_head(session: Session, today: date) -> dict[str, str]:
    """What the head of a document names: a model that is not told makes it up."""
    spec = session.spec
    return {
        "today": today.isoformat(),
        "created": session.created_at.date().isoformat(),
        "spec_branch": spec.workspace.branch if spec else "",
        "spec_path": f"{spec.directory}/{DocumentKind.SPEC.file}" if spec else "",
    }


def _check_spec(session: Session) -> Callable[[str], list[str]]:
    """What is still open becomes an assumption; a mark is left only where the request itself speaks of such marks."""

    def check(markdown: str) -> list[str]:
        left = _UNSETTLED.search(markdown) and not _UNSETTLED.search(session.intent.body)
        unsettled = ["every [NEEDS CLARIFICATION] settled by an assumption"] if left else []
        return spec.check_spec(markdown) + unsettled

    return check


def _with_decisions(session: Session, spec: str, today: date) -> str:
    taken = [(q.number, q.text, q.answer) for q in decisions(session) if q.answer is not None]
    return with_clarifications(spec, today.isoformat(), taken) if taken else spec


async def analyse(llm: Llm, session: Session) -> tuple[Analysis, Usage]:
    """What the model finds, and what anybody can count. Without a usable answer the counting alone."""
    tasks = _tasks(session)
    coverage = spec.coverage(spec_text(session), tasks)
    data = question_data(
        session,
        "analyze",
        tasks=[draft.model_dump(mode="json") for draft in tasks],
        coverage={covered.requirement: list(covered.tasks) for covered in coverage},
    )
    seen, usage = await ask(
        llm,
        "analyze",
        data,
        parsed(SeenFindings),
        lambda: SeenFindings(findings=[]),
        SeenFindings,
        prose=_read_by_people,
    )
    return Analysis(
        findings=_numbered([*_uncovered(coverage), *seen.findings]), coverage=coverage
    ), usage


def _tasks(session: Session) -> tuple[TaskDraft, ...]:
    change = live_change(session)
    if change and change.drafts:
        return change.drafts
    return drafts_of([task for task in session.tasks if not is_gone(task)])


def _uncovered(coverage: Sequence[Covered]) -> Iterator[SeenFinding]:
    for covered in coverage:
        if not covered.tasks:
            yield SeenFinding(
                category="coverage",
                severity=Severity.CRITICAL,
                where=covered.requirement,
                summary=f"{covered.requirement} is served by no task.",
                recommendation=f"Add a task for {covered.requirement}, or name it in the task that serves it.",
            )


def _read_by_people(seen: SeenFindings) -> str:
    return "\n".join(f"{one.summary}\n{one.recommendation}" for one in seen.findings)


def _numbered(seen: Sequence[SeenFinding]) -> tuple[Finding, ...]:
    """The weightiest first, each with its category's letter and a number."""
    order = list(Severity)
    ranked = sorted(seen, key=lambda one: order.index(one.severity))[:MAX_FINDINGS]
    counted = Counter[str]()
    found: list[Finding] = []
    for one in ranked:
        letter = _LETTERS[one.category]
        counted[letter] += 1
        found.append(Finding(id=f"{letter}{counted[letter]}", **one.model_dump()))
    return tuple(found)


# Documents without the model: those of before, and literally what was asked for.


def plain_spec(session: Session) -> str:
    previous, change = _before(session, "spec")
    if previous:
        number = max((int(id[3:6]) for id in spec.requirement_ids(previous)), default=0) + 1
        asked = f"- **FR-{number:03}**: The system MUST do what was asked for: {_one_line(change)}"
        return f"{previous}\n\n## Change\n\n{asked}\n" if change else f"{previous}\n"
    quoted = _one_line(session.intent.body)
    return (
        f"# Feature Specification: {session.title}\n\n**Status**: Draft\n\n**Input**: “{quoted}”\n\n"
        "## User Scenarios & Testing\n\n### User Story 1 - The request as it stands (Priority: P1)\n\n"
        f"{session.intent.body}\n\n## Requirements\n\n### Functional Requirements\n\n"
        f"- **FR-001**: The system MUST do what was asked for: {quoted}\n\n"
        "## Success Criteria\n\n### Measurable Outcomes\n\n"
        "- **SC-001**: The tests written for this request pass.\n\n"
        "## Assumptions\n\n- The model could not write a fuller specification; the request is taken literally.\n"
    )


def plain_plan(session: Session) -> str:
    previous, change = _before(session, "plan")
    if previous:
        return f"{previous}\n\n## Change\n\n{change}\n" if change else f"{previous}\n"
    command = session.test_command or "to be set up"
    return (
        f"# Implementation Plan: {session.title}\n\n## Summary\n\n{session.intent.body}\n\n"
        f"## Technical Context\n\n**Testing**: {command}\n\n"
        "## Project Structure\n\n**Structure Decision**: as the repository is laid out today.\n"
    )


def _before(session: Session, kind: str) -> tuple[str, str]:
    """The former document, and what is wanted different from it."""
    return former_documents(session).get(kind, "").rstrip(), change_request(session).strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())
