"""A task that was cut too large is cut anew: what the model may propose, and what becomes of what it may not."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import TaskState
from bot.core.task import Acceptance, SmallerTask, Task
from bot.steps.asking import ask, prompt
from bot.steps.execute import questions
from tests.fakes.llm import ScriptedLlm
from tests.steps.scenes import check, executing, task, work
from tests.steps.worst import answers as worst

IDS = ("T001-A1", "T001-A2")


def large() -> Task:
    acceptance = tuple(Acceptance(id=id, text=f"Criterion {id[-1]}") for id in IDS)
    return task(
        "T001",
        TaskState.VERIFYING,
        acceptance=acceptance,
        requirements=("FR-001",),
        work=work("feat: half of it"),
        checks=[check(1, 0)],
    )


def part(name: str, *acceptance: str, **more: object) -> dict[str, object]:
    return {"name": name, "description": f"Do {name}", "acceptance": acceptance or IDS} | more


def reply(*parts: dict[str, object]) -> str:
    return json.dumps({"tasks": parts}, ensure_ascii=False)


async def cut(*lines: str) -> tuple[tuple[SmallerTask, ...], list[Any], ScriptedLlm]:
    llm, one = ScriptedLlm(lines), large()
    found, usage = await ask(
        llm, questions.ReplanPrompt(executing(one, task("T002")), one, "It is too large.")
    )
    assert usage.calls == llm.count
    return found, [call.fields() for call in llm.calls], llm


GOOD = reply(
    part("Look", "T001-A1", type="investigation"),
    part(
        "Build",
        "Criterion 2",
        "Its tests pass",
        files=["./a.py", "../b", "/etc/c", ".git/x"],
        after=[1],
    ),
    part("Tell", "It is told", type="documentation", after=[2, 1, 1]),
)


@pytest.mark.covers("B-OP-replanFailedTask")
async def test_a_task_is_cut_into_smaller_ones_that_serve_its_criteria() -> None:
    found, (told,), llm = await cut(GOOD)
    assert [(one.name, one.type, one.after) for one in found] == [
        ("Look", TaskType.INVESTIGATION, ()),
        ("Build", TaskType.IMPLEMENTATION, (0,)),
        ("Tell", TaskType.DOCUMENTATION, (0, 1)),
    ]
    assert [[a.id for a in one.acceptance] for one in found] == [
        ["T001-A1"],
        ["T001-A2", "T001-S2-A2"],
        ["T001-S3-A1"],
    ]
    assert found[0].acceptance[0].text == "Criterion 1"
    assert found[1].files == ("a.py",)
    assert llm.calls[0].system == prompt("replan")
    assert (told["why"], told["commits"]) == ("It is too large.", ["feat: half of it"])
    assert told["task"]["requirements"] == ["FR-001"]
    assert told["task"]["acceptance"][0] == {"id": "T001-A1", "text": "Criterion 1"}


async def test_a_task_comes_after_those_it_waits_for_wherever_it_was_named() -> None:
    found, _, _ = await cut(
        reply(part("Last", after=[3]), part("First"), part("Middle", after=[2]))
    )
    assert [(one.name, one.after) for one in found] == [
        ("First", ()),
        ("Middle", (0,)),
        ("Last", (1,)),
    ]


@pytest.mark.covers("B-OP-replanFailedTask")
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (reply(part("Alone")), "at least 2"),
        (reply(*(part(f"P{n}") for n in range(6))), "at most 5"),
        (reply(part("A", "T001-A1"), part("B", "else")), "no task serves T001-A2"),
        (reply(part("A", after=[2]), part("B", after=[1])), "circle"),
        (reply(part("A", after=[1]), part("B")), "task 1 cannot wait for 1"),
        (reply(part("A", after=[7]), part("B")), "task 1 cannot wait for 7"),
        (reply(part("A", after=[0]), part("B")), "task 1 cannot wait for 0"),
        (reply(part("A"), part("a")), "same name"),
        (reply(part("A"), part(" ")), "name"),
        (reply(part("A", type="integration"), part("B")), "type"),
        (reply(part("A"), {"name": "B", "acceptance": list[str]()}), "acceptance"),
    ],
)
async def test_what_cannot_be_carried_out_is_asked_for_again(wrong: str, told: str) -> None:
    found, asked, _ = await cut(wrong, GOOD)
    assert len(found) == 3
    assert told in asked[1]["correction"]


async def test_without_a_usable_answer_there_are_none_after_three_tries() -> None:
    found, asked, _ = await cut("no", reply(part("Alone")), reply(part("A"), part("a")))
    assert found == ()
    assert len(asked) == 3


@pytest.mark.parametrize("choice", range(len(worst.ANSWERS["replan"])))
async def test_the_worst_answers_lead_to_tasks_that_can_be_carried_out_or_to_none(
    choice: int,
) -> None:
    one = large()
    session: Session = executing(one)
    answer = worst.ANSWERS["replan"][choice]

    def always(call: Any) -> str:
        return json.dumps(answer(random.Random(1), json.loads(call.data)))  # noqa: S311 - a seed

    found, _ = await ask(ScriptedLlm(always), questions.ReplanPrompt(session, one, worst.INJECTION))
    assert len(found) in (0, 2, 3, 4, 5)
    for place, smaller in enumerate(found):
        assert all(before < place for before in smaller.after)
        assert not any(
            ".." in file or file.startswith("/") or ".git" in file for file in smaller.files
        )
        assert len(smaller.name) <= 200
        assert "\n" not in smaller.name
    if found:
        assert {a.id for smaller in found for a in smaller.acceptance} >= set(IDS)
