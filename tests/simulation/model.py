"""The model of the simulated world: usually of use, now and then talking nonsense, and never the same plan twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from tests.fakes.llm import Call
from tests.prompts import plain_reply
from tests.stories.stage import ANSWERS, PLAN, SPEC, draft, proper_judgement

NONSENSE = (
    "",
    "{}",
    "{",
    "[]",
    '{"choice": 7}',
    "I cannot help with that.",
    '{"verdict": "maybe"}',
)
PLANS = (
    [draft("T001", "Codes"), draft("T002", "Receipt"), draft("T003", "Checkout", "T001")],
    [draft("T001", "Codes"), draft("T002", "Checkout", "T001")],
    [draft("T001", "Codes")],
)
WEIGHTS = (1, 2, 2)


def model(chance: Random, nonsense: Callable[[], float]) -> Callable[[Call], str]:
    plan = chance.choices(PLANS, WEIGHTS)[0]
    revision = 0

    def answer(call: Call) -> str:
        nonlocal revision
        heading = call.system.partition("\n")[0].removeprefix("# ")
        share = nonsense()
        if share and chance.random() < share:
            return chance.choice(NONSENSE)
        if heading == "specify":
            revision += 1
            return SPEC + f"- Revision {revision}.\n"
        if heading == "plan":
            return PLAN
        if heading == "tasks":
            return json.dumps({"parallelism": 2, "tasks": plan})
        if heading == "next_step":
            told = json.loads(call.data)
            return json.dumps({"choice": told["default"], "reason": "It is the plain thing."})
        if heading == "judge" and share and chance.random() < 0.1:
            return json.dumps({"verdict": "continue", "missing": ["more"], "score": 50})
        if heading in ("judge", "final", "evidence"):
            return json.dumps(proper_judgement(heading, json.loads(call.data)))
        return json.dumps(ANSWERS.get(heading) or plain_reply(heading))

    return answer
