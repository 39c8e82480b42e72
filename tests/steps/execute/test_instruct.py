"""What an agent is told: enough for its task, the rules of the house always, and never where the main checkout is."""

from __future__ import annotations

import pytest

from bot.core.git import Scan
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import TaskState
from bot.core.task import Acceptance, Task
from bot.steps.execute.instruction import instruction, is_complex
from tests.fields import put
from tests.steps.scenes import REPOSITORY, executing, question, run, running, task

CONVENTIONS = "## CLAUDE.md\nMoney is whole cents."


def told(task: Task, *others: Task, marked: bool = False, **changes: object) -> str:
    session = executing(task, *others)
    session.repository.scan = Scan(
        commit="b", conventions=CONVENTIONS, directory_tree="basket/\ntests/"
    )
    answered = question(1, answer="JWT")
    session.intent = session.intent.model_copy(update={"clarifications": (answered, question(2))})
    assert task.run
    return instruction(session, task, task.run.model_copy(update=changes), needs_marker=marked)


@pytest.mark.covers(
    "G-US3.3",
    "G-RULE-FLOW-8",
    "G-RULE-PROMPT-1",
    "G-RULE-PROMPT-4",
    "G-RULE-PROMPT-6",
    "G-RULE-DUTY-3",
    "G-FR-022",
    "B-OP-generateCommitMessage",
    "R-RULE-TASK-2",
)
@pytest.mark.parametrize("complexity", ["low", "high"])
def test_conventions_decisions_tests_first_commits_and_the_end_are_in_every_instruction(
    complexity: str,
) -> None:
    text = told(running("T001", complexity=complexity), task("T002"))
    for always in (
        CONVENTIONS,
        "D1: Question 1? → JWT",
        "Test first: write a failing test",
        "Conventional Commits",
        "then quit (q)",
    ):
        assert always in text
    assert "Question 2?" not in text, "what nobody has decided is no decision"


def test_an_agent_is_told_where_to_read_first() -> None:
    text = told(running("T001", read_first=("shop/discounts.py:1-9",)))
    assert "## Read first\n- shop/discounts.py:1-9" in text
    assert "Read first" not in told(running("T001"))


@pytest.mark.covers("G-RULE-PROMPT-3")
def test_a_simple_task_is_told_no_more_than_itself() -> None:
    text = told(running("T001", complexity="low"), task("T002"))
    assert "T002" not in text
    assert "basket/" not in text


@pytest.mark.covers("G-RULE-PROMPT-4")
def test_a_complex_one_knows_the_other_tasks_the_tree_and_where_the_plan_is() -> None:
    text = told(running("T001", complexity="high"), task("T002"))
    assert "- T002: Task T002" in text
    assert "basket/" in text
    assert "specs/SPEC-7682b3a8/" in text


@pytest.mark.covers("G-RULE-PROMPT-5", "F-TASK-COMPLEXITY")
@pytest.mark.parametrize(
    ("changes", "judged"),
    [
        ({"complexity": "low", "description": "x" * 5_000}, False),
        ({"complexity": "med"}, True),
        ({}, False),
        ({"dependencies": ("a", "b")}, True),
        ({"description": "x" * 700}, True),
        ({"acceptance": tuple(Acceptance(id=str(n), text="y" * 90) for n in range(9))}, True),
    ],
)
def test_complex_is_what_the_plan_says_else_what_depends_on_much_or_says_much(
    changes: dict[str, object], judged: bool
) -> None:
    judged_task = task("T001")
    put(judged_task, changes)
    assert is_complex(judged_task) is judged


@pytest.mark.covers("G-US4.3", "G-RULE-PROMPT-2")
def test_the_marker_is_described_and_never_spelled_out() -> None:
    text = told(running("T001"), marked=True, nonce="1a2b3c4d")
    assert "GWT_TASK_DONE" in text
    assert "1a2b3c4d" in text
    assert "GWT_TASK_DONE-1a2b3c4d" not in text


def test_the_main_checkout_is_never_named_even_in_what_tests_print() -> None:
    own = f'File "{REPOSITORY}/.worktrees/agent-t001/tests/test_a.py", line 3'
    other = f"see {REPOSITORY}/.worktrees/agent-t002/x.py and {REPOSITORY}/README.md"
    text = told(running("T001"), feedback=f"{own}\n{other}", why=Why.CHECK_FAILED)
    assert 'File "tests/test_a.py", line 3' in text
    assert REPOSITORY not in text


def test_a_session_without_a_scan_or_decisions_has_an_instruction_all_the_same() -> None:
    session: Session = executing(task("T001", runs=[run("T001", 1)]))
    session.repository.scan = None
    assert instruction(session, session.tasks[0], run("T001", 1), needs_marker=False).startswith(
        "# Task T001: Task T001"
    )


REPORT = "/home/of/the/bot/spool/run-1/report.md"


def test_an_investigation_is_told_to_report_and_not_to_test_or_commit() -> None:
    one = running("T001", type=TaskType.INVESTIGATION)
    session = executing(one)
    assert one.run
    text = instruction(session, one, one.run, needs_marker=False, report=REPORT)
    assert f"\n{REPORT}\n" in text
    assert "no tests, no commits" in text
    for of_code in ("failing test", "Commit all your work", "When everything is committed"):
        assert of_code not in text


def test_documentation_is_held_against_the_code_and_wants_no_test_first() -> None:
    text = told(running("T001", type=TaskType.DOCUMENTATION))
    assert "against the code as it is" in text
    assert "(docs: …)" in text
    assert "failing test" not in text
    assert "report.md" not in text


def test_who_builds_on_an_investigation_is_told_what_it_has_found() -> None:
    found = run("T001", 1).model_copy(update={"report": "The cause is in cart.py:7." + "x" * 9_000})
    first = task("T001", TaskState.COMPLETED, type=TaskType.INVESTIGATION, runs=[found])
    text = told(running("T002", dependencies=("id-T001",)), first)
    assert "## What T001 (Task T001) has found\nThe cause is in cart.py:7." in text
    assert len(text) < 14_000
