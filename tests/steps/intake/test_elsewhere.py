"""Work that goes on elsewhere: parts of a large wish, more of an earlier session, a new wish after the end."""

from __future__ import annotations

import pytest

from bot.core.cards import EarlierCard, PartsCard, QuestionsCard
from bot.core.choices import Verb
from bot.core.events import (
    BaseSeen,
    Begun,
    ContinuationJudged,
    Continued,
    PassedOn,
    QuestionsFound,
    SessionOpened,
    WishPart,
)
from bot.core.git import Base, Removal, Scan
from bot.core.intent import Vague
from bot.core.people import Earlier, Thread
from bot.core.session import Session
from bot.core.states import IntentStatus, Phase, RunState, Status, TaskState
from bot.steps.decisions import decide, due
from bot.steps.plan import MAX_ROUNDS
from tests.fields import put
from tests.steps.scenes import (
    ANN,
    cards,
    executing,
    fresh,
    keys,
    later,
    pressed,
    question,
    run,
    said,
    surveyed,
    task,
    titles,
    verbs,
    whispers,
    work,
)

ELSEWHERE = Thread(platform="memory", channel="C1", root="2.0")
PARTS = (WishPart(title="A shop", body="the shop"), WishPart(title="A till", body="the till"))
EARLIER = Earlier(session="1a2b3c4d-0000", title="Discounts", reason="the same codes")


def understood(**changes: object) -> QuestionsFound:
    found = QuestionsFound(
        id="q", at=later(), answers="questions", title="T", type="feature", questions=(question(1),)
    )
    return found.model_copy(update=changes)


def scanned() -> Session:
    return surveyed(repository__scan=Scan(commit="b" * 40), tests__command="make test")


def opened(id: str) -> SessionOpened:
    return SessionOpened(
        id=f"o:{id}", at=later(), answers=f"open:{id}", session=id, thread=ELSEWHERE
    )


@pytest.mark.covers("F-ANALYZE-2")
def test_a_wish_too_large_for_one_plan_is_offered_as_several_sessions() -> None:
    session = scanned()
    [card] = cards(decide(session, understood(parts=PARTS)))
    assert isinstance(card, PartsCard)
    assert verbs(card) == [Verb.SPLIT, Verb.WHOLE]
    assert session.phase is Phase.INTAKE
    assert list(due(session)) == []


@pytest.mark.covers("F-ANALYZE-2")
def test_every_part_gets_a_session_and_the_large_one_is_over() -> None:
    session = scanned()
    decide(session, understood(parts=PARTS))
    decide(session, pressed(Verb.SPLIT))
    ids = [part.session for part in session.request.parts]
    assert keys(list(due(session))) == [f"open:{id}" for id in ids]
    decide(session, opened(ids[0]))
    assert keys(list(due(session))) == [f"open:{ids[1]}"]

    shown = cards(decide(session, opened(ids[1])))

    assert isinstance(shown[0], PartsCard)
    assert [part.thread for part in shown[0].parts] == [ELSEWHERE, ELSEWHERE]
    assert (session.status, session.phase) == (Status.COMPLETED, Phase.DONE)
    assert session.intent.status is IntentStatus.DONE
    assert list(due(session)) == []


def test_a_person_may_have_it_planned_as_one_all_the_same() -> None:
    session = scanned()
    decide(session, understood(parts=PARTS))
    shown = cards(decide(session, pressed(Verb.WHOLE)))
    assert isinstance(shown[-1], QuestionsCard)
    assert session.phase is Phase.CLARIFYING
    assert session.request.parts == ()


def test_a_part_is_never_cut_again() -> None:
    session = scanned()
    session.intent = session.intent.model_copy(update={"parent": "7682b3a8"})
    decide(session, understood(parts=PARTS))
    assert session.phase is Phase.CLARIFYING


