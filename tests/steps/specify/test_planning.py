"""Specification and plan are written and checked, and all of it is held against each other before people see it."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from bot.core.intent import Intent
from bot.core.plan import Analysis, Document, DocumentKind, Finding, Severity
from bot.core.session import Session
from bot.core.spec_kit import spec
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.states import TaskState
from bot.core.talk import Change, ChangeStage
from bot.steps.asking import ask
from bot.steps.looking import Looker
from bot.steps.specify.questions import AnalyzePrompt, analysis, draft_document
from tests.fakes.llm import ScriptedLlm
from tests.fakes.repository import FakeRepository
from tests.steps.scenes import ANN, T0, asked, executing, question, surveyed, task
from tests.stories.stage import PLAN, SPEC

TODAY = date(2026, 1, 2)
TWO = SPEC.replace("take a code.", "take a code.\n- **FR-002**: The receipt MUST show it.")
JAPANESE = SPEC.replace("A code lowers the price.", "コードを入力すると合計が下がります。").replace(
    "The basket MUST take a code.", "かごは割引コードを受け取り、合計を計算し直す。"
)
FINDING = {
    "category": "ambiguity",
    "severity": "high",
    "where": "FR-001",
    "summary": "“Code” is not defined.",
    "recommendation": "Say what a code is.",
}


def paper(kind: DocumentKind, text: str) -> Document:
    return Document(kind=kind, revision=1, text=text, sha256="0" * 64)


def planned(*serving: tuple[str, ...]) -> Session:
    """A plan for two requirements with a task for each group of them."""
    tasks = [task(f"T{n:03}", requirements=ids) for n, ids in enumerate(serving, 1)]
    return surveyed(plan__documents=(paper(DocumentKind.SPEC, TWO),), tasks=tasks)


async def spec_of(session: Session, *lines: str) -> tuple[str, list[Any]]:
    llm = ScriptedLlm(lines)
    written, _ = await draft_document(llm, session, DocumentKind.SPEC, TODAY)
    return written.text, [call.fields() for call in llm.calls]


async def found_in(session: Session, *findings: object) -> tuple[Finding, ...]:
    reply = json.dumps({"findings": findings}, ensure_ascii=False)
    seen, _ = await ask(ScriptedLlm([reply] * 3), AnalyzePrompt(session))
    return analysis(session, seen).findings


async def test_every_decision_is_written_into_the_specification_with_its_number() -> None:
    session = asked(question(1, answer="second"), question(2))
    text, _ = await spec_of(session, SPEC)
    assert "### Session 2026-01-02" in text
    assert "Q: Question 1? → A: second (D1)" in text
    assert "Question 2?" not in text


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("Here is your specification!", "heading"),
        (SPEC.replace("**FR-001**", "**R1**"), "no requirement"),
        (SPEC + "\n- Who pays? [NEEDS CLARIFICATION: who?]\n", "NEEDS CLARIFICATION"),
    ],
)
async def test_an_incomplete_specification_is_asked_for_again(wrong: str, problem: str) -> None:
    text, asked_ = await spec_of(surveyed(), wrong, SPEC)
    assert text == SPEC
    assert problem in asked_[1]["correction"]


async def test_a_fence_around_the_whole_document_is_taken_off() -> None:
    text, _ = await spec_of(surveyed(), f"```markdown\n{SPEC}```")
    assert text == SPEC


@pytest.mark.covers("O-C16")
async def test_a_document_in_another_language_is_asked_for_once_more() -> None:
    session = surveyed(intent=Intent(body="割引コードを追加してください"))
    text, asked_ = await spec_of(session, SPEC, JAPANESE)
    assert text == JAPANESE
    assert "Japanese" in asked_[1]["correction"]


async def test_a_model_that_cannot_write_leaves_the_request_itself_as_the_plan() -> None:
    for kind, check in (
        (DocumentKind.SPEC, spec.check_spec),
        (DocumentKind.PLAN, spec.check_plan),
    ):
        written, _ = await draft_document(ScriptedLlm(["1", "2", "3"]), surveyed(), kind, TODAY)
        assert check(written.text) == []
        assert "Add discounts" in written.text


async def test_a_change_that_the_model_cannot_write_is_added_to_what_was_there() -> None:
    session = executing(task("T001"), plan__documents=(paper(DocumentKind.SPEC, TWO),))
    session.change = Change(
        id="c1", text="use cents", by=ANN, at=T0, stage=ChangeStage.DRAFTING, revision=2
    )
    text, _ = await spec_of(session, "1", "2", "3")
    assert text.startswith(TWO.rstrip())
    assert spec.requirement_ids(text) == ("FR-001", "FR-002", "FR-003")
    assert "use cents" in text


async def test_the_plan_is_written_from_the_specification() -> None:
    llm = ScriptedLlm([PLAN])
    written, _ = await draft_document(llm, planned(), DocumentKind.PLAN, TODAY)
    assert written.text == PLAN
    assert json.loads(llm.calls[0].data)["spec"] == TWO


async def test_while_a_plan_is_mended_the_model_is_told_what_was_found() -> None:
    session = surveyed()
    finding = Finding(id="A1", severity=Severity.CRITICAL, category="ambiguity", summary="What?")
    session.plan.analysis = Analysis(findings=(finding,))
    _, (data,) = await spec_of(session, SPEC)
    assert data["findings"] == []
    session.plan.repairs = 1
    _, (data,) = await spec_of(session, SPEC)
    assert [one["summary"] for one in data["findings"]] == ["What?"]
    for kind in (DocumentKind.PLAN, DocumentKind.TASKS):
        llm = ScriptedLlm(["no"] * 3)
        await draft_document(llm, session, kind, TODAY)
        assert json.loads(llm.calls[0].data)["findings"] == data["findings"]


@pytest.mark.covers("O-M4")
async def test_a_requirement_that_no_task_serves_is_critical_whatever_the_model_says() -> None:
    session = planned(("FR-001",), ())
    (finding,) = await found_in(session)
    assert (finding.id, finding.severity, finding.where) == ("E1", Severity.CRITICAL, "FR-002")
    seen, _ = await ask(ScriptedLlm(["no", "never", "none"]), AnalyzePrompt(session))
    found = analysis(session, seen)
    assert found.critical == (finding,)
    assert found.percent == 50


async def test_a_task_that_was_given_up_serves_nothing() -> None:
    session = planned(("FR-001", "FR-002"), ("FR-002",))
    assert await found_in(session) == ()
    session.tasks[0].state = TaskState.CANCELLED
    assert [one.where for one in await found_in(session)] == ["FR-001"]


async def test_findings_are_named_by_the_letter_of_their_category_the_weightiest_first() -> None:
    kinds = ["duplication", "ambiguity", "underspecification", "constitution", "inconsistency"]
    seen = [{**FINDING, "category": kind.upper()} for kind in kinds]
    found = await found_in(
        planned(("FR-001-FR-002",)), FINDING, *seen, {**FINDING, "severity": "CRITICAL"}
    )
    assert [one.id for one in found] == ["A1", "A2", "D1", "A3", "U1", "C1", "I1"]
    assert found[0].severity is Severity.CRITICAL


async def test_a_document_that_does_not_end_is_asked_for_again() -> None:
    text, asked_for = await spec_of(surveyed(), SPEC + "and so on\n" * 20_000, SPEC)
    assert text == SPEC.rstrip() + "\n"
    assert "at most 100000" in asked_for[1]["correction"]


async def test_a_finding_is_a_sentence_however_much_the_model_makes_of_it() -> None:
    session = planned(("FR-001", "FR-002"))
    long = dict.fromkeys(("where", "summary", "recommendation"), "word " * 2000)
    [finding] = await found_in(session, FINDING | long)
    assert len(finding.where + finding.summary + finding.recommendation) < 1_500


async def test_no_more_than_fifty_findings_are_kept() -> None:
    low = {**FINDING, "severity": "LOW"}
    found = await found_in(planned(("FR-001",)), *[low] * 80)
    assert len(found) == 50
    assert found[0].severity is Severity.CRITICAL


async def test_a_finding_of_an_unknown_weight_is_asked_for_again() -> None:
    odd = json.dumps({"findings": [{**FINDING, "severity": "fatal"}]})
    llm = ScriptedLlm([odd, '{"findings": []}'])
    analysis, _ = await ask(llm, AnalyzePrompt(planned(("FR-001", "FR-002"))))
    assert (analysis.findings, llm.count) == ([], 2)


async def test_of_a_running_plan_the_change_is_analysed() -> None:
    session = executing(task("T001", requirements=("FR-001", "FR-002")))
    drafts = (TaskDraft(key="T001", title="Codes", requirements=("FR-002",)),)
    session.change = Change(
        id="c1",
        text="use cents",
        by=ANN,
        at=T0,
        stage=ChangeStage.ANALYSING,
        revision=2,
        documents=(paper(DocumentKind.SPEC, TWO),),
        drafts=drafts,
    )
    assert [one.where for one in await found_in(session)] == ["FR-001"]


@pytest.mark.parametrize("kind", [DocumentKind.SPEC, DocumentKind.PLAN])
async def test_what_the_head_of_a_document_names_is_given_and_not_made_up(
    kind: DocumentKind,
) -> None:
    llm = ScriptedLlm(["1", "2", "3"])
    await draft_document(llm, planned(), kind, TODAY)
    assert json.loads(llm.calls[0].data)["facts"] == {
        "today": TODAY.isoformat(),
        "created": "2026-01-02",
        "spec_branch": "agent/spec-7682b3a8",
        "spec_path": "specs/SPEC-7682b3a8/spec.md",
    }


# What is written of the repository is held against it.


def there(text: str = "def apply_discount(order):\n    return order\n") -> Looker:
    repository = FakeRepository(files={"shop/discounts.py": text})
    return Looker(repository, repository.path, repository.heads[repository.branch], 5_000)


CITED = PLAN.replace("## Summary", "## Summary\n\nThe price is made in `shop/discounts.py:1`.", 1)
WRONG = PLAN.replace("## Summary", "## Summary\n\nThe price is made in `shop/prices.py:90`.", 1)


async def test_a_plan_that_names_what_is_not_there_is_sent_back_once() -> None:
    llm = ScriptedLlm([WRONG, CITED])
    written, _ = await draft_document(llm, planned(), DocumentKind.PLAN, TODAY, there())
    assert "shop/discounts.py:1" in written.text
    assert "there is no file shop/prices.py" in llm.calls[1].correction
    llm = ScriptedLlm([WRONG, WRONG])
    written, _ = await draft_document(llm, planned(), DocumentKind.PLAN, TODAY, there())
    assert (written.text, llm.count) == (WRONG.rstrip() + "\n", 2)


async def test_the_model_may_look_before_it_writes_a_document() -> None:
    eyes = there()
    look = '{"look": [{"tool": "read", "path": "shop/discounts.py"}]}'
    llm = ScriptedLlm([look, CITED])
    await draft_document(llm, planned(), DocumentKind.PLAN, TODAY, eyes)
    assert [str(one.look) for one in eyes.seen] == ["read shop/discounts.py"]


async def test_a_document_with_an_example_of_a_look_is_a_document() -> None:
    example = CITED + '\n```json\n{"look": [{"tool": "read", "path": "shop/discounts.py"}]}\n```\n'
    llm = ScriptedLlm([example])
    written, _ = await draft_document(llm, planned(), DocumentKind.PLAN, TODAY, there())
    assert '"look"' in written.text


async def test_tasks_that_are_to_read_what_is_not_there_are_sent_back_once() -> None:
    def tasks(place: str) -> str:
        one = {"key": "T001", "title": "Codes", "description": "Do it.", "files": ["shop/new.py"]}
        more = {"requirements": ["FR-001", "FR-002"], "acceptance": ["it works"]}
        return json.dumps({"tasks": [{**one, **more, "read_first": [place]}]})

    fine = '{"score": 90}'
    llm = ScriptedLlm([tasks("shop/prices.py:1-9"), tasks("shop/discounts.py:1-2"), fine])
    session = planned()
    session.tests.command = "make test"
    written, _ = await draft_document(llm, session, DocumentKind.TASKS, TODAY, there())
    assert written.drafts[0].read_first == ("shop/discounts.py:1-2",)
    assert "  - Read first: shop/discounts.py:1-2" in written.text
    assert "there is no file shop/prices.py" in llm.calls[1].correction
