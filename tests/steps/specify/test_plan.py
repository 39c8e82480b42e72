"""From the first word to an approved plan."""

from __future__ import annotations

from datetime import datetime

import pytest

from bot.core import approval
from bot.core.actions import Show
from bot.core.cards import ApprovalCard, DocumentCard, NewsCard, QuestionsCard, ReceivedCard
from bot.core.choices import Verb
from bot.core.events import (
    AnswersRead,
    BaseSeen,
    DocumentsCommitted,
    DocumentWritten,
    OrderFailed,
    QuestionsFound,
    Scanned,
    Surveyed,
)
from bot.core.git import Base, Scan
from bot.core.llm import Usage
from bot.core.people import Person
from bot.core.plan import Document, DocumentKind
from bot.core.runs import AgentReady
from bot.core.spec_kit.drafts import TaskDraft
from bot.core.states import IntentStatus, Phase, Status, TaskState
from bot.core.talk import WordKind
from bot.steps import messages
from bot.steps.clarify.rules import numbered_answers
from bot.steps.decisions import decide, due
from tests.steps.scenes import (
    ANN,
    asked,
    awaiting_approval,
    cards,
    fresh,
    judged,
    later,
    pressed,
    question,
    said,
    surveyed,
    task,
    titles,
    verbs,
    whispers,
)


def survey_result() -> Surveyed:
    return Surveyed(
        id="e1",
        at=later(),
        answers="survey",
        base=Base(repository="/srv/shop", branch="main", commit="b" * 40, uncommitted=2),
        agent=AgentReady(agent="played", ok=True),
        agent_flags="--yolo",
    )


@pytest.mark.parametrize(("length", "documents"), [(2_000, 0), (10_900, 1)])
def test_a_request_that_its_card_cannot_show_in_full_is_shown_as_a_document(
    length: int, documents: int
) -> None:
    session, text = fresh(), "x" * length
    shown = [card for card in cards(decide(session, said(text))) if isinstance(card, DocumentCard)]
    assert [(card.text, card.file) for card in shown] == [(text, "request.md")] * documents


@pytest.mark.covers("G-RULE-LOOP-5", "G-EVENT-SessionStart")
def test_a_request_is_acknowledged_at_once() -> None:
    session = fresh()

    [card] = cards(decide(session, said("Add discounts")))

    assert isinstance(card, ReceivedCard)
    assert card.request == "Add discounts"
    assert session.intent.body == "Add discounts"


@pytest.mark.covers("O-X2")
def test_the_first_card_says_where_the_work_happens_and_what_stays_untouched() -> None:
    session = fresh()
    decide(session, said("Add discounts"))

    [card] = cards(decide(session, survey_result()))

    assert isinstance(card, ReceivedCard)
    assert (card.repository, card.branch, card.uncommitted) == ("/srv/shop", "main", 2)
    assert session.phase is Phase.INTAKE
    assert session.plan.spec
    assert session.plan.spec.workspace.branch == session.plan.spec.id.lower().replace(
        "spec-", "agent/spec-"
    )


def test_the_first_card_names_what_a_person_has_left_half_done() -> None:
    session = fresh()
    decide(session, said("Add discounts"))
    found = survey_result()
    base = found.base.model_copy(update={"under_way": "a merge"})

    [card] = cards(decide(session, found.model_copy(update={"base": base})))

    assert isinstance(card, ReceivedCard)
    assert [
        note for note in card.notes if note.startswith("A merge is under way in your checkout.")
    ]


def test_what_the_survey_finds_wrong_ends_the_session_until_somebody_mends_it() -> None:
    session = fresh()
    decide(session, said("Add discounts"))
    refusal = OrderFailed(
        id="e1",
        at=later(),
        answers="survey",
        what="survey",
        reason="not a repository",
        remedy="git init",
    )

    [card] = cards(decide(session, refusal))

    assert session.status is Status.FAILED
    assert verbs(card) == [Verb.TRY_AGAIN, Verb.DISCARD]

    decide(session, pressed(Verb.TRY_AGAIN))
    assert (session.status, session.phase) == (Status.ACTIVE, Phase.INTAKE)