@pytest.mark.covers("F-INTENT-PARENT")
def test_what_one_session_begins_in_another_is_its_request() -> None:
    session = fresh()
    begun = Begun(id="b", at=later(), by=ANN, text="the till", title="A till", parent="7682b3a8")
    decide(session, begun)
    assert (session.intent.body, session.intent.parent) == ("the till", "7682b3a8")
    assert keys(list(due(session))) == ["survey"]


def test_more_of_an_earlier_session_goes_on_there_if_a_person_says_so() -> None:
    session = scanned()
    [card] = cards(decide(session, understood(earlier=EARLIER)))
    assert isinstance(card, EarlierCard)
    assert verbs(card) == [Verb.THERE, Verb.HERE]
    decide(session, pressed(Verb.THERE))
    assert keys(list(due(session))) == [f"pass_on:{EARLIER.session}"]
    there = EARLIER.session
    decide(session, PassedOn(id="p", at=later(), answers=f"pass_on:{there}", session=there))
    assert session.status is Status.COMPLETED
    assert list(due(session)) == []


def test_or_is_planned_here() -> None:
    session = scanned()
    decide(session, understood(earlier=EARLIER))
    decide(session, pressed(Verb.HERE))
    assert session.phase is Phase.CLARIFYING
    assert list(due(session)) == []


def test_a_button_that_was_not_offered_does_nothing() -> None:
    session = scanned()
    decide(session, understood(earlier=EARLIER))
    decide(session, pressed(Verb.SPLIT))
    assert session.request.destination is None


@pytest.mark.covers("R-RULE-CLARIFY-1")
def test_a_vague_request_is_asked_one_question_and_read_again_with_the_answer() -> None:
    session = scanned()
    vague = question(1, options=(), default="")
    [card] = cards(decide(session, understood(vague=Vague.CHANGE, questions=(vague,))))
    assert verbs(card) == []
    assert session.phase is Phase.INTAKE
    assert list(due(session)) == []

    decide(session, said("the login form"))

    assert session.intent.body.endswith("the login form")
    assert keys(list(due(session))) == ["questions"]
    decide(session, understood(vague=Vague.CHANGE, questions=(question(1),)))
    assert session.phase is Phase.CLARIFYING
    assert [q.decision for q in session.intent.clarifications] == ["D1", "D2"]
    assert session.intent.clarifications[0].answer == "the login form"


def finished(**changes: object) -> Session:
    done = task(
        "T001",
        TaskState.COMPLETED,
        runs=[run("T001", 1, RunState.ENDED)],
        work=work("feat: x"),
    )
    session = executing(done, phase=Phase.DONE, status=Status.COMPLETED, queue__has_place=False)
    session.queue.since = None
    session.intent = session.intent.model_copy(update={"status": IntentStatus.DONE})
    session.ending.leftovers = (
        Removal(branch="agent/t001", path="p", worktree_gone=True, branch_gone=True),
    )
    session.ending.summary, session.ending.merged_commit, session.ending.cleaned = (
        "",
        "d" * 40,
        True,
    )
    return put(session, changes)


def verdict(what: str, text: str = "also mfa") -> ContinuationJudged:
    return ContinuationJudged.model_validate(
        {
            "id": "c",
            "at": later(),
            "answers": f"continuation:said:{text}",
            "words_id": f"said:{text}",
            "what": what,
            "reason": "It extends the login.",
        }
    )


@pytest.mark.covers("G-RULE-CONTINUE-1", "G-FR-021")
def test_words_after_the_end_are_judged_and_do_nothing_by_themselves() -> None:
    session = finished()
    assert decide(session, said("also mfa")) == []
    assert keys(list(due(session))) == ["continuation:said:also mfa"]
    assert session.status is Status.COMPLETED


