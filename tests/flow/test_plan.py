"""From the first word to an approved plan."""

from __future__ import annotations

import pytest

from bot.domain import approval
from bot.domain.cards import ApprovalCard, DocumentCard, QuestionsCard, ReceivedCard
from bot.domain.choices import Verb
from bot.domain.events import (
    DocumentsCommitted,
    DocumentWritten,
    OrderFailed,
    QuestionsFound,
    Surveyed,
)
from bot.domain.session import Document, DocumentKind
from bot.domain.spec_kit import TaskDraft
from bot.domain.states import IntentStatus, Phase, Status
from bot.domain.world import AgentReady, Base, Scan, Usage
from bot.flow import decide
from bot.flow.clarify import numbered_answers
from tests.flow.scenes import (
    ANN,
    asked,
    awaiting_approval,
    cards,
    fresh,
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


def test_a_request_is_acknowledged_at_once() -> None:
    session = fresh()

    [card] = cards(decide(session, said("Add discounts")))

    assert isinstance(card, ReceivedCard)
    assert card.request == "Add discounts"
    assert session.intent.body == "Add discounts"


def test_the_first_card_says_where_the_work_happens_and_what_stays_untouched() -> None:
    session = fresh()
    decide(session, said("Add discounts"))

    [card] = cards(decide(session, survey_result()))

    assert isinstance(card, ReceivedCard)
    assert (card.repository, card.branch, card.uncommitted) == ("/srv/shop", "main", 2)
    assert session.phase is Phase.CLARIFYING
    assert session.spec
    assert session.spec.workspace.branch == session.spec.id.lower().replace("spec-", "agent/spec-")


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


def test_all_questions_come_on_one_card() -> None:
    session = surveyed(scan=Scan(commit="b"))
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
    session = surveyed(scan=Scan(commit="b"))
    found = QuestionsFound(id="e", at=later(), answers="q", title="D", type="fix", questions=())
    decide(session, found)
    assert session.phase is Phase.SPECIFYING


def test_one_button_takes_all_defaults_and_the_card_says_who() -> None:
    session = asked()

    [card] = cards(decide(session, pressed(Verb.DEFAULTS)))

    assert [q.answer for q in session.intent.clarifications] == ["first", "first"]
    assert [q.answered_by for q in session.intent.clarifications] == ["Ann", "Ann"]
    assert isinstance(card, QuestionsCard)
    assert card.decided
    assert card.decided.by == "Ann"
    assert verbs(card) == []


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
    ],
)
def test_plain_words_find_their_questions(text: str, answers: dict[int, str]) -> None:
    assert numbered_answers(text, (question(1), question(2))) == answers


def test_an_answer_to_one_question_leaves_the_default_for_the_other() -> None:
    session = asked()
    decide(session, said("D2: second"))
    assert [q.answer for q in session.intent.clarifications] == ["first", "second"]
    assert session.phase is Phase.SPECIFYING


def test_words_that_answer_nothing_are_asked_about_and_nothing_is_decided() -> None:
    session = asked()
    assert whispers(decide(session, said("hm, let me think about that")))
    assert session.phase is Phase.CLARIFYING
    assert all(q.answer is None for q in session.intent.clarifications)


def tasks_written(*drafts: TaskDraft) -> DocumentWritten:
    document = Document(kind=DocumentKind.TASKS, revision=1, text="# Tasks", sha256="1" * 64)
    return DocumentWritten(
        id="e", at=later(), answers="w", document=document, drafts=drafts, parallelism=2
    )


def test_drafts_become_tasks_that_know_their_predecessors() -> None:
    session = awaiting_approval()
    session.phase, session.documents = Phase.SPECIFYING, session.documents[:2]
    decide(
        session,
        tasks_written(
            TaskDraft(key="T001", title="Discounts", acceptance=("they work",)),
            TaskDraft(key="T002", title="Checkout", depends_on=("T001",)),
        ),
    )
    first, second = session.tasks
    assert second.dependencies == (first.id,)
    assert first.acceptance[0].id == "T001-A1"


