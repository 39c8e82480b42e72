"""What stands on which card."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.core.cards import (
    Card,
    CardBase,
    CardDecision,
    OfferCard,
    ProblemCard,
    ReceivedCard,
    SummaryCard,
)
from bot.core.choices import Style, Verb
from bot.core.evidence import EvidenceInventory, ExecutionResult
from bot.core.intent import Question
from bot.core.layout import lay_out
from bot.core.layout.phrases import state_in_words
from bot.core.plan import Alteration, Altered, Analysis, Difference, Forecast, RequirementCoverage
from bot.core.sheets import Bullets, Fields, Pointer, Prose, Sheet, Table, Text, Tone
from bot.core.states import OverallStatus, Phase, Status, TaskState
from bot.core.text import ago, counted, duration
from tests.fakes import cards

DECIDED = CardDecision(what="Approved", by="Mika", at=cards.AT)
WAITING = (
    cards.QUESTIONS,
    cards.HALF_ANSWERED,
    cards.APPROVAL,
    cards.REVISED,
    cards.CHANGE,
    cards.PARTS,
    cards.EARLIER,
    cards.NEEDS_YOU,
    cards.OFFER,
    cards.STOPPED,
)


def texts(laid: Sheet) -> str:
    return laid.model_dump_json()


def table(laid: Sheet) -> Table:
    return next(element for element in laid.body if isinstance(element, Table))


def bullets(laid: Sheet) -> list[str]:
    return [item for element in laid.body if isinstance(element, Bullets) for item in element.items]


def facts(laid: Sheet) -> dict[str, str]:
    return {n: v for element in laid.body if isinstance(element, Fields) for n, v in element.pairs}


def test_there_is_a_sample_of_every_kind_of_card() -> None:
    kinds = set(CardBase.__subclasses__())
    assert {type(card) for card in (*cards.EVERY_KIND, cards.HOME)} == kinds


@pytest.mark.parametrize(
    "card", [*cards.EVERY_KIND, cards.HOME, cards.QUIET_HOME], ids=lambda card: card.key
)
def test_every_card_has_a_title_and_says_something(card: Card) -> None:
    laid = lay_out(card)
    assert laid.title.strip()
    assert laid.body


@pytest.mark.parametrize("card", WAITING, ids=lambda card: card.key)
def test_what_waits_for_a_person_can_be_pressed_until_it_is_decided(card: Card) -> None:
    assert lay_out(card).choices
    assert lay_out(card).tone is Tone.NEEDS_YOU
    decided = lay_out(card.model_copy(update={"decided": DECIDED}))
    assert decided.choices == ()
    assert decided.tone is not Tone.NEEDS_YOU
    assert "Approved by Mika, 2026-11-18 12:03 UTC" in decided.footer


@pytest.mark.parametrize("card", [*cards.EVERY_KIND, *WAITING], ids=lambda card: card.key)
def test_at_most_one_choice_is_the_primary_one_and_it_comes_first(card: Card) -> None:
    styles = [choice.style for choice in lay_out(card).choices]
    assert Style.PRIMARY not in styles[1:]


def test_discarding_merging_and_splitting_ask_once_more() -> None:
    asks = {Verb.DISCARD, Verb.MERGE, Verb.SPLIT}
    for card in (cards.APPROVAL, cards.CHANGE, cards.STOPPED, cards.OFFER, cards.PARTS):
        for choice in lay_out(card).choices:
            assert bool(choice.confirm) is (choice.verb in asks)


def test_an_approval_is_bound_to_the_digest_that_was_shown() -> None:
    approve, change, _ = lay_out(cards.APPROVAL).choices
    assert (approve.verb, approve.about) == (Verb.APPROVE, cards.DIGEST)
    assert (change.verb, change.about) == (Verb.CHANGE, cards.DIGEST)
    assert change.asks
    assert cards.DIGEST[:12] in lay_out(cards.APPROVAL).footer


def test_an_approval_shows_every_task_base_flags_tests_and_when_it_expires() -> None:
    laid = lay_out(cards.APPROVAL)
    assert [row[0] for row in table(laid).rows] == ["T001", "T002", "T003"]
    assert table(laid).rows[2][2] == "T001, T002"
    assert facts(laid)["Base"] == "main at 1234567890"
    assert facts(laid)["Agent flags"] == "--dangerously-skip-permissions"
    assert facts(laid)["Tests"] == "python -m pytest -q"
    assert "2026-11-19 12:03" in laid.footer


@pytest.mark.covers("G-RULE-PARALLEL-3")
def test_a_first_approval_says_nothing_of_what_there_is_none_of() -> None:
    laid = lay_out(cards.APPROVAL)
    assert [type(element) for element in laid.body] == [Table, Fields]
    assert list(facts(laid)) == ["Base", "At once", "Tests", "Agent flags", "So far"]


def test_an_approval_says_what_of_its_planning_was_shortened_for_the_model() -> None:
    shortened = ("plan: previous.spec", "tasks: previous.plan", "judge: report")
    usage = cards.APPROVAL.usage.model_copy(update={"shortened": shortened})
    laid = lay_out(cards.APPROVAL.model_copy(update={"usage": usage}))
    assert facts(laid)["Shortened for the model"] == "former documents (context says where)"


def heads(laid: Sheet) -> list[str]:
    return [e.text for e in laid.body if isinstance(e, Text) and e.strong]


def below(laid: Sheet, head: str) -> tuple[str, ...]:
    place = laid.body.index(Text(text=head, strong=True))
    found = laid.body[place + 1]
    assert isinstance(found, Bullets)
    return found.items


def test_a_revision_shows_what_changed_before_the_plan_itself() -> None:
    laid = lay_out(cards.REVISED)
    assert laid.title == "Shall I build SPEC-1a2b3c4d, revision 2?"
    assert heads(laid) == ["Changed since revision 1", "Found in the plan"]
    assert below(laid, "Changed since revision 1") == (
        "changed: spec.md · Requirements",
        "↳ FR-003 is new: 設定を端末間で同期する",
        "removed: plan.md · Cookies",
        "added: T004 Keep it in step",
        "changed: T002 設定画面に切り替えを追加する",
        "↳ after T001 and T004, no longer after T001",
        f"↳ {cards.DIFFERENCE.tasks[1].details[1]}",
    )


@pytest.mark.parametrize(("lines", "shown"), [(31, 31), (32, 31), (500, 31)])
def test_a_long_difference_is_cut_and_the_rest_counted(lines: int, shown: int) -> None:
    one = Alteration(
        what=Altered.CHANGED, where="spec.md", name="All", details=("x",) * (lines - 1)
    )
    difference = Difference(since=1, sections=(one,))
    laid = lay_out(cards.APPROVAL.model_copy(update={"difference": difference}))
    items = below(laid, "Changed since revision 1")
    assert len(items) == shown
    assert items[-1] == (f"… and {lines - 30} more lines" if lines > 31 else "↳ x")


@pytest.mark.covers("F-RISK-1", "O-M4")
def test_risk_coverage_breakdown_and_forecast_are_facts_of_a_plan() -> None:
    said = facts(lay_out(cards.REVISED))
    assert said["Risk"] == "high: it touches what people have stored; it cannot be taken back"
    assert said["Coverage"] == "2 of 3 requirements (66 %); no task serves FR-003"
    assert said["Breakdown"] == "82 of 100"
    assert said["Forecast"] == (
        "5 sessions so far: 14 min (9–31), 48,000 tokens (30,000–90,000), 4 tasks (3–6)"
    )


def test_a_plan_that_covers_everything_says_so_and_no_history_is_no_forecast() -> None:
    served = Analysis(coverage=(RequirementCoverage(requirement="FR-001", tasks=("T001",)),))
    update = {"analysis": served, "forecast": Forecast(), "risk": "low"}
    said = facts(lay_out(cards.APPROVAL.model_copy(update=update)))
    assert said["Coverage"] == "1 of 1 requirement (100 %)"
    assert said["Forecast"] == "no history yet"
    assert said["Risk"] == "low"
    assert "Breakdown" not in said


def test_findings_stand_worst_first_with_what_to_do() -> None:
    assert below(lay_out(cards.REVISED), "Found in the plan") == (
        "HIGH G1 (coverage, tasks.md): FR-003 is served by no task. → Add a task for it.",
        "LOW A1 (ambiguity): «Soon» is said of the reminder.",
    )


def test_every_critical_finding_is_shown_and_of_the_others_only_some() -> None:
    minor = cards.ANALYSIS.findings[0]
    findings = (*(minor,) * 12, *(cards.CRITICAL,) * 10)
    analysis = cards.ANALYSIS.model_copy(update={"findings": findings})
    laid = lay_out(cards.APPROVAL.model_copy(update={"analysis": analysis}))
    items = below(laid, "Found in the plan")
    assert [item.startswith("CRITICAL") for item in items] == [True] * 10 + [False] * 9
    assert items[-1] == "… and 4 more findings"


@pytest.mark.covers("O-M4")
def test_a_plan_with_something_critical_cannot_be_approved_and_says_what_to_do() -> None:
    analysis = Analysis(findings=(cards.CRITICAL,))
    for card in (cards.APPROVAL, cards.REVISED, cards.CHANGE):
        laid = lay_out(card.model_copy(update={"analysis": analysis}))
        assert Verb.APPROVE not in [choice.verb for choice in laid.choices]
        assert Verb.CHANGE in [choice.verb for choice in laid.choices]
        assert laid.tone is Tone.NEEDS_YOU
        last = laid.body[-1]
        assert isinstance(last, Text)
        assert last.text.startswith("I cannot ask for approval: I1 is critical")
        assert "Say what should be different" in last.text
        assert "Once approved" not in laid.footer


def test_a_change_of_plan_says_first_what_was_asked_for_what_stops_and_what_goes_on() -> None:
    laid = lay_out(cards.CHANGE)
    assert laid.title == "Change of plan: shall I build SPEC-1a2b3c4d, revision 2?"
    assert heads(laid)[:4] == [
        "What was asked for",
        "What stops",
        "What goes on",
        "Changed since revision 1",
    ]
    assert laid.body[1] == Text(text="The setting must be the same on all my machines.")
    assert below(laid, "What stops") == cards.CHANGE.stops
    assert below(laid, "What goes on") == cards.CHANGE.goes_on


def test_a_change_of_plan_is_confirmed_said_differently_or_forgotten() -> None:
    confirm, differently, forget = lay_out(cards.CHANGE).choices
    assert (confirm.label, confirm.verb) == ("Confirm", Verb.APPROVE)
    assert (differently.label, differently.verb) == ("Say it differently", Verb.CHANGE)
    assert differently.asks
    assert (forget.label, forget.verb) == ("Forget the change", Verb.DROP)
    assert {choice.about for choice in (confirm, differently, forget)} == {"change-1"}
    more = cards.CHANGE.model_copy(update={"edits_only": False})
    assert lay_out(more).choices[0].label == "Approve"


def notes(laid: Sheet) -> list[str]:
    return [e.text for e in laid.body[-2:] if isinstance(e, Text) and not e.strong]


def test_where_several_must_approve_the_card_counts_them() -> None:
    nobody = lay_out(cards.REVISED.model_copy(update={"approved_by": ()}))
    assert nobody.choices[0].label == "Approve (1 of 2)"
    assert notes(nobody) == ["2 different people must approve this."]
    one = lay_out(cards.REVISED)
    assert one.choices[0].label == "Approve (2 of 2)"
    assert notes(one) == ["Approved by Anna; one more person must approve."]
    three = lay_out(cards.REVISED.model_copy(update={"approvers": 3}))
    assert notes(three) == ["Approved by Anna; 2 more people must approve."]


def test_a_dry_run_says_that_nothing_runs_yet() -> None:
    laid = lay_out(cards.APPROVAL.model_copy(update={"dry_run": True}))
    assert laid.choices[0].label == "Run it"
    assert notes(laid) == [
        "You asked for the plan only: nothing runs until somebody says «run it»."
    ]


def test_what_was_decided_says_nothing_of_what_could_have_been_pressed() -> None:
    laid = lay_out(cards.REVISED.model_copy(update={"dry_run": True, "decided": DECIDED}))
    assert notes(laid) == []


@pytest.mark.covers("G-RULE-QUESTIONS-3")
def test_the_default_of_a_question_is_always_among_its_options() -> None:
    questions = (
        Question(number=1, text="A?", options=("x", "y"), default="y"),
        Question(number=2, text="B?", options=("x",), default="z"),
        Question(number=3, text="C?", default="w"),
    )
    laid = lay_out(cards.QUESTIONS.model_copy(update={"questions": questions}))
    assert bullets(laid) == ["x", "y (default)", "z (default)", "x", "w (default)"]
    assert [choice.verb for choice in laid.choices] == [Verb.DEFAULTS]


def test_what_is_answered_is_shown_beside_what_is_still_open() -> None:
    laid = lay_out(cards.HALF_ANSWERED)
    assert laid.title == "1 question is still open"
    assert laid.body[1] == Text(text="→ In the browser")
    assert bullets(laid) == ["設定画面 (default)"]
    assert [choice.label for choice in laid.choices] == ["Use defaults for the rest"]
    assert "D1: yes, D2: the second one" in laid.footer
    three = (*cards.HALF_ANSWERED.questions, Question(number=3, text="C?", default="w"))
    laid = lay_out(cards.HALF_ANSWERED.model_copy(update={"questions": three}))
    assert laid.title == "2 questions are still open"


@pytest.mark.covers("G-RULE-DUTY-4")
def test_where_only_the_person_can_know_there_are_no_defaults_to_take() -> None:
    questions = (
        Question(number=1, text="Which file?", default=""),
        Question(number=2, text="B?", options=("x", "y"), default="x"),
    )
    laid = lay_out(cards.QUESTIONS.model_copy(update={"questions": questions}))
    assert bullets(laid) == ["x (default)", "y"]
    assert laid.choices == ()
    assert laid.tone is Tone.NEEDS_YOU
    assert laid.footer.startswith("Please answer in your own words")
    known = questions[0].model_copy(update={"answer": "web.py"})
    laid = lay_out(cards.QUESTIONS.model_copy(update={"questions": (known, questions[1])}))
    assert [choice.verb for choice in laid.choices] == [Verb.DEFAULTS]


def test_when_every_question_is_answered_nothing_is_left_to_press() -> None:
    answered = tuple(q.model_copy(update={"answer": "so"}) for q in cards.QUESTIONS.questions)
    laid = lay_out(cards.QUESTIONS.model_copy(update={"questions": answered}))
    assert (laid.title, laid.choices, laid.tone) == ("Questions, answered", (), Tone.PLAIN)


def test_an_answered_question_shows_its_answer_only() -> None:
    answered = cards.QUESTIONS.questions[0].model_copy(update={"answer": "Nowhere"})
    update = {"questions": (answered,), "decided": DECIDED}
    laid = lay_out(cards.QUESTIONS.model_copy(update=update))
    assert laid.body == (Text(text=f"D1  {answered.text}", strong=True), Text(text="→ Nowhere"))


def test_a_wish_that_is_too_large_shows_its_parts_and_offers_two_ways() -> None:
    laid = lay_out(cards.PARTS)
    assert [row[1] for row in table(laid).rows] == ["Take payments", "返金", "Monthly reports"]
    split, whole = laid.choices
    assert (split.label, split.verb) == ("Open 3 sessions", Verb.SPLIT)
    assert (whole.label, whole.verb) == ("Plan it as one", Verb.WHOLE)


def test_parts_that_were_opened_can_be_followed() -> None:
    laid = lay_out(cards.SPLIT)
    followed = [e for e in laid.body if isinstance(e, Pointer)]
    assert [(e.text, e.thread.root) for e in followed] == [
        ("Take payments", "part-1"),
        ("返金", "part-2"),
        ("Monthly reports", "part-3"),
    ]
    assert laid.footer.startswith("Split into 3 sessions by Mika")


def test_an_earlier_session_is_named_with_the_reason_and_the_buttons_are_about_it() -> None:
    laid = lay_out(cards.EARLIER)
    assert facts(laid)["Session"] == "5e6f7a8b · Add a login page"
    assert Text(text=cards.EARLIER.reason) in laid.body
    assert [(c.label, c.verb, c.about) for c in laid.choices] == [
        ("Continue there", Verb.THERE, "5e6f7a8b"),
        ("Plan it here", Verb.HERE, "5e6f7a8b"),
    ]


def test_a_root_message_says_what_is_wanted_by_whom_and_where_it_comes_from() -> None:
    laid = lay_out(cards.ROOT)
    assert laid.title == "Payments"
    assert laid.body[0] == Text(text=cards.ROOT.request)
    assert facts(laid)["Asked for by"] == "Mika"
    assert laid.body[-1] == Pointer(text="A web shop", thread=cards.OTHER_THREAD)
    assert laid.footer == "session 9c8d7e6f"
    alone = lay_out(cards.ROOT.model_copy(update={"origin": None}))
    assert not [e for e in alone.body if isinstance(e, Pointer)]


@pytest.mark.covers("G-RULE-TRUST-1", "O-X2")
def test_the_first_card_says_which_repository_branch_and_commit_are_used() -> None:
    laid = lay_out(cards.RECEIVED)
    assert facts(laid)["Repository"] == cards.RECEIVED.repository
    assert facts(laid)["From"] == "main at 1234567890"
    assert "without a sandbox" in facts(laid)["Agents"]
    assert "3 uncommitted files of yours" in bullets(laid)[-1]
    sandboxed = cards.RECEIVED.model_copy(update={"sandboxed": True, "uncommitted": 1})
    assert facts(lay_out(sandboxed))["Agents"] == "claude, in a sandbox (bubblewrap)"
    assert "1 uncommitted file of yours" in bullets(lay_out(sandboxed))[-1]


def test_before_the_repository_is_known_the_card_says_that_it_is_looked_at() -> None:
    shown = lay_out(ReceivedCard(key="received", session="7682b3a8", request="Add discounts"))
    assert shown.title == "Got it, looking at the repository …"
    assert shown.body == ()


@pytest.mark.covers("G-RULE-SHOWN-1", "G-RULE-SHOWN-2")
def test_a_document_is_shown_in_full() -> None:
    laid = lay_out(cards.DOCUMENT)
    assert laid.title == "spec.md · revision 1"
    assert laid.body == (Prose(name="specs/SPEC-1a2b3c4d/spec.md", markdown=cards.DOCUMENT.text),)


@pytest.mark.covers("G-RULE-PROGRESS-2", "G-RULE-COST-1", "G-FR-015")
def test_the_status_shows_state_time_note_and_the_last_lines_of_each_pane() -> None:
    laid = lay_out(cards.STATUS)
    assert table(laid).rows[0] == (
        "✓ T001",
        "Set up the theme module",
        "Completed",
        "1 min 15 s",
        "",
    )
    assert table(laid).rows[1][3:] == ("1 h 02 min", "tests failed 1×, being mended")
    assert cards.STATUS.tasks[1].tail in [getattr(e, "text", "") for e in laid.body]
    assert "7 model calls, about 22,211 tokens" in laid.footer


def test_columns_in_which_nothing_stands_are_left_out() -> None:
    tasks = tuple(t.model_copy(update={"note": "", "seconds": None}) for t in cards.STATUS.tasks)
    laid = lay_out(cards.STATUS.model_copy(update={"tasks": tasks}))
    assert table(laid).head == ("Task", "What", "State")
    assert {len(row) for row in table(laid).rows} == {3}


def test_the_status_says_the_place_in_the_queue_and_what_it_waits_for() -> None:
    update = {"queue_position": 2, "waiting": 3, "trouble": "The model does not answer"}
    laid = lay_out(cards.STATUS.model_copy(update=update))
    assert facts(laid)["Queue"] == "place 2 of 3"
    assert facts(laid)["Waiting"] == "The model does not answer"


def test_every_state_of_a_task_has_a_mark_of_its_own() -> None:
    marks = [
        table(lay_out(cards.STATUS.model_copy(update={"tasks": (line,)}))).rows[0][0][0]
        for line in (cards.STATUS.tasks[0].model_copy(update={"state": s}) for s in TaskState)
    ]
    assert len(set(marks)) == len(TaskState)
    assert " " not in marks


def test_an_offer_counts_its_branches_in_good_english() -> None:
    one = OfferCard(key="offer", base="main", branches=("agent/a",))
    assert lay_out(one).choices[0].confirm == "Merge 1 branch into your local main?"
    assert lay_out(cards.OFFER).choices[0].confirm == "Merge 2 branches into your local main?"


def test_a_failed_merge_says_why_and_can_be_tried_again() -> None:
    laid = lay_out(cards.OFFER.model_copy(update={"problem": "main has moved."}))
    assert "main has moved." in texts(laid)
    assert laid.choices[0].label == "Try again to merge into main"


def test_a_stop_names_the_processes_that_would_not_end() -> None:
    assert "123, 456" in texts(lay_out(cards.STOPPED))
    quiet = cards.STOPPED.model_copy(update={"stopped_runs": 0, "survivors": ()})
    assert "No agent was running" in texts(lay_out(quiet))


def test_a_summary_leaves_out_what_there_is_none_of() -> None:
    bare = SummaryCard(
        key="summary",
        title="Nothing done",
        result=ExecutionResult(overall_status=OverallStatus.NO_EVIDENCE, session_id="x"),
        tasks=(),
        checks=(),
        usage=cards.STATUS.usage,
        agent_runs=1,
        seconds=3,
    )
    laid = lay_out(bare)
    assert laid.title == "NO EVIDENCE: Nothing done"
    assert laid.tone is Tone.FAILURE
    assert [type(element) for element in laid.body] == [Fields]
    assert facts(laid)["Agents"] == "1 run"
    assert lay_out(cards.SUMMARY).tone is Tone.SUCCESS


@pytest.mark.covers("R-ENTITY-ExecutionResult")
def test_a_summary_counts_its_evidence_and_names_limits_guesses_and_what_does_not_match() -> None:
    kept = EvidenceInventory(total_evidence_items=7, integrity_failures=("ev-3",))
    result = cards.SUMMARY.result.model_copy(
        update={
            "evidence_inventory": kept,
            "evidence_summary": "7 pieces of evidence, 1 changed since",
        }
    )
    told = texts(
        lay_out(
            cards.SUMMARY.model_copy(
                update={
                    "result": result,
                    "violations": ("T001: 12 files, 8 were allowed",),
                    "guesses": ("T001: should work",),
                }
            )
        )
    )
    assert "7 pieces of evidence, 1 changed since" in told
    assert "Changed since it was written: ev-3" in told
    assert "T001: 12 files, 8 were allowed" in told
    assert "T001: should work" in told


def test_a_problem_says_what_to_do_and_when_it_is_over() -> None:
    laid = lay_out(
        ProblemCard(key="p", title="No model", reason="", remedy="Start it.", retrying=True)
    )
    assert laid.body == (Text(text="Start it."),)
    assert "keep trying" in laid.footer
    over = lay_out(ProblemCard(key="p", title="No model", reason="It works again.", over=True))
    assert over.title == "Solved: No model"
    assert over.tone is Tone.PLAIN


def test_times_and_numbers_are_said_as_people_say_them() -> None:
    assert [duration(n) for n in (None, 0, 59, 60, 3599, 3600)] == [
        "",
        "0 s",
        "59 s",
        "1 min 00 s",
        "59 min 59 s",
        "1 h 00 min",
    ]
    assert duration(int(timedelta(days=2, minutes=5).total_seconds())) == "48 h 05 min"
    assert [counted(n, "branch") for n in (0, 1, 2)] == ["0 branches", "1 branch", "2 branches"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0 s ago"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (779, "12 min ago"),
        (7_265, "2 h 01 min ago"),
        (180_000, "2 days ago"),
    ],
)
def test_how_long_ago_it_was_is_said_as_people_say_it(seconds: int, text: str) -> None:
    assert ago(cards.AT - timedelta(seconds=seconds), cards.AT) == text


def test_a_session_that_wanted_only_its_documents_is_not_still_approving() -> None:
    assert state_in_words(Status.COMPLETED, Phase.APPROVING) == "Completed · spec written"
    assert state_in_words(Status.ACTIVE, Phase.APPROVING) == "Active · approving"
    assert state_in_words(Status.COMPLETED, Phase.DONE) == "Completed · done"