@pytest.mark.covers("G-RULE-CONTINUE-3")
def test_more_of_the_same_extends_the_plan_on_the_base_as_it_is_now() -> None:
    session = finished()
    decide(session, said("also mfa"))
    deeds = decide(session, verdict("continue"))

    assert any("It extends the login." in card.model_dump_json() for card in cards(deeds))
    assert (session.status, session.phase) == (Status.ACTIVE, Phase.SPECIFYING)
    assert session.intent.status is IntentStatus.APPROVED
    assert session.tasks[0].state is TaskState.COMPLETED
    assert session.tasks[0].workspace is None  # its branch is gone with the merge
    assert session.plan.spec
    assert session.plan.spec.revision == 2
    assert keys(list(due(session))) == ["base"]
    base = Base(repository="/srv/shop", branch="main", commit="e" * 40)
    decide(session, BaseSeen(id="b", at=later(), answers="base", base=base))
    assert session.repository.base_commit == "e" * 40
    assert keys(list(due(session))) == ["scan"]


def test_what_a_person_has_sent_here_is_continued_without_a_further_judgement() -> None:
    session = finished()
    sent = Continued(id="p", at=later(), by=ANN, text="also mfa")
    decide(session, sent)
    assert (session.status, session.phase) == (Status.ACTIVE, Phase.SPECIFYING)
    assert session.plan.change_request == "also mfa"
    # while it goes on already they are words like any others
    decide(session, sent.model_copy(update={"id": "q", "text": "and sms"}))
    assert [words.text for words in session.talk.waiting] == ["and sms"]


@pytest.mark.covers("G-RULE-CONTINUE-4")
def test_something_new_becomes_a_session_of_its_own_linked_from_here() -> None:
    session = finished()
    decide(session, said("also mfa"))
    decide(session, verdict("new"))
    [part] = session.request.parts
    assert (part.body, part.child) == ("also mfa", False)
    assert keys(list(due(session))) == [f"open:{part.session}"]
    shown = cards(decide(session, opened(part.session)))
    assert "2.0" in shown[0].model_dump_json()
    assert session.request.parts == ()
    assert session.status is Status.COMPLETED


def test_a_wish_that_the_model_could_not_read_is_not_lost_in_silence() -> None:
    session = finished()
    decide(session, said("also mfa"))
    unread = verdict("talk").model_copy(update={"reason": ""})
    assert "could not tell" in whispers(decide(session, unread))[0]


def test_thanks_are_no_request() -> None:
    session = finished()
    decide(session, said("also mfa"))
    assert decide(session, verdict("talk")) == []
    assert list(due(session)) == []
    assert session.status is Status.COMPLETED


@pytest.mark.covers("G-RULE-CONTINUE-4", "B-WHY-3")
@pytest.mark.parametrize(
    "session",
    [
        finished(ending__rounds=MAX_ROUNDS),
        finished(status=Status.DISCARDED),
        finished(tasks=[]),
    ],
    ids=["continued too often", "discarded", "carried out elsewhere"],
)
def test_what_cannot_be_continued_is_a_new_session_whatever_the_model_says(
    session: Session,
) -> None:
    decide(session, said("also mfa"))
    decide(session, verdict("continue"))
    assert session.over
    assert [part.body for part in session.request.parts] == ["also mfa"]


def test_a_dry_run_is_asked_for_once_and_carried_on_with_run_it() -> None:
    session = scanned()
    decide(session, understood(dry_run=True))
    assert session.request.dry_run


def test_an_opened_session_is_told_about_by_its_title() -> None:
    session = finished()
    decide(session, said("also mfa"))
    decide(session, verdict("new"))
    deeds = decide(session, opened(session.request.parts[0].session))
    assert titles(deeds) == ["That is a session of its own now"]


def test_what_was_kept_is_gone_on_with_in_a_worktree_made_anew() -> None:
    kept = Removal(branch="agent/t001", path="p", worktree_gone=True, branch_gone=False)
    session = finished(ending__leftovers=(kept,), ending__merged_commit="")
    decide(session, said("also mfa"))
    decide(session, verdict("continue"))
    assert session.tasks[0].workspace
    assert session.tasks[0].workspace.branch == "agent/t001"
    assert not session.tasks[0].workspace.ready
