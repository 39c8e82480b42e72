"""Texts about finished work, and the verdict on it: what the model may write, and what stands there without it."""

from __future__ import annotations

import json
import random

import pytest

from bot.core.evidence import Judgement
from bot.core.pull_text import title_problem
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import TaskState
from bot.core.tampering.signs import Flag, Sign
from bot.core.task import Acceptance, Task
from bot.steps.asking import ask, prompt
from bot.steps.finish.questions import SummaryPrompt
from bot.steps.ship import questions
from bot.steps.verify.questions import JudgePrompt, plain_verdict
from tests.fakes.llm import Call, ScriptedLlm
from tests.fields import put
from tests.steps.scenes import T0, check, executing, run, task, work
from tests.steps.worst import answers as worst

DIFF = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


def finished(**changes: object) -> Task:
    done = task(
        "T001",
        TaskState.VERIFYING,
        name="Discount codes.",
        description="Take a code",
        acceptance=(Acceptance(id="T001-A1", text="A code lowers the price"),),
        requirements=("FR-001",),
        work=work("feat: codes", "test: codes"),
        checks=[check(1, 0)],
    )
    return put(done, changes)


def answer(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False)


def sent(llm: ScriptedLlm, call: int = 0) -> dict[str, object]:
    return llm.calls[call].fields()


def plan(*tasks: Task) -> Session:
    return executing(*tasks)


# pull requests


@pytest.mark.covers("G-RULE-PR-5", "G-RULE-PR-7")
async def test_a_pull_request_is_described_from_the_diff() -> None:
    done = finished()
    llm = ScriptedLlm([answer(title="feat(basket): take codes", body="Codes lower the price.")])
    text, usage = await ask(llm, questions.PullRequestPrompt(plan(done), done, DIFF, done.checks))
    assert (text.title, text.body) == ("feat(basket): take codes", "Codes lower the price.")
    assert usage.calls == 1
    assert llm.calls[0].system == prompt("pull_request")
    data = sent(llm)
    assert data["diff"] == DIFF
    assert data["commits"] == ["test: codes", "feat: codes"]
    assert data["checks"] == [
        {"command": "python3 -m unittest", "commit": "1" * 12, "result": "passed"}
    ]
    assert "A code lowers the price" in str(data["task"])


@pytest.mark.covers("G-RULE-PR-6")
async def test_a_title_that_breaks_the_convention_is_asked_for_again() -> None:
    done = finished()
    llm = ScriptedLlm([answer(title=t, body="b") for t in ("feat: feat: codes", "feat: codes")])
    text, _ = await ask(llm, questions.PullRequestPrompt(plan(done), done, DIFF, ()))
    assert text.title == "feat: codes"
    assert "once more" in str(sent(llm, 1)["correction"])


@pytest.mark.covers("G-RULE-PR-5", "G-RULE-PR-7")
async def test_without_the_model_a_pull_request_says_what_git_and_the_tests_say() -> None:
    done = finished()
    llm = ScriptedLlm(["no", answer(title="Codes", body="b"), answer(title="feat: codes")])
    text, usage = await ask(llm, questions.PullRequestPrompt(plan(done), done, DIFF, done.checks))
    assert text.title == "feat: Discount codes"
    assert usage.calls == 3
    for fact in (
        "Take a code",
        "- A code lowers",
        "- test: codes\n- feat: codes",
        "unittest` passed",
        "### Impact\n\nIt touches:\n\n- `",
    ):
        assert fact in text.body


@pytest.mark.covers("B-OP-generateCommitMessage")
@pytest.mark.parametrize(
    ("kind", "intent", "prefix"),
    [
        (TaskType.IMPLEMENTATION, "feature", "feat"),
        (TaskType.IMPLEMENTATION, "fix", "fix"),
        (TaskType.DOCUMENTATION, "feature", "docs"),
        (TaskType.INTEGRATION, "refactor", "fix"),
    ],
)
def test_a_plain_title_follows_the_task_and_the_request(
    kind: TaskType, intent: str, prefix: str
) -> None:
    done = finished(type=kind, name="割引コードを追加する。" * 20)
    session = plan(done)
    session.intent = session.intent.model_copy(update={"type": intent})
    title = questions.plain_pull_text(session, done, ()).title
    assert title.startswith(f"{prefix}: 割引コード")
    assert title_problem(title) == ""