@pytest.mark.covers("G-RULE-FLOW-1", "G-RULE-QUESTIONS-1", "G-RULE-QUESTIONS-2", "F-ANALYZE-3")
def test_all_questions_come_on_one_card() -> None:
    session = surveyed(repository__scan=Scan(commit="b"), tests__command="make test")
    found = QuestionsFound(
        id="e",
        at=later(),
        answers="questions",
        title="Discounts",
        type="feature",
        questions=(question(1), question(2)),
        usage=Usage(calls=1, prompt_tokens=10, reply_tokens=5),
    )

    [card] = cards(decide(session, found))

    assert isinstance(card, QuestionsCard)
    assert len(card.questions) == 2
    assert verbs(card) == [Verb.DEFAULTS]
    assert session.usage.tokens == 15


def test_without_questions_planning_begins_at_once() -> None:
    session = surveyed(repository__scan=Scan(commit="b"), tests__command="make test")
    found = QuestionsFound(
        id="e", at=later(), answers="questions", title="D", type="fix", questions=()
    )
    decide(session, found)
    assert session.phase is Phase.SPECIFYING


@pytest.mark.covers("G-RULE-QUESTIONS-4", "G-RULE-QUESTIONS-5", "F-INTENT-CLARIFICATIONS")
def test_one_button_takes_all_defaults_and_the_card_says_who() -> None:
    session = asked()

    [card] = cards(decide(session, pressed(Verb.DEFAULTS)))

    assert [q.answer for q in session.intent.clarifications] == ["first", "first"]
    assert [q.answered_by for q in session.intent.clarifications] == ["Ann", "Ann"]
    assert isinstance(card, QuestionsCard)
    assert card.decided
    assert card.decided.by == "Ann"
    assert verbs(card) == []


@pytest.mark.covers("G-FR-002")
@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("D1: yes, D2: no", {1: "yes", 2: "no"}),
        ("1) 2\n2) b", {1: "second", 2: "second"}),
        ("D2: the second one, please", {2: "the second one, please"}),
        ("d1：はい、D2：いいえ", {1: "はい", 2: "いいえ"}),
        ("whatever you like", {}),
        ("D7: what?", {}),
        ("1: yes, 2: no", {1: "yes", 2: "no"}),
        ("I would say option 2. No, wait", {}),
        ("D1:　はい。 D2: いいえ", {1: "はい", 2: "いいえ"}),
        ("D1: , D2: no", {2: "no"}),
        ("D1:\nD2: no", {2: "no"}),
        ("\n\n1: yes\n\t\n\n2: no\n", {1: "yes", 2: "no"}),
    ],
)
def test_plain_words_find_their_questions(text: str, answers: dict[int, str]) -> None:
    assert numbered_answers(text, (question(1), question(2))) == answers


@pytest.mark.parametrize("blank", [" ", "\n", ", ", "、"])
def test_a_text_full_of_blanks_is_gone_through_once(blank: str) -> None:
    """Again and again it would take hours."""
    text = f"x{blank * 200_000}x, D2: no"
    assert numbered_answers(text, (question(1), question(2))) == {2: "no"}


@pytest.mark.covers("G-RULE-LOOP-4", "G-EVENT-UserInput")
def test_what_is_not_answered_stays_open_and_is_seen_to_be() -> None:
    session = asked()

    [card] = cards(decide(session, said("D2: second")))

    assert [q.answer for q in session.intent.clarifications] == [None, "second"]
    assert session.phase is Phase.CLARIFYING
    assert isinstance(card, QuestionsCard)
    assert card.decided is None
    assert "1 question is still open" in titles([Show(card=card)])[0]
    decide(session, pressed(Verb.DEFAULTS))
    assert [q.answer for q in session.intent.clarifications] == ["first", "second"]
    assert session.phase is Phase.SPECIFYING


def read(found: dict[int, str], **more: object) -> AnswersRead:
    return AnswersRead.model_validate(
        {
            "id": "r",
            "at": later(),
            "answers": "answers:said:hm",
            "words_id": "said:hm",
            "found": found,
            **more,
        }
    )


def test_free_words_are_read_by_the_model_and_go_to_their_questions() -> None:
    session = asked()
    assert decide(session, said("hm")) == []
    assert [order.key for order in due(session)] == ["answers:said:hm"]

    decide(session, read({2: "the second", 7: "never asked"}))

    assert [q.answer for q in session.intent.clarifications] == [None, "the second"]
    assert [q.answered_by for q in session.intent.clarifications] == ["", "Ann"]
    assert [order.key for order in due(session)] == []


@pytest.mark.covers("F-INTENT-CLARIFICATIONS")
@pytest.mark.parametrize("found", [{}, {7: "never asked"}, {1: ""}], ids=str)
def test_words_that_answer_nothing_are_asked_about_and_nothing_is_decided(
    found: dict[int, str],
) -> None:
    session = asked()
    decide(session, said("hm"))
    assert whispers(decide(session, read(found)))
    assert session.phase is Phase.CLARIFYING
    assert all(q.answer is None for q in session.intent.clarifications)


