"""The judgement on the whole: what no task has done the model cannot talk away, and without it facts decide."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from bot.core.actions import JudgeWhole, MergeLocally
from bot.core.errors import Refused
from bot.core.evidence import Judgement, Verdict
from bot.core.plan import Document, DocumentKind
from bot.core.session import Session
from bot.core.states import TaskState
from bot.core.task import SmallerTask, Task
from bot.steps.asking import ask, prompt
from bot.steps.finish import questions
from bot.steps.finish.work import merge_locally
from bot.steps.judging import PatchReading
from tests.fakes.llm import ScriptedLlm
from tests.fakes.worktrees import FakeWorktrees
from tests.steps.scenes import T0, check, executing, task
from tests.steps.verify.test_only_what_was_seen import Bench
from tests.steps.worst import answers as worst
from tests.stories.stage import SPEC

DONE = TaskState.COMPLETED
TWO = SPEC.replace("take a code.", "take a code.\n- **FR-002**: It MUST refuse unknown codes.")


def whole(*tasks: Task, spec: str = SPEC) -> Session:
    session = executing(*tasks)
    document = Document(kind=DocumentKind.SPEC, revision=1, text=spec, sha256="0" * 64)
    session.plan.documents = (document,)
    return session


def served(key: str, state: TaskState = DONE, *requirements: str) -> Task:
    return task(key, state, requirements=requirements or ("FR-001",), checks=[check(1, 0)])


def answer(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False)


COMPLETE = answer(complete=True, reasons=["All is there."], score=95)


async def judged(
    session: Session, *lines: str
) -> tuple[Verdict, tuple[SmallerTask, ...], list[Any], ScriptedLlm]:
    llm = ScriptedLlm(lines)
    (verdict, proposed), usage = await ask(llm, questions.FinalPrompt(session, T0))
    assert usage.calls == llm.count
    return verdict, proposed, [call.fields() for call in llm.calls], llm


@pytest.mark.covers("B-ENTITY-FinalJudgement", "B-FLOW-RUN-17", "B-OP-judgeFinalCompletion")
async def test_the_whole_is_judged_by_what_became_of_requirements_and_tasks() -> None:
    verdict, proposed, (told,), llm = await judged(whole(served("T001")), COMPLETE)
    assert (verdict.outcome, verdict.reasons, verdict.score) == (
        Judgement.DONE,
        ("All is there.",),
        95,
    )
    assert proposed == ()
    assert llm.calls[0].system == prompt("final")
    assert told["requirements"] == [{"id": "FR-001", "completed_tasks": ["T001"]}]
    assert told["not_done"] == []
    assert told["tasks"][0]["last_check"]["result"] == "passed"


@pytest.mark.covers("B-ENTITY-FinalJudgement", "B-FLOW-RUN-19")
async def test_what_is_missing_comes_with_tasks_in_their_order() -> None:
    tasks = [
        {"name": "Tell", "acceptance": ["told"], "type": "documentation", "after": [2]},
        {"name": "Build", "acceptance": ["built", "tested"], "files": ["a.py"]},
    ]
    line = answer(complete=False, missing=["Codes cannot be listed."], tasks=tasks)
    verdict, proposed, _, _ = await judged(whole(served("T001")), line)
    assert (verdict.outcome, verdict.missing) == (Judgement.CONTINUE, ("Codes cannot be listed.",))
    assert verdict.suggestions == ("Build", "Tell")
    assert [(one.name, one.after) for one in proposed] == [("Build", ()), ("Tell", (0,))]
    assert [a.id for a in proposed[0].acceptance] == ["N1-A1", "N1-A2"]


@pytest.mark.covers("B-OP-judgeFinalCompletion")
@pytest.mark.parametrize(
    "state", [TaskState.FAILED, TaskState.CANCELLED, TaskState.REPLACED, TaskState.BLOCKED]
)
async def test_a_requirement_that_no_completed_task_serves_cannot_be_talked_away(
    state: TaskState,
) -> None:
    session = whole(served("T001"), served("T002", state, "FR-002"), spec=TWO)
    lines = [answer(complete=True, reasons=[f"Fine {n}."]) for n in range(3)]
    verdict, proposed, asked, _ = await judged(session, *lines)
    assert verdict.outcome is Judgement.CONTINUE
    assert "FR-002 is served by no completed task." in verdict.missing
    assert [one.name for one in proposed] == ["Carry out FR-002"]
    assert "refuse unknown codes" in proposed[0].description
    assert asked[0]["not_done"] == ["FR-002"]
    assert "no completed task serves FR-002" in asked[1]["correction"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (answer(complete=True, missing=["x"]), "nothing may be missing"),
        (answer(complete=False), "say what is missing"),
        (answer(reasons=["x"]), "complete"),
        (answer(complete=False, missing=["x"], tasks=[{"name": "A"}]), "acceptance"),
        (
            answer(
                complete=False,
                missing=["x"],
                tasks=[{"name": f"A{n}", "acceptance": ["x"]} for n in range(11)],
            ),
            "at most 10",
        ),
    ],
)
async def test_a_judgement_that_contradicts_itself_is_asked_for_again(
    wrong: str, told: str
) -> None:
    verdict, _, asked, _ = await judged(whole(served("T001")), wrong, COMPLETE)
    assert verdict.outcome is Judgement.DONE
    assert told in asked[1]["correction"]


@pytest.mark.covers("B-OP-judgeFinalCompletion")
@pytest.mark.parametrize(
    ("tasks", "outcome"),
    [
        ([served("T001")], Judgement.DONE),
        ([served("T001"), served("T002", TaskState.CANCELLED)], Judgement.DONE),
        ([served("T001"), served("T002", TaskState.FAILED)], Judgement.CONTINUE),
        ([served("T001", TaskState.CANCELLED)], Judgement.CONTINUE),
    ],
)
async def test_without_the_model_the_tasks_decide(tasks: list[Task], outcome: Judgement) -> None:
    verdict, _, _, _ = await judged(whole(*tasks), "?", "??", "???")
    assert verdict.outcome is outcome
    assert verdict.reasons == (questions.NO_VERDICT,)
    assert bool(verdict.missing) is (outcome is Judgement.CONTINUE)
    assert verdict == questions.plain_verdict(whole(*tasks), T0)


def test_nothing_done_at_all_is_never_complete() -> None:
    nothing = whole(task("T001", TaskState.CANCELLED), spec="# A plan without requirements")
    assert questions.plain_verdict(nothing, T0).missing == ("No task was completed.",)


@pytest.mark.parametrize("choice", range(len(worst.ANSWERS["final"])))
@pytest.mark.parametrize("state", [DONE, TaskState.FAILED])
async def test_the_worst_answers_neither_end_what_is_not_done_nor_make_endless_work(
    choice: int, state: TaskState
) -> None:
    answering = worst.ANSWERS["final"][choice]

    def always(call: Any) -> str:
        return json.dumps(answering(random.Random(1), json.loads(call.data)))  # noqa: S311 - a seed

    (verdict, proposed), _ = await ask(
        ScriptedLlm(always), questions.FinalPrompt(whole(served("T001", state)), T0)
    )
    if state is not DONE:
        assert verdict.outcome is Judgement.CONTINUE
    assert len(proposed) <= questions.MOST_NEW_TASKS
    assert all(len(text) <= 600 for text in (*verdict.reasons, *verdict.missing))
    assert not any(file.startswith(("/", "..", "~")) for one in proposed for file in one.files)


# The merged change, and what each requirement is met by.


def met_by(*evidence: str, complete: bool = True) -> str:
    named = [{"id": "FR-001", "met": True, "evidence": evidence}]
    return answer(complete=complete, met_by=named, missing=[] if complete else ["More."])


async def performed(bench: Bench, lines: list[str], merged: str = "") -> tuple[Verdict, Any]:
    """Two tasks are done, each on its branch; the whole is judged."""
    done = [await bench.looked_at(key, DONE) for key in ("T001", "T002")]
    done[0].requirements = ("FR-001",)
    session = bench.session(*done)
    session.plan.documents = whole().plan.documents
    if merged:
        event = await merge_locally(bench.world, session, MergeLocally())
        session.ending.merged_commit = event.commit
    bench.llm.then(*lines)
    event = await questions.FinalPrompt.perform(bench.world, session, JudgeWhole(number=1))
    return event.verdict, json.loads(bench.llm.calls[0].data)


@pytest.mark.covers("B-OP-judgeFinalCompletion")
@pytest.mark.parametrize("merged", ["", "merged"])
async def test_the_whole_is_judged_by_what_all_tasks_have_changed(merged: str) -> None:
    verdict, told = await performed(Bench(), [met_by("T002.py:1", "README.md:1")], merged)
    assert "=== T001.py" in told["diff"]
    assert "=== T002.py" in told["diff"]
    assert verdict.outcome is Judgement.DONE
    assert [one.described for one in verdict.criteria] == ["✓ FR-001 T002.py:1, README.md:1"]


@pytest.mark.parametrize(
    ("lines", "outcome", "described"),
    [
        ([met_by("T001.py:7"), met_by("T001.py:1")], "done", "✓ FR-001 T001.py:1"),
        ([met_by("T001.py:7"), met_by("T001.py:8")], "blocked", "✗ FR-001 unproven: T001.py:8"),
        ([met_by(), met_by()], "blocked", "✗ FR-001"),
        ([met_by("T001.py:1", complete=False)], "continue", "✓ FR-001 T001.py:1"),
    ],
    ids=["corrected", "wrong twice", "by nothing", "not complete"],
)
async def test_a_requirement_of_the_whole_is_met_by_what_is_there(
    lines: list[str], outcome: str, described: str
) -> None:
    verdict, _ = await performed(Bench(), lines)
    assert (verdict.outcome, [one.described for one in verdict.criteria]) == (outcome, [described])


async def test_changes_that_cannot_be_read_any_more_are_named() -> None:
    class Broken(FakeWorktrees):
        async def diff(self, path: str, since: str, limit: int, until: str = "HEAD") -> str:
            if path.endswith("t001"):
                raise Refused("The worktree is gone.")
            return await super().diff(path, since, limit, until)

    bench = Bench()
    broken = Broken(bench.repository, bench.forge.hub)
    broken.standing = bench.worktrees.standing
    bench.world = replace(bench.world, worktrees=broken)
    verdict, told = await performed(bench, [met_by("T002.py:1")])
    assert told["unseen"] == ["the changes of T001 (the worktree is gone)"]
    assert verdict.outcome is Judgement.BLOCKED


def test_what_a_person_has_accepted_unseen_does_not_hold_up_the_whole() -> None:
    reading = PatchReading(
        whole(), unread=("logo.png (binary)",), let_pass=frozenset({"logo.png (binary)"})
    )
    assert reading.unseen == ()