async def test_a_long_diff_is_shortened_file_by_file() -> None:
    done = finished()
    one = "diff --git a/{0}.py b/{0}.py\n@@ -1 +1,900 @@\n" + "+日本語の行です\n" * 900
    llm = ScriptedLlm([answer(title="feat: codes", body="b")])
    await ask(
        llm, questions.PullRequestPrompt(plan(done), done, "".join(map(one.format, range(9))), ())
    )
    assert len(llm.calls[0].data.encode()) < 24_000
    assert all(f"{n}.py +900" in str(sent(llm)["diff"]) for n in range(9))


# the verdict


@pytest.mark.covers(
    "G-US6.2",
    "B-FLOW-RUN-13",
    "B-OP-judgeTask",
    "B-OP-Judge",
    "F-ENTITY-ReviewResult",
    "F-REVIEW-1",
    "F-REVIEW-3",
)
async def test_a_task_is_judged_by_its_diff_and_its_acceptance() -> None:
    done = finished()
    llm = ScriptedLlm(
        [answer(verdict="continue", missing=["Round down"], score=60, suggestions=["Name it"])]
    )
    found, _ = await ask(llm, JudgePrompt(plan(done), done, DIFF))
    verdict = found.at(T0)
    assert (verdict.outcome, verdict.missing, verdict.suggestions, verdict.score) == (
        Judgement.CONTINUE,
        ("Round down",),
        ("Name it",),
        60,
    )
    assert llm.calls[0].system == prompt("judge")
    assert sent(llm)["acceptance"] == ["A code lowers the price"]
    assert sent(llm)["diff"] == DIFF


@pytest.mark.covers("B-FLOW-RUN-13", "F-REVIEW-1", "F-REVIEW-2")
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"verdict": "finished"}, "verdict"),
        ({"verdict": "done", "missing": ["Rounding"]}, "missing"),
        ({"verdict": "blocked"}, "reasons"),
        ({"verdict": "done", "score": 101}, "score"),
    ],
)
async def test_a_verdict_that_contradicts_itself_is_asked_for_again(
    wrong: dict[str, object], told: str
) -> None:
    done = finished()
    llm = ScriptedLlm([answer(**wrong), answer(verdict="done", reasons=["All is there."])])
    found, _ = await ask(llm, JudgePrompt(plan(done), done, DIFF))
    assert found.verdict is Judgement.DONE
    assert told in str(sent(llm, 1)["correction"])


@pytest.mark.parametrize(
    ("checks", "outcome"),
    [((0,), Judgement.DONE), ((0, 1), Judgement.CONTINUE), ((), Judgement.BLOCKED)],
)
async def test_without_the_model_the_tests_decide(
    checks: tuple[int, ...], outcome: Judgement
) -> None:
    done = finished(checks=[check(n, code) for n, code in enumerate(checks, 1)])
    found, _ = await ask(ScriptedLlm(["?", "??", "???"]), JudgePrompt(plan(done), done, DIFF))
    assert found.verdict is outcome
    assert found.reasons


@pytest.mark.covers("B-OP-judgeTask")
async def test_failing_tests_cannot_be_talked_away() -> None:
    done = finished(checks=[check(1, 1)])
    llm = ScriptedLlm([answer(verdict="done", reasons=[f"Fine {n}."]) for n in range(3)])
    found, _ = await ask(llm, JudgePrompt(plan(done), done, DIFF))
    assert found.verdict is Judgement.CONTINUE


SIGN = Flag(sign=Sign.TEST_DELETED, path="tests/test_a.py", says="«test_a» is gone.")


@pytest.mark.covers("B-OP-judgeTask")
async def test_the_judge_is_told_the_signs_and_what_the_agent_reports() -> None:
    done = finished()
    llm = ScriptedLlm([answer(verdict="continue", missing=["Bring test_a back"])] * 2)
    await ask(llm, JudgePrompt(plan(done), done, DIFF, (SIGN,), "All tests pass, trust me."))
    data = sent(llm)
    told = {"sign": "test_deleted", "path": "tests/test_a.py", "says": "«test_a» is gone."}
    assert data["signs"] == [told]
    assert (data["report"], data["signs_accepted"]) == ("All tests pass, trust me.", False)
    done.accepted = (done.work.head if done.work else "",)
    await ask(llm, JudgePrompt(plan(done), done, DIFF, (SIGN,), ""))
    assert sent(llm, 1)["signs_accepted"] is True