def test_the_rest_takes_its_defaults_when_somebody_says_so() -> None:
    session = asked()
    decide(session, said("hm"))
    decide(session, read({2: "second"}, defaults=True))
    assert [q.answer for q in session.intent.clarifications] == ["first", "second"]
    assert session.phase is Phase.SPECIFYING


def test_what_the_model_cannot_tell_is_named_and_stays_open() -> None:
    session = asked()
    decide(session, said("hm"))
    [told] = whispers(decide(session, read({1: "first"}, unclear=(2,))))
    assert "D2" in told
    assert [q.answer for q in session.intent.clarifications] == ["first", None]


@pytest.mark.covers("G-RULE-DUTY-4")
def test_a_question_that_only_the_person_can_answer_takes_no_default() -> None:
    session = asked(question(1), question(2, options=(), default=""))
    decide(session, pressed(Verb.DEFAULTS))
    assert [q.answer for q in session.intent.clarifications] == ["first", None]
    assert session.phase is Phase.CLARIFYING


def test_the_button_takes_the_defaults_that_stood_on_its_card_and_no_others() -> None:
    session = asked()
    decide(session, pressed(Verb.DEFAULTS, "questions#D2"))
    assert [q.answer for q in session.intent.clarifications] == [None, "first"]
    [told] = whispers(decide(session, pressed(Verb.DEFAULTS, "earlier questions#D1")))
    assert told
    assert session.intent.clarifications[0].answer is None


def tasks_written(*drafts: TaskDraft) -> DocumentWritten:
    document = Document(kind=DocumentKind.TASKS, revision=1, text="# Tasks", sha256="1" * 64)
    return DocumentWritten(
        id="e", at=later(), answers="write:tasks:1", document=document, drafts=drafts, parallelism=2
    )


@pytest.mark.covers(
    "G-RULE-TASKS-2",
    "G-RULE-TASKS-6",
    "B-FLOW-RUN-3",
    "B-FLOW-RUN-6",
    "B-OP-planTasks",
    "F-TASK-1",
    "F-TASK-2",
    "F-TASK-COMPLEXITY",
    "F-ANALYZE-1",
)
def test_drafts_become_tasks_that_know_their_predecessors() -> None:
    session = awaiting_approval()
    session.phase, session.plan.documents = Phase.SPECIFYING, session.plan.documents[:2]
    decide(
        session,
        tasks_written(
            TaskDraft(key="T001", title="Discounts", acceptance=("they work",), complexity="high"),
            TaskDraft(key="T002", title="Checkout", depends_on=("T001",)),
        ),
    )
    first, second = session.tasks
    assert second.dependencies == (first.id,)
    assert first.acceptance[0].id == "T001-A1"
    assert (first.complexity, second.complexity) == ("high", "")


def test_a_plan_gets_no_more_agents_at_once_than_the_operator_lets() -> None:
    session = awaiting_approval()
    session.phase, session.plan.documents, session.agents.most_at_once = (
        Phase.SPECIFYING,
        session.plan.documents[:2],
        3,
    )
    drafts = [TaskDraft(key="T001", title="Discounts")]
    decide(session, tasks_written(*drafts).model_copy(update={"parallelism": 7}))
    assert session.plan.parallelism == 3


def test_a_document_of_an_earlier_revision_is_ignored() -> None:
    session = awaiting_approval()
    assert session.plan.spec
    session.phase, session.plan.documents = Phase.SPECIFYING, ()
    session.plan.spec = session.plan.spec.model_copy(update={"revision": 2})
    decide(session, tasks_written(TaskDraft(key="T001", title="Discounts")))
    assert session.plan.documents == ()


@pytest.mark.covers(
    "G-RULE-FLOW-5",
    "G-RULE-FLOW-7",
    "G-RULE-APPROVAL-1",
    "G-RULE-SHOWN-1",
    "G-RULE-SHOWN-2",
    "G-RULE-SHOWN-3",
)
def test_all_three_documents_are_shown_in_full_before_the_approval_is_asked_for() -> None:
    session = awaiting_approval()
    session.phase = Phase.SPECIFYING
    assert session.plan.spec
    committed = DocumentsCommitted(
        id="e",
        at=later(),
        answers="commit:1",
        workspace=session.plan.spec.workspace,
        commit="f" * 40,
    )

    shown = cards(decide(session, committed))

    documents = [card for card in shown if isinstance(card, DocumentCard)]
    assert [card.document for card in documents] == list(DocumentKind)
    assert isinstance(shown[-1], ApprovalCard)
    assert verbs(shown[-1]) == [Verb.APPROVE, Verb.CHANGE, Verb.DISCARD]


