"""The plan is cut into tasks, judged, and made once more where the judgement is poor."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from bot.core.plan import Document, DocumentKind
from bot.core.session import Session
from bot.core.spec_kit.tasks_reader import parse_tasks
from bot.core.states import TaskState
from bot.core.talk import Affected, Change, ChangeStage
from bot.steps.asking import prompt
from bot.steps.specify.questions import WrittenDocument, draft_document
from tests.fakes.llm import ScriptedLlm
from tests.steps.scenes import ANN, T0, TEST, executing, running, surveyed, task
from tests.stories.stage import SPEC

GOOD = '{"score": 90, "issues": []}'
POOR = '{"score": 40, "issues": ["T001 is too large, split it"]}'


def specified(**changes: object) -> Session:
    spec = Document(kind=DocumentKind.SPEC, revision=1, text=SPEC, sha256="0" * 64)
    return surveyed(plan__documents=(spec,), tests__command=TEST, **changes)


def draft(
    key: str, title: str = "Discount codes", *after: str, **changes: object
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "key": key,
        "title": title,
        "acceptance": ["it works"],
        "requirements": ["FR-001"],
        "depends_on": list(after),
    }
    return made | changes


def tasks(*drafts: dict[str, Any]) -> str:
    return json.dumps({"parallelism": 3, "tasks": drafts}, ensure_ascii=False)


async def written(session: Session, *lines: str) -> tuple[WrittenDocument, list[Any], ScriptedLlm]:
    llm = ScriptedLlm(lines)
    found, usage = await draft_document(llm, session, DocumentKind.TASKS, date(2026, 1, 2))
    assert usage.calls == llm.count
    return found, [call.fields() for call in llm.calls], llm


def titles(found: WrittenDocument) -> list[str]:
    return [f"{one.key} {one.title}" for one in found.drafts]


def changing(*affected: str) -> Session:
    session = executing(
        task("T001", TaskState.COMPLETED, requirements=("FR-001",), files=("a.py",)),
        running("T002", dependencies=("id-T001",)),
        task("T003", TaskState.CANCELLED),
    )
    spec = Document(kind=DocumentKind.SPEC, revision=2, text=SPEC, sha256="0" * 64)
    session.change = Change(
        id="c1",
        text="use cents",
        by=ANN,
        at=T0,
        stage=ChangeStage.DRAFTING,
        revision=2,
        affected=tuple(Affected(task_id=f"id-{key}", why="prices") for key in affected),
        documents=(spec,),
    )
    return session


@pytest.mark.covers("G-RULE-PARALLEL-3", "B-FLOW-RUN-4")
async def test_good_tasks_are_judged_once_and_taken() -> None:
    found, (_, judged), _ = await written(specified(), tasks(draft("T001")), GOOD)
    assert (titles(found), found.parallelism) == (["T001 Discount codes"], 3)
    assert [one["key"] for one in judged["tasks"]] == ["T001"]
    assert [one.key for one in parse_tasks(found.text).tasks] == ["T001"]


async def test_the_document_names_the_user_stories() -> None:
    found, _, _ = await written(specified(), tasks(draft("T001", story="US1")), GOOD)
    assert "User Story 1 - A code" in found.text


@pytest.mark.covers("G-RULE-TASKS-7", "B-OP-judgeTaskQuality")
async def test_poor_tasks_are_made_once_more_with_what_was_said_of_them() -> None:
    better = tasks(draft("T001", "Codes"), draft("T002", "Receipt"))
    found, data, _ = await written(specified(), tasks(draft("T001")), POOR, better, GOOD)
    assert titles(found) == ["T001 Codes", "T002 Receipt"]
    assert data[2]["issues"] == ["T001 is too large, split it"]
    assert [one["title"] for one in data[2]["your_last_tasks"]] == ["Discount codes"]


@pytest.mark.covers("B-OP-judgeTaskQuality")
async def test_they_are_made_no_more_than_once_more_and_the_better_ones_count() -> None:
    worse = '{"score": 30, "issues": []}'
    found, data, _ = await written(
        specified(), tasks(draft("T001")), POOR, tasks(draft("T001", "Codes")), worse
    )
    assert titles(found) == ["T001 Discount codes"]
    assert len(data) == 4


@pytest.mark.covers("G-RULE-TASKS-7")
async def test_what_anybody_can_see_counts_however_well_the_model_judges() -> None:
    lacking = tasks(draft("T001", requirements=[]))
    found, data, _ = await written(specified(), lacking, GOOD, tasks(draft("T001")), GOOD)
    assert found.drafts[0].requirements == ("FR-001",)
    assert data[2]["issues"] == ["FR-001 is served by no task"]


@pytest.mark.covers("G-RULE-TASKS-8")
async def test_without_tests_in_the_repository_the_first_task_has_to_set_them_up() -> None:
    session = specified()
    session.tests.command = ""
    setting_up = tasks(draft("T001", "Set up tests"), draft("T002", "Codes", "T001"))
    found, data, _ = await written(session, tasks(draft("T001", "Codes")), GOOD, setting_up, GOOD)
    assert titles(found) == ["T001 Set up tests", "T002 Codes"]
    assert "does not set them up" in data[2]["issues"][0]


@pytest.mark.covers("B-FLOW-RUN-4")
async def test_a_judgement_that_cannot_be_had_counts_for_nothing() -> None:
    found, _, _ = await written(specified(), tasks(draft("T001")), "no", "never", "none")
    assert titles(found) == ["T001 Discount codes"]


async def test_tasks_that_cannot_be_made_again_are_kept_as_they_were() -> None:
    found, _, llm = await written(specified(), tasks(draft("T001")), POOR, "no", "never", "none")
    assert (titles(found), llm.count) == (["T001 Discount codes"], 5)


async def test_tasks_that_run_in_a_circle_are_asked_for_again() -> None:
    circle = tasks(draft("T001", "A", "T002"), draft("T002", "B", "T001"))
    found, data, _ = await written(specified(), circle, tasks(draft("T001")), GOOD)
    assert len(found.drafts) == 1
    assert "T001 → T002 → T001" in data[1]["correction"]


async def test_more_tasks_than_anybody_reads_are_asked_for_again() -> None:
    many = tasks(*(draft(f"T{n:03}") for n in range(1, 102)))
    found, asked, _ = await written(specified(), many, tasks(draft("T001")), GOOD)
    assert "at most 100" in asked[1]["correction"]
    assert len(found.drafts) == 1


async def test_which_agent_does_a_task_is_not_for_the_model_to_say() -> None:
    found, _, _ = await written(specified(), tasks(draft("T001", agent="another")), GOOD)
    assert [one.agent for one in found.drafts] == [""]


async def test_a_title_is_a_line_that_fits_into_a_list() -> None:
    found, _, _ = await written(specified(), tasks(draft("T001", "very\nlong " * 500)), GOOD)
    [title] = [one.title for one in found.drafts]
    assert title.startswith("very long very")
    assert len(title) <= 200


async def test_tasks_written_as_markdown_are_read_all_the_same() -> None:
    markdown = (
        "# Tasks\n\n- [ ] T001 Codes in a.py\n  - Accepted when: it works\n  - Serves: FR-001\n"
    )
    found, _, llm = await written(specified(), markdown, GOOD)
    assert (found.drafts[0].requirements, llm.count) == (("FR-001",), 2)


async def test_without_a_usable_answer_a_single_task_serves_every_requirement() -> None:
    found, _, llm = await written(specified(), "no", "{}", "never")
    (only,) = found.drafts
    assert (only.key, only.requirements, found.parallelism) == ("T001", ("FR-001",), 1)
    assert only.description == "Add discounts"
    assert only.acceptance
    assert llm.count == 3


async def test_a_live_change_leaves_what_it_does_not_touch_exactly_as_it_is() -> None:
    new = tasks(
        draft("T001", "Something else altogether"),
        draft("T002", "Receipt in cents", "T001"),
        draft("T004", "Migration", "T002"),
    )
    found, data, _ = await written(changing("T002"), new, GOOD)
    assert titles(found) == ["T001 Task T001", "T002 Receipt in cents", "T004 Migration"]
    assert found.drafts[0].files == ("a.py",)
    assert [(one["key"], one["affected"]) for one in data[0]["tasks_now"]] == [
        ("T001", False),
        ("T002", True),
        ("T003", False),
    ]
    assert data[0]["change_request"] == "use cents"


async def test_the_key_of_a_task_that_was_given_up_is_not_used_again() -> None:
    found, data, _ = await written(
        changing("T002"),
        tasks(draft("T002"), draft("T003", "Migration")),
        tasks(draft("T002"), draft("T004", "Migration")),
        GOOD,
    )
    assert "T003 was another task before" in data[1]["correction"]
    assert [one.key for one in found.drafts] == ["T001", "T002", "T004"]


async def test_a_change_that_the_model_cannot_cut_becomes_a_task_of_its_own() -> None:
    found, _, _ = await written(changing("T002"), "no", "never", "none")
    assert titles(found) == ["T001 Task T001", "T002 Task T002", "T004 use cents"]


async def test_what_stays_as_it_is_is_no_reason_to_ask_again() -> None:
    session = changing("T002")
    session.tasks[0].requirements = ()
    new = tasks(draft("T002", "Receipt in cents", "T001"))
    _, data, _ = await written(session, new, GOOD)
    assert len(data) == 2


async def test_a_task_whose_key_begins_like_a_settled_one_is_asked_about_all_the_same() -> None:
    new = tasks(draft("T002", "Receipt in cents", "T001"), draft("T0010", "Codes", acceptance=[]))
    _, data, _ = await written(changing("T002"), new, GOOD, new, GOOD)
    assert data[2]["issues"] == ["T0010 does not say when it is accepted"]


@pytest.mark.covers("G-RULE-PARALLEL-1")
async def test_how_many_work_at_once_is_the_models_choice_up_to_ten() -> None:
    many = tasks(draft("T001")).replace('"parallelism": 3', '"parallelism": 11')
    found, data, _ = await written(specified(), many, tasks(draft("T001")), GOOD)
    assert found.parallelism == 3
    assert "parallelism" in data[1]["correction"]


@pytest.mark.covers("G-RULE-PARALLEL-2", "R-RULE-TASK-2")
def test_tasks_are_asked_for_with_what_to_weigh() -> None:
    asked = " ".join(prompt("tasks").split())
    assert "Each can be finished by one agent alone" in asked
    assert "One of the type implementation writes its tests first" in asked
    assert "If the repository has no tests to run, the first task sets up a test framework" in asked
    assert "how many tasks are independent of each other, how large and how difficult" in asked
