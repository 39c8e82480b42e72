"""The body of a pull request: the model's words first, then facts alone, each with its evidence or without any."""

from __future__ import annotations

import re

import pytest

from bot.core import pull_text
from bot.core.evidence import CriterionResult, Judgement, Verdict
from bot.core.plan import Document, DocumentKind
from bot.core.session import Session
from bot.core.states import TaskState
from bot.core.tampering.signs import Flag, Sign
from bot.core.task import Acceptance, PullText, Task
from tests.fields import put
from tests.steps.scenes import T0, check, executing, task, work, workspace
from tests.stories.stage import SPEC

SIGN = Flag(sign=Sign.TEST_DELETED, path="tests/test_a.py", says="«test_a» | is gone.")


def finished(key: str = "T001", **changes: object) -> Task:
    made = task(
        key,
        TaskState.INTEGRATING,
        number=1,
        requirements=("FR-001",),
        acceptance=(Acceptance(id=f"{key}-A1", text="A code lowers the price"),),
        work=work("feat: codes"),
        checks=[check(1, 1), check(2, 0)],
        pull_text=PullText(title="feat: codes", body="Codes lower the price."),
    )
    return put(made, changes)


def whole(*tasks: Task) -> Session:
    session = executing(*tasks)
    spec = Document(kind=DocumentKind.SPEC, revision=1, text=SPEC, sha256="0" * 64)
    session.plan.documents = (spec,)
    return session


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


@pytest.mark.covers("G-RULE-PR-7")
def test_the_words_come_first_and_each_requirement_is_shown_by_the_last_check() -> None:
    one = finished()
    text = pull_text.pull_body(whole(one), one)
    assert text.startswith("Codes lower the price.\n\n## Evidence")
    shown = "python3 -m unittest passed on 111111111111"
    assert rows(text) == [
        ["FR-001: The basket MUST take a code.", shown],
        ["T001-A1: A code lowers the price", shown],
    ]
    assert "task-7682b3a8-1, specification SPEC-7682b3a8" in text
    assert text.rstrip().endswith("<!-- gwt-bot task=id-T001 -->")


def test_a_criterion_is_shown_by_the_places_that_the_bot_has_found() -> None:
    def judged(*, proven: bool) -> str:
        result = CriterionResult(
            criterion="T001-A1", met=proven, evidence=("cart.py:42", "test_total"), proven=proven
        )
        verdict = Verdict(outcome=Judgement.DONE, criteria=(result,), at=T0)
        one = finished(verdicts=[verdict])
        return rows(pull_text.pull_body(whole(one), one))[1][1]

    check_alone = "python3 -m unittest passed on 111111111111"
    assert judged(proven=True) == rf"cart.py:42; test\_total; {check_alone}"
    assert judged(proven=False) == check_alone


def test_what_was_not_checked_has_no_evidence() -> None:
    one = finished(checks=[])
    assert {shown for _, shown in rows(pull_text.pull_body(whole(one), one))} == {"no evidence"}


@pytest.mark.covers("G-RULE-PR-7")
@pytest.mark.parametrize(
    ("code", "says"), [(1, "failed with 1"), (None, "ended at its time limit")]
)
def test_a_check_that_failed_says_so(code: int | None, says: str) -> None:
    one = finished(checks=[check(1, code)])
    assert says in rows(pull_text.pull_body(whole(one), one))[0][1]


def test_suggestions_of_the_judge_are_listed_where_the_work_passed() -> None:
    said = Verdict(outcome=Judgement.DONE, suggestions=("Name the *limit*",), at=T0)
    one = finished(verdicts=[said])
    listed = "## Suggestions, none of them required\n\n- Name the \\*limit\\*\n"
    assert listed in pull_text.pull_body(whole(one), one)
    again = finished(verdicts=[said, said.model_copy(update={"outcome": Judgement.CONTINUE})])
    assert "Suggestions" not in pull_text.pull_body(whole(again), again)


@pytest.mark.covers("O-I1a")
def test_it_names_what_has_to_be_merged_first() -> None:
    one = finished()
    assert "\nDepends on #7\nDepends on #12\n" in pull_text.pull_body(whole(one), one, (7, 12, 7))
    assert "Depends on" not in pull_text.pull_body(whole(one), one)


def test_tasks_that_share_a_branch_are_all_in_it() -> None:
    one, other = finished("T001"), finished("T002", checks=[])
    other.workspace = one.workspace
    gone, apart = finished("T003", workspace=one.workspace), finished("T004")
    gone.state = TaskState.REPLACED
    apart.workspace = workspace("agent/apart")
    text = pull_text.pull_body(whole(one, other, gone, apart), one)
    assert rows(text)[0][1] == "python3 -m unittest passed on 111111111111; no evidence"
    assert [cells[0][:7] for cells in rows(text)[1:]] == ["T001-A1", "T002-A1"]


def test_only_signs_that_a_person_let_pass_are_told_as_accepted() -> None:
    one = finished(flags=(SIGN,))
    assert "Accepted" not in pull_text.pull_body(whole(one), one)
    one.accepted = (one.work.head if one.work else "",)
    text = pull_text.pull_body(whole(one), one)
    assert "## Accepted by a person\n\n- tests/test\\_a.py: «test\\_a» \\| is gone." in text


def test_nothing_that_anybody_wrote_breaks_the_table_or_sets_the_mark() -> None:
    evil = "a | b\n| c | `d` <img src=x> [x](y) <!-- gwt-bot task=other -->"
    one = finished(
        acceptance=(Acceptance(id="A", text=evil),),
        pull_text=PullText(title="feat: x", body=f"{evil}\x1b[31m\u202e"),
    )
    text = pull_text.pull_body(whole(one), one)
    assert len(rows(text.partition("## Evidence")[2].replace("| Required", "| x\n| Required"))) >= 1
    table = text.partition("## Evidence")[2].partition("\n\nSession")[0]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 3 for line in table.strip().splitlines())
    assert "<img" not in table.replace("\\<", "")
    assert text.count("<!--") == 1
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_without_words_the_task_describes_itself() -> None:
    one = finished(pull_text=None, description="Take codes.")
    assert pull_text.pull_body(whole(one), one).startswith("Take codes.\n")


def test_it_is_bounded_and_keeps_its_mark_whatever_it_holds() -> None:
    many = tuple(Acceptance(id=f"A{n}", text="|" * 900) for n in range(500))
    flags = tuple(SIGN.model_copy(update={"path": f"{n}|" * 200}) for n in range(500))
    one = finished(acceptance=many, flags=flags, pull_text=PullText(title="x", body="字" * 90_000))
    one.accepted = (one.work.head if one.work else "",)
    text = pull_text.pull_body(whole(one), one, range(10_000))
    assert len(text) <= pull_text.LONGEST_BODY
    assert "more" in text
    assert text.rstrip().endswith(pull_text.pull_marker(one))
