"""Before anybody approves: the plan is analysed and mended; the operator's rules say who must agree."""

from __future__ import annotations

import pytest

from bot.core import approval
from bot.core.cards import ApprovalCard
from bot.core.choices import Verb
from bot.core.events import DocumentsCommitted, DocumentWritten, PlanAnalysed
from bot.core.intent import Risk
from bot.core.people import Person
from bot.core.plan import (
    Analysis,
    Document,
    DocumentKind,
    Finding,
    Policy,
    RequirementCoverage,
    Severity,
)
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.states import Phase
from bot.steps.decisions import decide, due
from tests.steps.scenes import (
    awaiting_approval,
    cards,
    keys,
    later,
    pressed,
    question,
    said,
    verbs,
    whispers,
)

BEA = Person(platform="memory", id="T1/U2", name="Bea")
CRITICAL = Analysis(
    findings=(
        Finding(id="C1", severity=Severity.CRITICAL, category="constitution", summary="no tests"),
    )
)
FINE = Analysis(coverage=(RequirementCoverage(requirement="FR-001", tasks=("T001",)),))


def specifying(risk: Risk | None = None) -> Session:
    session = awaiting_approval()
    session.phase, session.plan.shown_at, session.plan.analysed = Phase.SPECIFYING, None, False
    session.intent = session.intent.model_copy(update={"risk": risk})
    return session


def analysed(analysis: Analysis, policy: Policy | None = None) -> PlanAnalysed:
    return PlanAnalysed(
        id="a",
        at=later(),
        answers="analyse:1",
        revision=1,
        analysis=analysis,
        policy=policy or Policy(),
    )


def written(kind: DocumentKind, text: str = "# new", revision: int = 1) -> DocumentWritten:
    document = Document(kind=kind, revision=revision, text=text, sha256="5" * 64)
    drafts = (TaskDraft(key="T001", title="Discounts"),) if kind is DocumentKind.TASKS else ()
    order = f"write:{kind}:{revision}"
    return DocumentWritten(
        id=f"w{kind}", at=later(), answers=order, document=document, drafts=drafts
    )


def committed(session: Session) -> DocumentsCommitted:
    assert session.plan.spec
    return DocumentsCommitted(
        id="c",
        at=later(),
        answers=f"commit:{session.plan.spec.revision}",
        workspace=session.plan.spec.workspace,
        commit="f" * 40,
    )


def presented(policy: Policy, risk: Risk, analysis: Analysis = FINE) -> Session:
    session = specifying(risk)
    decide(session, analysed(analysis, policy))
    decide(session, committed(session))
    return session


@pytest.mark.covers("O-M4")
def test_what_is_critical_is_mended_twice_before_anybody_sees_it_then_shown_without_a_way_to_approve() -> (
    None
):
    session = specifying()
    for _ in range(2):
        decide(session, analysed(CRITICAL))
        assert keys(list(due(session))) == ["write:spec:1"]
        for kind in DocumentKind:
            decide(session, written(kind))
        assert keys(list(due(session))) == ["analyse:1"]
    decide(session, analysed(CRITICAL))
    assert keys(list(due(session))) == ["commit:1"]

    [*_, card] = cards(decide(session, committed(session)))

    assert isinstance(card, ApprovalCard)
    assert Verb.APPROVE not in verbs(card)
    assert Verb.CHANGE in verbs(card)
    assert "critical" in whispers(decide(session, said("yes")))[0]
    assert whispers(decide(session, pressed(Verb.APPROVE, approval.offer(session))))
    assert session.phase is Phase.APPROVING


def test_what_was_mended_is_approved_as_anything_else() -> None:
    session = specifying()
    decide(session, analysed(CRITICAL))
    for kind in DocumentKind:
        decide(session, written(kind))
    decide(session, analysed(FINE))
    [*_, card] = cards(decide(session, committed(session)))
    assert Verb.APPROVE in verbs(card)
    assert isinstance(card, ApprovalCard)
    assert card.analysis == FINE


def test_a_new_revision_says_what_is_different_from_the_one_people_saw() -> None:
    session = awaiting_approval()
    decide(session, pressed(Verb.CHANGE, approval.offer(session), "use cents"))
    for kind in DocumentKind:
        decide(session, written(kind, f"# {kind}\n\n## Money\n\nIn cents.", revision=2))
    decide(session, analysed(FINE).model_copy(update={"revision": 2, "answers": "analyse:2"}))
    [*_, card] = cards(decide(session, committed(session)))
    assert isinstance(card, ApprovalCard)
    assert card.difference
    assert card.difference.since == 1
    assert "Money" in {alteration.name for alteration in card.difference.sections}


