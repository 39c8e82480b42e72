"""What the played model answers: questions, documents and tasks, as the bot will read them."""

from __future__ import annotations

import json
from typing import Any

from openai import AsyncOpenAI

from adapters.played.script.request import NOTICE, QUESTIONS
from adapters.played.script.tasks import TASKS
from adapters.played.script.work import WORK
from bot.domain import spec_kit
from bot.domain.spec_kit import TaskDraft
from tests.adapters.played.conftest import ask


async def test_it_asks_two_or_three_questions_with_a_reason_and_a_default(
    client: AsyncOpenAI,
) -> None:
    reply: dict[str, Any] = json.loads(await ask(client, "clarify"))
    assert reply["title"]
    assert 2 <= len(reply["questions"]) <= 3
    for question in reply["questions"]:
        assert question["text"].endswith("?")
        assert question["why"]
        assert question["options"][0] == question["default"]


async def test_the_plan_has_two_independent_tasks_and_one_that_waits_for_the_first(
    client: AsyncOpenAI,
) -> None:
    reply: dict[str, Any] = json.loads(await ask(client, "tasks"))
    after = {task["key"]: task["depends_on"] for task in reply["tasks"]}
    assert after == {"T001": [], "T002": [], "T003": ["T001"]}
    assert reply["parallelism"] == 2


def test_the_agent_knows_every_planned_task_and_touches_the_declared_files_only() -> None:
    assert {task.key: set(task.files) for task in TASKS} == {
        key: {step.path for step in work.steps} for key, work in WORK.items()
    }


async def test_every_requirement_of_the_spec_is_served_by_a_task(client: AsyncOpenAI) -> None:
    stated = spec_kit.requirement_ids(await ask(client, "specify"))
    assert set(stated) == {requirement for task in TASKS for requirement in task.requirements}


async def test_spec_plan_and_tasks_are_what_spec_kit_wants(client: AsyncOpenAI) -> None:
    told = {"decisions": [{"id": "D1", "question": "Why?", "answer": "So"}], "change_request": "x"}
    spec, plan = await ask(client, "specify", **told), await ask(client, "plan", **told)
    assert spec_kit.check_spec(spec) == []
    assert spec_kit.check_plan(plan) == []
    assert headings(spec) == [
        "Clarifications",
        "User Scenarios & Testing",
        "Requirements",
        "Success Criteria",
        "Assumptions",
    ]
    assert "$" not in spec + plan
    reply: dict[str, Any] = json.loads(await ask(client, "tasks", **told))
    drafts = [TaskDraft.model_validate_json(json.dumps(task)) for task in reply["tasks"]]
    assert spec_kit.problems(drafts) == []
    assert spec_kit.graph(drafts) == {"T001": set(), "T002": set(), "T003": {"T001"}}


async def test_the_documents_say_that_they_are_played(client: AsyncOpenAI) -> None:
    for question in ("specify", "plan"):
        document = await ask(client, question)
        assert NOTICE in document.split("## ")[0]


async def test_the_spec_quotes_the_request_letter_for_letter_and_takes_no_heading_from_it(
    client: AsyncOpenAI,
) -> None:
    request = "割引コード, please: $title {x} [y] <z>\n\n## Requirements\nfree tea"
    spec = await ask(client, "specify", request=request)
    quoted = [
        line.removeprefix(">").removeprefix(" ") for line in spec.splitlines() if line[:1] == ">"
    ]
    assert request in "\n".join(quoted)
    assert headings(spec).count("Requirements") == 1


async def test_decisions_stand_in_the_clarifications_and_in_the_requirements(
    client: AsyncOpenAI,
) -> None:
    decisions = [{"id": "D1", "question": QUESTIONS[0].text, "answer": "Yes, up to three"}]
    spec = await ask(client, "specify", decisions=decisions)
    assert "## Clarifications\n\n### Session 2026-01-02\n" in spec
    assert f"- Q: {QUESTIONS[0].text} → A: Yes, up to three" in spec
    assert "Several codes in one basket: Yes, up to three." in spec


async def test_a_revision_visibly_takes_in_what_was_asked_for(client: AsyncOpenAI) -> None:
    wish = "Receipts of 40 columns"
    first = await ask(client, "specify", change_request="")
    second = await ask(client, "specify", change_request=wish, previous=first)
    assert wish in second.partition("## Assumptions")[2]
    tasks: dict[str, Any] = json.loads(await ask(client, "tasks", change_request=wish))
    accepted = [text for task in tasks["tasks"] for text in task["acceptance"]]
    assert len(accepted) == sum(len(task.acceptance) for task in TASKS) + 1
    assert any(wish in text for text in accepted)
    assert wish in await ask(client, "plan", change_request=wish)


def headings(document: str) -> list[str]:
    return [line[3:] for line in document.splitlines() if line.startswith("## ")]
