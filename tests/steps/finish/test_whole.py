"""The end of all: judged as a whole, cleaned up, told; and gone on with for what is missing, as often as that is allowed."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed
from bot.core.cards import OfferCard, PullsCard, SummaryCard
from bot.core.choices import Verb, Word
from bot.core.events import CleanedUp, OrderFailed, WholeJudged
from bot.core.evidence import Judgement, Verdict
from bot.core.forge import CiState
from bot.core.git import Removal
from bot.core.session import Session
from bot.core.session_parts import Ending
from bot.core.states import IntentStatus, OverallStatus, Phase, Status, TaskState
from bot.core.talk import WordKind
from bot.core.task import PullRequest, SmallerTask, Task
from bot.steps.decisions import decide, due
from bot.steps.finish import rules as finish
from bot.steps.plan import MAX_ROUNDS
from bot.steps.pull_requests import cards as pull_cards
from tests.steps.scenes import (
    cards,
    commanded,
    delivering,
    judged,
    kinds,
    later,
    look,
    ordered,
    press,
    pressed,
    pull,
    said,
    shipped,
    task,
    tick,
    titles,
    verbs,
    whispers,
)

MISSING = (SmallerTask(name="Docs", description="Describe the codes."),)


def finishing(*tasks: Task, **changes: object) -> Session:
    given = {"phase": Phase.FINISHING, "queue__has_place": False, "queue__since": None} | changes
    return delivering(*(tasks or (shipped("T001", 7),)), **given)


def merged(session: Session, number: int = 7) -> list[Deed]:
    return look(session, pull(number, merged=True, open=False, merge_commit="m" * 40))


def whole(
    session: Session, outcome: Judgement = Judgement.DONE, *proposed: SmallerTask
) -> list[Deed]:
    order = ordered(session, "judge_whole")
    verdict = Verdict(outcome=outcome, missing=("docs",), reasons=("so",), at=later())
    event = WholeJudged(id="w", at=later(), answers=order.key, verdict=verdict, proposed=proposed)
    return decide(session, event)


def cleaned(session: Session, *removals: Removal) -> SummaryCard:
    order = ordered(session, "clean_up")
    event = CleanedUp(id="c", at=later(), answers=order.key, removals=removals)
    shown = [c for c in cards(decide(session, event)) if isinstance(c, SummaryCard)]
    return shown[0]


def ended(*proposed: SmallerTask, **changes: object) -> tuple[Session, SummaryCard]:
    session = finishing(**changes)
    merged(session)
    whole(session, Judgement.CONTINUE if proposed else Judgement.DONE, *proposed)
    gone = Removal(branch="agent/t001", path="/w", worktree_gone=True, branch_gone=True)
    return session, cleaned(session, gone)


def request_of(one: Task) -> PullRequest:
    assert one.pull_request
    return one.pull_request


@pytest.mark.covers("G-RULE-FINISH-2")
def test_nothing_ends_before_every_pull_request_is_merged_closed_or_declared_unneeded() -> None:
    session = finishing(shipped("T001", 7), shipped("T002", 9))
    merged(session)
    assert session.ending.choice is None
    assert kinds(session) == ["watch_pulls"]
    look(session, pull(9, open=False))
    assert session.ending.choice is Ending.PULLS


def test_work_that_people_refused_is_not_complete() -> None:
    session = finishing(shipped("T001", 7), shipped("T002", 9))
    look(session, pull(7, open=False))
    merged(session, 9)
    whole(session)
    card = cleaned(session)
    assert card.merged == "1 of 2 pull requests merged"
    assert card.result.overall_status is OverallStatus.INCOMPLETE
    assert "#7 was closed without a merge" in card.result.incomplete_task_reasons[0]
    assert len(card.result.incomplete_task_reasons) == 1
    assert session.intent.status is IntentStatus.BLOCKED


@pytest.mark.parametrize(
    ("ci", "says"),
    [
        (CiState.PASSED, "T001: #7 merged"),
        (CiState.FAILED, "T001: #7 merged though a check had failed"),
        (CiState.PENDING, "T001: #7 merged before its checks had ended"),
    ],
)
def test_what_people_merged_over_its_checks_is_told_so(ci: CiState, says: str) -> None:
    session = finishing()
    look(session, pull(7, merged=True, open=False, ci=ci))
    whole(session)
    assert cleaned(session).pulls == (says,)


def test_when_all_is_built_people_are_told_in_a_message_of_its_own() -> None:
    """An edited card notifies nobody; and who wants them merged already need not be told."""
    session = delivering(shipped("T001", 7), shipped("T002", 9))
    told = "Everything is built: #7, #9 wait for you"
    assert told in titles(decide(session, said("Fine so far.")))
    session = delivering(shipped("T001", 7))
    [card] = cards(list(pull_cards.pulls_card(session)))
    deeds = decide(session, press(card, Verb.MERGE_PULL))
    assert session.phase is Phase.FINISHING
    assert not [title for title in titles(deeds) if "Everything is built" in title]


@pytest.mark.covers("B-FLOW-RUN-17", "B-FLOW-RUN-18")
def test_the_whole_is_judged_once_before_anything_is_cleaned_up() -> None:
    session = finishing()
    merged(session)
    assert kinds(session) == ["judge_whole"]
    whole(session)
    assert kinds(session) == ["clean_up"]


@pytest.mark.covers("B-FLOW-RUN-19")
def test_the_summary_tells_pull_requests_verdict_and_what_is_proposed() -> None:
    _, card = ended(*MISSING)
    assert card.pulls == ("T001: #7 merged",)
    assert card.merged == "1 of 1 pull requests merged"
    assert card.verdict
    assert card.verdict.missing == ("docs",)
    assert card.proposed == ("Docs: Describe the codes.",)
    assert verbs(card) == [Verb.MORE]


def test_where_nothing_is_missing_nothing_is_offered() -> None:
    _, card = ended()
    assert card.choices == ()


def test_a_judgement_that_nobody_can_give_holds_nobody_up() -> None:
    session = finishing()
    merged(session)
    order = ordered(session, "judge_whole")
    refused = OrderFailed(
        id="f", at=later(), answers=order.key, what="judge_whole", reason="The model is gone."
    )
    decide(session, refused)
    card = cleaned(session)
    assert card.verdict
    assert card.verdict.outcome is Judgement.BLOCKED
    assert session.status is Status.COMPLETED


def test_what_nobody_has_completed_is_not_judged() -> None:
    session = delivering(task("T001", TaskState.CANCELLED))
    decide(session, tick())
    assert session.phase is Phase.FINISHING
    assert kinds(session) == ["clean_up"]


@pytest.mark.covers("B-FLOW-CONTINUE-3", "B-ID-2", "B-CMD-continue")
def test_with_one_button_what_is_missing_is_planned_in_the_same_session() -> None:
    session, card = ended(*MISSING)
    shown = cards(decide(session, press(card, Verb.MORE)))
    assert shown[0].key == card.key
    assert isinstance(shown[0], SummaryCard)
    assert shown[0].choices == ()
    assert (session.status, session.phase) == (Status.ACTIVE, Phase.SPECIFYING)
    assert "Describe the codes." in session.plan.change_request
    assert session.intent.status is IntentStatus.APPROVED


@pytest.mark.covers("B-FLOW-CONTINUE-3", "B-CMD-continue")
def test_the_word_continue_does_the_same() -> None:
    session, _ = ended(*MISSING)
    decide(session, commanded(Word.CONTINUE))
    assert session.phase is Phase.SPECIFYING


@pytest.mark.covers("B-FLOW-CONTINUE-4")
def test_a_second_press_plans_nothing_more() -> None:
    session, card = ended(*MISSING)
    decide(session, press(card, Verb.MORE))
    before = session.ending.rounds
    decide(session, press(card, Verb.MORE))
    assert session.ending.rounds == before
    assert whispers(decide(session, commanded(Word.CONTINUE)))


@pytest.mark.covers("B-FLOW-CONTINUE-2")
def test_nothing_is_continued_where_nothing_is_missing() -> None:
    session, _ = ended()
    assert whispers(decide(session, commanded(Word.CONTINUE)))
    assert session.status is Status.COMPLETED


@pytest.mark.covers("B-FLOW-CONTINUE-4", "B-WHY-3")
def test_after_ten_rounds_it_is_enough() -> None:
    session, card = ended(*MISSING, ending__rounds=MAX_ROUNDS)
    assert card.choices == ()
    assert whispers(decide(session, commanded(Word.CONTINUE)))
    assert session.status is Status.COMPLETED


@pytest.mark.covers("B-WHY-3")
@pytest.mark.parametrize(("rounds", "warns"), [(0, False), (1, False), (2, True), (9, True)])
def test_from_the_third_round_on_the_button_warns(rounds: int, warns: bool) -> None:
    _, card = ended(*MISSING, ending__rounds=rounds)
    assert ("This would be round" in card.choices[0].confirm) is warns


def next_round(session: Session, *tasks: Task) -> None:
    """What was missing is planned, approved, and its tasks are settled."""
    decide(session, commanded(Word.CONTINUE))
    session.tasks += tasks
    for phase in (Phase.APPROVING, Phase.EXECUTING):
        session.enter(phase)
    assert session.plan.spec
    session.plan.spec = session.plan.spec.model_copy(update={"commit": "d" * 40})
    session.set_intent_status(IntentStatus.EXECUTING)
    decide(session, tick())


@pytest.mark.covers("B-FLOW-CONTINUE-5")
def test_in_the_next_round_nothing_of_the_last_ending_is_left() -> None:
    session, _ = ended(*MISSING)
    session.pulls.problem, session.pulls.problems = "The token is gone.", 1
    decide(session, commanded(Word.CONTINUE))
    assert session.ending.choice is None
    assert session.ending.verdict is None
    assert session.ending.proposed == ()
    assert not session.ending.cleaned
    assert session.pulls.problem == ""


def test_the_merged_pull_requests_of_the_last_round_end_nothing_in_the_next() -> None:
    session, _ = ended(*MISSING)
    next_round(session, shipped("T002", 9))
    assert session.phase is Phase.FINISHING
    assert session.ending.choice is None
    assert ordered(session, "watch_pulls").key == "watch:9"
    merged(session, 9)
    assert session.ending.choice is Ending.PULLS


@pytest.mark.covers("B-FLOW-CONTINUE-5")
def test_the_next_round_is_judged_anew_under_a_name_of_its_own() -> None:
    session, _ = ended(*MISSING)
    next_round(session, shipped("T002", 9))
    merged(session, 9)
    assert ordered(session, "judge_whole").key == "judge-whole:2"


def test_the_next_round_has_cards_of_its_own() -> None:
    session, first = ended(*MISSING)
    next_round(session, shipped("T002", 9))
    merged(session, 9)
    whole(session)
    second = cleaned(session)
    assert second.key != first.key
    assert second.pulls == ("T001: #7 merged", "T002: #9 merged")


def test_a_button_of_the_last_round_does_nothing_in_the_next() -> None:
    session = finishing(shipped("T001", 7))
    old = next(c for c in cards(list(pull_cards.pulls_card(session))) if isinstance(c, PullsCard))
    merged(session)
    whole(session, Judgement.CONTINUE, *MISSING)
    cleaned(session)
    next_round(session, shipped("T002", 9))
    assert whispers(decide(session, press(old, Verb.UNNEEDED)))
    assert whispers(decide(session, press(old, Verb.MERGE_PULL)))
    assert not request_of(session.tasks[1]).unneeded


def test_what_was_left_open_in_the_last_round_is_not_waited_for_in_the_next() -> None:
    session = finishing(shipped("T001", 7))
    session.tasks[0].pull_request = request_of(session.tasks[0]).model_copy(
        update={"unneeded": True}
    )
    decide(session, pressed(Verb.UNNEEDED, ""))
    session.ending.choice = Ending.PULLS
    whole(session, Judgement.CONTINUE, *MISSING)
    card = cleaned(session)
    assert card.pulls == ("T001: #7 left open",)
    next_round(session, shipped("T002", 9))
    assert ordered(session, "watch_pulls").key == "watch:9"


def test_more_that_is_wanted_while_pull_requests_are_open_is_planned_first() -> None:
    session = finishing()
    decide(session, said("also print it"))
    shown = cards(decide(session, judged("also print it", WordKind.CHANGE)))
    assert session.phase is Phase.SPECIFYING
    assert not any(isinstance(card, OfferCard) for card in shown)
    [card] = [card for card in shown if isinstance(card, PullsCard)]
    assert card.choices == ()
    assert card.decided
    assert kinds(session)[0] != "watch_pulls"


def test_stopped_and_resumed_at_the_end_the_pull_requests_stand_there_again() -> None:
    session = finishing()
    decide(session, commanded(Word.STOP))
    assert list(due(session)) == []
    shown = cards(decide(session, commanded(Word.RESUME)))
    assert any(isinstance(card, PullsCard) and card.choices for card in shown)
    assert kinds(session) == ["watch_pulls"]


def test_discarded_it_says_which_pull_requests_stay_open() -> None:
    session = finishing(shipped("T001", 7), shipped("T002", 9))
    merged(session, 9)
    decide(session, commanded(Word.DISCARD))
    order = ordered(session, "clean_up")
    event = CleanedUp(id="c", at=later(), answers=order.key, removals=())
    told = "".join(card.model_dump_json() for card in cards(decide(session, event)))
    assert "T001: #7" in told
    assert "#9" not in told


def test_the_end_is_told_by_its_worst() -> None:
    session, card = ended()
    assert session.ending.result
    assert card.result == session.ending.result
    assert titles([finish.summary(session, tick())])[0].startswith("COMPLETE")


@pytest.mark.parametrize("verb", [Verb.MERGE, Verb.KEEP])
def test_a_local_merge_is_not_offered_or_taken_where_there_are_pull_requests(verb: Verb) -> None:
    session = finishing()
    assert whispers(decide(session, pressed(verb)))
    assert session.ending.choice is None