def test_an_analysis_of_an_earlier_revision_is_ignored() -> None:
    session = specifying()
    decide(session, analysed(FINE).model_copy(update={"revision": 7}))
    assert not session.plan.analysed


@pytest.mark.covers("F-RISK-2", "F-RISK-3")
@pytest.mark.parametrize(
    ("risk", "policy", "dry_run", "analysis", "starts"),
    [
        (Risk.LOW, Policy(alone=True), False, FINE, True),
        (Risk.LOW, Policy(alone=False), False, FINE, False),
        (Risk.MED, Policy(alone=True), False, FINE, False),
        (Risk.HIGH, Policy(alone=True), False, FINE, False),
        (Risk.LOW, Policy(alone=True), True, FINE, False),
    ],
)
def test_low_risk_starts_alone_only_where_the_operator_lets_it(
    risk: Risk, policy: Policy, dry_run: bool, analysis: Analysis, starts: bool
) -> None:
    session = specifying(risk)
    session.request.dry_run = dry_run
    decide(session, analysed(analysis, policy))
    decide(session, committed(session))
    assert (session.phase is Phase.EXECUTING) is starts
    if starts:
        assert session.approval.granted
        assert session.approval.granted.by.id == "rule:low-risk"


@pytest.mark.parametrize("what", ["words of their own", "a change request", "a part"])
def test_what_was_not_judged_with_the_request_does_not_start_alone(what: str) -> None:
    session = specifying(Risk.LOW)
    match what:
        case "words of their own":
            told = question(1, answer="delete the old customers, too")
            session.intent = session.intent.model_copy(update={"clarifications": (told,)})
        case "a change request":
            session.plan.change_request = "delete the old customers, too"
        case _:
            session.intent = session.intent.model_copy(update={"parent": "1a2b3c4d"})
    decide(session, analysed(FINE, Policy(alone=True)))
    decide(session, committed(session))
    assert session.phase is Phase.APPROVING


@pytest.mark.covers("F-RISK-2")
def test_low_risk_with_critical_findings_waits_for_a_person() -> None:
    session = specifying(Risk.LOW)
    session.plan.repairs = 2
    decide(session, analysed(CRITICAL, Policy(alone=True)))
    decide(session, committed(session))
    assert session.phase is Phase.APPROVING


@pytest.mark.covers("F-RISK-3")
def test_where_two_must_approve_one_is_not_enough_and_not_twice_the_same() -> None:
    session = presented(Policy(approvers=2), Risk.HIGH)
    offer = approval.offer(session)

    [card] = cards(decide(session, pressed(Verb.APPROVE, offer)))

    assert isinstance(card, ApprovalCard)
    assert card.approved_by == ("Ann",)
    assert session.phase is Phase.APPROVING
    assert "already" in whispers(decide(session, said("approve")))[0]
    decide(session, pressed(Verb.APPROVE, offer, by=BEA))
    assert session.phase is Phase.EXECUTING
    assert [str(given.by) for given in session.approval.given] == ["Ann", "Bea"]


@pytest.mark.parametrize("wanted", [1, 2])
def test_where_others_must_approve_who_asked_does_not_count(wanted: int) -> None:
    session = presented(Policy(approvers=wanted, others=True), Risk.HIGH)
    offer = approval.offer(session)
    for event in (pressed(Verb.APPROVE, offer), said("approve")):
        assert "somebody else must" in whispers(decide(session, event))[0]
    assert (session.phase, session.approval.given) == (Phase.APPROVING, ())
    approvers = [BEA.model_copy(update={"id": f"T1/U{n}"}) for n in range(10, 10 + wanted)]
    for by in approvers:
        assert session.phase is Phase.APPROVING
        decide(session, pressed(Verb.APPROVE, offer, by=by))
    assert session.phase is Phase.EXECUTING


def test_a_new_revision_needs_everybody_again() -> None:
    session = presented(Policy(approvers=2), Risk.HIGH)
    decide(session, pressed(Verb.APPROVE, approval.offer(session)))
    decide(session, pressed(Verb.CHANGE, approval.offer(session), "use cents"))
    assert session.approval.given == ()


@pytest.mark.covers("G-RULE-APPROVAL-7")
def test_a_dry_run_is_carried_on_by_saying_run_it() -> None:
    session = awaiting_approval()
    session.request.dry_run = True
    decide(session, said("run it"))
    assert session.phase is Phase.EXECUTING
    assert not session.request.dry_run
