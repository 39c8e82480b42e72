"""The card of a very large plan: Slack takes it as it was drawn, and what can be pressed is always there."""

from __future__ import annotations

import pytest

from adapters.slack.blocks.cards import draw_card
from adapters.slack.blocks.kit import ButtonValue, text_length
from bot.core.cards import ApprovalCard, PartsCard, PlannedTask, WherePart
from bot.core.choices import Verb
from bot.core.layout import lay_out
from bot.core.plan import (
    Alteration,
    Altered,
    Analysis,
    Covered,
    Difference,
    Finding,
    Forecast,
    Severity,
    Spread,
)
from tests.adapters.slack import content
from tests.adapters.slack.office import Office, actions
from tests.fakes import cards

SOME = "利用者は切り替えられる; the settings page must remember it, whatever else happens"
SPREAD = Spread(median=12.5, low=3, high=4_000_000)


def findings(*severities: Severity) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            id=f"C{n}",
            severity=severity,
            category="underspecification",
            where="spec.md, FR-001 to FR-020",
            summary=f"{SOME} ({n})",
            recommendation=f"Say who decides. {SOME}",
        )
        for n, severity in enumerate(severities, 1)
    )


def large(*severities: Severity, words: str = SOME) -> ApprovalCard:
    altered = tuple(
        Alteration(what=Altered.CHANGED, where="spec.md", name=words, details=(words,) * 5)
        for _ in range(40)
    )
    tasks = tuple(
        PlannedTask(key=f"T{n:03}", name=f"{words} {n}", after=("T001", "T002"), agent="claude")
        for n in range(1, 41)
    )
    covered = tuple(Covered(requirement=f"FR-{n:03}", tasks=("T001",)) for n in range(60))
    return cards.APPROVAL.model_copy(
        update={
            "tasks": tasks,
            "risk": "high",
            "risk_reasons": (words,) * 8,
            "analysis": Analysis(findings=findings(*severities), coverage=covered, score=71),
            "forecast": Forecast(sessions=9, tasks=SPREAD, minutes=SPREAD, tokens=SPREAD),
            "difference": Difference(since=1, sections=altered, tasks=altered),
            "approvers": 2,
        }
    )


CARDS = {
    "findings": large(*[Severity.MEDIUM] * 50),
    "critical": large(*[Severity.CRITICAL] * 50),
    "change": large(*[Severity.LOW] * 50).model_copy(
        update={"change": SOME * 20, "stops": (SOME,) * 40, "goes_on": (SOME,) * 40}
    ),
    "hostile": large(*[Severity.HIGH] * 50, words=content.HOSTILE[0] * 3),
    "quotes": large(*[Severity.HIGH] * 50, words='say "yes" & <no> \\ ' * 8),
    "parts": PartsCard(
        key="parts",
        parts=tuple(
            WherePart(title=f"{SOME} {n}", body=SOME * 12, thread=cards.THREAD) for n in range(6)
        ),
    ),
}
LARGE = pytest.mark.parametrize("card", CARDS.values(), ids=CARDS.keys())


@LARGE
def test_a_large_plan_is_within_every_limit(card: ApprovalCard | PartsCard) -> None:
    (message,) = draw_card(card)
    assert content.wrong_in(message) == []
    assert len(message.blocks) <= 50
    assert text_length(message.blocks) <= 8_000


@LARGE
def test_every_choice_of_a_large_plan_can_be_pressed(card: ApprovalCard | PartsCard) -> None:
    (message,) = draw_card(card)
    pressed = [
        ButtonValue.read(button["value"]) for button in content.parts_of(message.blocks, "button")
    ]
    assert [(one.verb, one.about) for one in pressed if one] == [
        (choice.verb, choice.about) for choice in lay_out(card).choices
    ]
    assert pressed


def test_a_plan_with_something_critical_in_it_cannot_be_approved() -> None:
    verbs = [choice.verb for choice in lay_out(CARDS["critical"]).choices]
    assert Verb.APPROVE not in verbs


def test_a_long_table_leaves_room_for_what_stands_below_it() -> None:
    (message,) = draw_card(CARDS["findings"])
    shown = "\n".join(content.texts_of(message.blocks))
    for said in ("T001", "Changed since revision 1", "high: ", "Forecast", "C1 (", "must approve"):
        assert said in shown, said
    assert "There is more than this message has room for" not in shown


@LARGE
async def test_slack_takes_a_large_plan_as_it_was_drawn(
    at: Office, card: ApprovalCard | PartsCard
) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, card)
    (shown,) = at.cards(thread)
    assert len(actions(shown.blocks)) == len(lay_out(card).choices)
    assert [call.error for call in at.bed.calls if call.error] == []
