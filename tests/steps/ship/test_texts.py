"""Texts about finished work: what the model may write, and what stands there without it."""

from __future__ import annotations

import json

import pytest

from bot.core.pull_text import title_problem
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import TaskState
from bot.core.task import Acceptance, Task
from bot.steps.asking import ask, prompt
from bot.steps.finish.questions import SummaryPrompt
from bot.steps.ship import questions
from tests.fakes.llm import ScriptedLlm
from tests.fields import put
from tests.steps.scenes import check, executing, task, work

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
