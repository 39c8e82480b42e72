"""The model is tried on a commit: it names files after looking around, and judges the change and what is left of it."""

from __future__ import annotations

import json

from bot.core.trials import TrialCase
from bot.steps.trials import Trials
from tests.fakes.llm import Call, ScriptedLlm
from tests.fakes.repository import FakeRepository

FILES = {
    "shop/discounts.py": "def apply_discount(order):\n    return order\n",
    "shop/mail.py": "x\n",
}
PATCH = (
    "diff --git a/shop/discounts.py b/shop/discounts.py\n--- a/shop/discounts.py\n+++ b/shop/discounts.py\n"
    "@@ -1,2 +1,2 @@\n def apply_discount(order):\n-    return order\n+    return order * 0.9\n"
    "@@ -9,1 +9,2 @@\n x = 1\n+y = 1\n"
)


def trials(llm: ScriptedLlm) -> tuple[Trials, TrialCase]:
    repository = FakeRepository(files=FILES)
    commit = repository.heads[repository.branch]
    case = TrialCase(
        id="c" * 40,
        parent=commit,
        request="Apply a discount of ten percent",
        touched=("shop/discounts.py",),
        patch=PATCH,
    )
    return Trials(llm, repository, repository.path, 0, 0), case


async def test_files_are_found_without_the_model() -> None:
    some, case = trials(ScriptedLlm())
    results = await some.find(case)
    assert [(one.part, one.score) for one in results] == [
        ("find, first 10", 1.0),
        ("find, first 20", 1.0),
    ]


async def test_the_model_names_files_after_it_looked_around() -> None:
    look = '{"look": [{"tool": "list", "path": "shop"}]}'
    llm = ScriptedLlm([look, '{"files": ["./shop/discounts.py", "shop/nowhere.py"]}'])
    some, case = trials(llm)
    [result] = await some.locate(case)
    assert result.score == 1.0
    assert "(1 looks)" in result.detail
    assert json.loads(llm.calls[0].data)["request"] == case.request


async def test_a_judge_that_praises_everything_is_right_half_of_the_time() -> None:
    def praise(call: Call) -> str:
        shown = "shop/discounts.py:2" if "0.9" in call.data else "shop/discounts.py:10"
        met = [{"id": "T001-A1", "met": True, "evidence": [shown]}]
        return json.dumps({"verdict": "done", "criteria": met, "score": 100})

    some, case = trials(ScriptedLlm(praise))
    results = await some.judge(case)
    assert [(one.part, one.score) for one in results] == [
        ("judge, whole", 1.0),
        ("judge, part missing", 0.0),
    ]


async def test_a_judge_that_misses_the_part_is_right() -> None:
    def fair(call: Call) -> str:
        met = "0.9" in call.data
        shown = [{"id": "T001-A1", "met": met, "evidence": ["shop/discounts.py:2"] if met else []}]
        verdict = {
            "verdict": "done" if met else "continue",
            "missing": [] if met else ["The discount."],
        }
        return json.dumps({**verdict, "criteria": shown, "reasons": ["So."], "score": 50})

    some, case = trials(ScriptedLlm(fair))
    assert [one.score for one in await some.judge(case)] == [1.0, 1.0]
