"""Asks the model for the specification and the implementation plan, and for an analysis of all three documents."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Generic, Literal, Self, TypeVar

from pydantic import Field, field_validator

from bot.core.actions import AnalysePlan
from bot.core.approval import forecast
from bot.core.events import PlanAnalysed
from bot.core.facts import Fact
from bot.core.intent import Question, Risk
from bot.core.llm import Usage
from bot.core.plan import Analysis, DocumentKind, Finding, Policy, RequirementCoverage, Severity
from bot.core.session import Session
from bot.core.spec_kit import spec
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.spec_kit.spec import with_clarifications
from bot.core.tampering.runners import reaches_further
from bot.core.task import drafts_of
from bot.core.text import sentences
from bot.core.world import Rules, World
from bot.ports import Llm
from bot.steps.asking import (
    ModelReply,
    Prompt,
    ResultFields,
    SessionPrompt,
    ask,
    json_parser,
    session_tokens,
    without_code_fence,
)
from bot.steps.clarify.questions import AskedQuestion, numbered_questions
from bot.steps.looking import Looker
from bot.steps.prompt_data import (
    Sentence,
    ShortLine,
    change_request,
    current_documents,
    decisions,
    findings,
    finished_sessions,
    former_documents,
    is_never_done,
    pending_change,
    question_data,
)
from bot.steps.specify.breakdown import break_down, render_tasks_md, spec_text

MAX_FINDINGS = 50
MOST_HISTORY = 20
MOST_ROUNDS = 1
"""Rounds of questions that planning may begin."""
MOST_CHOICES = 3
"""Questions in such a round."""
MOST_UNPROVEN = 5
"""Wrong citations that are shown of each document."""
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
D = TypeVar("D")
_UNSETTLED = re.compile(r"\[\s*NEEDS CLARIFICATION", re.IGNORECASE)


class SeenFinding(ModelReply):
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


class SeenFindings(ModelReply):
    findings: list[SeenFinding]


class WrittenDocument(Fact):
    text: str = ""
    choices: tuple[Question, ...] = ()
    """What a person must decide before the plan can be written; then there is no text."""
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 1
    score: int | None = None
    """The quality of the tasks, 0 to 100."""
    plain: bool = False
    """The model gave no valid document, so this one does without it."""


async def draft_document(
    llm: Llm, session: Session, kind: DocumentKind, today: date, looker: Looker | None = None
) -> tuple[WrittenDocument, Usage]:
    """Write one of the three documents from the request, the decisions, and the preceding documents.

    The plan may need decisions first.
    """
    match kind:
        case DocumentKind.SPEC:
            specify = SpecifyPrompt(session, today, looker)
            text, usage = await ask(llm, specify, session_tokens(session))
            plain, text = text == specify.fallback(), _with_decisions(session, text, today)
            return WrittenDocument(text=text, plain=plain), usage
        case DocumentKind.PLAN:
            planning = PlanPrompt(session, today, looker)
            plan, usage = await ask(llm, planning, session_tokens(session))
            if isinstance(plan, OpenChoices):
                return WrittenDocument(choices=plan.as_questions()), usage
            return WrittenDocument(text=plan, plain=plan == planning.fallback()), usage
        case DocumentKind.TASKS:
            graded, usage = await break_down(llm, session, looker)
            found = graded.breakdown
            written = WrittenDocument(
                text=render_tasks_md(session, found, today.isoformat()),
                drafts=tuple(found.tasks),
                parallelism=found.parallelism,
                score=graded.score,
                plain=graded.plain,
            )
            return written, usage


class OpenChoices(ModelReply):
    """What the plan depends on and only a person can decide."""

    questions: list[AskedQuestion] = Field(min_length=1)

    def as_questions(self) -> tuple[Question, ...]:
        return numbered_questions(self.questions[:MOST_CHOICES], 1)


@dataclass(frozen=True)
class _DocumentPrompt(Prompt[D], Generic[D]):
    """A question whose reply is the document itself."""

    session: Session
    today: date
    repository: Looker | None = None

    def looker(self) -> Looker | None:
        return self.repository

    async def complaint(self, found: D) -> str:
        text = found if isinstance(found, str) else ""
        return "; ".join(await self.repository.doubts(text)) if self.repository else ""

    def data(self) -> dict[str, object]:
        spec = self.session.plan.spec
        # facts for the head of a document: a model that does not get them invents them
        head = {
            "today": self.today.isoformat(),
            "created": self.session.created_at.date().isoformat(),
            "spec_branch": spec.workspace.branch if spec else "",
            "spec_path": f"{spec.directory}/{DocumentKind.SPEC.file}" if spec else "",
        }
        return question_data(
            self.session,
            self.name,
            looks=self.repository is not None,
            findings=findings(self.session),
            facts=head,
        )

    @abstractmethod
    def missing(self, markdown: str) -> list[str]:
        """Return what such a document must contain and this one lacks."""

    def read_document(self, text: str) -> str:
        markdown = without_code_fence(text)
        if len(markdown) > LONGEST_DOCUMENT:
            raise ValueError(
                f"the document has {len(markdown)} characters; at most {LONGEST_DOCUMENT} are allowed"
            )
        if missing := self.missing(markdown):
            raise ValueError("missing: " + "; ".join(missing))
        return markdown.rstrip() + "\n"

    def prose(self, found: D) -> str:
        return found if isinstance(found, str) else ""


class SpecifyPrompt(_DocumentPrompt[str], name="specify"):
    def read(self, text: str) -> str:
        return self.read_document(text)

    def missing(self, markdown: str) -> list[str]:
        """What is still open becomes an assumption; a mark is left only where the request itself speaks of such marks."""
        body = self.session.intent.body
        left = _UNSETTLED.search(markdown) and not _UNSETTLED.search(body)
        unsettled = ["every [NEEDS CLARIFICATION] settled by an assumption"] if left else []
        return spec.check_spec(markdown) + unsettled

    def fallback(self) -> str:
        return plain_spec(self.session)


class PlanPrompt(_DocumentPrompt[str | OpenChoices], name="plan"):
    """Asks for the plan, or for what a person must decide before there can be one."""

    @property
    def may_ask(self) -> bool:
        request = self.session.request
        people = not (request.unattended or pending_change(self.session))
        return people and request.rounds_while_planning < MOST_ROUNDS

    def data(self) -> dict[str, object]:
        return {**super().data(), "may_ask": self.may_ask}

    def read(self, text: str) -> str | OpenChoices:
        if self.may_ask and without_code_fence(text).startswith("{"):
            return json_parser(OpenChoices, text)
        return self.read_document(text)

    def prose(self, found: str | OpenChoices) -> str:
        if isinstance(found, str):
            return found
        return "\n".join(text for one in found.questions for text in (one.text, one.why))

    def missing(self, markdown: str) -> list[str]:
        return spec.check_plan(markdown)

    def fallback(self) -> str:
        return plain_plan(self.session)


def _with_decisions(session: Session, spec: str, today: date) -> str:
    taken = [(q.number, q.text, q.answer) for q in decisions(session) if q.answer is not None]
    return with_clarifications(spec, today.isoformat(), taken) if taken else spec


@dataclass(frozen=True)
class AnalyzePrompt(
    SessionPrompt[SeenFindings, AnalysePlan, PlanAnalysed],
    name="analyze",
    reply=SeenFindings,
    asked_by=AnalysePlan,
):
    """Asks what is wrong with the plan, in addition to what can be counted.

    Without a valid reply only the counted findings are used.
    """

    session: Session
    revision: int = 0

    @classmethod
    async def about(cls, world: World, session: Session, order: AnalysePlan) -> Self:
        return cls(session, order.revision)

    def data(self) -> dict[str, object]:
        return question_data(
            self.session,
            "analyze",
            tasks=[draft.model_dump(mode="json") for draft in _tasks(self.session)],
            coverage={one.requirement: list(one.tasks) for one in _coverage(self.session)},
        )

    def fallback(self) -> SeenFindings:
        return SeenFindings(findings=[])

    def prose(self, found: SeenFindings) -> str:
        return "\n".join(f"{one.summary}\n{one.recommendation}" for one in found.findings)

    async def event(self, world: World, found: SeenFindings, fields: ResultFields) -> PlanAnalysed:
        session = self.session
        return PlanAnalysed(
            **fields,
            revision=self.revision,
            analysis=analysis(session, found, await _unproven(world, session)),
            forecast=forecast(tuple(islice(finished_sessions(world, session), MOST_HISTORY))),
            policy=policy(world.rules, session),
            test_problem=await _test_problem(world, session),
        )


async def _unproven(world: World, session: Session) -> list[SeenFinding]:
    """Return what the documents still say of the repository that is not so, after they were sent back once."""
    looker = Looker.of(world, session)
    if looker is None:
        return []
    documents = current_documents(session)
    to_be_made = {f"there is no file {path}" for task in _tasks(session) for path in task.files}
    found: list[SeenFinding] = []
    for kind in DocumentKind:
        tasks = kind is DocumentKind.TASKS
        wrong = await looker.doubts(documents.get(kind.value, ""), lines_only=tasks)
        found += [
            SeenFinding(
                category="inconsistency",
                severity=Severity.MEDIUM,
                where=kind.file,
                summary=f"Unproven: {problem}.",
                recommendation="",
            )
            for problem in [one for one in wrong if one not in to_be_made][:MOST_UNPROVEN]
        ]
    return found


def analysis(
    session: Session, seen: SeenFindings, unproven: Sequence[SeenFinding] = ()
) -> Analysis:
    coverage = _coverage(session)
    return Analysis(
        findings=_numbered([*_uncovered(coverage), *seen.findings, *unproven]), coverage=coverage
    )


def _coverage(session: Session) -> tuple[RequirementCoverage, ...]:
    return spec.coverage(spec_text(session), _tasks(session))


async def _test_problem(world: World, session: Session) -> str:
    """Return what an approver should know about the set-up and test commands. Nothing is started for that."""
    command, set_up = session.tests.command, session.repository.set_up
    why = await world.commands.problem(session.repository.path, command) if command else ""
    # later commands may need files that earlier ones create
    first = set_up if set_up.startswith("(") else set_up.partition(" && ")[0]
    why_not = await world.commands.problem(session.repository.path, first) if set_up else ""
    return sentences(
        f"The tests cannot be run as it is: {why}" if why else "",
        f"The set-up cannot be run as it is: {why_not}" if why_not else "",
    )


def policy(rules: Rules, session: Session) -> Policy:
    """Return who must approve.

    Nothing starts without approval unless a person asked for it and its risk was judged. Files that run elsewhere with
    more rights (CI, git hooks, installed packages) mean high risk, whatever the model says.
    """
    risk, trusted = session.intent.risk, session.intent.source in rules.low_risk_sources
    planned = session.change.drafts if session.change else session.tasks
    reaches = any(reaches_further(path) for task in planned for path in task.files)
    high = risk is Risk.HIGH or reaches
    return Policy(
        alone=rules.low_risk_alone and risk is Risk.LOW and trusted and not reaches,
        approvers=max(1, rules.high_risk_approvers) if high else 1,
        others=high and not rules.asker_counts,
    )


def _tasks(session: Session) -> tuple[TaskDraft, ...]:
    change = pending_change(session)
    if change and change.drafts:
        return change.drafts
    return drafts_of([task for task in session.tasks if not is_never_done(task)])


def _uncovered(coverage: Sequence[RequirementCoverage]) -> Iterator[SeenFinding]:
    for covered in coverage:
        if not covered.tasks:
            yield SeenFinding(
                category="coverage",
                severity=Severity.CRITICAL,
                where=covered.requirement,
                summary=f"{covered.requirement} is served by no task.",
                recommendation=f"Add a task for {covered.requirement}, or name it in the task that serves it.",
            )


def _numbered(seen: Sequence[SeenFinding]) -> tuple[Finding, ...]:
    """Return the findings by severity, each with its category's letter and a number."""
    order = list(Severity)
    ranked = sorted(seen, key=lambda one: order.index(one.severity))[:MAX_FINDINGS]
    counted = Counter[str]()
    found: list[Finding] = []
    for one in ranked:
        letter = _LETTERS[one.category]
        counted[letter] += 1
        found.append(Finding(id=f"{letter}{counted[letter]}", **one.model_dump()))
    return tuple(found)


# Documents without the model: the former ones, and the request word for word.


def plain_spec(session: Session) -> str:
    previous, change = _former_document(session, "spec")
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
    previous, change = _former_document(session, "plan")
    if previous:
        return f"{previous}\n\n## Change\n\n{change}\n" if change else f"{previous}\n"
    command = session.tests.command or "to be set up"
    return (
        f"# Implementation Plan: {session.title}\n\n## Summary\n\n{session.intent.body}\n\n"
        f"## Technical Context\n\n**Testing**: {command}\n\n"
        "## Project Structure\n\n**Structure Decision**: as the repository is laid out today.\n"
    )


def _former_document(session: Session, kind: str) -> tuple[str, str]:
    """Return the former document and what is to change."""
    return former_documents(session).get(kind, "").rstrip(), change_request(session).strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())
