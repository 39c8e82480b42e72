"""What stands on the cards of pull requests, of what an agent asks, and of the end."""

from __future__ import annotations

import pytest

from bot.core.cards import Card, CardDecision, NeedsYouCard
from bot.core.choices import Choice, Style, Verb
from bot.core.evidence import ExecutionResult, Judgement, Verdict
from bot.core.layout import lay_out
from bot.core.runs import AgentUsage, Run
from bot.core.sheets import Bullets, Code, Fields, Sheet, Table, Text, Tone
from bot.core.states import OverallStatus, RunState
from bot.steps.blocked import limits
from bot.steps.blocked import rules as blocked
from bot.steps.decisions import decide
from bot.steps.dialogs import cards as dialog_cards
from bot.steps.pull_requests import cards as pull_cards
from bot.steps.ship import rules as ship
from tests.fakes import cards
from tests.steps.dialogs.test_dialogs import MENU
from tests.steps.scenes import (
    T0,
    delivering,
    executing,
    later,
    needs,
    out_of_tokens,
    running,
    shipped,
    task,
)
from tests.steps.scenes import cards as shown

DECIDED = CardDecision(what="Answered: Yes", by="Mika", at=cards.AT)
DIALOG = NeedsYouCard(
    key="dialog:T001:1.1",
    title="T001: claude asks",
    reason="Run `make`?",
    output="Bash command: make",
    choices=(
        Choice(label="Yes", verb=Verb.REPLY, about="r:1:1"),
        Choice(label="No", verb=Verb.REPLY, about="r:1:2"),
        Choice(label="Answer…", verb=Verb.REPLY, about="r:1:", asks="What is it called?"),
    ),
)


def bullets(laid: Sheet) -> list[str]:
    return [item for element in laid.body if isinstance(element, Bullets) for item in element.items]


def table(laid: Sheet) -> Table:
    return next(element for element in laid.body if isinstance(element, Table))


@pytest.mark.parametrize("card", [cards.PULLS, DIALOG], ids=lambda card: card.key)
def test_it_waits_for_a_person_until_it_is_decided(card: Card) -> None:
    laid = lay_out(card)
    assert laid.tone is Tone.NEEDS_YOU
    assert laid.choices
    decided = lay_out(card.model_copy(update={"decided": DECIDED}))
    assert decided.choices == ()
    assert decided.tone is not Tone.NEEDS_YOU
    assert "Answered: Yes by Mika" in decided.footer


def test_pull_requests_stand_in_a_table_with_task_number_title_and_state() -> None:
    laid = lay_out(cards.PULLS)
    assert laid.title == "Pull requests into main of acme/shop"
    assert table(laid).rows[0] == ("T001", "#7", "feat: a dark theme", "checks passed")


def test_every_pull_request_can_be_followed_and_what_was_not_merged_says_why() -> None:
    assert bullets(lay_out(cards.PULLS)) == [
        "#7: https://forge.example/acme/shop/pull/7",
        "#9: https://forge.example/acme/shop/pull/9",
        "#9 is not merged yet: A review is missing.",
    ]


def test_where_nothing_can_be_pressed_pull_requests_are_only_told() -> None:
    laid = lay_out(cards.PULLS.model_copy(update={"choices": ()}))
    assert laid.tone is Tone.PLAIN


def test_what_ends_the_wait_or_merges_several_asks_once_more() -> None:
    asking = {choice.verb for choice in lay_out(cards.PULLS).choices if choice.confirm}
    assert asking == {Verb.MERGE_PULLS, Verb.UNNEEDED}


def test_a_dialog_shows_the_screen_it_stands_on() -> None:
    laid = lay_out(DIALOG)
    assert laid.body == (Text(text="Run `make`?"), Code(text="Bash command: make"))
    assert [choice.label for choice in laid.choices] == ["Yes", "No", "Answer…"]


@pytest.mark.covers("G-RULE-COST-2", "G-RULE-COST-3", "G-LIMIT-3", "G-OUT-2")
def test_the_summary_says_what_became_of_pull_requests_what_is_missing_and_what_agents_used() -> (
    None
):
    card = cards.SUMMARY.model_copy(
        update={
            "pulls": ("T001: #7 merged",),
            "verdict": Verdict(
                outcome=Judgement.CONTINUE, missing=("docs",), reasons=("so",), at=cards.AT
            ),
            "proposed": ("Docs: describe it",),
            "agent_usage": AgentUsage(input_tokens=1_000, output_tokens=234, cost=1.5),
            "choices": (Choice(label="Continue", verb=Verb.MORE, style=Style.PRIMARY),),
        }
    )
    laid = lay_out(card)
    heads = [e.text for e in laid.body if isinstance(e, Text) and e.strong]
    assert {"Pull requests", "Judged on the whole", "Proposed next"} <= set(heads)
    assert [item for item in bullets(laid) if item in ("continue", "docs", "so")] == [
        "continue",
        "docs",
        "so",
    ]
    facts = {n: v for e in laid.body if isinstance(e, Fields) for n, v in e.pairs}
    assert facts["Agents"] == "4 runs, 1,234 tokens, $1.50"
    assert [choice.verb for choice in laid.choices] == [Verb.MORE]


def test_a_summary_that_was_decided_upon_says_by_whom() -> None:
    laid = lay_out(cards.SUMMARY.model_copy(update={"decided": DECIDED}))
    assert "by Mika" in laid.footer


def test_incomplete_is_told_with_its_reasons_and_never_as_a_success() -> None:
    result = ExecutionResult(
        overall_status=OverallStatus.INCOMPLETE,
        session_id="x",
        incomplete_task_reasons=("T002: left out",),
    )
    laid = lay_out(cards.SUMMARY.model_copy(update={"result": result}))
    assert laid.tone is Tone.FAILURE
    assert "T002: left out" in bullets(laid)


def every_need() -> list[Card]:
    """All that the flow asks of people while it works."""
    asks = Run(
        id="r",
        number=1,
        agent="claude",
        conversation="c",
        state=RunState.WAITING_INPUT,
        started_at=T0,
        dialog=MENU,
        dialogs=1,
    )
    waiting = running("T001", runs=[asks])
    held = task("T002", blocked="x")
    session = executing(running("T003"))
    empty = needs(decide(session, out_of_tokens("T003-r1", later())))
    delivered = delivering(shipped("T001", 7), shipped("T002", 9))
    return [
        *shown(list(dialog_cards.open_dialog_cards(executing(waiting)))),
        *empty,
        *shown(list(limits.account_cards(session))),
        *shown([blocked.task_card(session, held)]),
        *shown([ship.not_shipped_card(held)]),
        *shown(list(pull_cards.pulls_card(delivered))),
        *shown([pull_cards.watch_problem_card(delivered)]),
    ]


@pytest.mark.parametrize("card", every_need(), ids=lambda card: card.key)
def test_at_most_one_button_is_the_primary_one_and_it_comes_first(card: Card) -> None:
    styles = [choice.style for choice in lay_out(card).choices]
    assert styles
    assert Style.PRIMARY not in styles[1:]


@pytest.mark.parametrize("card", every_need(), ids=lambda card: card.key)
def test_every_button_says_what_it_is_about(card: Card) -> None:
    assert all(choice.about for choice in lay_out(card).choices)
