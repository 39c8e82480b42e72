"""How the played model judges: words, changes, next steps, plans, finished work; and what it writes about them."""

from __future__ import annotations

import re

import pytest

from adapters.demo.conversation import CONTRADICTION
from bot.core.pull_text import title_problem
from tests.adapters.played.conftest import replied, written

TASKS = [
    {
        "key": "T001",
        "name": "Discount codes",
        "state": "Completed",
        "description": "Codes.",
        "files": ["basket/discount.py"],
        "acceptance": ["x"],
    },
    {
        "key": "T002",
        "name": "Printable receipt",
        "state": "Running",
        "description": "A receipt.",
        "files": ["basket/receipt.py"],
        "acceptance": ["x"],
    },
    {
        "key": "T003",
        "name": "Checkout with discounts",
        "state": "Pending",
        "description": "With a discount code.",
        "files": [],
        "acceptance": ["x"],
    },
]
QUESTIONS = ["What is going on?", "how far are you", "進んでいますか。", "終わった？", "When?"]
TALK = ["Thanks!", "ok nice", "ありがとう", "了解です", "Great work, everyone"]
CHANGES = [
    "Receipts of 40 columns",
    "ok, make it 40 columns",
    "ありがとう、40桁にして",
    "レシートを40桁に",
]
KINDS = [
    *((said, "question") for said in QUESTIONS),
    *((said, "talk") for said in TALK),
    *((said, "change") for said in CHANGES),
]


@pytest.mark.parametrize(("said", "kind"), KINDS)
def test_words_are_a_question_talk_or_a_change(said: str, kind: str) -> None:
    reply = replied("words", said=said, by="Mika", phase="executing", tasks=TASKS)
    assert reply["kind"] == kind
    assert reply["reason"]
    assert bool(reply["reply"]) is (kind == "question")


def test_a_question_is_answered_by_how_the_tasks_stand() -> None:
    reply = replied("words", said="What is going on?", tasks=TASKS)["reply"]
    assert "T002 Printable receipt: Running." in reply
    assert "T001 Discount codes: Completed." in reply
    assert "Played" in reply
    assert "no tasks yet" in replied("words", said="Why?", tasks=[])["reply"]


def test_people_are_answered_in_their_language_unless_another_is_wanted() -> None:
    assert "演じられた" in replied("words", said="進んでいますか？", tasks=TASKS)["reply"]
    wanted = replied("words", said="進んでいますか？", tasks=TASKS, language="English")
    assert "Played" in wanted["reply"]


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ("The receipt has 40 columns", ["T002"]),
        ("レシートは40桁に", ["T002"]),
        ("割引は最大2つまで", ["T001"]),
        ("会計のあとに領収書", ["T002", "T003"]),
        ("The checkout greets people", ["T003"]),
        ("T003, and t001 as well", ["T001", "T003"]),
        ("T0011 is another story", []),
        ("Everything in blue", []),
    ],
)
def test_a_change_touches_the_tasks_that_write_what_it_names(change: str, keys: list[str]) -> None:
    reply = replied("impact", change=change, tasks=TASKS)
    assert [task["key"] for task in reply["affected"]] == keys
    assert all(task["why"] for task in reply["affected"])
    assert reply["reason"]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("Now also export the basket as CSV", "continue"),
        ("注文履歴も追加して", "continue"),
        ("Now a completely different shop", "new"),
        ("This is for another project", "new"),
        ("全く別の店を作って", "new"),
        ("Thanks", "talk"),
        ("ありがとう", "talk"),
        ("What was built?", "talk"),
    ],
)
def test_after_the_end_words_go_on_begin_anew_or_are_talk(said: str, verdict: str) -> None:
    session = {"title": "Codes", "tasks": TASKS}
    reply = replied("continue", said=said, session=session)
    assert reply["verdict"] == verdict
    assert reply["reason"]
    assert bool(reply["reply"]) is (verdict == "talk")


def test_a_question_after_the_end_is_answered_by_the_tasks_of_the_session() -> None:
    for tasks in (TASKS, ["Discount codes"]):
        reply = replied("continue", said="What was built?", session={"tasks": tasks})
        assert "Discount codes" in reply["reply"]


@pytest.mark.parametrize("word", CONTRADICTION)
def test_a_contradiction_is_critical_until_the_spec_is_written_with_the_findings(word: str) -> None:
    request = f"Add codes. {word}"
    spec = written("specify", request=request)
    findings = replied("analyze", request=request, spec=spec)["findings"]
    assert [f["severity"] for f in findings] == ["CRITICAL", "LOW"]
    repaired = written("specify", request=request, findings=findings)
    assert repaired != spec
    left = replied("analyze", request=request, spec=repaired)["findings"]
    assert [f["severity"] for f in left] == ["LOW"]


def test_finished_work_is_judged_done_without_pretending_to_have_read_it() -> None:
    told = {"task": TASKS[0], "diff": "+x", "acceptance": ["x"]}
    reply = replied("judge", checks=[{"result": "passed"}], **told)
    assert (reply["verdict"], reply["missing"]) == ("done", [])
    assert "not read" in reply["reasons"][0]
    assert "Played" in reply["reasons"][0]
    failed = replied("judge", checks=[{"result": "failed with 1"}], **told)
    assert (failed["verdict"], failed["missing"]) == ("continue", [])


@pytest.mark.parametrize(
    ("task", "title"),
    [
        (TASKS[1], "feat(receipt): Printable receipt"),
        ({"title": "Describe it.", "type": "documentation"}, "docs: describe it"),
        ({"name": "CSV export of orders"}, "feat: CSV export of orders"),
        ({"name": "割引コード", "files": ["basket/discount.py"]}, "feat(discount): 割引コード"),
        ({"name": "Many words\n" * 20}, None),
        ({}, "feat: the work of a task"),
    ],
)
def test_a_pull_request_has_a_title_in_conventional_form(
    task: dict[str, object], title: str | None
) -> None:
    reply = replied(
        "pull_request", task=task, checks=[{"command": "make test", "result": "passed"}]
    )
    assert re.fullmatch(r"[a-z]+(\([a-z]+\))?: .*[^.\s]", reply["title"])
    assert len(reply["title"]) <= 72
    assert title in (None, reply["title"])
    assert [line for line in reply["body"].splitlines() if line[:2] == "##"] == [
        "## What",
        "## Impact",
        "## Tests",
    ]
    assert "`make test`: passed" in reply["body"]
    assert title_problem(reply["title"]) == ""
    assert "Played" in reply["body"]
