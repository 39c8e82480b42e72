"""How the played model judges work, cuts tasks anew and judges the whole: by facts, and as a request wants it played."""

from __future__ import annotations

import json

import pytest

from adapters.demo.answers import MISSING_EXPORT, NEEDS_PERSON, NEVER_FINISHED, OVERSIZED
from adapters.demo.texts import english, japanese
from adapters.demo.work import TaskOrder
from bot.core.languages import is_in_language
from bot.core.states import TaskState
from bot.core.task import Acceptance, Task
from bot.steps.asking import ask
from bot.steps.execute.questions import ReplanPrompt
from bot.steps.finish.questions import FinalPrompt
from bot.steps.judging import PatchReading
from bot.steps.verify import questions
from tests.adapters.played.conftest import replied, written
from tests.fakes.llm import Call, ScriptedLlm
from tests.fakes.repository import git_patch
from tests.steps.scenes import T0, check, executing, task, work

FILES = ["basket/discount.py", "tests/test_discount.py"]
FIRST: dict[str, object] = {
    "key": "T001",
    "name": "Discount codes",
    "description": "Take codes",
    "files": FILES,
    "acceptance": [{"id": "T001-A1", "text": "A code counts"}],
    "type": "implementation",
}
PASSED = [{"result": "passed"}]
BOTH = ("en", "ja")


def cue(cues: tuple[str, ...], language: str) -> str:
    """A request in which these words stand."""
    english, japanese = cues
    if language == "en":
        return f"Add discount codes; {english}, please"
    return f"割引コードを追加してください。{japanese}ください"


def played(call: Call) -> str:
    return written(call.system.partition("\n")[0].removeprefix("# "), **json.loads(call.data))


@pytest.mark.parametrize("language", BOTH)
@pytest.mark.parametrize(
    ("cues", "verdict"),
    [(OVERSIZED, "replan"), (NEVER_FINISHED, "continue"), (NEEDS_PERSON, "blocked")],
)
def test_a_request_may_want_its_first_task_to_be_judged_otherwise(
    cues: tuple[str, ...], verdict: str, language: str
) -> None:
    told = {"request": cue(cues, language), "checks": PASSED}
    reply = replied("judge", task=FIRST, **told)
    assert (reply["verdict"], bool(reply["reasons"])) == (verdict, True)
    assert bool(reply["missing"]) is (verdict == "continue")
    wanted = "Japanese" if language == "ja" else "English"
    assert all(is_in_language(reason, wanted) for reason in reply["reasons"])
    other = replied("judge", task={**FIRST, "key": "T002"}, **told)
    assert other["verdict"] == "done"


@pytest.mark.parametrize("language", BOTH)
def test_a_task_is_cut_into_parts_each_of_which_the_played_agent_can_carry_out(
    language: str,
) -> None:
    parts = replied("replan", task=FIRST, why="Too large.", request=cue(OVERSIZED, language))[
        "tasks"
    ]
    assert [part["after"] for part in parts] == [[], [1], [2]]
    assert parts[0]["acceptance"] == ["T001-A1"]
    for part in parts[1:]:
        done = "\n".join(f"- {line}" for line in part["acceptance"])
        files = "\n".join(f"- {file}" for file in part["files"])
        prompt = f"# Task T004: {part['name']}\n\n## It is done when\n{done}\n\n## Files it is about\n{files}\n"
        order = TaskOrder.read(prompt)
        assert order.piece
        assert order.wishes == (part["name"],)


@pytest.mark.parametrize("language", BOTH)
def test_at_the_end_more_may_be_wanted_until_it_is_there(language: str) -> None:
    texts_ = english() if language == "en" else japanese()
    request = cue(MISSING_EXPORT, language)
    reply = replied("final", request=request, tasks=[FIRST], not_done=[])
    assert reply["complete"] is False
    assert [one["name"] for one in reply["tasks"]] == [texts_.pieces["export"].title]
    there = [FIRST, {"name": texts_.pieces["export"].title}]
    assert replied("final", request=request, tasks=there, not_done=[])["complete"] is True


async def test_its_answers_are_taken_by_the_bot_at_once() -> None:
    one: Task = task(
        "T001",
        TaskState.VERIFYING,
        name="割引コード (Discount codes)",
        files=tuple(FILES),
        acceptance=(Acceptance(id="T001-A1", text="A code counts"),),
        work=work("feat: codes"),
        checks=[check(1, 0)],
    )
    session = executing(one)
    session.intent = session.intent.model_copy(update={"body": cue(OVERSIZED, "ja")})
    llm = ScriptedLlm(played)
    verdict, _ = await ask(
        llm,
        questions.JudgePrompt(
            session, one, T0, PatchReading(session, git_patch("a.py", None, "x = 1\n"))
        ),
    )
    smaller, _ = await ask(llm, ReplanPrompt(session, one, "Too large."))
    (whole, _), _ = await ask(llm, FinalPrompt(session, T0))
    assert (verdict.outcome, len(smaller), whole.outcome) == ("replan", 3, "done")
    assert llm.count == 3
