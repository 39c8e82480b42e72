"""The played model, asked over a real socket by the real client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import date
from typing import Any

import pytest
from openai import (
    APIConnectionError,
    AsyncOpenAI,
    AuthenticationError,
    BadRequestError,
    NotFoundError,
)

from adapters.played.model import PlayedModel
from adapters.played.script.request import NOTICE, QUESTIONS, REQUEST
from adapters.played.script.tasks import TASKS
from adapters.played.script.work import WORK
from bot.domain import spec_kit
from bot.domain.spec_kit import TaskDraft
from bot.errors import Refused

TESTS = {"GWT_BOT_STAGE": "tests"}


@pytest.fixture
async def model() -> AsyncIterator[PlayedModel]:
    async with PlayedModel(TESTS, delay=0, today=lambda: date(2026, 1, 2)) as model:
        yield model


@pytest.fixture
async def client(model: PlayedModel) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=model.base_url, api_key=model.key, max_retries=0) as client:
        yield client


async def ask(client: AsyncOpenAI, question: str, **told: object) -> str:
    data = {"request": REQUEST, "spec_id": "SPEC-0123abcd", **told}
    reply = await client.chat.completions.create(
        model=PlayedModel.name,
        messages=[
            {"role": "system", "content": f"# {question}\n\nOne question to the model."},
            {"role": "user", "content": json.dumps(data)},
        ],
    )
    return reply.choices[0].message.content or ""


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


async def test_a_question_outside_the_script_gets_a_polite_answer(client: AsyncOpenAI) -> None:
    assert "sorry" in await ask(client, "judge the weather")


async def test_the_answer_has_all_that_the_protocol_wants_and_a_plausible_usage(
    client: AsyncOpenAI,
) -> None:
    reply = await client.chat.completions.create(
        model="played", messages=[{"role": "user", "content": "hello there"}]
    )
    assert (reply.object, reply.model) == ("chat.completion", "played")
    assert reply.id
    assert reply.created > 0
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert reply.usage.prompt_tokens == 4
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


async def test_many_ask_at_once(client: AsyncOpenAI) -> None:
    replies = await asyncio.gather(*(ask(client, "plan") for _ in range(20)))
    assert len(set(replies)) == 1


async def test_another_key_is_refused(model: PlayedModel) -> None:
    async with AsyncOpenAI(base_url=model.base_url, api_key="sk-real", max_retries=0) as client:
        with pytest.raises(AuthenticationError, match="key"):
            await ask(client, "plan")


async def test_an_unknown_path_is_not_found(client: AsyncOpenAI) -> None:
    with pytest.raises(NotFoundError, match="knows only"):
        await client.models.list()


async def test_a_stream_is_refused(client: AsyncOpenAI) -> None:
    with pytest.raises(BadRequestError, match="does not stream"):
        await client.chat.completions.create(
            model="played", messages=[{"role": "user", "content": "x"}], stream=True
        )


@pytest.mark.parametrize(
    ("sent", "status", "reason"),
    [
        (b"not json", 400, "not JSON"),
        (b"[]", 400, "not a JSON object"),
        (b"{}", 400, "no messages"),
        (b'{"messages": [1, {"role": "user"}]}', 200, "sorry"),
    ],
)
async def test_an_odd_body_is_answered_in_json(
    model: PlayedModel, sent: bytes, status: int, reason: str
) -> None:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer played\r\n"
    answered = await exchange(model, head + b"Content-Length: %d\r\n\r\n" % len(sent) + sent)
    assert answered[0] == status
    assert reason in json.dumps(answered[1])


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", 431),
        (b"nonsense\r\n\r\n", 404),
    ],
)
async def test_what_is_no_proper_request_is_refused(
    model: PlayedModel, sent: bytes, status: int
) -> None:
    assert (await exchange(model, sent))[0] == status


async def test_somebody_who_hangs_up_disturbs_nobody(
    model: PlayedModel, client: AsyncOpenAI
) -> None:
    _, writer = await connect(model)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Le")
    writer.close()
    await writer.wait_closed()
    assert await ask(client, "plan")


async def test_closing_does_not_wait_for_those_who_are_being_answered() -> None:
    async with PlayedModel(TESTS, delay=600) as model:
        client = AsyncOpenAI(base_url=model.base_url, api_key=model.key, max_retries=0)
        asking = asyncio.create_task(ask(client, "plan"))
        async with asyncio.timeout(20):
            while not model.talks:
                await asyncio.wait([asking], timeout=0.01)
    with pytest.raises(APIConnectionError):
        await asking
    await client.close()


def test_it_does_not_serve_outside_demo_and_tests() -> None:
    for environ in ({}, {"GWT_BOT_STAGE": ""}, {"GWT_BOT_STAGE": "production"}):
        with pytest.raises(Refused, match="only in the demo and in tests") as refusal:
            PlayedModel(environ)
        assert "gwt-bot demo" in refusal.value.remedy


async def test_only_this_machine_can_reach_it(model: PlayedModel) -> None:
    assert model.base_url.startswith("http://127.0.0.1:")


def headings(document: str) -> list[str]:
    return [line[3:] for line in document.splitlines() if line.startswith("## ")]


async def connect(model: PlayedModel) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    port = int(model.base_url.split(":")[2].split("/")[0])
    return await asyncio.open_connection("127.0.0.1", port)


async def exchange(model: PlayedModel, sent: bytes) -> tuple[int, object]:
    """Status and JSON body of the answer to some bytes."""
    reader, writer = await connect(model)
    writer.write(sent)
    answered = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, body = answered.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)
