"""The work goes out: pull requests in each of their states, or branches that are offered for a merge."""

from __future__ import annotations

from bot.core.cards import CardDecision
from bot.core.forge import CiState
from bot.core.session import Session
from bot.core.states import Phase
from bot.core.task import Task
from bot.steps import messages
from bot.steps.pull_requests import cards as pull_cards
from tests.looks.catalogue.entry import Entry, entry
from tests.looks.catalogue.sample import NAMES, at, at_work, delivered, done, running


def entries() -> tuple[Entry, ...]:
    return (*_pulls(), *_offer())


def _pulls() -> tuple[Entry, ...]:
    open_ones = (
        delivered("T001", 41),
        delivered("T002", 42, draft=True),
        delivered("T003", 43, ci=CiState.PENDING),
    )
    failing = delivered("T003", 43, ci=CiState.FAILED)
    merged = delivered("T001", 41, open=False, merged=True)
    return (
        _shows("first of four", (delivered("T001", 41), running("T002"))),
        _shows("three, one a draft", open_ones),
        _shows("checks failed", (merged, failing)),
        _shows("refused by the rules", (merged, _refused())),
        _shows("all merged", (merged, delivered("T003", 43, open=False, merged=True))),
        entry(
            "pulls/left to people",
            pull_cards.pulls_card(
                _ending(open_ones), CardDecision(what="Left to people", by="Mika", at=at(40))
            ),
        ),
    )


def _shows(state: str, tasks: tuple[Task, ...]) -> Entry:
    return entry(f"pulls/{state}", pull_cards.pulls_card(_ending(tasks)))


def _refused() -> Task:
    one = delivered("T003", 43)
    assert one.pull_request
    problem = "At least 1 approving review is required by reviewers with write access."
    one.pull_request = one.pull_request.model_copy(update={"problem": problem})
    return one


def _ending(tasks: tuple[Task, ...]) -> Session:
    return at_work(*tasks, phase=Phase.FINISHING)


def _offer() -> tuple[Entry, ...]:
    session = at_work(*map(done, NAMES), phase=Phase.FINISHING, pulls__host=None)
    again = at_work(*map(done, NAMES), phase=Phase.FINISHING, pulls__host=None)
    again.ending.problem = "main has uncommitted changes in src/theme.ts."
    merged = CardDecision(what="To be merged", by="Mika", at=at(40))
    return (
        entry("offer/everything is built", messages.merge_offer(session)),
        entry("offer/the merge was refused", messages.merge_offer(again)),
        entry("offer/decided", messages.merge_offer(session, merged)),
    )
