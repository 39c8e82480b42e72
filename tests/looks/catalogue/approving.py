"""The plan: its documents in full, and the card that asks whether it may be carried out."""

from __future__ import annotations

from datetime import timedelta

from bot.core.actions import Show
from bot.core.cards import DocumentCard
from bot.core.intent import Risk
from bot.core.plan import (
    Alteration,
    Altered,
    Analysis,
    Difference,
    DocumentKind,
    Finding,
    Forecast,
    RequirementCoverage,
    Severity,
    Spread,
)
from bot.core.session import Session
from bot.core.session_parts import Approval
from bot.core.talk import Affected, Change, ChangeStage
from bot.core.task import drafts_of
from bot.steps import messages
from bot.steps.change import effects as change_effects
from tests.looks.catalogue import papers
from tests.looks.catalogue.entry import Entry, entry
from tests.looks.catalogue.sample import (
    AKI,
    APPROVED,
    MIKA,
    NOW,
    at_work,
    done,
    planned,
    running,
    task,
)

GOOD = Analysis(
    findings=(
        Finding(
            id="A1",
            severity=Severity.LOW,
            category="ambiguity",
            where="spec.md",
            summary="«At once» is said of the switch, and no time is given.",
            recommendation="Say 100 ms.",
        ),
        Finding(
            id="G1",
            severity=Severity.HIGH,
            category="coverage",
            where="tasks.md",
            summary="FR-004 is served by no task.",
            recommendation="Add a task for printed pages.",
        ),
    ),
    coverage=(
        RequirementCoverage(requirement="FR-001", tasks=("T001", "T002")),
        RequirementCoverage(requirement="FR-002", tasks=("T003",)),
        RequirementCoverage(requirement="FR-003", tasks=("T002", "T004")),
        RequirementCoverage(requirement="FR-004"),
    ),
    score=82,
)
CRITICAL = Finding(
    id="I1",
    severity=Severity.CRITICAL,
    category="inconsistency",
    where="plan.md",
    summary="The plan keeps the choice on the server; the spec forbids it.",
)
FORECAST = Forecast(
    sessions=5,
    tasks=Spread(median=4, low=3, high=6),
    minutes=Spread(median=14.2, low=9, high=31),
    tokens=Spread(median=48_000, low=30_000, high=90_000),
)
DIFFERENCE = Difference(
    since=1,
    sections=(
        Alteration(
            what=Altered.CHANGED,
            where="spec.md",
            name="Requirements",
            details=("FR-003 is new: the choice holds in every open tab at once",),
        ),
        Alteration(what=Altered.REMOVED, where="plan.md", name="Cookies"),
    ),
    tasks=(
        Alteration(what=Altered.ADDED, where="T004", name="Describe it in the user guide"),
        Alteration(
            what=Altered.CHANGED,
            where="T003",
            name="Remember the choice across reloads",
            details=("after T001, no longer after T002", "acceptance A3 is new"),
        ),
    ),
)


def entries() -> tuple[Entry, ...]:
    return (*_documents(), *_approvals(), *_changes())


def _documents() -> tuple[Entry, ...]:
    texts = {
        DocumentKind.SPEC: papers.SPEC,
        DocumentKind.PLAN: papers.PLAN,
        DocumentKind.TASKS: papers.TASKS,
    }
    return tuple(
        Entry(
            f"document/{kind}",
            DocumentCard(
                key=f"document:{kind}:1",
                document=kind,
                spec_id="SPEC-1a2b3c4d",
                revision=1,
                text=text,
            ),
        )
        for kind, text in texts.items()
    )


def _approvals() -> tuple[Entry, ...]:
    critical = GOOD.model_copy(update={"findings": (CRITICAL, *GOOD.findings)})
    dry = planned(request__dry_run=True, plan__analysis=GOOD)
    given = Approval(by=AKI, at=NOW, digest="", revision=1)
    return (
        _asks("first revision", planned(plan__analysis=GOOD, plan__forecast=FORECAST)),
        _asks("bare", planned()),
        _asks("second revision", _revised()),
        _asks("high risk, two approvers", _risky()),
        _asks("approved by one of two", _risky(approval__given=(given,))),
        _asks("critical finding", planned(plan__analysis=critical)),
        _asks("only the plan was wanted", dry),
        entry(
            "approval/approved",
            messages.approval_wanted(
                planned(plan__analysis=GOOD, plan__forecast=FORECAST), APPROVED
            ),
        ),
    )


def _asks(state: str, session: Session) -> Entry:
    return entry(f"approval/{state}", messages.approval_wanted(session))


def _revised() -> Session:
    session = planned(plan__analysis=GOOD, plan__forecast=FORECAST, plan__difference=DIFFERENCE)
    if session.plan.spec:
        session.plan.spec = session.plan.spec.model_copy(update={"revision": 2})
    return session


def _risky(**changes: object) -> Session:
    session = planned(approval__required=2, plan__analysis=GOOD, **changes)
    reasons = ("it touches what customers have stored", "it cannot be taken back")
    session.intent = session.intent.model_copy(update={"risk": Risk.HIGH, "risk_reasons": reasons})
    return session


def _changes() -> tuple[Entry, ...]:
    session = at_work(done("T001"), running("T002"), running("T003"), task("T004"))
    change = _change(session)
    forgotten = messages.decided_by("Forgotten", MIKA, NOW + timedelta(minutes=3))
    return (
        entry("approval/change while tasks run", _wanted(session, change)),
        entry(
            "approval/change forgotten", change_effects.approval_card(session, change, forgotten)
        ),
    )


def _wanted(session: Session, change: Change) -> Show:
    return change_effects.approval_card(session, change)


def _change(session: Session) -> Change:
    return Change(
        id="change-1",
        text="The choice must be the same on all my machines.",
        by=MIKA,
        at=NOW,
        stage=ChangeStage.AWAITING,
        revision=2,
        affected=(Affected(task_id="id-T003", why="it keeps the choice in the browser"),),
        drafts=tuple(drafts_of(session.tasks)),
        analysis=GOOD,
        shown_at=NOW,
    )