def test_a_document_of_an_earlier_revision_is_ignored() -> None:
    session = awaiting_approval()
    assert session.spec
    session.phase, session.documents = Phase.SPECIFYING, ()
    session.spec = session.spec.model_copy(update={"revision": 2})
    decide(session, tasks_written(TaskDraft(key="T001", title="Discounts")))
    assert session.documents == ()


def test_all_three_documents_are_shown_in_full_before_the_approval_is_asked_for() -> None:
    session = awaiting_approval()
    session.phase = Phase.SPECIFYING
    assert session.spec
    committed = DocumentsCommitted(
        id="e", at=later(), answers="c", workspace=session.spec.workspace, commit="f" * 40
    )

    shown = cards(decide(session, committed))

    documents = [card for card in shown if isinstance(card, DocumentCard)]
    assert [card.document for card in documents] == list(DocumentKind)
    assert isinstance(shown[-1], ApprovalCard)
    assert verbs(shown[-1]) == [Verb.APPROVE, Verb.CHANGE, Verb.DISCARD]


def test_an_approval_starts_the_work_and_is_bound_to_what_was_shown() -> None:
    session = awaiting_approval()
    digest = approval.digest(session)

    shown = cards(decide(session, pressed(Verb.APPROVE, approval.offer(session))))

    assert session.phase is Phase.EXECUTING
    assert session.intent.status is IntentStatus.EXECUTING
    assert session.approval
    assert session.approval.digest == digest
    assert session.status is Status.QUEUED
    assert isinstance(shown[0], ApprovalCard)
    assert shown[0].decided


def test_a_stale_approval_does_nothing_and_says_so_in_private() -> None:
    session = awaiting_approval()
    old = approval.offer(session)
    session.documents = (
        *session.documents[:2],
        session.documents[2].model_copy(update={"sha256": "9" * 64}),
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


def test_an_approval_after_a_day_gets_a_fresh_card_instead() -> None:
    session = awaiting_approval()
    offer = approval.offer(session)
    late = pressed(Verb.APPROVE, offer).model_copy(update={"at": later(25 * 3600)})

    deeds = decide(session, late)

    assert whispers(deeds)
    assert session.phase is Phase.APPROVING
    [card] = cards(deeds)
    assert verbs(card)[0] is Verb.APPROVE

    twice = late.model_copy(update={"id": "twice", "at": later(25 * 3600 + 1)})
    decide(session, twice)

    assert session.phase is Phase.APPROVING  # the plan was not read again within a double click
    fresh = pressed(Verb.APPROVE, approval.offer(session))
    decide(session, fresh.model_copy(update={"at": later(25 * 3600 + 60)}))
    assert session.phase is Phase.EXECUTING


@pytest.mark.parametrize("change", ["agent", "flags", "base", "document"])
def test_the_digest_changes_with_everything_it_is_bound_to(change: str) -> None:
    session = awaiting_approval(task("T001"))
    before = approval.digest(session)
    match change:
        case "agent":
            session.tasks[0].agent = "codex"
        case "flags":
            session.agent_flags = "--other"
        case "base":
            session.base_commit = "e" * 40
        case _:
            session.documents = session.documents[1:]
    assert approval.digest(session) != before


def test_a_change_request_leads_to_a_new_revision_that_knows_the_old_one() -> None:
    session = awaiting_approval()
    old = session.documents

    decide(session, pressed(Verb.CHANGE, approval.offer(session), "use cents"))

    assert session.phase is Phase.SPECIFYING
    assert session.spec
    assert session.spec.revision == 2
    assert session.previous == old
    assert session.change_request == "use cents"
    assert session.documents == ()


def test_yes_in_the_thread_approves_and_other_words_ask_for_changes() -> None:
    session = awaiting_approval()
    decide(session, said("lgtm"))
    assert session.phase is Phase.EXECUTING

    session = awaiting_approval()
    decide(session, said("please use cents"))
    assert session.change_request == "please use cents"


def test_the_approver_is_named_on_the_card() -> None:
    session = awaiting_approval()
    deeds = decide(session, pressed(Verb.APPROVE, approval.offer(session)))
    assert titles(deeds)[0].startswith("Shall I build SPEC-7682b3a8")
    assert session.approval
    assert session.approval.by == ANN