@pytest.mark.covers("G-US2.1", "G-RULE-FLOW-6", "G-RULE-APPROVAL-2", "F-MOVE-1", "F-MOVE-2")
def test_an_approval_starts_the_work_and_is_bound_to_what_was_shown() -> None:
    session = awaiting_approval()
    digest = approval.digest(session)

    shown = cards(decide(session, pressed(Verb.APPROVE, approval.offer(session))))

    assert session.phase is Phase.EXECUTING
    assert session.intent.status is IntentStatus.EXECUTING
    assert session.approval.granted
    assert session.approval.granted.digest == digest
    assert session.status is Status.QUEUED
    assert isinstance(shown[0], ApprovalCard)
    assert shown[0].decided


@pytest.mark.covers("O-C5")
def test_a_stale_approval_does_nothing_and_says_so_in_private() -> None:
    session = awaiting_approval()
    old = approval.offer(session)
    session.plan.documents = (
        *session.plan.documents[:2],
        session.plan.documents[2].model_copy(update={"sha256": "9" * 64}),
    )

    deeds = decide(session, pressed(Verb.APPROVE, old))

    assert whispers(deeds) == ["That button is no longer current; nothing was changed."]
    assert not cards(deeds)
    assert session.phase is Phase.APPROVING


def test_a_second_approval_says_who_was_first() -> None:
    session = awaiting_approval()
    offer = approval.offer(session)
    decide(session, pressed(Verb.APPROVE, offer))

    [text] = whispers(decide(session, pressed(Verb.APPROVE, offer)))

    assert text.startswith("Already approved by Ann")


@pytest.mark.covers("O-C5")
def test_an_approval_after_a_day_gets_a_fresh_card_instead() -> None:
    session = awaiting_approval()
    offer = approval.offer(session)
    late = pressed(Verb.APPROVE, offer).model_copy(update={"at": later(25 * 3600)})

    deeds = decide(session, late)

    assert whispers(deeds)
    assert session.phase is Phase.APPROVING
    assert [order.key for order in due(session)] == ["base"]
    card, news = cards(decide(session, base_seen("b" * 40, at=later(25 * 3600))))
    assert verbs(card)[0] is Verb.APPROVE
    assert isinstance(news, NewsCard)
    assert "once more" in news.title

    twice = late.model_copy(update={"id": "twice", "at": later(25 * 3600 + 1)})
    decide(session, twice)

    assert session.phase is Phase.APPROVING  # the plan was not read again within a double click
    fresh = pressed(Verb.APPROVE, approval.offer(session))
    decide(session, fresh.model_copy(update={"at": later(25 * 3600 + 60)}))
    assert session.phase is Phase.EXECUTING


def base_seen(commit: str, at: datetime) -> BaseSeen:
    base = Base(repository="/srv/shop", branch="main", commit=commit)
    return BaseSeen(id="base", at=at, answers="base", base=base)


def test_an_old_plan_is_made_anew_when_the_base_has_moved() -> None:
    session = awaiting_approval()
    late = pressed(Verb.APPROVE, approval.offer(session)).model_copy(
        update={"at": later(25 * 3600)}
    )
    decide(session, late)

    decide(session, base_seen("e" * 40, at=later(25 * 3600)))

    assert (session.phase, session.repository.base_commit) == (Phase.SPECIFYING, "e" * 40)
    assert session.plan.spec
    assert session.plan.spec.revision == 2
    assert "moved" in session.plan.change_request
    assert [order.key for order in due(session)] == ["scan"]


@pytest.mark.covers("O-C5")
@pytest.mark.parametrize("change", ["agent", "flags", "base", "document"])
def test_the_digest_changes_with_everything_it_is_bound_to(change: str) -> None:
    session = awaiting_approval(task("T001"))
    before = approval.digest(session)
    match change:
        case "agent":
            session.tasks[0].agent = "codex"
        case "flags":
            session.agents.flags = "--other"
        case "base":
            session.repository.base_commit = "e" * 40
        case _:
            session.plan.documents = session.plan.documents[1:]
    assert approval.digest(session) != before


