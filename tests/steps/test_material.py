"""What the model is told, and what is left out where it cannot take all of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.git import Scan
from bot.core.intent import Intent
from bot.core.llm import estimate_tokens, shortened_parts
from bot.core.plan import Document, DocumentKind
from bot.core.session import KEPT_VERBATIM, Session, Speaker
from bot.core.states import Phase, TaskState
from bot.core.talk import Affected, Change, ChangeStage
from bot.steps.asking import prompt
from bot.steps.prompt_data import (
    data_token_budget,
    fit_to_tokens,
    kept_tasks,
    question_data,
    session_material,
    tasks_now,
)
from tests.fakes.repository import FakeRepository
from tests.fakes.worktrees import FakeWorktrees
from tests.steps.scenes import ANN, T0, asked, executing, later, question, running, surveyed, task
from tests.stories.stage import Stage

FIELDS = ("source_overview", "directory_tree", "project_meta", "specs_summary", "conventions")
KINDS = ("tasks", "plan", "spec")


def text_of(kind: str, text: str, revision: int = 1) -> Document:
    return Document(kind=DocumentKind(kind), revision=revision, text=text, sha256="0" * 64)


def changing() -> Session:
    """A change that touches T002 is drafted while T001 is done."""
    session = executing(task("T001", TaskState.COMPLETED), running("T002"))
    session.change = Change(
        id="c1",
        text="use cents",
        by=ANN,
        at=T0,
        stage=ChangeStage.DRAFTING,
        revision=2,
        affected=(Affected(task_id="id-T002", why="it shows prices"),),
        documents=(text_of("spec", "# new spec", 2),),
    )
    return session


def large(size: int = 6_000) -> dict[str, Any]:
    """Everything there can be, each text of its own letter."""
    messages = [
        {"role": "System" if n == 0 else "User", "content": f"{n} " + "m" * 300} for n in range(40)
    ]
    return {
        "request": "r" * 500,
        "decisions": [{"id": "D1", "question": "q", "answer": "a" * 500}],
        "repository": {name: name[0] * size for name in FIELDS} | {"files": 3},
        "previous": {kind: kind[0] * size for kind in KINDS},
        "spec": "S" * 2_000,
        "tasks": [{"key": "T001", "description": "t" * 500}],
        "conversation": messages,
    }


def size_of(data: dict[str, Any]) -> int:
    return estimate_tokens(json.dumps(data, ensure_ascii=False))


@pytest.mark.covers("G-RULE-DUTY-3")
def test_decisions_are_told_by_their_numbers_and_open_questions_as_open() -> None:
    session = asked(question(1, answer="first"), question(2), question(3, answer=""))
    data = session_material(session)
    assert data["decisions"] == [
        {"id": "D1", "question": "Question 1?", "answer": "first"},
        {"id": "D3", "question": "Question 3?", "answer": ""},
    ]
    assert data["open_questions"] == [
        {
            "id": "D2",
            "text": "Question 2?",
            "options": ["first", "second"],
            "default": "first",
        }
    ]


def test_the_language_is_that_of_the_request() -> None:
    assert (
        session_material(surveyed(intent=Intent(body="割引コードを追加して")))["language"]
        == "Japanese"
    )
    assert session_material(surveyed(intent=Intent(body="Add discounts")))["language"] == "English"


def test_the_talk_is_told_in_its_order_with_who_said_it() -> None:
    session = surveyed()
    session.say(Speaker.SYSTEM, "so far", later())
    session.say(Speaker.USER, "go on", later())
    assert session_material(session)["conversation"] == [
        {"role": "System", "content": "so far"},
        {"role": "User", "content": "go on"},
    ]


def test_while_a_change_is_drafted_its_documents_are_the_current_ones() -> None:
    session = changing()
    data = session_material(session)
    assert (data["spec"], data["plan"]) == ("# new spec", "")
    assert data["previous"] == {kind: f"# {kind}" for kind in ("spec", "plan", "tasks")}
    assert data["change_request"] == "use cents"


def test_before_the_work_begins_the_former_revision_is_the_previous_one() -> None:
    session = surveyed(
        phase=Phase.SPECIFYING,
        plan__change_request="smaller",
        plan__previous_documents=(text_of("spec", "# old"),),
        plan__documents=(text_of("spec", "# new", 2),),
    )
    data = session_material(session)
    assert (data["spec"], data["previous"], data["change_request"]) == (
        "# new",
        {"spec": "# old"},
        "smaller",
    )


def test_the_tasks_of_a_running_plan_are_told_with_their_states_and_what_a_change_touches() -> None:
    seen = {str(t["key"]): (t["state"], t["affected"]) for t in tasks_now(changing())}
    assert seen == {"T001": ("Completed", False), "T002": ("Running", True)}


def test_a_plan_that_nobody_has_begun_is_written_anew_as_a_whole() -> None:
    session = executing(task("T001"), task("T002"), phase=Phase.SPECIFYING)
    assert kept_tasks(session) == []
    session.tasks[0].become(TaskState.READY)
    session.tasks[0].become(TaskState.CANCELLED)
    assert [one.key for one in kept_tasks(session)] == ["T001"]


def test_what_fits_is_told_whole() -> None:
    data = large()
    assert fit_to_tokens(data, 10**6) == data


def test_the_data_given_is_never_changed() -> None:
    data, same = large(), large()
    fit_to_tokens(data, 100)
    assert data == same


def test_what_was_read_of_the_repository_is_cut_first_and_in_this_order() -> None:
    data, whole = large(), size_of(large())
    for cut, field in enumerate(FIELDS):
        found: Any = fit_to_tokens(data, whole - 2_100 * cut - 500)["repository"]
        shortened = [name for name in FIELDS if found[name].endswith("… (shortened)")]
        assert shortened == list(FIELDS[: cut + 1]), field
        parts = [*shortened_parts({"repository": found})]
        assert parts == [f"repository.{name}" for name in shortened]
        assert found[field].startswith(field[0])
        assert found["files"] == 3


@pytest.mark.covers("G-US8.2")
def test_old_talk_goes_next_the_oldest_first_but_never_the_summary_nor_the_last_messages() -> None:
    data: dict[str, Any] = {**large(), "repository": {}}
    found: Any = fit_to_tokens(data, size_of(data) - 400)
    left = [message["content"].split()[0] for message in found["conversation"]]
    assert found["conversation_left_out"] == 4
    assert [*shortened_parts(found)] == ["conversation_left_out"]
    assert left == ["0", *(str(n) for n in range(5, 40))]
    assert found["previous"] == data["previous"]
    found = fit_to_tokens(data, 1)
    assert found["conversation"][0]["content"] == "… (shortened)"
    assert found["conversation_left_out"] == 40 - 1 - KEPT_VERBATIM
    assert found["conversation"][1:] == data["conversation"][-KEPT_VERBATIM:]


def test_the_former_documents_are_cut_last() -> None:
    data: dict[str, Any] = {**large(), "repository": {}, "conversation": []}
    found: Any = fit_to_tokens(data, size_of(data) - 3_000)
    assert [len(found["previous"][kind]) < 6_000 for kind in KINDS] == [True, True, False]


@pytest.mark.covers("G-US8.2", "G-RULE-CONTEXT-1")
def test_what_people_asked_for_decided_and_said_last_is_never_cut() -> None:
    data = large()
    found = fit_to_tokens(data, 1)
    for name in ("request", "decisions", "spec", "tasks"):
        assert found[name] == data[name]


def test_nothing_is_cut_in_the_middle_of_a_character() -> None:
    for size in range(600, 640):
        found: Any = fit_to_tokens({"repository": {"conventions": "規約🙂" * 500}}, size)
        assert "\ufffd" not in found["repository"]["conventions"]


@pytest.mark.covers("G-US8.2", "G-RULE-CONTEXT-2", "G-FR-012")
@given(st.integers(min_value=4_000, max_value=30_000), st.floats(min_value=0.3, max_value=2.0))
def test_it_is_never_more_than_was_allowed_while_anything_may_be_cut(
    tokens: int, scale: float
) -> None:
    found = fit_to_tokens(large(), tokens, scale)
    if scale <= 0.6:  # what is never cut needs some 3,500 tokens by itself
        assert estimate_tokens(json.dumps(found, ensure_ascii=False), scale) <= tokens + 1


@pytest.mark.covers("G-US8.2", "G-RULE-CONTEXT-3")
def test_prompt_data_and_answer_go_into_a_model_whose_window_nobody_knows() -> None:
    session = surveyed(repository__scan=Scan(commit="b" * 40, source_overview="x" * 200_000))
    data = question_data(session, "clarify", earlier=[])
    used = size_of(data) + estimate_tokens(prompt("clarify"))
    assert 8_000 < used <= 12_000 - 3_000 + 2
    assert data_token_budget(session, prompt("clarify")) < 12_000 - 3_000


@pytest.mark.covers("G-RULE-CONTEXT-2")
def test_a_larger_window_takes_more() -> None:
    session = surveyed(repository__scan=Scan(commit="b" * 40, source_overview="x" * 200_000))
    session.llm.context_window = 200_000
    assert (
        question_data(session, "clarify")["repository"] == session_material(session)["repository"]
    )


async def test_the_first_question_shows_the_code_that_the_request_is_about() -> None:
    stage = Stage()
    stage.repository = FakeRepository(
        files={"shop/discounts.py": "def apply_discount(order):\n    return order.total\n"}
    )
    stage.worktrees = FakeWorktrees(stage.repository)
    await stage.open()
    await stage.says("apply_discount must not go below zero")
    await stage.settle()
    told = json.loads(stage.llm.calls[0].data)["repository"]
    await stage.close()
    assert "1: def apply_discount(order):" in told["context"]
    assert "shop/discounts.py" in told["context"]