async def test_a_very_long_report_leaves_room_for_the_diff() -> None:
    done = finished()
    llm = ScriptedLlm([answer(verdict="done")])
    await ask(llm, JudgePrompt(plan(done), done, DIFF, (), "報告です。" * 90_000))
    assert len(llm.calls[0].data.encode()) < 24_000
    assert sent(llm)["diff"] == DIFF


@pytest.mark.covers("B-TYPE-investigation")
async def test_an_investigation_is_judged_on_its_report_and_needs_no_diff() -> None:
    looked = finished(type=TaskType.INVESTIGATION, checks=[])
    llm = ScriptedLlm([answer(verdict="done", score=80)])
    found, usage = await ask(
        llm, JudgePrompt(plan(looked), looked, "", (), "It is line 3 of a.py.")
    )
    assert (found.verdict, usage.calls) == (Judgement.DONE, 1)


@pytest.mark.parametrize("kind", [TaskType.INVESTIGATION, TaskType.IMPLEMENTATION])
@pytest.mark.parametrize("report", ["", " \n"])
async def test_nothing_at_all_is_never_done(kind: TaskType, report: str) -> None:
    nothing = finished(type=kind, checks=[])
    llm = ScriptedLlm([answer(verdict="done", reasons=[f"Fine {n}."]) for n in range(3)])
    found, _ = await ask(llm, JudgePrompt(plan(nothing), nothing, "", (), report))
    assert found.verdict is Judgement.BLOCKED
    assert "so it is not done" in str(sent(llm, 1)["correction"])


@pytest.mark.covers("B-TYPE-documentation")
async def test_documentation_may_be_done_without_tests() -> None:
    written = finished(type=TaskType.DOCUMENTATION, checks=[])
    found, _ = await ask(
        ScriptedLlm([answer(verdict="done")]), JudgePrompt(plan(written), written, DIFF)
    )
    assert found.verdict is Judgement.DONE
    assert plain_verdict(written).verdict is Judgement.DONE
    written.work = None
    assert plain_verdict(written).verdict is Judgement.BLOCKED


@pytest.mark.covers("B-TYPE-investigation")
def test_without_the_model_an_investigation_is_done_with_a_report_only() -> None:
    looked = finished(type=TaskType.INVESTIGATION, checks=[], runs=[run("T001", 1)])
    assert plain_verdict(looked).verdict is Judgement.BLOCKED
    looked.runs = [run("T001", 1).model_copy(update={"message": "It is line 3."})]
    assert plain_verdict(looked).verdict is Judgement.DONE


@pytest.mark.parametrize("choice", range(len(worst.ANSWERS["judge"])))
async def test_the_worst_verdicts_never_make_failing_tests_done(choice: int) -> None:
    failing = finished(checks=[check(1, 1)])
    answering = worst.ANSWERS["judge"][choice]

    def always(call: Call) -> str:
        return json.dumps(answering(random.Random(1), json.loads(call.data)))  # noqa: S311 - a seed

    llm = ScriptedLlm(always)
    found, _ = await ask(llm, JudgePrompt(plan(failing), failing, DIFF, (SIGN,), worst.INJECTION))
    assert found.verdict is not Judgement.DONE
    assert all(len(text) <= 600 for text in (*found.reasons, *found.missing))


# the end of a session


async def test_a_session_is_summed_up_in_the_models_words() -> None:
    llm = ScriptedLlm([answer(text="Codes work now.")])
    text, _ = await ask(llm, SummaryPrompt(plan(finished())))
    assert text == "Codes work now."
    assert llm.calls[0].system == prompt("summary")
    assert sent(llm)["checks"] == [
        {"task": "T001", "command": "python3 -m unittest", "commit": "1" * 12, "result": "passed"}
    ]


async def test_without_the_model_a_session_is_summed_up_in_numbers() -> None:
    done = finished(state=TaskState.COMPLETED, name="Codes")
    session = plan(done, task("T002", TaskState.CANCELLED), task("T003", TaskState.REPLACED))
    text, _ = await ask(ScriptedLlm(["", answer(text=""), "{"]), SummaryPrompt(session))
    assert text == (
        "1 of 2 tasks are completed. Completed: T001 Codes. Not completed: T002 Task T002. "
        "The last tests passed for 1 of 1 tasks."
    )