@pytest.mark.covers("G-RULE-APPROVAL-4")
def test_a_change_request_leads_to_a_new_revision_that_knows_the_old_one() -> None:
    session = awaiting_approval()
    old = session.plan.documents

    decide(session, pressed(Verb.CHANGE, approval.offer(session), "use cents"))

    assert session.phase is Phase.SPECIFYING
    assert session.plan.spec
    assert session.plan.spec.revision == 2
    assert session.plan.previous_documents == old
    assert session.plan.change_request == "use cents"
    assert session.plan.documents == ()


@pytest.mark.covers("G-FR-002")
def test_yes_in_the_thread_approves_and_other_words_ask_for_changes() -> None:
    session = awaiting_approval()
    decide(session, said("lgtm"))
    assert session.phase is Phase.EXECUTING

    session = awaiting_approval()
    decide(session, said("please use cents"))
    assert session.phase is Phase.APPROVING
    assert [order.key for order in due(session)] == ["words:said:please use cents"]
    decide(session, judged("please use cents", WordKind.CHANGE))
    assert session.phase is Phase.SPECIFYING
    assert session.plan.change_request == "please use cents"


@pytest.mark.parametrize("what", [WordKind.TALK, WordKind.QUESTION])
def test_a_question_about_the_plan_is_answered_and_changes_nothing(what: WordKind) -> None:
    session = awaiting_approval()
    offer = approval.offer(session)
    decide(session, said("what is T001?"))
    shown = cards(decide(session, judged("what is T001?", what, "Discount codes.")))
    assert len(shown) == (1 if what is WordKind.QUESTION else 0)
    assert (session.phase, approval.offer(session)) == (Phase.APPROVING, offer)
    assert not session.talk.waiting


def test_the_approver_is_named_on_the_card() -> None:
    session = awaiting_approval()
    deeds = decide(session, pressed(Verb.APPROVE, approval.offer(session)))
    assert titles(deeds)[0].startswith("Shall I build SPEC-7682b3a8")
    assert session.approval.granted
    assert session.approval.granted.by == ANN


def test_the_card_lists_no_task_of_an_earlier_round_that_nobody_does_any_more() -> None:
    session = awaiting_approval(
        task("T001", TaskState.COMPLETED),
        task("T002", TaskState.CANCELLED),
        task("T003", TaskState.REPLACED),
        task("T004"),
    )
    shown = messages.approval_wanted(session).card
    assert isinstance(shown, ApprovalCard)
    assert [(one.key, one.done) for one in shown.tasks] == [("T001", True), ("T004", False)]


def test_an_empty_answer_is_none() -> None:
    session = asked()
    blank = pressed(Verb.ANSWER).model_copy(update={"answers": {1: " ", 2: "second"}})
    decide(session, blank)
    assert [q.answer for q in session.intent.clarifications] == [None, "second"]


def test_nobody_piles_up_answers_without_end_while_the_model_is_away() -> None:
    session = asked()
    told = [whispers(decide(session, said(f"hm {number}"))) for number in range(25)]
    assert len(session.talk.waiting) == 20
    assert told[0] == []
    assert told[-1]


def test_tests_that_came_with_a_new_base_are_run() -> None:
    session = awaiting_approval()
    session.phase, session.plan.documents, session.tests.command = Phase.SPECIFYING, (), ""
    session.repository.base_commit = "e" * 40
    scan = Scan(commit="e" * 40, test_command="make test")
    decide(session, Scanned(id="s", at=later(), answers="scan", scan=scan))
    assert session.tests.command == "make test"


def test_of_two_approvals_the_one_from_the_day_before_does_not_count() -> None:
    session = awaiting_approval()
    session.approval.required = 2
    decide(session, pressed(Verb.APPROVE, approval.offer(session)))
    assert len(session.approval.given) == 1
    bea = Person(platform="memory", id="T1/U2", name="Bea")
    late = pressed(Verb.APPROVE, approval.offer(session), by=bea)
    decide(session, late.model_copy(update={"at": later(25 * 3600)}))
    decide(session, base_seen("b" * 40, later(25 * 3600)))
    assert session.approval.given == ()
    assert session.phase is Phase.APPROVING


def test_a_revision_says_which_changes_it_is_planned_with() -> None:
    session = awaiting_approval()
    about = approval.offer(session)
    deeds = decide(session, pressed(Verb.CHANGE, about, "Use cents, not floats."))
    [news] = [card for card in cards(deeds) if isinstance(card, NewsCard)]
    assert news.lines == ("“Use cents, not floats.”",)
